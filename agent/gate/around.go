package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An Around is the environment of an agent's hook: the program's path, the shells that run it, and their start files.
type Around struct {
	Program string   // the file of the program that runs; "" if it is not known
	Path    string   // the variable PATH
	Exts    []string // endings of program names, with dots (PATHEXT); only on Windows
	Dirs    []string // absolute: the hook's, the call's and the project's; bases of relative directories in PATH
	Home    string   // the user's; "" if unknown
	Getenv  func(string) string
}

// Guarded returns the files and directories outside of the tree on which it depends that the hook's entry runs this
// program, and that its answer counts.
func (a *Around) Guarded() []string { return append(a.programs(), a.starts()...) }

// programs are the program itself and, in every directory of PATH, the names of the programs that the entry runs,
// existing or not: a new file in an earlier directory would run instead.
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
		places := a.from(dir)
		if rest, ok := strings.CutPrefix(dir, "~/"); ok && a.Home != "" { // as bash takes it, while sh does not
			places = append(places, a.from(filepath.Join(a.Home, rest))...)
		}
		for _, at := range places {
			for _, name := range names {
				file := filepath.Join(at, name)
				// no shell runs it, and its files are unrelated
				if st, err := os.Stat(file); err == nil && st.IsDir() {
					continue
				}
				all = append(all, file)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// from are the places that a name leads to, from each directory.
func (a *Around) from(name string) []string {
	if filepath.IsAbs(name) {
		return []string{filepath.Clean(name)}
	}
	var all []string
	for _, dir := range a.Dirs {
		all = append(all, filepath.Join(dir, name)) // "", of PATH, is the directory itself
	}
	return all
}

// starts are the user's shell and the start files of shells, the machine's too, with the settings files of git,
// lefthook and, for the whole machine, agents.
func (a *Around) starts() []string {
	var all []string
	add := func(dir string, names ...string) {
		if dir != "" {
			for _, at := range a.from(dir) {
				all = append(all, under(at, names)...)
			}
		}
	}
	// Claude Code and Codex run the entry in the user's shell, which may be outside PATH.
	for _, name := range []string{"SHELL", "BASH_ENV", "ENV", "LEFTHOOK_CONFIG",
		"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		add(a.Getenv(name), ".")
	}
	if a.Exts == nil {
		add("/etc", "profile", "profile.d", "bashrc", "bash.bashrc", "bash.bash_logout", "zsh", "zshenv", "zprofile",
			"zshrc", "zlogin", "zlogout", "fish",
			"csh.cshrc", "csh.login", "ksh.kshrc", "mkshrc", "environment", "gitconfig", "ld.so.preload",
			"claude-code", "codex", "cursor", "gemini-cli")
		add("/Library/Application Support", "ClaudeCode", "Cursor", "GeminiCli")
		all = append(all, "/usr/share/fish", "/usr/local/share/fish")
	}
	zsh := []string{".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout"}
	for _, name := range slices.Clone(zsh) {
		zsh = append(zsh, name+".zwc") // the compiled one, which zsh takes if it is newer
	}
	add(a.Getenv("ZDOTDIR"), zsh...)
	// fish takes a function of these for a program, so one called sh would run in place of the entry.
	for _, dir := range append(filepath.SplitList(a.Getenv("XDG_DATA_DIRS")), a.Getenv("XDG_DATA_HOME")) {
		add(dir, "fish")
	}
	// Whole directories: fish reads conf.d, functions and its variables, too, and husky's hooks begin with init.sh.
	inConfig := []string{"fish", "powershell", "nushell", "git", "husky", "environment.d"}
	add(a.Getenv("XDG_CONFIG_HOME"), inConfig...)
	if a.Home == "" {
		return all
	}
	add(filepath.Join(a.Home, ".config"), inConfig...)
	add(a.Home, zsh...)
	add(a.Home, ".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bashrc", ".kshrc", ".mkshrc",
		".cshrc", ".tcshrc", ".login",
		".pam_environment", ".gitconfig", ".huskyrc",
		".local/share/fish", "Documents/PowerShell", "Documents/WindowsPowerShell")
	return all
}

func under(dir string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return all
}

// treeNames are names that are guarded in each directory of the tree: with .gitattributes git changes what it checks
// out, and husky's hooks run before a commit.
func treeNames() []string { return []string{".gitattributes", ".husky"} }

// rootNames are guarded in the root of each repository of the tree: they define which hooks run on a commit.
func rootNames() []string {
	names := []string{".pre-commit-config.yaml", ".lefthook", ".lefthook-local"} // the last two: lefthook's scripts
	for _, name := range []string{"lefthook", ".lefthook", ".config/lefthook", "lefthook-local",
		".lefthook-local", ".config/lefthook-local"} {
		for _, ext := range []string{".yml", ".yaml", ".toml", ".json", ".jsonc"} {
			names = append(names, name+ext)
		}
	}
	return names
}
