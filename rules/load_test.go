package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
)

// TestLoadEverything checks every field against the file that sets all of them.
func TestLoadEverything(t *testing.T) {
	for _, g := range goldens(t, "good") {
		if g.name != "full" {
			continue
		}
		b, err := Load(g.files)
		if err != nil {
			t.Fatal(err)
		}
		want := []Rule{{
			ID: "TF-NET-001", Title: "No ingress from anywhere", Type: Boundary,
			Files: []string{"**/*.tf", "modules/{a,b}/**"}, Exclude: []string{"**/testdata/**"},
			Patterns:    PlainItems("0.0.0.0/0", "::/0"),
			Message:     "The whole internet can reach this.\nNobody wants that.\n",
			Remediation: "Name the networks.", DocsURL: "https://example.com/rules#TF-NET-001", Owner: "network-team",
			Severity: "high",
			Tags:     []string{"terraform", "network"}, Redact: true,
			Examples: []Example{{Path: "main.tf", Content: `cidr = "0.0.0.0/0"`, Violates: true},
				{Path: "main.tf", Content: "cidr = \"10.0.0.0/8\"\n"}},
			File: BoundariesFile, Line: 2,
		}, {
			ID: "INV-1", Title: "No keys", Type: Invariant, Files: []string{"**"},
			Patterns: PlainItems("BEGIN RSA PRIVATE KEY"),
			File:     InvariantsFile, Line: 2,
		}}
		if diff := cmp.Diff(want, b.Rules, cmpopts.IgnoreUnexported(Rule{}, Example{})); diff != "" {
			t.Errorf("rules (-want +got):\n%s", diff)
		}
		if b.Count(Boundary) != 1 || b.Count(Invariant) != 1 {
			t.Errorf("%d boundaries, %d invariants", b.Count(Boundary), b.Count(Invariant))
		}
		if b = New(b.Rules[:1], nil); b.Count(Boundary) != 1 || b.Count(Invariant) != 0 {
			t.Errorf("without the invariant: %d boundaries, %d invariants", b.Count(Boundary), b.Count(Invariant))
		}
		return
	}
	t.Fatal("no case full")
}

// TestIdentity computes the hash by hand, as documented.
func TestIdentity(t *testing.T) {
	files := Files{BoundariesFile: []byte(goodBoundaries),
		InvariantsFile: []byte(strings.ReplaceAll(goodInvariants, "\n", "\r\n")), DeprecatedFile: []byte("rules: []")}
	b, errs := loadFiles(files)
	if errs != nil {
		t.Fatal(errs)
	}
	sum := sha256.Sum256([]byte("rules/boundaries.yml\n" + goodBoundaries +
		"\nrules/deprecated.yml\nrules: []\nrules/invariants.yml\n" + goodInvariants + "\n"))
	if want := hex.EncodeToString(sum[:]); b.SHA256 != want {
		t.Errorf("identity %s; want %s", b.SHA256, want)
	}
}

// loadWithout loads files of which one is listed but cannot be read.
func loadWithout(files Files, name string, err error) (*Bundle, error) {
	return load(func(other string) ([]byte, error) {
		if other == name {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return files.read(other)
	}, files.strays())
}

func TestLoadUnreadable(t *testing.T) {
	files := Files{BoundariesFile: []byte(goodBoundaries), InvariantsFile: []byte(goodInvariants)}
	for _, name := range []string{BoundariesFile, InvariantsFile, DeprecatedFile} {
		_, err := loadWithout(files, name, errors.New("no luck"))
		var errs document.Errors
		if !errors.As(err, &errs) {
			t.Fatal(err)
		}
		wantCode(t, errs, document.CodeRead, name+": cannot be read: no luck; ")
	}
	files[BoundariesFile+"/x"] = nil
	delete(files, BoundariesFile)
	_, errs := loadFiles(files)
	wantCode(t, errs, document.CodeRead, "is a directory")
}

func TestNotes(t *testing.T) {
	b, errs := loadFiles(Files{
		BoundariesFile: []byte(ruleWith(`["*.tf", "**/*.md"]`, `["ab", "a", "e\u0301", "x\n", no]`) +
			"    owner: 7\n"),
		InvariantsFile:    []byte(goodInvariants),
		"rules/README.md": nil, "rules/data/names.txt": nil,
	})
	if errs != nil {
		t.Fatal(errs)
	}
	var got []string
	for _, n := range Notes(b) {
		got = append(got, n.String())
	}
	want := []string{
		`^rules/boundaries.yml:6:15: rule "R-1": "\*\.tf" matches in the root directory only; write "\*\*/\*\.tf"`,
		`^rules/boundaries.yml:7:28: rule "R-1": the pattern "ab" contains the pattern "a"`,
		`^rules/boundaries.yml:7:39: rule "R-1": the pattern ".*" is not in Unicode normal form C`,
		`^rules/boundaries.yml:7:57: rule "R-1": no is read as this text`,
		`^rules/boundaries.yml:8:12: rule "R-1": 7 is read as this text`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d notes; want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !regexp.MustCompile(want[i]).MatchString(got[i]) {
			t.Errorf("note %d: %s; want %s", i, got[i], want[i])
		}
	}
	if again := Notes(b); len(again) != len(want) {
		t.Errorf("asked again: %d notes", len(again))
	}
	// Patterns are compared up to a budget.
	rule := Rule{Files: []string{"**"}, Patterns: PlainItems("a", "b", "ab")}
	for budget, want := range map[int]int{9: 1, 7: 1, 6: 0} {
		if notes := (&noter{budget: budget, known: map[globOf][]string{}}).rule(&rule); len(notes) != want {
			t.Errorf("%d notes; want %d", len(notes), want)
		}
	}
	// Rules that were not loaded have no positions.
	if notes := Notes(New([]Rule{{ID: "A", Files: []string{"*.tf"}}}, nil)); len(notes) != 1 || notes[0].Line != 0 ||
		!strings.HasPrefix(notes[0].String(), `rule "A": `) {
		t.Errorf("made by hand: %v", notes)
	}
}

// TestSelecting: indices are appended, at the same time and without an allocation. TestSelectors has which.
func TestSelecting(t *testing.T) {
	b := New([]Rule{
		{ID: "all", Files: []string{"**"}, Exclude: []string{"vendor/**"}},
		{ID: "tf", Files: []string{"**/*.tf", "**/*.{tfvars,hcl}"}, Exclude: []string{"**/testdata/**", "*.hcl"}},
	}, nil)
	if got := b.Selecting("a.tf", []int{9}); !slices.Equal(got, []int{9, 0, 1}) {
		t.Errorf("appends: %v", got)
	}
	if got := b.SelectingBelow(".", nil); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("in the root: %v", got)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			var into []int
			for range 1000 {
				if into = b.Selecting("a/b.hcl", into[:0]); !slices.Equal(into, []int{0, 1}) {
					t.Errorf("at the same time: %v", into)
					return
				}
			}
		})
	}
	group.Wait()
	into := make([]int, 0, 8)
	if n := testing.AllocsPerRun(1000, func() { into = b.Selecting("x/y.tf", into[:0]) }); n >= 1 && !cputime.RaceDetector {
		t.Errorf("%v allocations for a path", n)
	}
}

// FuzzLoad: Load does not panic, gives the same result twice, and the result is as documented in Rule.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		for _, g := range goldens(f, dir) {
			f.Add(g.files[BoundariesFile], g.files[InvariantsFile], g.files[DeprecatedFile])
			for name, content := range g.files {
				if isOther(name) {
					f.Add(g.files[BoundariesFile], content, g.files[DeprecatedFile])
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, boundaries, invariants, deprecated []byte) {
		files := Files{BoundariesFile: boundaries, InvariantsFile: invariants}
		others := Files{BoundariesFile: boundaries, "rules/a.yml": invariants}
		if len(deprecated) > 0 {
			files[DeprecatedFile], others["rules/b.yml"] = deprecated, deprecated
		}
		loadTwice(t, files)
		loadTwice(t, others) // allowed in a 0.2 bundle
	})
}

// loadTwice checks the loaded bundle, and that a second load is equal.
func loadTwice(t *testing.T, files Files) {
	t.Helper()
	b, err := Load(files)
	again, err2 := Load(files)
	if fmt.Sprint(err) != fmt.Sprint(err2) {
		t.Fatalf("two errors:\n%v\n%v", err, err2)
	}
	if err != nil {
		checkErrors(t, files, err)
		return
	}
	opts := []cmp.Option{cmpopts.IgnoreUnexported(Rule{}, Example{}), cmpopts.EquateComparable(keyitem.Number{}),
		cmp.Comparer(func(a, b *regex.Expr) bool { return a == b || a != nil && b != nil && a.String() == b.String() })}
	if b.SHA256 != again.SHA256 || !cmp.Equal(b.Rules, again.Rules, opts...) {
		t.Fatal("two bundles")
	}
	checkBundle(t, b)
	Notes(b)
	b.Selecting("a/b.tf", nil)
}

func checkErrors(t *testing.T, files Files, err error) {
	t.Helper()
	var errs document.Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("%T", err)
	}
	for _, e := range errs {
		lines := bytes.Count(files[e.File], []byte("\n")) + 1
		if e.Code == "" || e.Found == "" || e.Fix == "" || e.File == "" || e.Line < 0 || e.Line > lines ||
			strings.ContainsAny(e.Error(), "\n\x1b") {
			t.Fatalf("%q %+v", e.Code, e)
		}
		if line, caret := e.Source(); line != "" && (e.Column > 0) != (caret >= 0) || caret > len(line) {
			t.Fatalf("%v: byte %d of %q", e, caret, line)
		}
	}
}

func checkBundle(t *testing.T, b *Bundle) {
	t.Helper()
	if len(b.Rules) == 0 || len(b.SHA256) != 64 {
		t.Fatalf("%d rules, identity %q", len(b.Rules), b.SHA256)
	}
	ids := map[string]bool{}
	notOneWord := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }
	for i, r := range append(slices.Clone(b.Rules), b.Deprecated...) {
		if r.ID == "" || ids[r.ID] || len(r.ID) > 200 || strings.ContainsFunc(r.ID, notOneWord) ||
			strings.TrimSpace(r.Title) == "" || r.Line < 1 ||
			(len(r.Files) > 0) != (len(r.Patterns)+len(r.Required) > 0) ||
			len(r.Files)+len(r.ForbiddenFiles)+len(r.RequiredFiles) == 0 {
			t.Fatalf("rule %d: %+v", i, r)
		}
		ids[r.ID] = true
		if wantFile := map[Type]string{Boundary: BoundariesFile,
			Invariant: InvariantsFile}[r.Type]; i < len(b.Rules) && r.File != wantFile && isNamed(r.File) {
			t.Fatalf("rule %d: %s in %s", i, r.Type, r.File)
		}
		for _, p := range slices.Concat(r.Patterns, r.Required) {
			text := p.Text
			if p.Kind == Key {
				text = p.Name
			}
			if strings.TrimSpace(text) == "" || len(text) > document.MaxPatternBytes || !utf8.ValidString(text) {
				t.Fatalf("pattern %+v", p)
			}
		}
		for _, g := range slices.Concat(r.Files, r.Excludes(), r.ForbiddenFiles, r.RequiredFiles) {
			if err := glob.Check(g); err != nil {
				t.Fatalf("glob %q: %v", g, err)
			}
		}
		if !slices.Contains([]string{"", "low", "medium", "high", "critical"}, r.Severity) {
			t.Fatalf("severity %q", r.Severity)
		}
		for _, x := range r.Examples {
			if !fs.ValidPath(x.Path) || x.Content == "" {
				t.Fatalf("example %+v", x)
			}
		}
		for kind, places := range r.places {
			n := len(r.globs(PartKind(kind)))
			switch PartKind(kind) {
			case PatternItem:
				n = len(r.Patterns)
			case RequiredItem:
				n = len(r.Required)
			}
			if len(places) != n {
				t.Fatalf("places of %+v", r)
			}
		}
	}
}

// load02 loads the valid bundle with all features of 0.2.
func load02(t *testing.T) (*Bundle, Files) {
	t.Helper()
	for _, g := range goldens(t, "good") {
		if g.name == "everything-02" {
			b, err := Load(g.files)
			if err != nil {
				t.Fatal(err)
			}
			return b, g.files
		}
	}
	t.Fatal("no case everything-02")
	return nil, nil
}

// TestLoad02 checks every field of 0.2 against a bundle that sets all of them.
func TestLoad02(t *testing.T) {
	b, _ := load02(t)
	mapping := func(item Item, name string) Item {
		item.Name = name
		return item
	}
	want := []Rule{
		{
			ID: "TF-RDS-001", Title: "Databases are private", Type: Boundary, Files: []string{"**/*.tf", "[A-Z]*.{tf,TF}"},
			Exclude: []string{"**/testdata/**"}, FileExclude: []string{"vendor/**", "**/*.golden"}, PathCase: true,
			Patterns: []Item{
				Plain("0.0.0.0/0"),
				mapping(Item{Text: `acl = "public-read"`, Spaces: true}, `{"text":"acl = \"public-read\"","spaces":"any"}`),
				mapping(Item{Text: "std::bind", Words: true}, `{"text":"std::bind","words":true}`),
				mapping(Item{Text: "tlsv1.0", IgnoreCase: true}, `{"text":"tlsv1.0","case":"ignore"}`),
				mapping(Item{Text: "a b", Spaces: true, Words: true, IgnoreCase: true},
					`{"text":"a b","spaces":"any","words":true,"case":"ignore"}`),
				Plain("a b"),
				mapping(Item{Kind: Regex, Text: `image:\s*\S+:latest\b`}, `{"regex":"image:\\s*\\S+:latest\\b"}`),
				mapping(Item{Text: "{"}, `"{"`),
			},
			File: BoundariesFile, Line: 5,
		},
		{
			ID: "KEY-002", Title: "No private keys", Type: Boundary, ForbiddenFiles: []string{"**/*.pem", "**/id_rsa"},
			Exclude: []string{"testdata/**"}, FileExclude: []string{"vendor/**", "**/*.golden"},
			File: BoundariesFile, Line: 21,
		},
		{
			ID: "B-1", Title: "b", Type: Boundary, Files: []string{"**"}, FileExclude: []string{"b"},
			Patterns: PlainItems("b"), File: "rules/b.yml", Line: 5,
		},
		{
			ID: "OLD-1", Title: "A file of 0.1", Type: Invariant, Files: []string{"**/*.tf"}, Patterns: PlainItems("{"),
			File: InvariantsFile, Line: 2,
		},
		{
			ID: "INV-1", Title: "A license, and in each file its name", Type: Invariant, Files: []string{"**/*.go"},
			Patterns: []Item{mapping(Item{Text: "x", Words: true}, `{"text":"x","words":true}`)},
			Required: []Item{
				Plain("SPDX"), mapping(Item{Text: "Copyright", IgnoreCase: true}, `{"text":"Copyright","case":"ignore"}`),
				mapping(Item{Kind: Regex, Text: `^package \w+`}, `{"regex":"^package \\w+"}`),
			},
			RequiredFiles: []string{"LICENSE"}, ForbiddenFiles: []string{"**/*.exe"}, File: "rules/a.yml", Line: 4,
		},
	}
	if diff := cmp.Diff(want, b.Rules, cmpopts.IgnoreUnexported(Rule{})); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	want = []Rule{
		{
			ID: "DEP-1", Title: "Of either type", Type: Boundary, Files: []string{"**"},
			Patterns: []Item{Plain("a"), mapping(Item{Kind: Regex, Text: "b+"}, `{"regex":"b+"}`)}, Required: PlainItems("c"),
			ForbiddenFiles: []string{"d"}, RequiredFiles: []string{"e"}, File: DeprecatedFile, Line: 3,
		},
		{
			ID: "DEP-2", Title: "An invariant", Type: Invariant, RequiredFiles: []string{"e"},
			File: DeprecatedFile, Line: 13,
		},
		{
			ID: "C-1", Title: "c", Type: Invariant, Files: []string{"**"}, FileExclude: []string{"c"},
			Patterns: PlainItems("c"), File: "rules/c.yml", Line: 5,
		},
	}
	if diff := cmp.Diff(want, b.Deprecated, cmpopts.IgnoreUnexported(Rule{})); diff != "" {
		t.Errorf("deprecated rules (-want +got):\n%s", diff)
	}
	if want := []string{BoundariesFile, "rules/b.yml", "rules/c.yml"}; !slices.Equal(b.FileExcludes, want) {
		t.Errorf("excludes of files: %v", b.FileExcludes)
	}
	if got := b.Selecting("vendor/x.go", nil); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("vendor/x.go is selected by %v", got)
	}
}

// TestBundleOwner: each rule of the bundle without an owner has the one in boundaries.yml.
func TestBundleOwner(t *testing.T) {
	rule := func(id, more string) string {
		return "  - {id: " + id + ", title: t, " + more + "match: {files: [\"**\"], forbidden_patterns: [a]}}\n"
	}
	b, err := Load(Files{
		BoundariesFile:    []byte("bundle: \"0.2\"\nowner: CODEOWNERS\nrules:\n" + rule("A", "") + rule("B", "owner: b, ")),
		"rules/other.yml": []byte("bundle: \"0.2\"\ntype: boundary\nrules:\n" + rule("C", "")),
		DeprecatedFile:    []byte("bundle: \"0.2\"\nrules:\n" + rule("D", "")),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range append(b.Rules, b.Deprecated...) {
		got += r.ID + " " + r.Owner + "; "
	}
	if want := "A CODEOWNERS; B b; C CODEOWNERS; D CODEOWNERS; "; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// BenchmarkSelecting matches 1,000 paths with 200 rules of the usual shapes.
func BenchmarkSelecting(b *testing.B) {
	var list []Rule
	for i := range 200 {
		globs := [][]string{
			{"**/*.tf"}, {fmt.Sprintf("services/s%d/**", i)}, {fmt.Sprintf("**/deploy%d*.yaml", i)},
			{fmt.Sprintf("services/*/**/*.{tf,e%d}", i)}, {"**/Dockerfile"},
		}[i%5]
		list = append(list, Rule{ID: fmt.Sprintf("R-%d", i), Type: Boundary, Title: "t", Files: globs,
			Patterns: PlainItems("x")})
	}
	bundle := New(list, nil)
	var paths []string
	for i := range 1000 {
		paths = append(paths, fmt.Sprintf("services/s%d/k8s/base/deploy%d.%s", i%50, i,
			[]string{"yaml", "tf", "md"}[i%3]))
	}
	var selected []int
	b.ReportAllocs()
	for b.Loop() {
		all := 0
		for _, p := range paths {
			selected = bundle.Selecting(p, selected[:0])
			all += len(selected)
		}
		if all < 1000 {
			b.Fatal(all, "selected")
		}
	}
}
