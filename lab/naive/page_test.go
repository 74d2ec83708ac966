package naive

import (
	"fmt"
	"strings"
	"testing"
)

// itemOf reads one item of a 0.2 file.
func itemOf(t *testing.T, text string) Item {
	t.Helper()
	f := ruleText{version: "0.2", rules: []ruleYAML{ruleWith("X", "boundary", text)}}
	file, mistakes := loadFile("boundaries.yml", f.yaml())
	if len(mistakes) > 0 {
		t.Fatalf("%s: %+v", text, mistakes)
	}
	return file.Rules[0].Forbidden[0]
}

// in is a text in an encoding.
func in(name, text string) string {
	for _, e := range Encodings() {
		if e.Name == name {
			return e.Encode(text)
		}
	}
	panic(name)
}

// TestFinds has the examples of the page, and each sentence of the fine print about texts and expressions.
func TestFinds(t *testing.T) {
	const (
		bom8  = "\xef\xbb\xbf"
		bom16 = "\xff\xfe"
	)
	for _, test := range []struct {
		item, content string
		want          string // each find: OFFSET-END, and the encoding if it is not UTF-8
	}{
		// Plain texts are those of 0.1.
		{`"a.b"`, "xa.b a.b", "1-4 5-8"},
		{`"a.b"`, "A.B a-b", ""},
		{`ab`, "ab a\x00b\x00", "0-2 3-7utf-16le"},
		{`ab`, "xyza\x00b\x00", "3-7utf-16le"},
		{`aa`, "aaaaa", "0-2 2-4"},
		{`"ä"`, "\xe4\x00", ""},
		{`"ä"`, "\xff\xfe\xe4\x00", "2-4utf-16le"},
		{`"a\nb"`, "a\r\nb a\nb a\rb", "0-4 5-8"},
		{`"a\r\nb"`, "a\nb", "0-3"},
		{`{text: "a b"}`, "a b a  b", "0-3"},

		// spaces: any
		{`{text: 'acl = "public-read"', spaces: any}`, "acl=\"public-read\"\nacl\t =   \"public-read\"", "0-17 18-40"},
		{`{text: 'acl = "public-read"', spaces: any}`, "acl =\n\"public-read\"", ""},
		{`{text: "a b", spaces: any}`, "ab a b a \t b a\u00a0b a\nb", "3-6 7-12"},
		{`{text: '"privileged" : true', spaces: any}`, `"privileged":true`, "0-17"},
		{`{text: "a \n b", spaces: any}`, "a\nb a \r\n\tb", "0-3 4-10"},
		{`{text: "a   =b", spaces: any}`, "a=b a =b", "0-3 4-8"},
		{`{text: "a é", spaces: any}`, "aé", "0-3"},
		{`{text: "a _", spaces: any}`, "a_ a _", "3-6"},
		{`{text: "a b", spaces: any}`, "x" + in("utf-16be", "a \t b"), "1-11utf-16be"},
		{`{text: "a =", spaces: any}`, in("utf-32le", "a\t=") + "a=", "0-12utf-32le 12-14"},

		// words: true
		{`{text: "a-a", words: true}`, "xa-a-a", "3-6"},
		{`{text: "std::bind", words: true}`, "std::bind_front xstd::bind std::bind(", "27-36"},
		{`{text: "::bind", words: true}`, "std::bind std::bind2", "3-9"},
		{`{text: "a", words: true}`, "éa aé _a 1a a1 -a-", "2-3 4-5 18-19"},
		{`{text: "aa", words: true}`, "aaa aa", "4-6"},
		{`{text: "ab", words: true}`, in("utf-16le", " xab ab"), "9-13utf-16be"}, // see TestEvidence
		{`{text: "ab", words: true}`, in("utf-16le", "xab"), "1-5utf-16be"},      // no whole unit before it
		{`{text: "ab", words: true}`, "x" + in("utf-16le", "ab"), "1-5utf-16le"},
		{`{text: "ab", words: true}`, in("utf-32be", "ab_ abc ab"), "32-40utf-32be"},

		// case: ignore
		{`{text: "tlsv1.0", case: ignore}`, "TLSv1.0 tlsV1.0 tlsv1_0", "0-7 8-15"},
		{`{text: "k", case: ignore}`, "\u212aK", "3-4"},
		{`{text: "sé", case: ignore}`, "SÉ Sé \u017fé", "4-7"},
		{`{text: "[a", case: ignore}`, "{A [A", "3-5"},
		{`{text: "ab", case: ignore}`, in("utf-16be", "aB"), "0-4utf-16be"},

		// within_lines
		{`{text: a, within_lines: 1}`, "a\na", "0-1"},
		{`{text: a, within_lines: 2}`, "\r\na a\r\na", "2-3 4-5"},
		{`{text: a, within_lines: 2}`, "\r\ra", ""},
		{`{text: "\na", within_lines: 1}`, "\na\na", "0-2"},
		{`{text: "a b", spaces: any, within_lines: 1}`, "a \t b\na b", "0-5"},
		{`{text: ab, within_lines: 1}`, in("utf-16le", "ab\nab"), "0-4utf-16le"},
		{`{text: ab, within_lines: 1}`, in("utf-16le", "\u0a0aab\nab"), "2-6utf-16le"}, // lines of the encoding
		{`{text: ab, within_lines: 1}`, "x" + in("utf-32be", "ab\nab"), "1-9utf-32be"},
		{`{text: "\ufeff", within_lines: 1}`, bom8 + "\n" + bom8, "0-3"},
		{`{regex: '^a', within_lines: 2}`, "a\r\na\r\na", "0-1 3-4"},
		{`{regex: '^a', within_lines: 1}`, bom16 + in("utf-16le", "a\u0a0aa\na"), "2-4utf-16le"},
		{`{regex: 'a', within_lines: 1}`, bom8 + "a a\ra", "3-4 5-6"},

		// together
		{`{text: "a = b", spaces: any, words: true, case: ignore}`, "xA=b A=B A  =  bc a\t=B", "5-8 18-22"},

		// regex: within a line
		{`{regex: 'image:\s*\S+:latest\b'}`,
			"image: x:latest\nimage:y:latest\nimage: x:latest2\nimage:\n x:latest",
			"0-15 16-30"},
		{`{regex: '^a$'}`, "a\na\r\na\rab\nba\na", "0-1 2-3 5-6 13-14"},
		{`{regex: '(?m)^a$'}`, "a\nb", "0-1"},
		{`{regex: '[^x]b'}`, "\nb\rb", ""},
		{`{regex: 'a\s*b'}`, "a\n b a \tb", "5-9"},
		{`{regex: '^a'}`, bom8 + "a", "3-4"},
		{`{regex: '\x{feff}'}`, bom8 + "a", ""},
		{`{regex: '(?i)k'}`, "\u212a", "0-3"},
		{`{regex: 'a|ab'}`, "ab", "0-1"},
		{`{regex: 'a+'}`, strings.Repeat("a ", 150) + "\naa", "0-1"},

		// readings
		{`{regex: 'a\x{fffd}'}`, "a\xffa\xe2\x82b", "0-2 2-4"},
		{`{regex: '\x{fffd}{2}b'}`, "\xe2\x82b", "0-3"},
		{`{regex: '^ab$'}`, bom16 + in("utf-16le", "ab\r\nab"), "2-6utf-16le 10-14utf-16le"},
		{`{regex: 'ab'}`, in("utf-16be", "ab") + "ab", "0-4utf-16be 4-6"},
		{`{regex: 'ab'}`, "x" + in("utf-16le", "ab"), ""},
		{`{regex: 'ab'}`, bom8 + in("utf-16le", "ab"), "3-7utf-16le"},
		{`{regex: 'a.b'}`, bom16 + "a\x00\x00\xd8b\x00", "2-8utf-16le"},
		{`{regex: 'é'}`, "\xe9\x00", "0-2utf-16le"},
		{`{regex: 'é'}`, "\xe9\xff", ""},
		{`{regex: 'é'}`, bom16 + "\xe9", ""},
		{`{regex: '^a'}`, "\xff\xfe\x00\x00" + in("utf-32le", "a"), "4-6utf-16le"},
		{`{regex: '^ab'}`, "\xff\xfe\x00\x00" + in("utf-32le", "ab"), "4-12utf-32le"},
		{`{regex: '^a'}`, "\x00\x00\xfe\xff" + in("utf-32be", "a"), "4-8utf-32be"},
		{`{regex: 'a'}`, "a\x00", "0-1"},
		{`{regex: 'a\x00?'}`, "a\x00", "0-2"},
	} {
		item := itemOf(t, test.item)
		var got []string
		for _, f := range item.Find(test.content) {
			got = append(got, fmt.Sprintf("%d-%d%s", f.Offset, f.End, strings.TrimPrefix(f.Encoding.Name, "utf-8")))
		}
		if strings.HasPrefix(test.item, "{regex: 'a+'}") {
			if len(got) != 101 || got[100] != "301-303" {
				t.Errorf("%s: %d finds, the last %s", test.item, len(got), got[len(got)-1])
			}
			continue
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s in %q: %s, want %s", test.item, test.content, got, test.want)
		}
	}
}

// TestEvidence is about the place that is shown.
func TestEvidence(t *testing.T) {
	for _, test := range []struct {
		item, content, want string
	}{
		{"ab", "x\r\nab\r", "3 2:1-2:3 utf-8"},
		{`"b\n"`, "ab\nc", "1 1:2-2:1 utf-8"},
		{"ab", in("utf-16le", "\ufeff\rab"), "4 2:1-2:5 utf-16le"},
		{"ab", "x\x00a\x00b\x00", "2 1:3-1:7 utf-16le"},              // the aligned reading
		{"ab", "xyz" + in("utf-16le", "\nab"), "4 1:5-1:9 utf-16be"}, // aligned, in the other order
		{`{text: "ab", words: true}`, in("utf-16le", " xab ab"), "10 1:11-1:15 utf-16le"},
		{"{regex: b}", "a\ra\n\rb", "5 4:1-4:2 utf-8"},
	} {
		item := itemOf(t, test.item)
		v := at(test.content, evidence(item, test.content, item.Find(test.content)))
		place := fmt.Sprintf("%d:%d-%d:%d", v.Line, v.Column, v.EndLine, v.EndColumn)
		if got := fmt.Sprintf("%d %s %s", v.Offset, place, v.Encoding); got != test.want {
			t.Errorf("%s in %q: %s, want %s", test.item, test.content, got, test.want)
		}
	}
}

// TestIsIn is about required items.
func TestIsIn(t *testing.T) {
	const bom16 = "\xff\xfe"
	for _, test := range []struct {
		item, content string
		want          bool
	}{
		{"ab", "xabx", true},
		{"ab", "", false},
		{"ab", in("utf-32be", "xab"), true},
		{"ab", "x" + in("utf-32be", "ab"), false}, // not in whole units
		{"ab", in("utf-16le", "xa\u0162"), false},
		{"ab", "\xef\xbb\xbf" + in("utf-16le", "ab"), true},
		{"ab", "\xef\xbb\xbfx" + in("utf-16le", "ab"), false},
		{"ab", "\xfe\xff" + in("utf-32be", "ab"), true},
		{"ab", bom16 + "\x00\x00" + in("utf-16be", "ab"), true},
		{"{text: ab, words: true}", in("utf-16le", "xab"), false},
		{"{text: ab, words: true}", in("utf-16le", "abx"), false},
		{"{text: ab, words: true}", bom16 + in("utf-16le", "xab"), false},
		{"{text: ab, words: true}", bom16 + in("utf-16le", "x ab"), true},
		{"{text: a, words: true}", in("utf-32le", "\ufeffxa"), false},
		{"{text: a, words: true}", in("utf-32le", "\ufeffx a"), true},
		{`"ä"`, "\xe4\x00", false},
		{`"ä"`, bom16 + "\xe4\x00", true},
		{"{text: a b, spaces: any}", "a\tb", true},
		{"{text: ab, words: true}", "abc", false},
		{"{regex: ^ab}", "ab", true},
		{"{regex: ^ab}", "\xef\xbb\xbfab", true},
		{"{regex: ^ab}", in("utf-16le", "ab"), false}, // without a mark the content is UTF-8
		{"{regex: ^ab}", bom16 + in("utf-16le", "ab"), true},
		{"{regex: ab}", bom16 + "ab", false},
		{"{regex: ab}", bom16 + in("utf-16be", "ab"), false},
		{"{regex: ab}", in("utf-32le", "\ufeffab"), true}, // the longer of two marks
		{`{regex: ab}`, bom16 + "\x00\x00" + in("utf-16le", "ab"), false},
		{"{text: ab, within_lines: 1}", "x\nab", false},
		{"{text: ab, within_lines: 2}", "x\nab", true},
		{"{text: ab, within_lines: 1}", bom16 + in("utf-16le", "x\nab"), false},
		{"{regex: ^ab, within_lines: 1}", bom16 + in("utf-16le", "ab"), true},
		{"{regex: ^ab, within_lines: 1}", "\nab", false},
	} {
		if got := itemOf(t, test.item).IsIn(test.content); got != test.want {
			t.Errorf("%s in %q: %t", test.item, test.content, got)
		}
	}
}

// TestNames is about how items are called.
func TestNames(t *testing.T) {
	for _, test := range []struct{ item, want string }{
		{`a b`, `a b`},
		{`{text: "a b"}`, `a b`},
		{`'{"a"}'`, `"{\"a\"}"`},
		{`{text: '{a'}`, `"{a"`},
		{`{regex: 'a"\s'}`, `{"regex":"a\"\\s"}`},
		{`{within_lines: 12, regex: a}`, `{"regex":"a","within_lines":12}`},
		{`{words: true, within_lines: 3, text: "a b", spaces: any}`, `{"text":"a b","within_lines":3,"spaces":"any","words":true}`},
		{
			`{case: ignore, words: true, spaces: "any", text: "a b"}`,
			`{"text":"a b","spaces":"any","words":true,"case":"ignore"}`,
		},
		{
			`{text: "a\t\r\n\x01\u2028<é😀\x7f/\\", words: true}`,
			`{"text":"a\t\r\n\u0001` + "\u2028<é😀\x7f" + `/\\","words":true}`,
		},
	} {
		if got := itemOf(t, test.item).Name; got != test.want {
			t.Errorf("%s: %s, want %s", test.item, got, test.want)
		}
	}
	old, mistakes := loadFile("boundaries.yml", ruleText{rules: []ruleYAML{ruleWith("X", "boundary", "'{a'")}}.yaml())
	if len(mistakes) > 0 || old.Rules[0].Forbidden[0].Name != "{a" {
		t.Errorf("in a 0.1 file: %+v, %v", old, mistakes)
	}
}

// TestPaths is about the ways to choose files, and what is reported of them, in order.
func TestPaths(t *testing.T) {
	boundaries := `bundle: "0.2"
rules:
  - id: B
    title: t
    enforcement: {mode: fail}
    match:
      path_case: ignore
      files: ["**/*.tf"]
      exclude: ["old/**", "**/*.TF.old"]
      forbidden_patterns: [bad, {regex: 'b.d'}]
      forbidden_files: ["**/*.pem", "**/ID_*", "dir/**"]
`
	invariants := `bundle: "0.2"
exclude: ["skip/**"]
rules:
  - id: I
    title: t
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      required_absent: [no]
      required_patterns: [yes, {regex: '^y'}]
      forbidden_files: ["/*.key"]
      required_files: ["/README", "/*.md", "skip/x", "/empty", "/lnk"]
`
	more := `bundle: "0.2"
type: boundary
rules:
  - id: M
    title: t
    enforcement: {mode: fail}
    match: {forbidden_files: ["/lnk"]}
`
	b, mistakes := Load(map[string]string{
		"boundaries.yml": boundaries, "invariants.yml": invariants, "more.yml": more, "README": "",
	})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	o := Judge(b, Scan{Tree: []File{
		{"A.TF", "bad bxd bad", Regular},
		{"K.PEM", "", Regular},
		{"dir", "", Regular},
		{"dir/id_x.pem", "", FIFO},
		{"b.tf", "yes", Regular},
		{"empty", "", Regular},
		{"k.key", "", Regular},
		{"lnk", "README", Link},
		{"old/k.pem", "bad", Regular},
		{"readme", "x", Regular},
		{"skip/k.tf", "no bad", Regular},
		{"skip/x", "x", Regular},
		{"x.TF.old", "bad", Regular},
		{"z.tf", "A.TF", Link},
	}})
	var got []string
	for _, v := range o.Violations {
		got = append(got, fmt.Sprintf("%s %s %s %s %d", v.RuleID, v.File, v.Kind, v.Pattern, v.Occurrences))
	}
	want := []string{
		"B A.TF text bad 2", `B A.TF regex {"regex":"b.d"} 3`, "B K.PEM file **/*.pem 1",
		"B dir/id_x.pem file **/*.pem 1", "B dir/id_x.pem file **/ID_* 1", "B dir/id_x.pem file dir/** 1",
		"B skip/k.tf text bad 1", `B skip/k.tf regex {"regex":"b.d"} 1`,
		"M lnk file lnk 1",
		"I  missing README 1", "I  missing *.md 1", "I  missing skip/x 1", "I  missing empty 1", "I  missing lnk 1",
		"I k.key file *.key 1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := (Excluded{"rules/invariants.yml", 1}); len(o.Excluded) != 1 || o.Excluded[0] != want {
		t.Errorf("excluded: %+v", o.Excluded)
	}
	if want := (Error{"E_LINK", "z.tf"}); len(o.Errors) != 1 || o.Errors[0] != want || o.Status != 1 {
		t.Errorf("status %d, errors %+v", o.Status, o.Errors)
	}
}
