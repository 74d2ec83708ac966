package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// sarifOf writes a verdict and reads the file again.
func sarifOf(t *testing.T, v *verdict.Verdict) (run sarifRun, text []byte) {
	t.Helper()
	return sarifWithin(t, v, githubLimits())
}

func sarifWithin(t *testing.T, v *verdict.Verdict, most sarifLimits) (run sarifRun, text []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := writeSARIFWithin(&b, v, most); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 {
		t.Fatalf("%d runs", len(log.Runs))
	}
	return log.Runs[0], b.Bytes()
}

// cutRegion is the text that a region names, found by the letter of the standard.
func cutRegion(t *testing.T, content string, r *sarifRegion) string {
	t.Helper()
	offset := func(line, column int64) int {
		at := 0
		for ; line > 1; line-- {
			end := regexp.MustCompile(`\r\n|\n|\r`).FindStringIndex(content[at:])
			if end == nil {
				t.Fatalf("%q has no such line: %+v", content, r)
			}
			at += end[1]
		}
		units := utf16.Encode([]rune(content[at:]))
		return at + len(string(utf16.Decode(units[:column-1])))
	}
	return content[offset(r.StartLine, r.StartColumn):offset(r.EndLine, r.EndColumn)]
}

// A snippet is the text of its region, and the region is the match.
func TestSARIFRegions(t *testing.T) {
	rule := newFixture().Rules[0]
	for _, c := range []struct{ content, pattern string }{
		{"BAD", "BAD"},
		{"a\r\n\tx BAD y\r\nz", "BAD"},
		{"one\rtwo 👍🏽 世BAD界 👍", "世BAD"},
		{"x\nBAD\n", "BAD\n"},
		{"a\n b\nc d", "b\nc"},
		{"\n", "\n"},
		{strings.Repeat("👍", 300) + "BAD" + strings.Repeat("世", 300), "BAD"},
		{"x" + strings.Repeat("long", 100) + "y", strings.Repeat("long", 100)},
	} {
		found := found(rule, "f", c.content, c.pattern[:min(len(c.pattern), excerptLimit)])
		if more := int64(len(c.pattern) - excerptLimit); more > 0 { // found knows no match that is longer
			found.Evidence.Pattern = c.pattern
			found.Evidence.EndColumn += more
			found.Evidence.UTF16EndColumn += more
		}
		match, context := regions(&found.Evidence)
		if got := cutRegion(t, c.content, match); got != c.pattern {
			t.Errorf("%q: the region is %q", c.content, got)
		}
		if match.ByteOffset != nil {
			if got := c.content[*match.ByteOffset:][:match.ByteLength]; got != c.pattern {
				t.Errorf("%q: the bytes are %q", c.content, got)
			}
		} else if !strings.Contains(c.pattern, "\n") {
			t.Errorf("%q: no bytes", c.content)
		}
		if len(c.pattern) > excerptLimit {
			if match.Snippet != nil || context != nil {
				t.Errorf("%q: the snippet is %q", c.content, match.Snippet.Text)
			}
			continue
		}
		if match.Snippet.Text != c.pattern {
			t.Errorf("%q: the snippet is %q", c.content, match.Snippet.Text)
		}
		if (context == nil) != (found.Evidence.Excerpt == c.pattern) {
			t.Errorf("%q: a context of %+v", c.content, context)
		}
		if context != nil {
			if got := cutRegion(t, c.content, context); got != context.Snippet.Text || got != found.Evidence.Excerpt {
				t.Errorf("%q: the context is %q, its snippet %q", c.content, got, context.Snippet.Text)
			}
		}
	}
}

// plainText is the displayed text of a message, as CodeQL's reader and section 3.11.5 have links and placeholders. It
// fails for one of these.
func plainText(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch next := s[min(i+1, len(s)):]; {
		case s[i] == '\\' && next != "" && strings.Contains(`\[]`, next[:1]):
			i++
		case strings.Contains("{}", s[i:i+1]) && strings.HasPrefix(next, s[i:i+1]):
			i++
		case strings.Contains(`\[]{}`, s[i:i+1]):
			t.Fatalf("%q: %q is markup", s, s[i:])
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// wantSARIF holds what is true of every file.
func wantSARIF(t *testing.T, v *verdict.Verdict) {
	t.Helper()
	wantSARIFWithin(t, v, githubLimits())
}

func wantSARIFWithin(t *testing.T, v *verdict.Verdict, most sarifLimits) {
	t.Helper()
	run, text := sarifWithin(t, v, most)
	wantSafe(t, string(text), false)
	wantNoCommand(t, string(text))
	ids := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if ids[r.ID] {
			t.Errorf("two rules are %q", r.ID)
		}
		ids[r.ID] = true
		for _, s := range []string{r.ShortDescription.Text, r.FullDescription.Text} {
			plainText(t, s)
			if strings.Contains(s, "\n") || len([]rune(s)) > 1024 {
				t.Errorf("a description of %d characters: %q", len(s), s)
			}
		}
		for _, s := range []string{plainText(t, r.Help.Text), r.Help.Markdown, plainText(t, r.FullDescription.Text)} {
			if lines := strings.ReplaceAll(s, "\n", ""); verdict.Visible(lines) != lines {
				t.Errorf("a reader would obey %q", s)
			}
		}
		if r.ShortDescription.Text == "" || r.Help.Text == "" || len(r.Properties.Tags) > 20 {
			t.Errorf("GitHub refuses %+v", r)
		}
		for _, s := range append([]string{r.Properties.Owner}, r.Properties.Tags...) {
			if verdict.Visible(s) != s {
				t.Errorf("a reader would obey %q", s)
			}
		}
		if u, err := url.Parse(r.HelpURI); r.HelpURI != "" && (err != nil || u.Scheme != "http" &&
			u.Scheme != "https" || u.Host == "") {
			t.Errorf("helpUri is %q", r.HelpURI)
		}
	}
	in := run.Invocations[0]
	if in.ExecutionSuccessful != (len(newView(v).undecided) == 0) {
		t.Errorf("executionSuccessful is %t", in.ExecutionSuccessful)
	}
	if (v.Verdict == verdict.Pass) != (len(run.Results) == 0) {
		t.Errorf("%s with %d results", v.Verdict, len(run.Results))
	}
	for _, n := range append(in.Execution, in.Configuration...) {
		plainText(t, n.Message.Text)
	}
	nth := 0
	for _, r := range run.Results {
		place := r.Locations[0].PhysicalLocation
		if r.RuleIndex < 0 || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("the rule %d is not %q", r.RuleIndex, r.RuleID)
		}
		if shown := plainText(t, r.Message.Text); shown == "" || verdict.Visible(shown) != shown {
			t.Errorf("the message is %q", shown)
		}
		if region := place.Region; region == nil {
			t.Fatalf("no region of %+v", r)
		} else if r.Properties != nil && !hasPlace(&v.Violations[nth].Evidence) && *region != *sarifStart() {
			t.Errorf("what has no place is at %+v", *region)
		} else if region.StartLine < 1 || region.EndLine < region.StartLine || region.EndColumn < 1 {
			t.Errorf("a region of %+v", place.Region)
		}
		uri := place.ArtifactLocation.URI
		if !regexp.MustCompile(`^([A-Za-z0-9._~-]|%[0-9A-F]{2})([A-Za-z0-9._~/-]|%[0-9A-F]{2})*$`).MatchString(uri) &&
			uri != "" {
			t.Errorf("the URI %q", uri)
		}
		if r.Properties == nil {
			continue // an error
		}
		want := v.Violations[nth]
		if got, err := url.PathUnescape(uri); err != nil || got != cmp.Or(verdict.RawPath(want.File), noFile) {
			t.Errorf("the URI %q is the path %q: %v", uri, got, err)
		}
		if got := plainText(t, r.Message.Text); !strings.HasSuffix(got, "…") && got != newFinding(&want).sentence() {
			t.Errorf("a reader sees %q of %q", got, newFinding(&want).sentence())
		}
		if r.PartialFingerprints["policyscan/v1"] != want.Fingerprint ||
			r.PartialFingerprints["primaryLocationLineHash"] != newFinding(&want).at.LineHash {
			t.Errorf("the fingerprints are %q", r.PartialFingerprints)
		}
		nth++
	}
	if nth+run.Properties.ViolationsLeftOut != len(v.Violations) || run.Properties.Violations != len(v.Violations) {
		t.Errorf("%d of %d violations, %d left out", nth, len(v.Violations), run.Properties.ViolationsLeftOut)
	}
}

func TestSARIFOfFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		wantSARIF(t, f.verdict)
	}
}

func FuzzSARIF(f *testing.F) {
	f.Add("a.tf", "[x](https://example.com) BAD", "BAD", "see [this](1) {0} \\[not](2)")
	f.Add("::error::", "{0}", "}{", "```\n</details><script>alert(1)</script>\n```")
	f.Add("//host/x", "##[error]", "##[", "~~~\n```text\n   ````\n# head")
	f.Add("%41\\x41\xff", "]]>\x00\xff", "]]", "https://example.com/<b>")
	f.Add("", "", "", "")
	f.Add("a:b", "\u202e\u2066", "\u202e", "https://example.com/a_(b)#c")
	f.Fuzz(func(t *testing.T, file, excerpt, pattern, text string) {
		skipLong(t, 300, file, excerpt, pattern, text)
		wantSARIF(t, hostileVerdict(file, excerpt, pattern, text))
	})
}

// TestSARIFErrors: an error is a notification and a result, and its place is verdict.json if it has no file.
func TestSARIFErrors(t *testing.T) {
	v := newFixture()
	v.Errors = []verdict.Error{
		{Code: code.Read, File: "a b.tf", Message: "m"}, {Code: code.Read, File: ".", Message: "m"},
		{Code: "E_POLICY_KEY", Message: "m"}, {Code: code.Usage, Message: "m"},
	}
	v.Decide()
	wantSARIF(t, v)
	run, _ := sarifOf(t, v)
	if in := run.Invocations[0]; len(in.Execution) != 2 || len(in.Configuration) != 2 ||
		in.Execution[1].Locations != nil {
		t.Errorf("%+v", in)
	}
	got := ""
	for _, r := range run.Results {
		got += r.RuleID + " " + r.Locations[0].PhysicalLocation.ArtifactLocation.URI + "; "
	}
	if got != "E_READ a%20b.tf; E_READ verdict.json; E_POLICY_KEY verdict.json; E_USAGE verdict.json; " {
		t.Error(got)
	}
	none := verdict.New("1.0") // no rule, so no PASS, and no error
	none.Decide()
	wantSARIF(t, none)
}

// Rules of one id are told apart, and keep their own texts.
func TestSARIFTwoRulesOfOneID(t *testing.T) {
	v := newFixture()
	v.Rules = []verdict.Rule{
		{ID: "A", Type: "boundary", From: "base", Title: "old", Severity: "high", Tags: []string{"security"}},
		{ID: "A", Type: "boundary", From: "head", Title: "new", Severity: "high"},
		{ID: "A@head", Type: "boundary", From: "head", Title: "taken"},
		{ID: "A@head-2", Type: "boundary", From: "head", Title: "taken, too"},
		{ID: "E_READ", Type: "boundary", From: "base", Title: "named as a code"},
	}
	for _, r := range v.Rules {
		v.Violations = append(v.Violations, found(r, "f", "BAD", "BAD"))
	}
	v.Errors = []verdict.Error{{Code: code.Read, Message: "m"}}
	v.Decide()
	wantSARIF(t, v)
	run, _ := sarifOf(t, v)
	var got []string
	for _, r := range run.Results {
		got = append(got, r.RuleID+": "+run.Tool.Driver.Rules[r.RuleIndex].ShortDescription.Text)
	}
	if want := []string{"E_READ: policyscan could not decide. An incomplete run is not a PASS.", "A: old.",
		"A@head: new.", "A@head@head: taken.", "A@head-2: taken, too.", "E_READ@base: named as a code.",
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if rules := run.Tool.Driver.Rules; rules[1].Properties.SecuritySeverity != "8.0" ||
		rules[2].Properties.SecuritySeverity != "" || rules[2].Properties.RuleID != "A" {
		t.Errorf("%+v", rules[1:3])
	}
}

// large is a verdict of so many rules, the last of which has all the violations.
func large(rules, violations int) *verdict.Verdict {
	v := newFixture()
	v.Rules = nil
	for i := range rules {
		v.Rules = append(v.Rules, verdict.Rule{ID: fmt.Sprintf("R-%d", i), Type: "boundary", From: "disk",
			Title: fmt.Sprintf("Title %d", i)})
	}
	one := found(v.Rules[rules-1], "f", "x BAD y", "BAD")
	for i := range violations {
		one.File = fmt.Sprintf("f%06d", i)
		v.Violations = append(v.Violations, one)
	}
	v.Decide()
	return v
}

func TestSARIFLimits(t *testing.T) {
	says := func(run sarifRun, want string) {
		t.Helper()
		if !slices.ContainsFunc(run.Invocations[0].Execution,
			func(n sarifNotification) bool { return n.Message.Text == want }) {
			t.Errorf("no notification says %q: %+v", want, run.Invocations[0].Execution)
		}
	}
	most := sarifLimits{results: 50, errors: 10, rules: 250, bytes: 1e6}
	v := large(260, 51)
	wantSARIFWithin(t, v, most)
	run, _ := sarifWithin(t, v, most)
	if rules := run.Tool.Driver.Rules; len(run.Results) != 50 || len(rules) != 250 || rules[249].ID != "R-259" ||
		run.Results[0].RuleIndex != 249 {
		t.Errorf("%d results, %d rules", len(run.Results), len(rules))
	}
	if p := run.Properties; p.ViolationsLeftOut != 1 || p.RulesLeftOut != 10 {
		t.Errorf("%+v", p)
	}
	says(run, "This file shows 50 of 51 violations; verdict.json has them all.")
	says(run, "This file shows 250 of 260 rules; verdict.json has them all.")

	v = large(260, 50)
	for i := range 11 {
		v.Errors = append(v.Errors, verdict.Error{Code: code.Read, File: fmt.Sprintf("e%d", i), Message: "m"})
	}
	v.Decide()
	wantSARIFWithin(t, v, most)
	run, _ = sarifWithin(t, v, most)
	if p := run.Properties; len(run.Results) != 50 || p.ViolationsLeftOut != 10 || p.ErrorsLeftOut != 1 ||
		len(run.Tool.Driver.Rules) != 250 || p.RulesLeftOut != 11 {
		t.Errorf("%d results, %d rules, %+v", len(run.Results), len(run.Tool.Driver.Rules), p)
	}
	says(run, "This file shows 10 of 11 errors; verdict.json has them all.")

	run, _ = sarifWithin(t, large(250, 50), most)
	if p := run.Properties; len(run.Results) != 50 || len(run.Tool.Driver.Rules) != 250 ||
		p.ViolationsLeftOut+p.RulesLeftOut != 0 || len(run.Invocations[0].Execution) != 0 {
		t.Errorf("within the limits something is left out: %+v", p)
	}
	if got := githubLimits(); got.results > 5_000 || got.rules > 25_000 || got.bytes > 10_000_000 ||
		got.errors >= got.results {
		t.Errorf("over GitHub's limits: %+v", got)
	}
}

// noise is text that gzip can do little about.
func noise(random *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + random.IntN('z'-'0'))
	}
	return string(b)
}

// noisy is a verdict of some rules and violations, with remediations, paths and lines of such a length.
func noisy(violations, rules, remedy, path, line int) *verdict.Verdict {
	random := rand.New(rand.NewPCG(1, 2))
	v := newFixture()
	v.Rules = nil
	for i := range rules {
		v.Rules = append(v.Rules, verdict.Rule{ID: fmt.Sprintf("R-%d", i), Title: "T",
			Remediation: noise(random, remedy)})
	}
	for i := range violations {
		text := noise(random, line/2) + "{BAD}" + noise(random, line/2)
		v.Violations = append(v.Violations, found(v.Rules[i%rules], noise(random, path), text, "{BAD}"))
	}
	v.Decide()
	return v
}

// Of a file that would be too large results and rules are cut until it is not, and it says so.
func TestSARIFSize(t *testing.T) {
	for name, c := range map[string]struct {
		v                     *verdict.Verdict
		bytes, results, rules int
	}{
		"all fits":     {noisy(20, 2, 100, 20, 190), 12_000, 20, 2},
		"lines":        {noisy(65, 2, 100, 20, 190), 12_000, 32, 2},
		"paths":        {noisy(20, 10, 20, 10_000, 20), 12_000, 1, 10},
		"nothing left": {noisy(10, 1, 10, 10, 10), 100, 0, 1},
	} {
		run, text := sarifWithin(t, c.v, sarifLimits{results: 1000, rules: 1000, bytes: c.bytes})
		p, n := run.Properties, zipped(text)
		if n > c.bytes && c.results > 0 || len(run.Results) != c.results || len(run.Tool.Driver.Rules) != c.rules ||
			p.ViolationsLeftOut != len(c.v.Violations)-c.results || p.RulesLeftOut != len(c.v.Rules)-c.rules {
			t.Errorf("%s: %d bytes, %d results, %d rules, %+v", name, n, len(run.Results), len(run.Tool.Driver.Rules),
				p)
		}
	}
}

// As many excerpts as there can be, as long as they get, are within GitHub's 10 MB; paths as
// long as a system takes are not, and are made to be.
func TestSARIFSizeOfGitHub(t *testing.T) {
	if !*long {
		t.Skip("with -long")
	}
	run, text := sarifOf(t, noisy(5_000, 500, 500, 100, 195))
	if n := zipped(text); n > 10_000_000 || len(run.Results) != 5_000 || len(run.Invocations[0].Execution) > 0 {
		t.Errorf("%d results in %d bytes with gzip: %+v", len(run.Results), n, run.Invocations[0].Execution)
	}
	run, text = sarifOf(t, noisy(3_600, 1, 10, 4000, 10))
	if n := zipped(text); n > 10_000_000 || n < 5_000_000 || len(run.Results) != 1_800 {
		t.Errorf("%d results in %d bytes with gzip", len(run.Results), n)
	}
}

func TestSARIFWords(t *testing.T) {
	for title, want := range map[string]string{
		"No ingress from anywhere": "NoIngressFromAnywhere", "0.0.0.0/0 is open": "", "世界": "", "": "",
		"a-b (c)": "ABC", "Same": "",
		strings.Repeat("long ", 64): "", "x" + strings.Repeat("y", 254): "X" +
			strings.Repeat("y", 254), strings.Repeat("z", 256): "",
	} {
		if got := sarifName(title, "Same"); got != want {
			t.Errorf("sarifName(%q) = %q, want %q", title, got, want)
		}
	}
	for version, want := range map[string]string{
		"v1.2.3": "1.2.3", "1.2.3": "1.2.3", "v0.0.0-20260102030405-abcdef123456": "0.0.0-20260102030405-abcdef123456",
		"v1.2.3-rc.1+dirty": "1.2.3-rc.1+dirty",
		"devel":             "0.0.0-devel", "": "0.0.0-devel", "v1.2": "0.0.0-devel", "1.2.3\n": "0.0.0-devel",
	} {
		if got := semanticVersion(version); got != want {
			t.Errorf("semanticVersion(%q) = %q, want %q", version, got, want)
		}
	}
	for path, want := range map[string]string{
		"a/b.tf": "a/b.tf", "a b": "a%20b", "a:b": "a%3Ab", "/etc": "%2Fetc", "//host/x": "%2F/host/x",
		"a%41": "a%2541", "\xff": "%FF", `a\b`: "a%5Cb", "é?#": "%C3%A9%3F%23", "-._~": "-._~",
	} {
		if got := relativeURI(path); got != want {
			t.Errorf("relativeURI(%q) = %q, want %q", path, got, want)
		}
	}
	var tags []string
	for i := range 30 {
		tags = append(tags, fmt.Sprint("t", i/2))
	}
	if got := sarifTags(append(tags, "u", "v", "w", "x", "y", "z")); len(got) != 20 || got[14] != "t14" ||
		got[19] != "y" {
		t.Errorf("%q", got)
	}
	for severity, want := range map[string]string{"low": "2.0", "medium": "5.5", "high": "8.0", "critical": "9.5",
		"": ""} {
		if got := securitySeverity(severity); got != want {
			t.Errorf("%s is %q", severity, got)
		}
	}
}

// A description is within its limit however much of it must be escaped, and ends whole.
func TestSARIFPlain(t *testing.T) {
	if whole := strings.Repeat("x", 1024); sarifPlain(whole, 1024) != whole {
		t.Errorf("%d characters became %d", len(whole), len(sarifPlain(whole, 1024)))
	}
	for _, s := range []string{"short", strings.Repeat("[", 3000), strings.Repeat("世", 3000),
		strings.Repeat("a{", 600)} {
		got := sarifPlain(s, 1024)
		if n := len([]rune(got)); n > 1024 || n < 500 && s != "short" {
			t.Errorf("%d characters of %.10q", n, s)
		}
		if shown := strings.TrimSuffix(plainText(t, got), "…"); !strings.HasPrefix(s, shown) {
			t.Errorf("%.20q became %.20q", s, shown)
		}
	}
}
