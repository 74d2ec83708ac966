package settings

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// token is a string or a comment: a second way to find comments.
var token = regexp.MustCompile(`"(?:[^"\\]|\\(?s:.))*(?:"|\z)|//[^\n]*|/\*(?s:.*?)\*/`)

func isComment(token string) bool { return token[0] == '/' }

// uncommented is a text with a space for each byte of a comment.
func uncommented(text string) string {
	return token.ReplaceAllStringFunc(text, func(found string) string {
		if isComment(found) {
			return strings.Repeat(" ", len(found))
		}
		return found
	})
}

// comments are those of a text, in order, without the spaces at their ends.
func comments(text string) []string {
	var all []string
	for _, found := range token.FindAllString(text, -1) {
		if isComment(found) {
			all = append(all, strings.TrimRight(found, spaces))
		}
	}
	return all
}

func TestWithoutComments(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"/", "/"},
		{"//", "  "},
		{"// \r\n1//", "    \n1  "},
		{"/**/1/***/2/* /* */3", "    1     2        3"},
		{"/*/ 1 */2", "        2"},
		{"/* 1 // */2", "          2"},
		{"/*", "/*"},
		{"1 /* 2 *", "1 /* 2 *"},
		{`"//" "/* */" "\"//"//"`, `"//" "/* */" "\"//"   `},
		{`"\\"//"`, `"\\"   `},
		{`"a // b`, `"a // b`},
		{"/*é*/é", "      é"},
		{"// a \r b\n1", "        \n1"}, // a lone carriage return does not end it: Gemini CLI reads on, too
	} {
		if got := string(withoutComments([]byte(test.text))); got != test.want || got != uncommented(test.text) {
			t.Errorf("%q: %q, want %q; the second way %q", test.text, got, test.want, uncommented(test.text))
		}
	}
}

// between makes what may be between two tokens.
func between(newline string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		inside := rapid.StringOfN(rapid.SampledFrom([]rune(`a ,"\]}/*{[:é`+"\t")), 0, 5, -1)
		var b strings.Builder
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			switch rapid.IntRange(0, 4).Draw(t, "part") {
			case 0:
				b.WriteString("//" + inside.Draw(t, "line") + newline)
			case 1:
				b.WriteString("/*" + strings.ReplaceAll(inside.Draw(t, "block"), "*/", "") + " */")
			case 2:
				b.WriteString(newline)
			default:
				b.WriteString(rapid.SampledFrom([]string{" ", "  ", "\t"}).Draw(t, "space"))
			}
		}
		return b.String()
	})
}

// listed is a list: its opening bracket, items and closing bracket, with something between them.
func listed(t *rapid.T, gap *rapid.Generator[string], brackets string, items []string) string {
	text := brackets[:1]
	for i, it := range items {
		if i > 0 {
			text += ","
		}
		text += gap.Draw(t, "before") + it + gap.Draw(t, "after")
	}
	return text + gap.Draw(t, "end") + brackets[1:]
}

// madeSettings makes a file of Gemini CLI's with comments, in whose list of hooks those of ours may be.
func madeSettings(t *rapid.T, ours []string) string {
	gap := between(rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"))
	values := []string{`1`, `"// \" /*"`, `[]`, `{}`, `[1, {"a": "]"}]`, `null`, `"é"`}
	member := func(name, value string) string {
		return `"` + name + `"` + gap.Draw(t, "colon") + ":" + gap.Draw(t, "value") + value
	}
	members := func(names ...string) []string {
		var all []string
		for _, name := range names {
			if rapid.Bool().Draw(t, name) {
				all = append(all, member(name, rapid.SampledFrom(values).Draw(t, "value")))
			}
		}
		return all
	}
	list := rapid.SliceOfN(rapid.SampledFrom(values), 0, 3).Draw(t, "list")
	for _, it := range ours {
		list = slices.Insert(list, rapid.IntRange(0, len(list)).Draw(t, "at"), it)
	}
	root := members("a", "b", "c")
	if ours != nil || rapid.Bool().Draw(t, "hooks") {
		hooks := members("Post", "Stop")
		if ours != nil || rapid.Bool().Draw(t, "BeforeTool") {
			at := rapid.IntRange(0, len(hooks)).Draw(t, "at")
			hooks = slices.Insert(hooks, at, member("BeforeTool", listed(t, gap, "[]", list)))
		}
		at := rapid.IntRange(0, len(root)).Draw(t, "at")
		root = slices.Insert(root, at, member("hooks", listed(t, gap, "{}", hooks)))
	}
	return gap.Draw(t, "begin") + listed(t, gap, "{}", root) + gap.Draw(t, "end")
}

// TestComments: in whatever file with comments, Install adds the hook and nothing else, Uninstall gives back the
// bytes, and a hook that is anywhere in its list goes without a comment or a value next to it.
func TestComments(t *testing.T) {
	of := Named("gemini")
	fresh := decode(t, install(t, of, ""))
	entry := fresh["hooks"].(map[string]any)["BeforeTool"].([]any)[0]
	encoded, err := json.Marshal(entry)
	if err != nil {
		t.Fatal(err)
	}
	// with returns what a file says, with or without the hook; what is empty without it may be absent.
	with := func(text string, ours bool) map[string]any {
		v := decode(t, uncommented(text))
		hooks, _ := v["hooks"].(map[string]any)
		if hooks == nil {
			hooks = map[string]any{}
		}
		list, _ := hooks["BeforeTool"].([]any)
		list = slices.DeleteFunc(list, func(it any) bool { return reflect.DeepEqual(it, entry) })
		if ours {
			list = append(list, entry)
		}
		if hooks["BeforeTool"] = list; len(list) == 0 {
			delete(hooks, "BeforeTool")
		}
		if v["hooks"] = hooks; len(hooks) == 0 {
			delete(v, "hooks")
		}
		return v
	}
	t.Run("installed", rapid.MakeCheck(func(r *rapid.T) {
		before := madeSettings(r, nil)
		out := install(t, of, before)
		if diff := cmp.Diff(with(before, true), decode(t, uncommented(out))); diff != "" {
			r.Fatalf("%q became %q (-want +got):\n%s", before, out, diff)
		}
		if diff := cmp.Diff(comments(before), comments(out)); diff != "" {
			r.Fatalf("%q became %q; comments (-want +got):\n%s", before, out, diff)
		}
		if again := install(t, of, out); again != out {
			r.Fatalf("%q became %q, and then %q", before, out, again)
		}
		if back, err := of.Uninstall(source(out)); err != nil || string(back) != before {
			r.Fatalf("%q became %q, and then %q: %v", before, out, back, err)
		}
	}))
	t.Run("uninstalled", rapid.MakeCheck(func(r *rapid.T) {
		before := madeSettings(r, []string{string(encoded)})
		if again := install(t, of, before); again != before {
			r.Fatalf("%q became %q", before, again)
		}
		out, err := of.Uninstall(source(before))
		if err != nil {
			r.Fatalf("%q: %v", before, err)
		}
		if diff := cmp.Diff(with(before, false), with(string(out), false)); diff != "" {
			r.Fatalf("%q became %q (-want +got):\n%s", before, out, diff)
		}
		if diff := cmp.Diff(comments(before), comments(string(out))); diff != "" {
			r.Fatalf("%q became %q; comments (-want +got):\n%s", before, out, diff)
		}
		if strings.Contains(string(out), "policyscan") {
			r.Fatalf("%q became %q", before, out)
		}
	}))
}

// TestCommentInHook: a comment within the hook would go with it, so it has to be moved first.
func TestCommentInHook(t *testing.T) {
	of := Named("gemini")
	text := strings.Replace(install(t, of, ""), "{\n        \"matcher\"", "{ // mine\n        \"matcher\"", 1)
	_, inErr := of.Install(source(text), "", nil)
	_, outErr := of.Uninstall(source(text))
	for _, err := range []error{inErr, outErr} {
		const want = "s.json:4:7: this hook of policyscan has a comment in it; move the comment out of it"
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
