package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Around is what an agent's hook runs in: it says where the program is, by which shells the agent runs it, and what
// they read first.
type Around struct {
	Program string   // the file of the program that runs; "" if it is not known
	Path    string   // the variable PATH
	Exts    []string // what the names of programs end in, each with its point (PATHEXT); none but on Windows
	Folders []string // absolute: the hook's, the call's and the project's, from which a relative folder of PATH counts
	Home    string   // of the user; "" if there is none
	Getenv  func(string) string
}

// Guarded returns the files and folders outside of the tree on which it depends that the hook's entry runs this program,
// and that its answer counts.
func (a *Around) Guarded() []string { return append(a.programs(), a.starts()...) }

// programs are the program, and in every folder of PATH those that the entry runs by their names, there or not: a new one
// in an earlier folder would be taken.
func (a *Around) programs() []string {
	var all []string
	if a.Program != "" {
		all = append(all, a.Program)
	}
	names := []string{"policyscan", "sh", "bash"}
	dirs := filepath.SplitList(a.Path)
	if a.Exts != nil {
		dirs = append([]string{"."}, dirs...) // where Windows looks first
		for _, name := range append(names, "cmd", "findstr", "powershell", "pwsh") {
			for _, ext := range a.Exts {
				names = append(names, name+strings.ToLower(ext))
			}
		}
	}
	for _, dir := range dirs {
		for _, at := range a.from(dir) {
			for _, name := range names {
				file := filepath.Join(at, name)
				if st, err := os.Stat(file); err == nil && st.IsDir() { // no shell takes it, and what is in it is something else
					continue
				}
				all = append(all, file)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// from are the places that a name leads to, from each folder.
func (a *Around) from(name string) []string {
	if filepath.IsAbs(name) {
		return []string{filepath.Clean(name)}
	}
	var all []string
	for _, dir := range a.Folders {
		all = append(all, filepath.Join(dir, name)) // "", of PATH, is the folder itself
	}
	return all
}

// starts are the files that the user's shells read when they start, and those from which git and lefthook take settings.
func (a *Around) starts() []string {
	var all []string
	for _, name := range []string{"BASH_ENV", "ENV", "LEFTHOOK_CONFIG"} {
		if file := a.Getenv(name); file != "" {
			all = append(all, a.from(file)...)
		}
	}
	zsh := []string{".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout"}
	if dir := a.Getenv("ZDOTDIR"); dir != "" {
		for _, at := range a.from(dir) {
			all = append(all, under(at, zsh)...)
		}
	}
	// Whole folders: fish reads conf.d, functions and its variables, too.
	inConfig := []string{"fish", "powershell", "nushell", "git"}
	if dir := a.Getenv("XDG_CONFIG_HOME"); dir != "" {
		for _, at := range a.from(dir) {
			all = append(all, under(at, inConfig)...)
		}
	}
	if a.Home == "" {
		return all
	}
	all = append(all, under(filepath.Join(a.Home, ".config"), inConfig)...)
	all = append(all, under(a.Home, zsh)...)
	return append(all, under(a.Home, []string{
		".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bashrc", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login",
		".pam_environment", ".gitconfig",
		"Documents/PowerShell", "Documents/WindowsPowerShell",
	})...)
}

func under(dir string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return all
}

// TreeNames are names that are guarded in each folder of the tree: with .gitattributes git changes what it checks out,
// and husky's hooks run before a commit.
func TreeNames() []string { return []string{".gitattributes", ".husky"} }

// RootNames are names that are guarded in the root of each repository of the tree: what says which hooks of commits run.
func RootNames() []string {
	names := []string{".pre-commit-config.yaml", ".lefthook", ".lefthook-local"} // the last two hold lefthook's scripts
	for _, name := range []string{"lefthook", ".lefthook", ".config/lefthook", "lefthook-local", ".lefthook-local", ".config/lefthook-local"} {
		for _, ext := range []string{".yml", ".yaml", ".toml", ".json", ".jsonc"} {
			names = append(names, name+ext)
		}
	}
	return names
}
