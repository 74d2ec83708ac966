//go:build unix

package rules

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/policyscan/policyscan/rules/document"
)

// diskBundle writes a valid bundle to a new directory.
func diskBundle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, BoundariesFile), goodBoundaries)
	write(t, filepath.Join(dir, InvariantsFile), goodInvariants)
	return dir
}

// within fails the test if f blocks.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Minute):
		t.Fatalf("%s blocks", what)
	}
}

func TestLoadDir(t *testing.T) {
	dir := diskBundle(t)
	b, err := LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	memory, errs := loadBoundaries(goodBoundaries)
	if errs != nil || b.SHA256 != memory.SHA256 || len(b.Rules) != 2 {
		t.Errorf("the bundle on disk is another than in memory")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDir(link); err != nil {
		t.Errorf("a link that the user named: %v", err)
	}
	_, err = LoadDir(filepath.Join(dir, "rules"))
	var errList document.Errors
	if !errors.As(err, &errList) {
		t.Fatal(err)
	}
	wantCode(t, errList, document.CodeMissing, "name the directory that holds rules/, not rules/ itself")
	_, err = LoadDir(filepath.Join(dir, "absent"))
	if !errors.As(err, &errList) {
		t.Fatal(err)
	}
	wantCode(t, errList, document.CodeMissing, `name the directory that holds rules/, or run "policyscan init"`)
	if err := os.Rename(filepath.Join(dir, InvariantsFile),
		filepath.Join(dir, "rules", "invariants.yaml")); err != nil {
		t.Fatal(err)
	}
	_, err = LoadDir(dir)
	if !errors.As(err, &errList) {
		t.Fatal(err)
	}
	wantCode(t, errList, document.CodeMissing, `rules/invariants.yml: no such file, but "invariants.yaml"; `)
}

// TestFault_086_NotAFile: anything but a regular file is refused at once as a rule file, and the other files are still
// checked.
func TestFault_086_NotAFile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.yml")
	write(t, outside, goodBoundaries)
	for what, plant := range map[string]func(string) error{
		"a symbolic link":  func(name string) error { return os.Symlink(outside, name) },
		"a symbolic link ": func(name string) error { return os.Symlink("nowhere", name) },
		"a FIFO":           func(name string) error { return unix.Mkfifo(name, 0o644) },
		"a directory":      func(name string) error { return os.Mkdir(name, 0o755) },
		"a socket": func(name string) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.Bind(fd, &unix.SockaddrUnix{Name: name})
		},
	} {
		for _, file := range []string{BoundariesFile, InvariantsFile, DeprecatedFile} {
			dir, err := os.MkdirTemp("", "ps") // short: a socket's path is limited
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			write(t, filepath.Join(dir, BoundariesFile), goodBoundaries)
			write(t, filepath.Join(dir, InvariantsFile), "rules: 7\n")
			name := filepath.Join(dir, file)
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
			if err := plant(name); err != nil {
				t.Fatal(err)
			}
			within(t, what, func() {
				_, err := LoadDir(dir)
				var errs document.Errors
				if !errors.As(err, &errs) || !strings.Contains(err.Error(),
					file+": is "+strings.TrimSpace(what)+"; ") {
					t.Errorf("%s as %s: %v", file, what, err)
				}
				if file != InvariantsFile && !strings.Contains(err.Error(), `"rules" is a string`) {
					t.Errorf("%s as %s hides the mistakes of another file: %v", file, what, err)
				}
			})
		}
		// The same for the rules directory.
		dir, err := os.MkdirTemp("", "ps")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if what == "a directory" {
			continue
		}
		if err := plant(filepath.Join(dir, "rules")); err != nil {
			t.Fatal(err)
		}
		within(t, what, func() {
			_, err := LoadDir(dir)
			var errs document.Errors
			if !errors.As(err, &errs) || errs[0].Code != document.CodeRead ||
				!strings.Contains(err.Error(), "rules: is "+strings.TrimSpace(what)) {
				t.Errorf("rules as %s: %v", what, err)
			}
		})
	}
}

// TestFault_086_OpenDoesNotFollow: the open itself refuses a file that was replaced after the check.
func TestFault_086_OpenDoesNotFollow(t *testing.T) {
	dir := diskBundle(t)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, BoundariesFile), link); err != nil {
		t.Fatal(err)
	}
	if f, err := openNoFollow(link); err == nil {
		f.Close()
		t.Error("follows a link")
	}
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	within(t, "opening a FIFO", func() {
		f, err := openNoFollow(fifo)
		if err != nil {
			return
		}
		defer f.Close()
		if _, err := readRegular(f); !errors.As(err, new(errNotRegular)) {
			t.Errorf("reads a FIFO: %v", err)
		}
	})
}

// TestFault_087_ChangesWhileLoading: if a file changes, the parsed content is still the hashed one.
func TestFault_087_ChangesWhileLoading(t *testing.T) {
	dir := diskBundle(t)
	name := filepath.Join(dir, BoundariesFile)
	versions := map[string]string{} // bundle hash by title
	contents := []string{strings.Replace(goodBoundaries, "title: t", "title: one", 1),
		strings.Replace(goodBoundaries, "title: t", "title: two", 1)}
	for _, content := range contents {
		b, errs := loadBoundaries(content)
		if errs != nil {
			t.Fatal(errs)
		}
		versions[b.Rules[0].Title] = b.SHA256
	}
	write(t, name, contents[0])
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				// By rename, so that each read gets a whole file.
				if os.WriteFile(name+".new", []byte(contents[i%2]), 0o644) != nil ||
					os.Rename(name+".new", name) != nil {
					return
				}
			}
		}
	}()
	for range 500 {
		b, err := LoadDir(dir)
		if err != nil {
			t.Error(err)
			break
		}
		if want := versions[b.Rules[0].Title]; b.SHA256 != want {
			t.Errorf("title %q with identity %s; want %s", b.Rules[0].Title, b.SHA256, want)
		}
	}
	close(stop)
	<-stopped
}

func TestDiscover(t *testing.T) {
	bundle := func(dir string) {
		write(t, filepath.Join(dir, BoundariesFile), goodBoundaries)
		write(t, filepath.Join(dir, InvariantsFile), goodInvariants)
	}
	root := t.TempDir()
	if _, err := Discover(root); err == nil || !strings.Contains(err.Error(), "policyscan init") ||
		!strings.Contains(err.Error(), "--policy builtin:infra") {
		t.Errorf("nothing there: %v", err)
	}
	// .policyscan without rules, or rules without boundaries, is not a bundle.
	if err := os.MkdirAll(filepath.Join(root, ".policyscan", "cache"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, InvariantsFile), goodInvariants)
	if dir, err := Discover(root); err == nil {
		t.Errorf("found %s", dir)
	}
	bundle(root)
	if dir, err := Discover(root); err != nil || dir != root {
		t.Errorf("the root: %q, %v", dir, err)
	}
	bundle(filepath.Join(root, ".policyscan"))
	var two *document.Error
	if dir, err := Discover(root); !errors.As(err, &two) || two.Code != document.CodeTwo {
		t.Errorf("both: %q, %v", dir, err)
	}
	if err := os.RemoveAll(filepath.Join(root, "rules")); err != nil {
		t.Fatal(err)
	}
	if dir, err := Discover(root); err != nil || dir != filepath.Join(root, ".policyscan") {
		t.Errorf(".policyscan: %q, %v", dir, err)
	}
	for what, plant := range map[string]func(string) error{
		"a symbolic link": func(name string) error { return os.Symlink(root, name) },
		"a FIFO":          func(name string) error { return unix.Mkfifo(name, 0o644) },
		"a file":          func(name string) error { return os.WriteFile(name, nil, 0o644) },
	} {
		root := t.TempDir()
		bundle(root)
		if err := plant(filepath.Join(root, ".policyscan")); err != nil {
			t.Fatal(err)
		}
		within(t, what, func() {
			dir, err := Discover(root)
			var e *document.Error
			if !errors.As(err, &e) || e.Code != document.CodeRead ||
				!strings.Contains(err.Error(), ".policyscan: is "+what) {
				t.Errorf("%s: %q, %v", what, dir, err)
			}
		})
	}
	// A planted rules directory is found and refused; no other one is used instead.
	root = t.TempDir()
	bundle(filepath.Join(root, "other"))
	if err := os.Mkdir(filepath.Join(root, ".policyscan"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "other", "rules"),
		filepath.Join(root, ".policyscan", "rules")); err != nil {
		t.Fatal(err)
	}
	dir, err := Discover(root)
	if err != nil || dir != filepath.Join(root, ".policyscan") {
		t.Errorf("%q, %v", dir, err)
	}
	if _, err := LoadDir(dir); err == nil {
		t.Error("a linked rules directory loads")
	}
}

func TestLosingSight(t *testing.T) {
	const file, dir = true, false
	for _, c := range []struct {
		name           string
		files, exclude []string
		link, target   string
		file           bool
		loses          bool
	}{
		{"selects both", []string{"**/*.tf"}, nil, "a.tf", "b/c.tf", file, false},
		{"selects the link alone", []string{"**/*.tf"}, nil, "a.tf", "a.txt", file, true},
		{"the same, and a directory", []string{"*.tf"}, nil, "a.tf", "a", dir, true},
		{"selects the target alone", []string{"**/*.tf"}, nil, "a", "a.tf", file, false},
		{"selects neither", []string{"**/*.tf"}, nil, "a", "b", file, false},
		{"the target is excluded", []string{"**"}, []string{"b/**"}, "a", "b/c", file, true},
		{"the link is excluded", []string{"**"}, []string{"a"}, "a", "b", file, false},
		{"everywhere alike", []string{"**/*.tf"}, nil, "a", "b", dir, false},
		{"below the link alone", []string{"modules/**"}, nil, "modules", "other", dir, true},
		{"the same, of a file", []string{"modules/**"}, nil, "modules/x", "modules/y", file, false},
		{"below both", []string{"modules/**"}, nil, "modules/a", "modules/b", dir, false},
		{"below the target, and more there", []string{"a/*.tf", "b/**"}, nil, "a", "b", dir, false},
		{"less below the target", []string{"a/**", "b/*.tf"}, nil, "a", "b", dir, true},
		{"another glob says the same", []string{"a/*.tf", "b/**/*.tf"}, nil, "a", "b", dir, false},
		{"the root", []string{"**/*.tf"}, nil, "a", "", dir, false},
		{"the root, and a rule for the directory", []string{"a/**"}, nil, "a/up", "", dir, true},
		{"the root, of which all is selected", []string{"**"}, nil, "a/up", "", dir, false},
		{"what is below the target is excluded", []string{"**"}, []string{"test/**"}, "a", "test", dir, true},
		{"some of it", []string{"**"}, []string{"**/test/*.md"}, "a", "test", dir, true},
		{"some of both", []string{"**"}, []string{"**/test/*.md"}, "a/test", "test", dir, false},
		{"more below the link", []string{"**"}, []string{"a/**"}, "a", "b", dir, false},
		{"the same everywhere", []string{"**"}, []string{"**/*.md"}, "a", "b", dir, false},
		{"a class that could be the slash", []string{"a[!x]*.tf"}, nil, "a", "b", dir, true},
		{"one, and everything below the target", []string{"a[!x]*.tf", "b/**"}, nil, "a", "b", dir, false},
		{"one that excludes", []string{"**"}, []string{"b[!x]*.tf"}, "a", "b", dir, true},
		{"one that excludes in doubt below the link", []string{"**"}, []string{"a[!x]*", "b/**"}, "a", "b", dir,
			true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New([]Rule{{ID: "OTHER", Files: []string{"**"}}, {ID: "R", Files: c.files, Exclude: c.exclude},
				{ID: "ALIKE", Files: c.files, Exclude: c.exclude}}, nil)
			want := []int(nil)
			if c.loses {
				want = []int{1, 2}
			}
			if got := b.LosingSight(c.link, c.target, c.file); !slices.Equal(got, want) {
				t.Errorf("%v; want %v", got, want)
			}
			into := b.LookingInto(c.link)
			for _, r := range want {
				if !slices.Contains(into, r) {
					t.Errorf("rule %d does not look into the link, yet it loses sight there", r)
				}
			}
		})
	}
}

func TestLookingInto(t *testing.T) {
	b := New([]Rule{
		{ID: "0", Files: []string{"**/*.tf"}},
		{ID: "1", Files: []string{"a"}},
		{ID: "2", Files: []string{"b/**"}},
		{ID: "3", Files: []string{"**/*.tf"}, Exclude: []string{"a/**"}},
		{ID: "4", Files: []string{"a/**"}, Exclude: []string{"a/*.md"}},
	}, nil)
	if got := b.LookingInto("a"); !slices.Equal(got, []int{0, 1, 4}) {
		t.Errorf("%v", got)
	}
	for want, globs := range map[bool][]string{true: {"**/*.tf"}, false: {"**/*.tf", "a/*"}} {
		if got := New([]Rule{{ID: "R", Files: globs}}, nil).Uniform(); got != want {
			t.Errorf("uniform of %q: %v", globs, got)
		}
		if got := New([]Rule{{ID: "R", Files: []string{"**"}, Exclude: globs}}, nil).Uniform(); got != want {
			t.Errorf("uniform of all but %q: %v", globs, got)
		}
	}
}
