package rules

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// load02 loads the good bundle that has all of 0.2.
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
			File: BoundariesFile, Line: 22,
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
	if want := []FileExclude{
		{BoundariesFile, []string{"vendor/**", "**/*.golden"}}, {"rules/b.yml", []string{"b"}}, {"rules/c.yml", []string{"c"}},
	}; !cmp.Equal(b.FileExcludes, want) {
		t.Errorf("excludes of files: %v", b.FileExcludes)
	}
	if got := b.Selecting("vendor/x.go", nil); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("vendor/x.go is selected by %v", got)
	}
}
