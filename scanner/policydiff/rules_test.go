package policydiff

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// TestFieldChangesAreSame: exactly the differences by [rules.Rule.Same] are named.
func TestFieldChangesAreSame(t *testing.T) {
	whole := rules.Rule{
		ID: "R", Title: "t", Type: rules.Boundary, Files: []string{"a", "b"}, Exclude: []string{"c"},
		FileExclude: []string{"d", "e"}, Required: rules.PlainItems("s", "t"), Containing: rules.PlainItems("u", "v"),
		ForbiddenFiles: []string{"f", "g"},
		RequiredFiles:  []string{"h", "i"}, Patterns: rules.PlainItems("p", "q"), Message: "m", Remediation: "r",
		DocsURL: "https://d", Owner: "o",
		Severity: "low", Tags: []string{"x"},
		Examples: []rules.Example{{Path: "a"}}, File: "rules/boundaries.yml", Line: 3,
	}
	fields := reflect.TypeFor[rules.Rule]()
	named := map[string]bool{}
	for i := range fields.NumField() {
		f := fields.Field(i)
		if !f.IsExported() {
			continue
		}
		other := whole
		switch v := reflect.ValueOf(&other).Elem().Field(i); v.Kind() {
		case reflect.String:
			v.SetString("other")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int:
			v.SetInt(99)
		case reflect.Slice:
			v.Set(v.Slice(1, v.Len()))
		default:
			t.Fatalf("a field of kind %s", v.Kind())
		}
		got := fieldChanges(&whole, &other)
		if same := whole.Same(other); f.Name != "ID" && same != (len(got) == 0) {
			t.Errorf("%s: Same says %v, and the changes are %v", f.Name, same, got)
		}
		for _, c := range got {
			if named[c.Name] && f.Name != "FileExclude" { // its globs count as those of the rule
				t.Errorf("%s: %s was named for another field, too", f.Name, c.Name)
			}
			named[c.Name] = true
		}
	}
	other := whole
	other.Patterns, other.Exclude, other.Owner = rules.PlainItems("q", "p", "n"), []string{"c"}, ""
	want := []verdict.FieldChange{
		{Name: "forbidden_patterns", Added: []string{"n"}}, {Name: "owner", Removed: []string{"o"}},
	}
	if diff := cmp.Diff(want, fieldChanges(&whole, &other), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		exclude, fileExclude []string
		want                 []verdict.FieldChange
	}{
		{[]string{"e", "d", "c"}, nil, nil},
		{nil, []string{"d", "c", "e"}, nil},
		{[]string{"c", "d"}, []string{"e", "c", "d"}, nil},
		{[]string{"c"}, []string{"d"}, []verdict.FieldChange{{Name: "exclude", Removed: []string{"e"}}}},
		{[]string{"x", "c"}, []string{"e", "d"}, []verdict.FieldChange{{Name: "exclude", Added: []string{"x"}}}},
	} {
		other := whole
		other.Exclude, other.FileExclude = c.exclude, c.fileExclude
		if diff := cmp.Diff(c.want, fieldChanges(&whole, &other), cmpopts.EquateEmpty()); diff != "" ||
			whole.Same(other) != (c.want == nil) {
			t.Errorf("exclude %q, of the file %q: the same: %v; %s", c.exclude, c.fileExclude, whole.Same(other), diff)
		}
	}
	// Without the exclude of a file, the order counts as usual.
	whole.FileExclude = nil
	whole.Exclude = []string{"c", "d"}
	other = whole
	other.Exclude = []string{"d", "c"}
	if diff := cmp.Diff([]verdict.FieldChange{{Name: "exclude"}}, fieldChanges(&whole, &other),
		cmpopts.EquateEmpty()); diff != "" ||
		whole.Same(other) {
		t.Error(diff)
	}
	// A pattern is the same by any name: that of a string that begins with a brace depends on its file's version.
	brace := rules.Plain("{b")
	whole.Patterns, whole.Required = []rules.Item{brace}, []rules.Item{brace, rules.Plain("s")}
	other = whole
	other.Patterns, other.Required = []rules.Item{brace.Named()}, []rules.Item{brace.Named(), rules.Plain("t")}
	want = []verdict.FieldChange{{Name: "required_patterns", Removed: []string{"s"}, Added: []string{"t"}}}
	if diff := cmp.Diff(want, fieldChanges(&whole, &other), cmpopts.EquateEmpty()); diff != "" ||
		brace == brace.Named() {
		t.Error(diff)
	}
	head := rules.New([]rules.Rule{other}, nil)
	if ask := (rules.PatternRef{Of: rules.ForbiddenPattern}); ask.Without(&whole, &head.Rules[0], "a") != "" {
		t.Error("the head's rule is said not to forbid a string that it names otherwise")
	}
	other.Required = []rules.Item{brace.Named(), rules.Plain("s")}
	if !whole.Same(other) {
		t.Error("two rules differ by the name of a string alone")
	}
	other = whole
	other.Files = []string{"b", "a"}
	if diff := cmp.Diff([]verdict.FieldChange{{Name: "files"}}, fieldChanges(&whole, &other),
		cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
