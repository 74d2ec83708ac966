package starter_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path"
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

// load loads the bundle of these topics as strictly as the program does.
func load(t *testing.T, topics ...string) *rules.Bundle {
	t.Helper()
	files := starter.Files(topics...)
	names := slices.Sorted(maps.Keys(files))
	if want := []string{rules.BoundariesFile, rules.InvariantsFile}; !slices.Equal(names, want) {
		t.Fatalf("files %q, want %q", names, want)
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

func ids(bundle *rules.Bundle) []string {
	var ids []string
	for i := range bundle.Rules {
		ids = append(ids, bundle.Rules[i].ID)
	}
	slices.Sort(ids)
	return ids
}

func topicNames() []string {
	var names []string
	for _, topic := range starter.Topics() {
		names = append(names, topic.Name)
	}
	return names
}

func TestTopics(t *testing.T) {
	want := []string{"terraform", "kubernetes", "dockerfile", "github"}
	if got := topicNames(); !slices.Equal(got, want) {
		t.Errorf("topics %q, want %q", got, want)
	}
}

// Every combination of topics is a valid bundle: the whole bundle without the rules of the other topics.
func TestEveryCombination(t *testing.T) {
	all := topicNames()
	of := map[string][]string{} // topic to ids
	for _, name := range all {
		of[name] = ids(load(t, name))
		if n := len(of[name]); n < 6 || n > 16 {
			t.Errorf("%s: %d rules, want 6 to 16", name, n)
		}
	}
	for mask := 1; mask < 1<<len(all); mask++ {
		var names, want []string
		for i, name := range all {
			if mask&(1<<i) != 0 {
				names = append(names, name)
				want = append(want, of[name]...)
			}
		}
		slices.Sort(want)
		t.Run(strings.Join(names, "+"), func(t *testing.T) {
			if got := ids(load(t, names...)); !slices.Equal(got, want) {
				t.Errorf("rules %q, want %q", got, want)
			}
			backwards := slices.Clone(names)
			slices.Reverse(backwards)
			if !maps.EqualFunc(starter.Files(names...), starter.Files(append(backwards, names...)...), bytes.Equal) {
				t.Error("the bytes depend on the order or the number of the names")
			}
		})
	}
	if !maps.EqualFunc(starter.Files(), starter.Files(all...), bytes.Equal) {
		t.Error("no topic and all topics give different bytes")
	}
}

func TestBytes(t *testing.T) {
	for name, text := range starter.Files() {
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

func TestUnknownTopic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Files took a name that is no topic's")
		}
	}()
	starter.Files("terraform", "ansible")
}

func TestRules(t *testing.T) {
	for _, topic := range starter.Topics() {
		bundle := load(t, topic.Name)
		for i := range bundle.Rules {
			r := &bundle.Rules[i]
			t.Run(r.ID, func(t *testing.T) {
				if r.Message == "" || r.Remediation == "" || r.Severity == "" || len(r.Tags) == 0 {
					t.Error("a text is missing")
				}
				if !strings.HasPrefix(r.DocsURL, "https://") {
					t.Errorf("docs_url %q", r.DocsURL)
				}
				globs := append(slices.Clone(r.Files), r.Exclude...)
				for i, glob := range globs {
					if !strings.HasPrefix(glob, "**/") {
						t.Errorf("glob %q depends on which directory is the root", glob)
					}
					if slices.Contains(globs[:i], glob) {
						t.Errorf("glob %q is there twice", glob)
					}
				}
				checkExamples(t, topic, r)
			})
		}
	}
}

// A violating example counts only if its path is selected; TestExamples runs `policyscan test`.
func checkExamples(t *testing.T, topic starter.Topic, r *rules.Rule) {
	manifest := []byte("apiVersion: v1\nkind: Pod\n")
	head := map[string][]byte{".yaml": manifest, ".yml": manifest, ".YAML": manifest, ".json": []byte(`{"apiVersion": "v1", "kind": "Pod"}`)}
	aside := regexp.MustCompile(`\.tfstate|\.tftpl$|action\.yml$`)
	seen := map[bool]int{}
	for i, e := range r.Examples {
		seen[e.Violates]++
		if e.Violates && !r.Selects(e.Path) {
			t.Errorf("example %d: %s is not selected", i, e.Path)
		}
		// Some files show no topic, but never occur alone.
		if r.Selects(e.Path) && !topic.Holds(e.Path, head[path.Ext(e.Path)]) && !aside.MatchString(e.Path) {
			t.Errorf("example %d: %s is not a file of the topic %s", i, e.Path, topic.Name)
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("%d examples violate, %d do not; want both", seen[true], seen[false])
	}
}

// Every example is right, and every rule has a violating and a passing one.
func TestExamples(t *testing.T) {
	tally, err := scanner.RunExamples(load(t), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, mistake := range tally.Mistakes {
		t.Error(mistake)
	}
}

// The examples alone prove that every rule, pattern, glob, exclude and each is alive.
func TestAlive(t *testing.T) {
	by := []run.RuleSource{{From: "builtin", Bundle: load(t)}}
	life, err := scanner.Alive(t.Context(), by, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(life.Bundles) != 1 || life.Bundles[0].Alive == 0 {
		t.Fatalf("nothing was tried: %+v", life)
	}
	for _, dead := range slices.Concat(life.Bundles[0].Dead, life.Bundles[0].Unused) {
		t.Errorf("not alive: %+v", dead)
	}
}

var update = flag.Bool("update", false, "write the answers of testdata/files.txt again")

// TestFiles: testdata/files.txt has files, a path and a quoted content each, and below it the topics that it shows and
// the rules that it violates. Careful configuration violates none; the others are what rules of 0.1 missed.
func TestFiles(t *testing.T) {
	const name = "testdata/files.txt"
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	bundle := load(t)
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
		for _, topic := range starter.Topics() {
			if topic.Holds(file, []byte(content)) {
				said = append(said, topic.Name)
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
