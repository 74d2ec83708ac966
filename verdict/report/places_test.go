package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/verdict"
)

// placed is a violation that [found] finds, with all places of the pattern, which is in short lines that end at LF.
// The places have these statuses; without any there was nothing to compare with.
func placed(rule verdict.Rule, file, content, pattern string, statuses ...string) verdict.Violation {
	v := found(rule, file, content, pattern)
	at := 0
	for i, line := range strings.Split(content, "\n") {
		for n := 0; ; {
			column := strings.Index(line[n:], pattern)
			if column < 0 {
				break
			}
			n += column
			p := verdict.Place{
				Offset: int64(at + n), Line: int64(i + 1), Column: int64(n + 1), EndLine: int64(i +
					1), EndColumn: int64(n + 1 + len(pattern)),
			}
			if len(statuses) > 0 {
				if p.Status = statuses[len(v.Evidence.Places)]; p.Status == verdict.Introduced &&
					v.Status != verdict.Introduced {
					p.Excerpt, p.LineHash = line, "d4a7b1f0c2e39586:1"
				}
				if v.Status != verdict.Introduced {
					v.Status = p.Status
				}
				if p.Status == verdict.Introduced {
					v.NewPlaceCount++
				}
			}
			v.Evidence.Places = append(v.Evidence.Places, p)
			n += len(pattern)
		}
		at += len(line) + 1
	}
	return v
}

// tall is a content with a line at some of its lines.
func tall(line string, at ...int) string {
	var b strings.Builder
	for i := 1; i <= slices.Max(at); i++ {
		if slices.Contains(at, i) {
			b.WriteString(line)
		} else {
			fmt.Fprintf(&b, "# line %d", i)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Many equal changes of a rule's allowances are one line, new ones always; what differs is not hidden in it.
func TestManyAllowanceChanges(t *testing.T) {
	v := newFixture()
	add := func(n int, rule, change string, before, after int, fields ...verdict.FieldChange) {
		for i := range n {
			v.PolicyChanges = append(v.PolicyChanges, verdict.PolicyChange{
				Kind: verdict.ChangedAllowance, RuleID: rule, Change: change, File: fmt.Sprintf("%s/%d.tf", change, n-i),
				Before: before, After: after, Fields: fields,
			})
		}
	}
	add(1500, "A", verdict.Added, 0, 2)
	add(2, "B", verdict.Added, 0, 1)
	add(1, "B", verdict.Added, 0, 9, verdict.FieldChange{Name: "may_grow", Added: []string{"true"}})
	add(4, "A", "lowered", 3, 1)
	add(3, "B", "lowered", 3, 1)
	add(1, "A", "raised", 1, 9)
	v.PolicyChanges = append(v.PolicyChanges, verdict.PolicyChange{Kind: verdict.ChangedRule, RuleID: "N",
		Change: verdict.Added})
	want := []string{
		"1 rule added: N",
		"allowance for rule A in raised/1.tf raised: 1 before, 9 now",
		"rules/allowances.yml: 1,500 allowances added for rule A: 3,000 places in 1,500 files",
		"rules/allowances.yml: 2 allowances added for rule B: 2 places in 2 files",
		`allowance for rule B in added/1.tf added: 0 before, 9 now; may_grow added "true"`,
		"rules/allowances.yml: 4 allowances for rule A lowered: 12 before, 4 now",
		"allowance for rule B in lowered/1.tf lowered: 3 before, 1 now",
		"allowance for rule B in lowered/2.tf lowered: 3 before, 1 now",
		"allowance for rule B in lowered/3.tf lowered: 3 before, 1 now",
	}
	if diff := cmp.Diff(want, newView(v).policyChanges()); diff != "" {
		t.Error(diff)
	}
	for i := range 30 {
		add(1, fmt.Sprint("R", i), "raised", 1, 2)
	}
	lines := newView(v).policyChanges()
	if last := lines[len(lines)-1]; len(lines) != mostChanges || last != "and 20 more; verdict.json has all" {
		t.Errorf("%d lines, the last one %q", len(lines), last)
	}
}

// Where else something is.
func TestAlsoAt(t *testing.T) {
	const o, n = verdict.PreExisting, verdict.Introduced
	for _, c := range []struct {
		lines    []int64
		statuses []string
		places   int64
		fresh    int64
		want     string
	}{
		{[]int64{3}, nil, 1, 0, ""},
		{[]int64{3, 7}, nil, 2, 0, "also at line 7"},
		{[]int64{3, 7, 9}, nil, 3, 0, "also at lines 7 and 9"},
		{[]int64{3, 9, 79, 83, 84, 85, 86, 87}, nil, 8, 0, "also at lines 9, 79, 83, 84, 85 and 2 more"},
		{[]int64{3, 9, 79, 83, 84, 85, 86}, nil, 7, 0, "also at lines 9, 79, 83, 84, 85 and 86"}, // no room is saved
		{[]int64{3, 4, 4, 4, 5, 6, 7, 90, 91}, nil, 9, 0, "also at lines 4, 5, 6, 7, 90 and 91"},
		{[]int64{3, 3}, nil, 2, 0, "also in this line"},
		{[]int64{3, 3, 3, 9}, nil, 4, 0, "also in this line and at line 9"},
		{[]int64{3, 9}, nil, 1500, 0, "also at line 9 and 1,498 more"},
		{[]int64{3}, nil, 2, 0, "also in 1 more place"},
		{nil, nil, 7, 0, "the first of 7 places in this file"},
		{nil, nil, 1, 0, ""},
		{[]int64{3, 5}, []string{o, o}, 2, 0, "also at line 5"},
		{[]int64{3, 5}, []string{o, n}, 2, 1, "was there before at line 3"},
		{[]int64{3, 5, 6, 7}, []string{o, n, n, o}, 4, 2, "also new at line 6; was there before at lines 3 and 7"},
		{[]int64{5, 5}, []string{n, n}, 2, 2, "also new in this line"},
		{[]int64{5, 5}, []string{n, o}, 2, 1, "was there before in this line"},
		{[]int64{5, 6}, []string{n, n}, 120, 2, "also new at line 6; was there before in 118 more places"},
		{[]int64{5, 6}, []string{n, n}, 120, 120, "also new at line 6 and 118 more"},
		{[]int64{5, 6}, []string{n, o}, 120, 1, "was there before at line 6 and 118 more"},
	} {
		e := verdict.Evidence{Kind: verdict.KindText, Occurrences: c.places}
		for i, line := range c.lines {
			p := verdict.Place{Line: line, Offset: int64(100*i) + line, EndLine: line}
			if c.statuses != nil {
				p.Status = c.statuses[i]
			}
			e.Places = append(e.Places, p)
		}
		// A place that a key item finds does not count.
		e.Places = append(e.Places, verdict.Place{Line: 2, Offset: 2, Status: n, SameAsKey: true})
		if len(c.lines) > 0 {
			e.Offset, e.Line = e.Places[0].Offset, e.Places[0].Line
		} else {
			e.Places = nil
		}
		v := verdict.Violation{File: "f", Evidence: e, PlaceCount: c.places, NewPlaceCount: c.fresh}
		if got := strings.Join(newFinding(&v).also(), "; "); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.lines, c.statuses, got, c.want)
		}
	}
}

// The place that a report points to is the first new one, with its own columns and excerpt.
func TestFindingPlace(t *testing.T) {
	rule := newFixture().Rules[0]
	for _, c := range []struct {
		content, pattern, name string
		statuses               []string
		line, column, units    int64
		excerpt                string
		exact                  bool
	}{
		{"BAD\n世 BAD\n", "BAD", "", []string{verdict.PreExisting, verdict.Introduced}, 2, 5, 3, "世 BAD", true},
		{"BAD\n世 BAD\n", "BAD", "", []string{verdict.Introduced, verdict.Introduced}, 1, 1, 1, "BAD", true},
		{"BAD\n世 BAD\n", "BAD", "", []string{verdict.PreExisting, verdict.PreExisting}, 1, 1, 1, "BAD", true},
		{"BAD\n世 BAD\n", "BAD", "", []string{"", ""}, 1, 1, 1, "BAD", true},
		{"BAD\n世 BAD BAD\n", "BAD", "", []string{verdict.PreExisting, verdict.Introduced, verdict.Introduced}, 2, 5, 3,
			"世 BAD BAD", true},
		{"BAD\n世 BAD\n", "BAD", `{"regex":"B[A]D"}`, []string{verdict.PreExisting, verdict.Introduced}, 2, 5, 3,
			"世 BAD", true},
		{"BAD 世 BAD\n", "BAD", `{"regex":"B[A]D"}`, []string{verdict.PreExisting, verdict.Introduced}, 1, 9, 9,
			"BAD 世 BAD", false}, // perhaps after a mark
		{"BAD\n\ufffd BAD\n", "BAD", `{"regex":"B[A]D"}`, []string{verdict.PreExisting, verdict.Introduced}, 2, 5, 5,
			"\ufffd BAD", false},
	} {
		v := placed(rule, "f", c.content, c.pattern, c.statuses...)
		if c.name != "" {
			v.Evidence.Kind, v.Evidence.Pattern = verdict.KindRegex, c.name
		}
		f := newFinding(&v)
		p := f.at
		if p.Line != c.line || p.Column != c.column || p.UTF16Column != c.units || p.UTF16EndColumn != c.units+3 ||
			p.Excerpt != c.excerpt || f.exact != c.exact {
			t.Errorf("%q %v: %+v", c.content, c.statuses, p)
		}
		if got := v.Evidence.Places[f.index]; got.Offset != p.Offset {
			t.Errorf("%q: the place %d is %+v", c.content, f.index, got)
		}
	}
}

// Without an excerpt that holds the line from its start there are no columns in code units.
func TestFindingPlaceLong(t *testing.T) {
	for what, change := range map[string]func(*verdict.Place){
		"cut":    func(p *verdict.Place) { p.Excerpt = strings.Repeat("é", 197) + "BAD" },
		"masked": func(p *verdict.Place) { p.LineHash = "" },
		"absent": func(p *verdict.Place) { p.Excerpt = "" },
	} {
		v := placed(newFixture().Rules[0], "f", "BAD\nx BAD\n", "BAD", verdict.PreExisting, verdict.Introduced)
		change(&v.Evidence.Places[1])
		f := newFinding(&v)
		if p := f.at; f.exact || p.Line != 2 || p.UTF16Column != 3 || p.UTF16EndColumn != 6 {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

// TestEndings: the first 20 allowances that end soon are listed, and the others counted, whether or not any is used.
func TestEndings(t *testing.T) {
	for n, want := range map[int]string{
		0: "", 1: "1 allowance ends within 30 days of 2027-02-28", 20: "20 allowances end within 30 days of 2027-02-28",
		21: "21 allowances end within 30 days of 2027-02-28; and 1 more allowance; verdict.json has all",
		23: "23 allowances end within 30 days of 2027-02-28; and 3 more allowances; verdict.json has all",
	} {
		v := newFixture()
		v.AsOf, v.EndingAllowances = "2027-02-28", make([]verdict.EndingAllowance, n)
		got, lines := newView(v).endingsNote(), newView(v).endings()
		if len(lines) > 20 {
			got += "; " + lines[20]
		}
		if n > 0 && got != want || len(lines) != min(n, 21) {
			t.Errorf("%d: %q and %d lines, want %q", n, got, len(lines), want)
		}
	}
}

// manyFound is a FAIL of 109 violations: of 15 rules, each with all that a rule can say, in 40 files of five
// directories.
func manyFound() *verdict.Verdict {
	v := newFixture()
	rule := v.Rules[0]
	v.Rules = nil
	for i := range 15 {
		rule.ID, rule.Title = fmt.Sprintf("RULE-%02d", i+1), fmt.Sprintf("No such setting as number %d", i+1)
		rule.Remediation = "Set it to what the team's page says, or remove the argument."
		v.Rules = append(v.Rules, rule)
	}
	for i := range 109 {
		at := []int{3 + i}
		if i%15 == 7 {
			at = append(at, 130, 140)
		}
		file := fmt.Sprintf("%s/module-%d/main.tf", []string{"network", "storage", "apps", "shared", "legacy"}[i%5],
			i%8)
		v.Violations = append(v.Violations, placed(v.Rules[i*15/109], file, tall("  public = true # for now", at...),
			"public = true"))
	}
	v.Coverage = verdict.Coverage{Files: 60, Governed: 50, Scanned: 50}
	v.Decide()
	return v
}

// TestMarkdownAllowed: what is allowed and new has its room in the page, too; the rest is counted.
func TestMarkdownAllowed(t *testing.T) {
	v := fixtureOf(t, "labelled")
	one := v.AllowedViolations[1]
	for i := range 5000 {
		one.File = fmt.Sprintf("legacy/%d.tf", i)
		v.AllowedViolations = append(v.AllowedViolations, one)
	}
	v.Decide()
	page := markdown(t, v)
	shown, left := strings.Count(page, "**new but allowed**"), 0
	_, rest, found := strings.Cut(page, "</details>\n\nAllowed by ")
	_, rest, cut := strings.Cut(rest, "\nand ")
	if _, err := fmt.Sscanf(strings.ReplaceAll(rest, ",", ""), "%d more in `verdict.json`.", &left); err != nil || !found || !cut ||
		shown+left != 5001 || shown < 100 || len(page) > markdownLimit {
		t.Errorf("%d shown, %d left out of 5001, in %d bytes: %v", shown, left, len(page), err)
	}
	if !strings.Contains(page, "`allowances.yml`: 15,008 places in 5,003 files, 5,001 of them new.") {
		t.Error("they are not counted")
	}
}

// TestTextIsShort: 123 places take less than 230 lines, and every one of them has a line; on a terminal there are 20 of
// a rule with many, and the number of the others. Of files that were not scanned it names 20.
func TestTextIsShort(t *testing.T) {
	v := manyFound()
	v.Coverage.NotScanned = slices.Repeat([]verdict.Omission{{File: "f", Reason: "limit"}}, 23)
	text := textOf(t, v, TextOptions{Policy: "policy", Root: ".", Elapsed: time.Second})
	if n := strings.Count(text, "\n"); n >= 230 || len(problems(t, text)) != 123 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, want := range []string{
		"\nby rule: RULE-01 10, RULE-04 10, ",
		"\nby directory: apps/ 36, network/ 22, shared/ 22, storage/ 22, legacy/ 21\n",
		strings.Repeat("\nnote: f: not scanned: limit", 20) + "\nnote: and 3 more files not scanned\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for i := range v.Violations {
		v.Violations[i].RuleID, v.Violations[i].Title = v.Rules[0].ID, v.Rules[0].Title
	}
	v.Rules = v.Rules[:1]
	for i := range 12 {
		x := v.Violations[0]
		x.File = fmt.Sprintf("pkg%02d/a", i)
		v.Violations = append(v.Violations, x)
	}
	v.Coverage.Unparsed = []string{"f10", "f9", "f1", "f2"}
	text = textOf(t, v, TextOptions{Most: 20})
	for _, want := range []string{"pkg04/ 1, and 7 more\n",
		"\nnote: 4 files cannot be parsed: only their text was checked: f1, f2, f9 and 1 more\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := len(problems(t, text)); n != 20 ||
		!strings.Contains(text, "\n    and 115 more places; --report text shows all\n") {
		t.Errorf("%d violations have a line in\n%s", n, text)
	}
}

// TestTextByDir: the directories tell the violations apart.
func TestTextByDir(t *testing.T) {
	for _, c := range []struct {
		prefix string
		files  []string
		want   string
	}{
		{"", []string{"a/x.tf", "b/x.tf", "a/c/x.tf"}, "a/ 2, b/ 1"},
		{"", []string{"x.tf", "a/x.tf"}, "./ 1, a/ 1"},
		{"", []string{"a/x/1.tf", "a/y/1.tf", "a/y/z/1.tf"}, "a/y/ 2, a/x/ 1"},
		{"", []string{"a/1.tf", "a/2.tf"}, "a/ 2"},
		{"", []string{"a/1.tf", "a/b/2.tf"}, "a/ 1, a/b/ 1"},
		{"", []string{"ab/1.tf", "ac/2.tf"}, "ab/ 1, ac/ 1"},
		{"../", []string{"a/1.tf", "b/2.tf"}, "../a/ 1, ../b/ 1"},
		{"", []string{"1.tf", "", "2.tf"}, "./ 2"},
		{"", []string{""}, ""},
	} {
		v := newFixture()
		for _, file := range c.files {
			v.Violations = append(v.Violations, verdict.Violation{File: file, PlaceCount: 1})
		}
		if got := strings.Join(tallyWords(newView(v).byDir(c.prefix)), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.files, got, c.want)
		}
	}
}

// TestTextWidths: no line of the report is wider than the terminal that could be cut at a space, and each violation
// keeps its place at the start of a line.
func TestTextWidths(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		for name, v := range map[string]*verdict.Verdict{
			"labelled": fixtureOf(t, "labelled"), "many": manyFound(), "kinds": fixtureOf(t, "kinds"),
		} {
			text := textOf(t, v, TextOptions{Width: width, Policy: "policy", Root: "."})
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "FAIL: ") || strings.HasPrefix(line, "PASS: ") || columns(line) <= width {
					continue
				}
				body := strings.TrimLeft(line, " ")
				_, rest, placed := strings.Cut(body, ": ")
				if strings.Contains(body, " ") && !(placed && strings.Count(rest, " ") <= 4) {
					t.Errorf("%s, %d: %d columns: %s", name, width, columns(line), line)
				}
			}
			if n, want := len(problems(t, text)), len(shownFindings(v))-inTree(v); n != want {
				t.Errorf("%s, %d: %d of %d places have a line", name, width, n, want)
			}
		}
	}
}

// TestTextEmptyLine: a match in an empty line is named, since there is nothing to show.
func TestTextEmptyLine(t *testing.T) {
	v := newFixture()
	v.Violations = []verdict.Violation{found(v.Rules[0], "f", "a\n \nb", " \n")}
	v.Decide()
	for width, want := range map[int]string{0: `f:2:1: " \u{a}" [NET-1]`,
		15: "f:2:1: found [NET-1]\n    \" \\u{a}\""} {
		if text := textOf(t, v, TextOptions{Width: width}); !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestTextPatterns: what alternating patterns are is said once; a match has no indentation, and is below its place where
// it does not fit beside it.
func TestTextPatterns(t *testing.T) {
	v := newFixture()
	v.Rules = v.Rules[:1]
	for _, file := range []string{"a.tf", "b.tf", "c.tf"} {
		for _, match := range []string{`         "Action": *`, "Principal = all"} {
			x := found(v.Rules[0], file, match+" # and more of it", match)
			x.Evidence.Kind, x.Evidence.Pattern = verdict.KindRegex, `{"regex":".*`+match[len(match)-1:]+`"}`
			x.Reason = x.Title + ": a match of " + x.Evidence.Pattern
			v.Violations = append(v.Violations, x)
		}
	}
	v.Decide()
	text := textOf(t, v, TextOptions{Width: 34})
	for words, n := range map[string]int{
		"\n    a match of ": 2, ".tf:1:1: found [NET-1]\n    | \"Action\": * # and more of it\n    | ^^^^^^^^^^^\n": 3,
	} {
		if got := strings.Count(text, words); got != n {
			t.Errorf("%q is there %d times, want %d:\n%s", words, got, n, text)
		}
	}
}

// TestWhyOfPlaces: formats that show several places of a required key say for each why.
func TestWhyOfPlaces(t *testing.T) {
	v := newFixture()
	x := found(v.Rules[0], "a.tf", "enc = 1", "1")
	x.Evidence.Pattern = `{"key":"enc","is":2}`
	x.Status, x.Evidence.Kind, x.Evidence.Occurrences = verdict.Introduced, verdict.KindMissing, 2
	x.Evidence.Places = []verdict.Place{
		{Offset: x.Evidence.Offset, Line: 1, Column: x.Evidence.Column, EndLine: 1, EndColumn: x.Evidence.EndColumn,
			Why: verdict.WhyOther, Found: "1", Status: verdict.Introduced},
		{Offset: 20, Line: 3, Column: 1, EndLine: 3, EndColumn: 2, Why: verdict.WhyMissing, Found: "a\u202e[b",
			Status: verdict.Introduced},
	}
	v.Violations = []verdict.Violation{x}
	v.Decide()
	all := annotations(t, v)
	for i, want := range []string{"\nit is 1", `missing in a\u{202e}[b`} {
		if !strings.Contains(all[i].data, want) {
			t.Errorf("annotation %d has no %q: %q", i, want, all[i].data)
		}
	}
	run, _ := sarifOf(t, v)
	const want = `Missing in a\\u{{202e}}\[b, new.`
	if got := run.Results[0].RelatedLocations[0].Message.Text; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
