package rules

import (
	"slices"
	"testing"
)

func TestLosingSight(t *testing.T) {
	const file, folder = true, false
	for _, c := range []struct {
		name           string
		files, exclude []string
		link, target   string
		file           bool
		loses          bool
	}{
		{"selects both", []string{"**/*.tf"}, nil, "a.tf", "b/c.tf", file, false},
		{"selects the link alone", []string{"**/*.tf"}, nil, "a.tf", "a.txt", file, true},
		{"the same, and a folder", []string{"*.tf"}, nil, "a.tf", "a", folder, true},
		{"selects the target alone", []string{"**/*.tf"}, nil, "a", "a.tf", file, false},
		{"selects neither", []string{"**/*.tf"}, nil, "a", "b", file, false},
		{"the target is excluded", []string{"**"}, []string{"b/**"}, "a", "b/c", file, true},
		{"the link is excluded", []string{"**"}, []string{"a"}, "a", "b", file, false},
		{"everywhere alike", []string{"**/*.tf"}, nil, "a", "b", folder, false},
		{"beneath the link alone", []string{"modules/**"}, nil, "modules", "other", folder, true},
		{"the same, of a file", []string{"modules/**"}, nil, "modules/x", "modules/y", file, false},
		{"beneath both", []string{"modules/**"}, nil, "modules/a", "modules/b", folder, false},
		{"beneath the target, and more there", []string{"a/*.tf", "b/**"}, nil, "a", "b", folder, false},
		{"less beneath the target", []string{"a/**", "b/*.tf"}, nil, "a", "b", folder, true},
		{"another glob says the same", []string{"a/*.tf", "b/**/*.tf"}, nil, "a", "b", folder, false},
		{"the root", []string{"**/*.tf"}, nil, "a", "", folder, false},
		{"the root, and a rule for the folder", []string{"a/**"}, nil, "a/up", "", folder, true},
		{"the root, of which all is selected", []string{"**"}, nil, "a/up", "", folder, false},
		{"what is beneath the target is excluded", []string{"**"}, []string{"test/**"}, "a", "test", folder, true},
		{"some of it", []string{"**"}, []string{"**/test/*.md"}, "a", "test", folder, true},
		{"some of both", []string{"**"}, []string{"**/test/*.md"}, "a/test", "test", folder, false},
		{"more beneath the link", []string{"**"}, []string{"a/**"}, "a", "b", folder, false},
		{"the same everywhere", []string{"**"}, []string{"**/*.md"}, "a", "b", folder, false},
		{"a class that could be the slash", []string{"a[!x]*.tf"}, nil, "a", "b", folder, true},
		{"one, and everything beneath the target", []string{"a[!x]*.tf", "b/**"}, nil, "a", "b", folder, false},
		{"one that excludes", []string{"**"}, []string{"b[!x]*.tf"}, "a", "b", folder, true},
		{"one that excludes in doubt beneath the link", []string{"**"}, []string{"a[!x]*", "b/**"}, "a", "b", folder,
			true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New([]Rule{{ID: "OTHER", Files: []string{"**"}}, {ID: "R", Files: c.files, Exclude: c.exclude},
				{ID: "ALIKE", Files: c.files, Exclude: c.exclude}}, nil)
			want := []int(nil)
			if c.loses {
				want = []int{1, 2}
			}
			if got := b.LosingSight(c.link, c.target, c.file, nil); !slices.Equal(got, want) {
				t.Errorf("%v; want %v", got, want)
			}
			if got := (&Bundle{Rules: b.Rules}).LosingSight(c.link, c.target, c.file, nil); !slices.Equal(got, want) {
				t.Errorf("of a bundle that was not compiled: %v; want %v", got, want)
			}
			into := b.LookingInto(c.link, nil)
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
	if got := b.LookingInto("a", nil); !slices.Equal(got, []int{0, 1, 4}) {
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
