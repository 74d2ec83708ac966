//go:build linux

package bounds

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// inMemory is a new directory on a new tmpfs, which lists names by creation time. It
// takes root.
func inMemory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("policyscan", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size=8g,nr_inodes=3m"); err != nil {
		t.Skipf("SKIPPED: no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

const samePolicy = `rules:
  - id: NET-1
    title: No ingress from anywhere
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0", "::/0"]}
  - id: KEY-1
    title: No keys
    enforcement: {mode: fail}
    match: {files: ["**"], exclude: ["**/*.md"], forbidden_patterns: ["AKIA", "secret ="]}
    redact: true
`

// sameFiles are the files of the tree: in the encodings, with and without violations, of one
// byte and of more than one read, with odd names and with what cannot be decided.
func sameFiles() map[string]string {
	r := rand.New(rand.NewPCG(1, 19))
	files := map[string]string{}
	for i := range 400 {
		prefix := []string{"", "a/", "a/b/", "modules/é/", "z z/", "A/"}[r.IntN(6)]
		text := strings.Repeat("cidr = \"10.0.0.0/8\"\n", r.IntN(40))
		switch r.IntN(6) {
		case 0:
			text += "cidr = \"0.0.0.0/0\" # and ::/0\n"
		case 1:
			text += "secret = \"AKIA\" \r\n" + strings.Repeat("x", r.IntN(300))
		case 2:
			text = "\xff\xfe" + strings.ReplaceAll("\n0.0.0.0/0", "", "\x00")[1:]
		}
		files[fmt.Sprintf("%s%d%s", prefix, i, []string{".tf", ".TF", ".yaml", ".md", ""}[r.IntN(5)])] = text
	}
	files["big.tf"] = strings.Repeat("0.0.0.0/1\n", 60_000) + "0.0.0.0/0"
	files["odd \n\x1b[31m\xff name.tf"] = "0.0.0.0/0"
	for i := range 9 { // some in each scope
		files[fmt.Sprint("model", i, ".bin")] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"
	}
	return files
}

// A sameTree is a copy of the tree, whose files were made in its own order.
type sameTree struct{ dir string }

// newSameTree makes a copy from what git made once: the directory .git, and the files in a random order.
func newSameTree(t *testing.T, dir, git string, r *rand.Rand) sameTree {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	type file struct {
		path string
		text []byte
	}
	var all []file
	must(filepath.WalkDir(git, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		path, bad := filepath.Rel(git, name)
		all = append(all, file{path, text})
		return errors.Join(err, bad)
	}))
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for i, f := range all {
		name := filepath.Join(dir, "tree", f.path)
		must(os.MkdirAll(filepath.Dir(name), 0o777))
		must(os.WriteFile(name, f.text, 0o666))
		if i == len(all)/2 {
			must(syscall.Mkfifo(filepath.Join(dir, "tree", "pipe.tf"), 0o666))
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "policy", "rules"), 0o777))
	must(os.WriteFile(filepath.Join(dir, "policy", "rules", "boundaries.yml"), []byte(samePolicy), 0o666))
	must(os.WriteFile(filepath.Join(dir, "policy", "rules", "invariants.yml"), []byte("rules: []\n"), 0o666))
	must(os.Mkdir(filepath.Join(dir, "out"), 0o777))
	return sameTree{dir}
}

// listing is the order in which the system lists a directory.
func (s sameTree) listing(t *testing.T, sub string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(s.dir, "tree", sub))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\x00")
}

var sameSeconds = regexp.MustCompile(`, \d+\.\d+ s\n`)

// run is a hash of all that a run wrote: the verdict, each report and what it printed, but for
// the seconds that it took.
func (s sameTree) run(t *testing.T, scope, env []string) (hash string, found *verdict.Verdict) {
	t.Helper()
	out := filepath.Join(s.dir, "out")
	args := []string{"scan", "--policy", "policy", "--output", "out/verdict.json"}
	for _, format := range report.Formats() {
		args = append(args, "--report", format.Name+"=out/report."+format.Name)
	}
	cmd := exec.Command(program, append(args, scope...)...)
	cmd.Dir, cmd.Env = s.dir, env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%q: %v\n%s", scope, err, said.String())
	}
	h := sha256.New()
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() == "verdict.json" {
			if found, err = verdict.Decode(text); err != nil {
				t.Fatal(err)
			}
		}
		text = sameSeconds.ReplaceAll(text, []byte("\n"))
		fmt.Fprintf(h, "%s %d\n%s", e.Name(), len(text), text)
		if err := os.Remove(filepath.Join(out, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if len(entries) != 1+len(report.Formats()) {
		t.Fatalf("%d files were written", len(entries))
	}
	h.Write(sameSeconds.ReplaceAll(said.Bytes(), []byte("\n")))
	return hex.EncodeToString(h.Sum(nil)), found
}

// TestSame: all that a run writes depends on bundle, tree, scope and version alone: not on how
// many work on it, how memory is collected, the language, the time zone, nor on the order in which
// directories are listed.
func TestSame(t *testing.T) {
	wanted(t, "same")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	runs, copies := 40, 4
	if *measuring {
		runs, copies = 1000, 10
	}
	// The repository: half of the files in the base, others in the head, some only staged.
	git := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = git
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
			"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "-b", "main")
	run("commit", "-q", "--allow-empty", "-m", "root")
	files := sameFiles()
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for step, branch := range []string{"base", "head", ""} {
		for i, name := range names {
			if i%3 != step {
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(git, name)), 0o777), os.WriteFile(filepath.Join(git, name), []byte(files[name]), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		run("add", "-A")
		if branch != "" {
			run("commit", "-q", "-m", branch)
			run("branch", branch)
		}
	}

	r := rand.New(rand.NewPCG(2, 19))
	dir := inMemory(t)
	var trees []sameTree
	orders := map[string]bool{}
	for i := range copies {
		trees = append(trees, newSameTree(t, filepath.Join(dir, fmt.Sprint(i)), git, r))
		orders[trees[i].listing(t, ".")+trees[i].listing(t, "a/b")] = true
	}
	if len(orders) != copies {
		t.Fatalf("%d copies are listed in %d orders", copies, len(orders))
	}
	scopes := []struct {
		name string
		args []string
	}{
		{"full", []string{"tree"}},
		{"tracked", []string{"--tracked", "tree"}},
		{"diff", []string{"--diff-base", "base", "--head", "head", "tree"}},
		{"staged", []string{"--staged", "tree"}},
	}
	of := func(list ...string) string { return list[r.IntN(len(list))] }
	hashes := map[string]map[string]int{}
	for i := range runs {
		scope := scopes[i%len(scopes)]
		env := []string{
			"GOMAXPROCS=" + of("1", "2", "3", "8", "64"), "GOGC=" + of("1", "10", "100", "off"), "GOMEMLIMIT=" + of("off", "32MiB"),
			"LC_ALL=" + of("", "C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.SJIS"), "LANG=" + of("", "C", "fr_FR.ISO-8859-1"),
			"TZ=" + of("", "UTC", "Pacific/Kiritimati", "America/New_York"), "HOME=" + of("/", dir, "/nonexistent"), "USER=" + of("", "a", "b"),
		}
		hash, v := trees[r.IntN(copies)].run(t, scope.args, env)
		if len(v.Violations) < 20 || v.Complete {
			t.Fatalf("%s: %d violations, complete: %v: the tree was to have many, and errors", scope.name, len(v.Violations), v.Complete)
		}
		if hashes[scope.name] == nil {
			hashes[scope.name] = map[string]int{}
		}
		if hashes[scope.name][hash]++; len(hashes[scope.name]) > 1 {
			t.Fatalf("%s: run %d, %q, has another hash: %v", scope.name, i, env, hashes[scope.name])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| scope | runs | copies of the tree | outputs in each run | different hashes |\n|---|---|---|---|---|\n")
	for _, scope := range scopes {
		n := 0
		for _, k := range hashes[scope.name] {
			n += k
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", scope.name, n, copies, 2+len(report.Formats()), len(hashes[scope.name]))
	}
	if *measuring {
		fmt.Fprintf(&b, "\nThe program, built in two directories, once from an empty cache: the same %d bytes.\n", sameBinary(t))
	}
	writePart(t, "determinism", b.String())
}

// sameBinary builds the program where it is and elsewhere, there with its own cache, by
// the flags of a release except the commit's. It fails unless they are the same, and returns
// their size.
func sameBinary(t *testing.T) int {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "quite", "another directory")
	for _, room := range []string{"cmd", "agent", "rules", "scanner", "verdict"} {
		if err := os.CopyFS(filepath.Join(elsewhere, room), os.DirFS(filepath.Join(root, room))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(elsewhere, name), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var built [2][]byte
	for i, dir := range []string{root, elsewhere} {
		out := filepath.Join(t.TempDir(), fmt.Sprint("policyscan", i))
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.release=v0.0.0", "-o", out, "./cmd/policyscan")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if dir == elsewhere {
			cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(t.TempDir(), "cache"), "TMPDIR="+t.TempDir())
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if built[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Fatalf("the binaries differ: %d and %d bytes", len(built[0]), len(built[1]))
	}
	return len(built[0])
}
