package scanner

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// drawKeyed adds items with keys to rules, and files for them: of some formats, some of which cannot be parsed.
func drawKeyed(tt testing.TB, t *rapid.T, dir string, list []rules.Rule) {
	items := []string{"{key: a}", "{key: a.b, is: 1}", "{key: a, is: 1, format: yaml}", "{regex: 'a+b'}",
		"{text: a b, spaces: any}"}
	for i := range list {
		if len(list[i].Files) == 0 || !rapid.Bool().Draw(t, "with keys") {
			continue
		}
		b := keyBundle(tt, "match: {files: ['**'], required_absent: ["+strings.Join(
			rapid.SliceOfNDistinct(rapid.SampledFrom(items), 1, 3, rapid.ID[string]).Draw(t, "items"), ", ")+"]}")
		list[i].Patterns = append(list[i].Patterns, b.Rules[0].Patterns...)
		list[i].Unparsable = rapid.Bool().Draw(t, "unparsable")
	}
	for i, text := range rapid.SliceOfN(rapid.SampledFrom([]string{
		"a: 1\n", "a: {b: 1}\n", "a: [", `{"a": {"b": 1}}`, "a = 1\n", "aab\n", "a \t b",
		"\xff\xfea\x00:\x00 \x001\x00\n\x00", "",
		"version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("4d", 32) + "\nsize 12345\n",
	}), 0, 6).Draw(t, "documents") {
		name := filepath.Join(dir, "a", string(rune('k'+i))+rapid.SampledFrom([]string{".yml", ".tf", ".json",
			".txt"}).Draw(t, "ending"))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, target := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a/k.yml", "../b", "/etc", "b/x", "a"}), 0,
		3, rapid.ID[string]).Draw(t, "links") {
		if err := os.Symlink(target, filepath.Join(dir, "link-"+strings.ReplaceAll(target, "/",
			"_")+".tf")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExplainIsScan: the explanation of each file of a tree agrees with a scan of the whole tree, and each result with
// the violations and errors.
func TestExplainIsScan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := drawRules02(rt, "R", 5)
		inTempDir(t, rt, func(dir string) {
			names := drawTree(rt, dir, 15)
			drawKeyed(t, rt, dir, list)
			b := rules.New(slices.Clone(list), nil)
			for range rapid.IntRange(0, 4).Draw(rt, "allowances") {
				b.Allowances = append(b.Allowances, rules.Allowance{
					Rule: rapid.SampledFrom(list).Draw(rt, "rule").ID, File: rapid.SampledFrom(names).Draw(rt, "file"),
					AtMost: rapid.IntRange(1, 9).Draw(rt, "at_most"), Owner: "o", Reason: "r",
				})
			}
			whole := scanDir(t, dir, b, testOptions{})
			covered, scanned, bytes := 0, 0, int64(0)
			err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				path, err := filepath.Rel(dir, name)
				if err != nil {
					return err
				}
				x, err := Explain(t.Context(), testOptions{Workers: 1}.run(one(b), tree.Dir(openRoot(t, dir))), path)
				if err != nil {
					rt.Fatalf("%s: %v", path, err)
				}
				checkExplained(rt, x, whole)
				if x.Covered {
					covered++
				}
				if x.Covered && x.NotScanned == "" {
					scanned++
					bytes += x.Bytes
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			if c := whole.Coverage; covered != c.Governed || scanned != c.Scanned || bytes != c.Bytes {
				rt.Fatalf("%d covered, %d scanned, %d bytes are explained, %+v", covered, scanned, bytes, c)
			}
		})
	})
}

// checkExplained compares the explanation of a file with the verdict on the whole tree, and the results with both.
func checkExplained(t *rapid.T, x *Explanation, whole *verdict.Verdict) {
	var violations []verdict.Violation
	for _, v := range whole.Violations {
		if v.File == x.Path {
			violations = append(violations, v)
		}
	}
	if d := cmp.Diff(violations, x.Violations, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s: -scan +explained: %s", x.Path, d)
	}
	var allowed []verdict.AllowedViolation
	for _, v := range whole.AllowedViolations {
		if v.File == x.Path {
			allowed = append(allowed, v)
		}
	}
	if d := cmp.Diff(allowed, x.AllowedViolations, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s: allowed: -scan +explained: %s", x.Path, d)
	}
	var errs []verdict.Error
	for _, e := range whole.Errors {
		if e.File == x.Path {
			errs = append(errs, e)
		}
	}
	if d := cmp.Diff(errs, x.Errors, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("%s: -scan +explained: %s", x.Path, d)
	}
	want := NotCovered
	switch {
	case len(violations) > 0:
		want = Violated
	case len(errs) > 0:
		want = Undecided
	case len(allowed) > 0:
		want = Allowed
	case x.Covered:
		want = Passed
	}
	if x.Outcome != want || x.Covered != (x.Outcome != NotCovered) {
		t.Fatalf("%s: the result is %q, want %q: %+v", x.Path, x.Outcome, want, x)
	}
	broken, let := map[string]int{}, map[string]int{}
	for _, v := range allowed {
		let[v.RuleID]++
	}
	for _, v := range violations {
		broken[v.RuleID]++
	}
	for i := range x.Rules {
		r := &x.Rules[i]
		n, m := 0, 0
		for _, item := range r.Items {
			switch item.Outcome {
			case Violated:
				n++
			case Allowed:
				m++
			}
			asked := len(item.Encodings) > 0 || item.Format != "" || item.Name != "" &&
				item.Ref.Of == rules.ForbiddenFile
			if item.Outcome == Passed && !asked && item.Note == "" {
				t.Fatalf("%s: nothing says why %s of %s passes", x.Path, item.Name, r.Rule.ID)
			}
			if item.Format != "" && !item.Required && (item.Outcome == Passed) != (len(item.Why) > 0) {
				t.Fatalf("%s: %s of %s is %s, with the reasons %v", x.Path, item.Name, r.Rule.ID, item.Outcome, item.Why)
			}
		}
		if n != broken[r.Rule.ID] || m != let[r.Rule.ID] || (n > 0) != (r.Outcome == Violated) {
			t.Fatalf("%s: %d items of %s are violated, %d violations, result %q", x.Path, n, r.Rule.ID,
				broken[r.Rule.ID], r.Outcome)
		}
		if covers := r.Outcome != NotCovered; x.Kind == "file" && covers != (r.Choice.Selects() || r.Choice.Forbids()) {
			t.Fatalf("%s: %s covers it: %t, %+v", x.Path, r.Rule.ID, covers, r.Choice)
		}
	}
	for _, v := range violations { // found in an encoding that was searched
		for i := range x.Rules {
			for _, item := range x.Rules[i].Items {
				if e := v.Evidence; item.Ref.Of == rules.ForbiddenPattern && x.Rules[i].Rule.ID == v.RuleID &&
					item.Name == e.Pattern && e.Encoding != "" && !slices.Contains(item.Encodings, e.Encoding) {
					t.Fatalf("%s: %s was found as %s, and looked for in %q", x.Path, item.Name, e.Encoding,
						item.Encodings)
				}
			}
		}
	}
}

// TestReasonsOfTexts: of an item that is not found, the explanation says which of its options keeps it from being
// found, and where it would be, and no other.
func TestReasonsOfTexts(t *testing.T) {
	said := map[string]int{}
	property := func(rt *rapid.T) {
		required := rapid.Bool().Draw(rt, "required")
		is := func(label string) bool { return rapid.Bool().Draw(rt, label) }
		kind, body, options := "text", rapid.SampledFrom([]string{"ab c", "ab", "a", "é b"}).Draw(rt, "text"),
			map[string]string{}
		if is("regex") {
			kind, body = "regex", rapid.SampledFrom([]string{"ab? ?c", "b", "(?i)a+b", "a|é"}).Draw(rt, "regex")
			if is("except") {
				options["except"] = `'ab c\s*ab|b b|éb'`
			}
		} else {
			for _, o := range [][2]string{{"words", "true"}, {"case", "ignore"}, {"spaces", "any"}} {
				if is(o[0]) && (o[0] != "spaces" || strings.Contains(body, " ")) {
					options[o[0]] = o[1]
				}
			}
		}
		if is("within_lines") {
			options["within_lines"] = "2"
		}
		// found returns the places of a pattern with these options in the content, or nil.
		content := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"ab c", "AB C", "ab  c", "b", " ", "\n", "\n",
			"é b", "xab", "ac"}), 1, 9).Draw(rt, "content"), rapid.SampledFrom([]string{"", " "}).Draw(rt, "between"))
		if is("utf-16") {
			content = utf16LE(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(rt, "mark") + content)
		}
		bundle := func(list, body string, options map[string]string) *rules.Bundle {
			item := "{" + kind + ": '" + body + "'"
			for _, option := range slices.Sorted(maps.Keys(options)) {
				item += ", " + option + ": " + options[option]
			}
			return keyBundle(t, "match: {files: ['**'], "+list+": ["+item+"}]}")
		}
		list := "required_absent"
		if required {
			list = "required_patterns"
		}
		found := func(body string, options map[string]string) (place [2]int64, ok bool) {
			violations, err := check.File(t.Context(), bundle("required_absent", body, options), "a", []byte(content))
			must(t, err)
			if ok = len(violations) > 0; ok {
				place = [2]int64{violations[0].Evidence.Line, violations[0].Evidence.Column}
			}
			if required {
				violations, err = check.File(t.Context(), bundle(list, body, options), "a", []byte(content))
				must(t, err)
				ok = len(violations) == 0
			}
			return place, ok
		}
		want := map[string][2]int64{}
		try := func(words, body string, change func(map[string]string)) {
			other := maps.Clone(options)
			change(other)
			if place, ok := found(body, other); ok && (body != "" && !maps.Equal(other, options) || kind == "regex") {
				want[words] = place
			}
		}
		if _, ok := found(body, options); !ok {
			none := func(map[string]string) {}
			try("within a match of except", body, func(o map[string]string) { delete(o, "except") })
			try("after line 2", body, func(o map[string]string) { delete(o, "within_lines") })
			try("as a part of a word", body, func(o map[string]string) { delete(o, "words") })
			if kind == "regex" {
				try("in another case", "(?i)"+body, none)
			} else {
				try("in another case", body, func(o map[string]string) { o["case"] = "ignore" })
			}
			if strings.Contains(body, " ") && kind == "text" {
				try("with other spaces", body, func(o map[string]string) { o["spaces"] = "any" })
			}
		}
		inTempDir(t, rt, func(dir string) {
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			b := bundle(list, body, options)
			x, err := Explain(t.Context(), testOptions{Workers: 1}.run(one(b), tree.Dir(openRoot(t, dir))), "a")
			must(t, err)
			got := map[string][2]int64{}
			for _, why := range x.Rules[0].Items[0].Why {
				words, _, _ := strings.Cut(strings.TrimPrefix(why.Text, "found only "), ",")
				got[words] = [2]int64{why.Line, why.Column}
				said[words]++
			}
			if d := cmp.Diff(want, got); d != "" {
				rt.Fatalf("%s '%s' %v in %q: -changed +explained: %s", kind, body, options, content, d)
			}
		})
	}
	for try := 0; try < 5 && len(said) == 0; try++ { // one try of the short run is silent in about sixty
		rapid.Check(t, property)
	}
	if len(said) == 0 {
		t.Error("nothing is said")
	}
}
