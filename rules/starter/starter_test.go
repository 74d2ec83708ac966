package starter_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
)

// load loads the bundle of these packs as strictly as the program does.
func load(t *testing.T, packs ...string) *rules.Bundle {
	t.Helper()
	files := starter.Files(packs...)
	if _, ok := files[rules.BoundariesFile]; !ok || len(files) != len(packs)+1 {
		t.Fatalf("files %q", slices.Sorted(maps.Keys(files)))
	}
	bundle, err := rules.Load(rules.Files(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range rules.Notes(bundle) {
		t.Errorf("loads with a note: %v", note)
	}
	return bundle
}

func names() []string {
	var names []string
	for _, p := range starter.Packs() {
		names = append(names, p.Name)
	}
	return names
}

// Each pack is a bundle, and so are all together: no id is there twice.
func TestPacks(t *testing.T) {
	total := 0
	for _, name := range names() {
		n := len(load(t, name).Rules)
		if total += n; n < 4 || n > 16 {
			t.Errorf("%s: %d rules, want 4 to 16", name, n)
		}
		if got := starter.Names(name); !slices.Equal(got, []string{name}) {
			t.Errorf("builtin:%s is %q", name, got)
		}
	}
	if n := len(load(t, names()...).Rules); n != total {
		t.Errorf("%d rules in all, %d in the packs", n, total)
	}
	want := []string{"terraform", "kubernetes", "docker", "github-actions", "gitlab-ci", "cloudformation", "ansible", "secrets"}
	if got := starter.Names("infra"); !slices.Equal(got, want) {
		t.Errorf("builtin:infra is %q, want %q", got, want)
	}
	if got := starter.Names("boundaries"); got != nil {
		t.Errorf("builtin:boundaries is %q", got)
	}
}

func TestBytes(t *testing.T) {
	for name, text := range starter.Files(names()...) {
		switch {
		case bytes.ContainsAny(text, "\r\t"):
			t.Errorf("%s: a CR or a tab", name)
		case bytes.Contains(text, []byte("\n\n\n")), bytes.HasSuffix(text, []byte("\n\n")), !bytes.HasSuffix(text, []byte("\n")):
			t.Errorf("%s: empty lines where none belong", name)
		case !bytes.HasPrefix(text, []byte("# ")):
			t.Errorf("%s: does not begin with the explanation", name)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s:%d: a blank at the end", name, i+1)
			}
		}
	}
}

// An organisation's own rule about keys of AWS checks the pack's file in a repository, unless its bundle is in use.
func TestNoKeyInPack(t *testing.T) {
	key := regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)
	for name, text := range starter.Files(names()...) {
		if found := key.Find(text); found != nil {
			t.Errorf("%s: %s; write one character as \\x41", name, found)
		}
	}
}

func TestUnknownPack(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Files took a name that is no pack's")
		}
	}()
	starter.Files("terraform", "bash")
}

func TestRules(t *testing.T) {
	for _, pack := range starter.Packs() {
		bundle := load(t, pack.Name)
		for i := range bundle.Rules {
			r := &bundle.Rules[i]
			t.Run(r.ID, func(t *testing.T) {
				if r.Message == "" || r.Remediation == "" || r.Severity == "" || len(r.Tags) == 0 {
					t.Error("a text is missing")
				}
				if !strings.HasPrefix(r.DocsURL, "https://") {
					t.Errorf("docs_url %q", r.DocsURL)
				}
				globs := slices.Concat(r.Files, r.Exclude, r.ForbiddenFiles)
				for i, glob := range globs {
					if !strings.HasPrefix(glob, "**") {
						t.Errorf("glob %q depends on which directory is the root", glob)
					}
					if slices.Contains(globs[:i], glob) {
						t.Errorf("glob %q is there twice", glob)
					}
				}
				violating, other := 0, 0
				for _, e := range r.Examples {
					if e.Violates {
						violating++
					} else {
						other++
					}
				}
				if violating < 2 || other < 2 {
					t.Errorf("%d examples violate, %d do not; want two of each", violating, other)
				}
			})
		}
	}
}

// Every example is right, and every rule has a violating and a passing one.
func TestExamples(t *testing.T) {
	tally, err := scanner.RunExamples(load(t, names()...), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, mistake := range tally.Mistakes {
		t.Error(mistake)
	}
}

// The examples alone prove that every rule, pattern, glob, exclude and each is alive.
func TestAlive(t *testing.T) {
	by := []run.RuleSource{{From: "builtin", Bundle: load(t, names()...)}}
	life, err := scanner.Alive(t.Context(), by, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(life.Bundles) != 1 || life.Bundles[0].Alive == 0 {
		t.Fatalf("nothing was tried: %+v", life)
	}
	for _, dead := range slices.Concat(life.Bundles[0].Dead, life.Bundles[0].Unused) {
		t.Errorf("%s is not alive: %+v", dead.Rule.ID, dead.Part)
	}
}

var update = flag.Bool("update", false, "write the answers of testdata/files.txt again")

// TestFiles: testdata/files.txt has files, a path and a quoted content each, and below it the packs that it shows and
// the rules that it violates. Careful configuration violates none; the others are what rules of 0.1 missed.
func TestFiles(t *testing.T) {
	const name = "testdata/files.txt"
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bundle := load(t, names()...)
	var got strings.Builder
	for line := range strings.Lines(string(want)) {
		if line[0] == '\t' {
			continue
		}
		file, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		content, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(line, err)
		}
		found, err := check.File(t.Context(), bundle, file, []byte(content))
		var said []string
		if err != nil {
			said = append(said, "undecided")
		}
		for _, p := range starter.Packs() {
			if !p.Everywhere() && p.Holds(file, []byte(content)) {
				said = append(said, p.Name)
			}
		}
		for i := range found {
			if !slices.Contains(said, found[i].RuleID) {
				said = append(said, found[i].RuleID)
			}
		}
		if len(said) == 0 {
			said = append(said, "nothing")
		}
		got.WriteString(line + "\t" + strings.Join(said, " ") + "\n")
	}
	if *update {
		err = os.WriteFile(name, []byte(got.String()), 0o666)
	} else if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err != nil {
		t.Fatal(err)
	}
}
