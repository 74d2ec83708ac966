package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// exampleRun is a run over a copy of the examples.
func exampleRun(t *testing.T) program {
	t.Helper()
	p := program{t: t, dir: t.TempDir()}
	if err := os.CopyFS(filepath.Join(p.dir, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFault_055_137_141_SameBytes: the verdict depends on bundle, tree,
// scope and version alone.
func TestFault_055_137_141_SameBytes(t *testing.T) {
	t.Parallel()
	p := exampleRun(t)
	args := []string{"--policy", "examples/policy", "examples/infra-target"}
	first := p.run(args...).want(t, exitViolation)
	want := p.verdict().text

	for i, env := range []string{
		"", // twice in one directory
		"TZ=Pacific/Kiritimati LC_ALL=C",
		"TZ=America/New_York LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 LANGUAGE=de",
		"LC_ALL=tr_TR.UTF-8",
		"LC_ALL=C.ISO-8859-1",
		"GOMAXPROCS=1", "GOMAXPROCS=2", "GOMAXPROCS=64", "GOGC=1", "GOMEMLIMIT=32MiB",
		"TERM=xterm-256color COLUMNS=40", "TERM=dumb", "NO_COLOR=1", "FORCE_COLOR=1 CLICOLOR_FORCE=1", "CI=true",
		"USER=someone HOSTNAME=elsewhere",
	} {
		if !*long && i%3 != 0 {
			continue
		}
		p.env = strings.Fields(env)
		e := p.run(args...).want(t, exitViolation)
		if !bytes.Equal(p.verdict().text, want) {
			t.Errorf("%s: another verdict", env)
		}
		if timeless(e.out) != timeless(first.out) {
			t.Errorf("%s: another report", env)
		}
	}

	other := exampleRun(t)
	other.run(args...).want(t, exitViolation)
	if !bytes.Equal(other.verdict().text, want) {
		t.Error("in another directory: another verdict")
	}
	// Files of another time, long ago or still to come.
	for i, when := range []time.Time{time.Unix(1, 0), time.Now().AddDate(80, 0, 0)} {
		err := filepath.WalkDir(other.dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return os.Chtimes(name, when, when)
		})
		if err != nil {
			t.Fatal(err)
		}
		other.run(args...).want(t, exitViolation)
		if !bytes.Equal(other.verdict().text, want) {
			t.Errorf("with files of another time (%d): another verdict", i)
		}
	}
	if bytes.Contains(want, []byte(p.dir)) {
		t.Error("the verdict names the directory that it was made in")
	}
	// From another current directory, and with the bundle named in another way.
	other.dir = filepath.Join(other.dir, "examples")
	other.run("--policy", "./policy/", "./infra-target/").want(t, exitViolation)
	if !bytes.Equal(other.verdict().text, want) {
		t.Error("from another current directory: another verdict")
	}
}

// TestFault_055_Umask: a verdict is readable as the user's other new files are.
func TestFault_055_Umask(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: there is no umask here")
	}
	p := newProgram(t)
	for mask, want := range map[string]os.FileMode{"022": 0o644, "077": 0o600, "002": 0o664} {
		p.under = []string{"sh", "-c", "umask " + mask + `; exec "$@"`, "sh"}
		p.run("--policy", "policy", "bad").want(t, exitViolation)
		st, err := os.Stat(filepath.Join(p.dir, "verdict.json"))
		if err != nil || st.Mode().Perm() != want {
			t.Errorf("umask %s: mode %v, want %v: %v", mask, st.Mode(), want, err)
		}
	}
}

// TestFault_139_Panic: a bug ends as any other thing that could not be decided.
func TestFault_139_Panic(t *testing.T) {
	p := newProgram(t)
	t.Chdir(p.dir)
	t.Setenv("GITHUB_ACTIONS", "")
	for _, tree := range []string{"good", "bad"} {
		var said bytes.Buffer
		status := runMain([]string{"--policy", "policy", tree},
			streams{in: strings.NewReader(""), out: panics{}, err: &said})
		if status != exitUndecided || !strings.Contains(said.String(),
			"policyscan: a bug in policyscan, please report it: no one expected this") {
			t.Errorf("%s: status %d: %s", tree, status, said.String())
		}
	}
}

type panics struct{}

func (panics) Write([]byte) (int, error) { panic("no one expected this") }
