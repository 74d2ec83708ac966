package call

import (
	"slices"
	"testing"
)

// TestRespelled: a path is the same by each spelling of the folder that it is in, for rules that allow, deny or say what it
// is not.
func TestRespelled(t *testing.T) {
	path := func(op Op, text string, not bool) Predicate {
		return Predicate{Test: &Test{Fact: Fact{Source: FromFSPath}, Op: op, Text: text, Not: not}}
	}
	set := &Set{Rules: []Rule{
		{ID: "in", When: path(Under, "/real/repo", false)},
		{ID: "beneath", When: Predicate{Any: []Predicate{path(Under, "/real/repo/src", false), path(Equals, "/real/repo/x", false)}}},
		{ID: "outside", When: Predicate{All: []Predicate{path(Under, "/real/repo", true)}}},
		{ID: "elsewhere", When: path(Under, "/real/repository", false)},
		{ID: "tool", When: Predicate{Test: &Test{Fact: Fact{Source: FromTool}, Op: Equals, Text: "Read"}}},
	}}
	again := set.Respelled("/real/repo", []string{"/link/repo", "/other"})
	for name, want := range map[string][]string{
		"/real/repo":           {"in", "tool"},
		"/link/repo":           {"in", "tool"},
		"/link/repo/src/a.go":  {"in", "beneath", "tool"},
		"/real/repo/src/a.go":  {"in", "beneath", "tool"},
		"/other/x":             {"in", "beneath", "tool"},
		"/link/repo/x/y":       {"in", "tool"},
		"/link/repository":     {"outside", "tool"},
		"/real/repository/src": {"outside", "elsewhere", "tool"},
		"/otherwise/src":       {"outside", "tool"},
	} {
		var got []string
		for i := range again.Rules {
			f := &facts{call: &Call{Tool: "Read", Input: NewObject(Member{"file_path", Text(name)})}}
			if ok, _ := again.Rules[i].When.holds(f); ok {
				got = append(got, again.Rules[i].ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if set.Rules[0].When.Test == nil || set.Rules[1].When.Any[0].Test.Text != "/real/repo/src" {
		t.Error("the set was changed")
	}
}
