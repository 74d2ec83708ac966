package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/verdict"
)

// matched is what the excerpts of the fixture of all kinds show in place of a match, by the names of the patterns.
var matched = map[string]string{
	`{"regex":"image:\\s*\\S+:latest\\b"}`: "image:  nginx:latest",
	`{"regex":"AKIA[0-9A-Z]{16}"}`:         "AKIA[0-9A-Z]{16}",
	`{"regex":"x+"}`:                       strings.Repeat("x", 30),
	`{"key":["spec.hostNetwork","**.hostNetwork"],"where":{"kind":["Pod","Job"]},"is":[true,"host"]}`: "Yes",
	`{"key":"auth.password","matches_not":"^vault:"}`:                                                 "auth.password",
	`{"key":"debug","is_not":[false,"::error::##[x]"]}`:                                               "{\"on\": 1,\n\"to\": 2}",
	`{"each":"resource.aws_db_instance.*","key":"kms_key_id"}`:                                        `resource "aws_db_instance" "main"`,
	`{"each":"resource.aws_db_instance.*","key":"storage_encrypted","is":true}`:                       "var.is",
	`{"text":"publicly_accessible = true","spaces":"any"}`:                                            "publicly_accessible\t=  true",
	`{"text":"a b\nc","spaces":"any","words":true,"case":"ignore"}`:                                   "A\tb",
	`"{{ x }}"`: "{{ x }}",
	`{"regex":"::error::\\S+ ##\\[x` + "\u202e" + `<b>"}`: "::error::\x1b ##[x\u202e<b>",
}

// as is a violation that [found] finds, of another kind and with another name of its pattern.
func as(rule verdict.Rule, kind, file, content, match, name string) verdict.Violation {
	x := found(rule, file, content, match)
	x.Evidence.Kind, x.Evidence.Pattern = kind, name
	x.Fingerprint = verdict.Fingerprint(rule.ID, x.File, name, []byte(content))
	return x
}

// none is a violation that is at no place. line and column are the end of the file.
func none(rule verdict.Rule, kind, file, name, reason string, line, column int64) verdict.Violation {
	if rule.Message != "" {
		reason = rule.Message
	}
	return verdict.Violation{
		RuleID: rule.ID, RuleType: rule.Type, Title: rule.Title, File: verdict.Path(file), Reason: reason,
		Evidence:    verdict.Evidence{Kind: kind, Pattern: name, Line: 1, Column: 1, EndLine: line, EndColumn: column, UTF16Column: 1, UTF16EndColumn: column, Occurrences: 1},
		Fingerprint: verdict.Fingerprint(rule.ID, verdict.Path(file), name, verdict.NoLine(kind)),
	}
}

// kinds is a FAIL with a violation of each kind.
func kinds() *verdict.Verdict {
	v := newFixture()
	key := verdict.Rule{ID: "KEY-002", Type: "boundary", From: "disk", Title: "No private keys", Message: "A private key is in the repository.", Files: 5}
	license := verdict.Rule{ID: "DOC-1", Type: "invariant", From: "disk", Title: "A licence and its owners", Files: 5}
	v.Rules = []verdict.Rule{v.Rules[0], key, v.Rules[1], license}
	net, enc := v.Rules[0], v.Rules[2]
	v.Violations = []verdict.Violation{
		as(net, verdict.KindRegex, "a.yml", "  - image:  nginx:latest # pinned\n", "image:  nginx:latest", `{"regex":"image:\\s*\\S+:latest\\b"}`),
		as(net, verdict.KindText, "b.tf", "\tpublicly_accessible\t=  true\n", "publicly_accessible\t=  true", `{"text":"publicly_accessible = true","spaces":"any"}`),
		as(net, verdict.KindRegex, "c.env", "•••=AKIA[0-9A-Z]{16} ••\n", "AKIA[0-9A-Z]{16}", `{"regex":"AKIA[0-9A-Z]{16}"}`),
		as(net, verdict.KindRegex, "d.txt", strings.Repeat("xyz ", 50)+strings.Repeat("x", 30)+strings.Repeat(" xyz", 50), strings.Repeat("x", 30), `{"regex":"x+"}`),
		as(net, verdict.KindText, "e.txt", "see A\tb\nC.\n", "A\tb\nC", `{"text":"a b\nc","spaces":"any","words":true,"case":"ignore"}`),
		none(key, verdict.KindFile, "keys/id_rsa", "**/id_rsa", "", 1, 1),
		none(key, verdict.KindFile, "keys/id_rsa", "keys/**", "", 1, 1),
		none(license, verdict.KindMissing, "", "LICENSE*", `A licence and its owners: no file that is not empty matches "LICENSE*"`, 1, 1),
		none(license, verdict.KindMissing, "main.tf", `{"regex":"owner = \"[a-z]+\""}`, `A licence and its owners: the file does not contain a match of {"regex":"owner = \"[a-z]+\""}`, 3, 1),
		none(enc, verdict.KindMissing, "main.tf", "storage_encrypted = true", `All is encrypted: the file does not contain "storage_encrypted = true"`, 3, 1),
	}
	v.Violations[2].Evidence.LineHash = "" // the rule redacts
	v.Violations[3].Evidence.Places = nil
	return v
}

// oddKinds is a FAIL with a violation of each kind whose texts and paths are hostile, or look like what they are not.
func oddKinds() *verdict.Verdict {
	v := kinds()
	net, key, enc, license := v.Rules[0], v.Rules[1], v.Rules[2], v.Rules[3]
	v.Violations = []verdict.Violation{
		as(net, verdict.KindText, "a.tpl", "a \"b\" {{ x }} c\n", "{{ x }}", `"{{ x }}"`),
		as(net, verdict.KindText, "b.json", `{"text":"a b","spaces":"any"}`, `{"text":"a b","spaces":"any"}`, `{"text":"a b","spaces":"any"}`), // a plain text
		as(net, verdict.KindRegex, "c\n::error::.tf", "::error::\x1b ##[x\u202e<b> `|@user\n", "::error::\x1b ##[x\u202e<b>", `{"regex":"::error::\\S+ ##\\[x`+"\u202e"+`<b>"}`),
		none(key, verdict.KindFile, "keys/::error::\n##[x]\u202e.pem", "**/{::error::,##[x],<b>@user|`,\u202e}*", "", 1, 1),
		none(license, verdict.KindMissing, "", "##[x]/::error::\u202e<b>*", "A licence and its owners: no file that is not empty matches \"##[x]/::error::\u202e<b>*\"", 1, 1),
		none(license, verdict.KindMissing, "\x1b[2J ::error::.md", "::error::\n##[x] <b>@user|`\u202e", "A licence and its owners: the file does not contain \"::error::\n##[x] <b>@user|`\u202e\"", 9, 1),
		none(enc, verdict.KindMissing, "main.tf", `{"text":"kms_key = x","spaces":"any","words":true,"case":"ignore"}`, `All is encrypted: the file does not contain {"text":"kms_key = x","spaces":"any","words":true,"case":"ignore"}`, 3, 1),
		none(enc, verdict.KindMissing, "main.tf", `"{{ required }}"`, `All is encrypted: the file does not contain "{{ required }}"`, 3, 1),
	}
	return v
}

// keyKinds is a FAIL with violations of items with a key: of values, of one that a rule redacts, of a missing key, of
// one that has another value, and of a file that has no document; and with a file of which only the text was checked.
func keyKinds() *verdict.Verdict {
	v := newFixture()
	net, enc := v.Rules[0], v.Rules[1]
	missing := func(file, content, at, name string) verdict.Violation {
		x := as(enc, verdict.KindMissing, file, content, at, name)
		x.Reason = enc.Title + ": the file does not have " + x.Evidence.Pattern + ", which is required"
		return x
	}
	v.Violations = []verdict.Violation{
		as(net, verdict.KindKey, "a.yaml", "  hostNetwork: Yes # for now\n", "Yes", `{"key":["spec.hostNetwork","**.hostNetwork"],"where":{"kind":["Pod","Job"]},"is":[true,"host"]}`),
		as(net, verdict.KindKey, "b.toml", "•••••••• • auth.password\n", "auth.password", `{"key":"auth.password","matches_not":"^vault:"}`),
		as(net, verdict.KindKey, "c.json", "{\"debug\": {\"on\": 1,\n\"to\": 2}}\n", "{\"on\": 1,\n\"to\": 2}", `{"key":"debug","is_not":[false,"::error::##[x]"]}`),
		missing("d.tf", "resource \"aws_db_instance\" \"main\" {\n", `resource "aws_db_instance" "main"`, `{"each":"resource.aws_db_instance.*","key":"kms_key_id"}`),
		missing("e.tf", "  storage_encrypted = var.is\n", "var.is", `{"each":"resource.aws_db_instance.*","key":"storage_encrypted","is":true}`),
		none(enc, verdict.KindMissing, "f.yaml", `{"key":"a.b","matches":"^x"}`, `All is encrypted: the file does not have {"key":"a.b","matches":"^x"}, which is required`, 2, 1),
	}
	for i := range v.Violations {
		v.Violations[i].Evidence.Encoding = ""
	}
	v.Violations[1].Evidence.LineHash = "" // the rule redacts
	v.Coverage.Unparsed = []string{"chart/a.yaml"}
	v.Errors = []verdict.Error{{
		Code: "E_PARSE", File: "chart/b.yaml", Message: "it cannot be parsed: line 3, column 5: not YAML; fix it",
		Line: 3, Column: 5, UTF16Column: 5,
	}}
	return v
}

// Where a match is in its excerpt is found by its columns, wherever the excerpt was cut.
func TestMatchInExcerptByColumns(t *testing.T) {
	text := rapid.StringOfN(rapid.SampledFrom([]rune("ab \t世\U0001f600")), 0, 250, -1)
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		match := rapid.StringOfN(rapid.SampledFrom([]rune("xy世\U0001f600")), 1, 40, -1).Draw(t, "match")
		v := found(verdict.Rule{}, "f", before+match+after+"\n", match)
		e := &v.Evidence
		at := strings.Index(before+match, match) // the first
		e.Kind, e.Pattern = verdict.KindRegex, `{"regex":"`+strings.ReplaceAll(regexp.QuoteMeta(match), `\`, `\\`)+`"}`
		start, end := matchInExcerpt(e)
		if e.Excerpt[start:end] != match {
			t.Fatalf("%q of %q", e.Excerpt[start:end], e.Excerpt)
		}
		if units := len(utf16.Encode([]rune(e.Excerpt[:start]))); int64(units) > e.UTF16Column-1 {
			t.Fatalf("%d units before it, of %d in the file, which has it at byte %d", units, e.UTF16Column-1, at)
		}
	})
}

// What is at no place has none in any format, and the tree is no file.
func TestNoPlace(t *testing.T) {
	v := kinds()
	v.Decide()
	for _, f := range Formats() {
		if f.Name == "json" {
			continue
		}
		var b strings.Builder
		if err := f.Write(&b, v); err != nil {
			t.Fatal(err)
		}
		for _, wrong := range []string{"the tree:1", ":0:0", `""LICENSE`} {
			if strings.Contains(b.String(), wrong) {
				t.Errorf("%s has %q:\n%s", f.Name, wrong, b.String())
			}
		}
		for _, want := range []string{"id_rsa", "LICENSE*", "storage_encrypted = true"} {
			if got := strings.NewReplacer("&#42;", "*").Replace(b.String()); !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", f.Name, want, got)
			}
		}
	}
}
