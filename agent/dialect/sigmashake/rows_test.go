package sigmashake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// set reads one file of rules.
func set(t testing.TB, text string) *callrules.Set {
	t.Helper()
	s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: []byte(text)}})
	if err != nil {
		t.Fatalf("%v, in\n%s", err, text)
	}
	return s
}

// decide returns a set's outcome for a line of JSON as "decision id"; the decision alone without a matching rule.
func decide(t *testing.T, s *callrules.Set, line string) string {
	t.Helper()
	c, err := callrules.ParseCall([]byte(line))
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	out := s.Decide(c, callrules.Options{})
	if out.Rule == nil {
		return out.Decision
	}
	return out.Decision + " " + out.Rule.ID
}

// fires reports whether a rule of that decision and target, with that condition, fires on a call.
func fires(t *testing.T, decision, condition, line string) bool {
	t.Helper()
	more := map[string]string{"ASK any": `PROMPT "?"`, "FORCE any": `SUBSTITUTE "x"`}[decision]
	s := set(t, fmt.Sprintf("rule r {\n%s\nIF %s\nMESSAGE \"m\" %s }", decision, condition, more))
	return decide(t, s, line) != "allow"
}

// A row is a condition and calls that it holds for and does not.
type row struct {
	condition string
	holds     []string
	fails     []string
}

func run(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		for _, line := range r.holds {
			if !fires(t, "DENY any", r.condition, line) {
				t.Errorf("%s does not hold for %s", r.condition, line)
			}
		}
		for _, line := range r.fails {
			if fires(t, "DENY any", r.condition, line) {
				t.Errorf("%s holds for %s", r.condition, line)
			}
		}
	}
}

// bash is a call of a command.
func bash(command string) string {
	return `{"tool":"Bash","input":{"command":` + call.Text(command).JSON() + `}}`
}

// write is a call that writes a file.
func write(path, content string) string {
	return `{"tool":"Write","input":{"file_path":` + call.Text(path).JSON() + `,"content":` +
		call.Text(content).JSON() + `}}`
}

// input is a call of a tool with that input.
func input(object string) string { return `{"tool":"X","input":` + object + `}` }

// "Sort rules by priority descending (100 before 50)"
func TestRow_0_01_Priority(t *testing.T) {
	s := set(t, `
rule low { priority 50 DENY any IF command CONTAINS "rm" MESSAGE "m" }
rule high { priority 100 ALLOW any IF command CONTAINS "rm" MESSAGE "m" }
rule negative { priority -999999999 DENY any IF tool EQUALS "Bash" MESSAGE "m" }`)
	if got := decide(t, s, bash("rm")); got != "allow high" {
		t.Error(got)
	}
	if got := decide(t, s, bash("ls")); got != "block negative" {
		t.Error(got)
	}
}

// The document is silent: rules of one priority are asked by the byte order of their files, then by line.
func TestRow_0_02_Ties(t *testing.T) {
	file := func(name, id string) *document.Source {
		return &document.Source{Name: name, Text: []byte("rule " + id + ` { DENY any IF tool EQUALS "Bash" MESSAGE "m" }
rule ` + id + `-second { LOG any IF tool EQUALS "Bash" MESSAGE "m" }`)}
	}
	for _, files := range [][]*document.Source{
		{file("B.rules", "first"), file("a.rules", "other"), file("a/z.rules", "third")},
		{file("a/z.rules", "third"), file("a.rules", "other"), file("B.rules", "first")},
	} {
		s, err := Read("rules", files)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, r := range s.Rules {
			order = append(order, r.ID)
		}
		if got := strings.Join(order, " "); got != "first first-second other other-second third third-second" {
			t.Error(got)
		}
		if got := decide(t, s, bash("x")); got != "block first" {
			t.Error(got)
		}
	}
}

// "Filter to enabled rules only"
func TestRow_0_03_Enabled(t *testing.T) {
	s := set(t, `rule off { enabled false DENY any IF tool EQUALS "Bash" MESSAGE "m" }
rule on { enabled true LOG any IF tool EQUALS "Bash" MESSAGE "m" }`)
	if got := decide(t, s, bash("x")); got != "log on" {
		t.Error(got)
	}
}

// "If both match": the target and any group.
func TestRow_0_04_TargetAndGroup(t *testing.T) {
	const rule = `rule r { DENY execution IF command CONTAINS "rm" OR command CONTAINS "dd" MESSAGE "m" }`
	for line, want := range map[string]string{
		bash("rm -rf x"): "block r",
		bash("dd if=x"):  "block r",
		bash("ls"):       "allow",
		`{"tool":"Write","input":{"command":"rm -rf x"}}`: "allow",
	} {
		if got := decide(t, set(t, rule), line); got != want {
			t.Errorf("%s: %s, not %s", line, got, want)
		}
	}
}

// "return immediately (short-circuit, first-match wins)": a LOG of a higher priority hides a DENY.
func TestRow_0_05_FirstMatchWins(t *testing.T) {
	s := set(t, `
rule deny { priority 90 DENY any IF command CONTAINS "push --force" MESSAGE "m" }
rule log { priority 95 LOG any IF command CONTAINS "push" MESSAGE "m" }`)
	if got := decide(t, s, bash("git push --force")); got != "log log" {
		t.Error(got)
	}
}

// "Default: return {decision: "allow"} if no rule matches"
func TestRow_0_06_Default(t *testing.T) {
	s := set(t, `rule r { DENY any IF command CONTAINS "rm" MESSAGE "m" }`)
	if got := decide(t, s, bash("ls")); got != "allow" {
		t.Error(got)
	}
}

// "DENY execution → only matches tools classified as "execute" (Bash, shell)"; "DENY any → matches all
// tools"; edit is Edit and MultiEdit, a part of write; a tool that is not known is matched by any alone.
func TestRow_0_07_Targets(t *testing.T) {
	tools := map[string]string{
		"execution": "Bash shell command",
		"read":      "Read",
		"write":     "Write Edit MultiEdit NotebookEdit",
		"edit":      "Edit MultiEdit",
		"search":    "Glob Grep",
		"agent":     "Agent Task",
		"network":   "WebFetch WebSearch",
		"any":       "Bash shell command Read Write Edit MultiEdit NotebookEdit Glob Grep Agent Task WebFetch WebSearch mcp__git__push execute_sql",
	}
	for target, matched := range tools {
		for tool := range strings.FieldsSeq(tools["any"]) {
			want := strings.Contains(" "+matched+" ", " "+tool+" ")
			got := fires(t, "DENY "+target, `tool NOT EQUALS ""`, `{"tool":"`+tool+`"}`)
			if got != want {
				t.Errorf("target %s, tool %s: %v", target, tool, got)
			}
		}
	}
}

// "Group 1 matches OR Group 2 matches → rule fires."
func TestRow_0_11_Or(t *testing.T) {
	run(t, []row{{"command CONTAINS \"rm -rf\"\nOR command CONTAINS \"rm -r\"\nOR path EQUALS \"/\"",
		[]string{bash("rm -rf x"), bash("rm -r x"), input(`{"path":"/"}`)}, []string{bash("rm x")}}})
}

// "Conditions joined by AND (or on consecutive lines after IF) must all match"
func TestRow_0_12_ImplicitAnd(t *testing.T) {
	both, one, other := write("/x/.env", "API_KEY=1"), write("/x/.env", "x"), write("/x/a", "API_KEY=1")
	run(t, []row{
		{`path ENDS_WITH ".env" AND content CONTAINS "API_KEY"`, []string{both}, []string{one, other}},
		{"path ENDS_WITH \".env\"\n AND content CONTAINS \"API_KEY\"", []string{both}, []string{one, other}},
		{"path ENDS_WITH \".env\"\n content CONTAINS \"API_KEY\"", []string{both}, []string{one, other}},
		{"path ENDS_WITH \".env\" # why\n\n NOT content EQUALS \"x\"\n (tool EQUALS \"Write\")", []string{both},
			[]string{one, other}},
		// AND and lines bind tighter than OR.
		{"path ENDS_WITH \".env\"\n content CONTAINS \"API_KEY\"\n OR tool EQUALS \"Bash\"", []string{both, bash("x")},
			[]string{one, other}},
	})
}

// AND binds tighter than OR; parentheses nest.
func TestRow_0_13_Precedence(t *testing.T) {
	a, ab, bc, c, ac := input(`{"a":"1"}`), input(`{"a":"1","b":"1"}`), input(`{"b":"1","c":"1"}`), input(`{"c":"1"}`), input(`{"a":"1","c":"1"}`)
	is := func(s string) string {
		for _, name := range []string{"a", "b", "c"} {
			s = strings.ReplaceAll(s, name, "input."+name+` EQUALS "1"`)
		}
		return strings.NewReplacer("&", "AND", "|", "OR", "!", "NOT ").Replace(s)
	}
	run(t, []row{
		{is("a | b & c"), []string{a, ab, bc, ac}, []string{c}},
		{is("a & b | c"), []string{ab, bc, c, ac}, []string{a}},
		{is("(a | b) & c"), []string{bc, ac}, []string{a, ab, c}},
		{is("a & (b | c)"), []string{ab, ac}, []string{a, bc, c}},
		{is("((a) & (b | (c)))"), []string{ab, ac}, []string{a, bc, c}},
	})
}

// NOT before an operator, before a field and before a parenthesis; every NOT ends at the tests.
func TestRow_0_14_Not(t *testing.T) {
	a, b, ab, none := input(`{"a":"1"}`), input(`{"b":"1"}`), input(`{"a":"1","b":"1"}`), input(`{}`)
	const isA, isB = `input.a EQUALS "1"`, `input.b EQUALS "1"`
	run(t, []row{
		{`input.a NOT EQUALS "1"`, []string{b, none}, []string{a, ab}},
		{`NOT ` + isA, []string{b, none}, []string{a, ab}},
		{`NOT input.a NOT EQUALS "1"`, []string{a, ab}, []string{b, none}},
		{isB + ` AND NOT ` + isA, []string{b}, []string{a, ab, none}},
		{`NOT (` + isA + ` AND ` + isB + `)`, []string{a, b, none}, []string{ab}},
		{`NOT (` + isA + ` OR ` + isB + `)`, []string{none}, []string{a, b, ab}},
		{`NOT NOT (` + isA + ` OR ` + isB + `)`, []string{a, b, ab}, []string{none}},
		{`NOT (` + isA + ` AND NOT ` + isB + `)`, []string{b, ab, none}, []string{a}},
	})
}

// "const key = field.slice(6); const val = call.input[key];": one name, no walk along its dots.
func TestRow_0_15_InputKey(t *testing.T) {
	run(t, []row{
		{`input.a EQUALS "1"`, []string{input(`{"a":"1"}`)}, []string{input(`{"b":"1"}`)}},
		{`input.a.b EQUALS "1"`, []string{input(`{"a.b":"1"}`)}, []string{input(`{"a":{"b":"1"}}`)}},
		{`input.azAZ09 EQUALS "1"`, []string{input(`{"azAZ09":"1"}`)}, nil},
		{`input.old-name_2 EQUALS "1"`, []string{input(`{"old-name_2":"1"}`)}, nil},
	})
}

// "if (val === undefined || val === null) return ”;"
func TestRow_0_16_MissingIsEmpty(t *testing.T) {
	run(t, []row{
		{`input.a EQUALS ""`, []string{input(`{}`), input(`{"a":null}`), input(`{"a":""}`), `{"tool":"X"}`},
			[]string{input(`{"a":0}`), input(`{"a":false}`)}},
		{`command EQUALS ""`, []string{input(`{}`), input(`{"command":null}`)}, []string{bash("x")}},
	})
}

// "return typeof val === 'string' ? val : JSON.stringify(val);"
func TestRow_0_17_Stringify(t *testing.T) {
	run(t, []row{
		{`input.a EQUALS "5"`, []string{input(`{"a":5}`), input(`{"a":5.0}`), input(`{"a":"5"}`)},
			[]string{input(`{"a":55}`)}},
		{`input.a EQUALS "true"`, []string{input(`{"a":true}`)}, []string{input(`{"a":false}`)}},
		{`input.a EQUALS "1e+21"`, []string{input(`{"a":1000000000000000000000}`)}, nil},
		{`input.a EQUALS "{\"z\":[1,\"<&\"],\"a\":null}"`, []string{input(`{"a": { "z" : [1, "<&"], "a": null } }`)},
			nil},
		{`input.a EQUALS "{\"1\":2,\"z\":1}"`, []string{input(`{"a":{"z":1,"1":2}}`)}, nil},
		{`command CONTAINS "\"rm\""`, []string{input(`{"command":["sh","-c","rm"]}`), input(`{"command":["rm"]}`)},
			[]string{bash("rm")}},
	})
	if line := "{\"tool\":\"X\",\"input\":{\"a\":[\"\u2028\"]}}"; !fires(t, "DENY any",
		"input.a EQUALS \"[\\\"\u2028\\\"]\"", line) {
		t.Error("U+2028 does not stand for itself")
	}
}

// "case 'command': return call.input.command ?? ”;" and the other fields.
func TestRow_0_18_Fields(t *testing.T) {
	run(t, []row{
		{`command EQUALS "1"`, []string{input(`{"command":"1"}`)}, []string{input(`{"cmd":"1"}`)}},
		// 0-19: "call.input.file_path ?? call.input.path ?? ”": null falls through, an empty text does not.
		{`path EQUALS "1"`, []string{input(`{"file_path":"1"}`), input(`{"path":"1"}`),
			input(`{"file_path":null,"path":"1"}`), input(`{"path":"2","file_path":"1"}`)},
			[]string{input(`{"file_path":"","path":"1"}`), input(`{"file_path":"2","path":"1"}`)}},
		// 0-20: "call.input.content ?? call.input.new_string ?? ”"; the edits of MultiEdit and the source
		// of NotebookEdit are not seen.
		{`content EQUALS "1"`, []string{input(`{"content":"1"}`), input(`{"new_string":"1"}`),
			input(`{"content":null,"new_string":"1"}`)},
			[]string{input(`{"content":"","new_string":"1"}`), input(`{"edits":[{"new_string":"1"}]}`),
				input(`{"new_source":"1"}`)}},
		// 0-21: "case 'tool': return call.tool;"
		{`tool EQUALS "X"`, []string{input(`{"tool":"Y"}`)}, []string{bash("X")}},
	})
}

// A missing field: tests of its value fail, and tests of its absence hold.
func TestRow_0_22_MissingField(t *testing.T) {
	for _, op := range []string{"CONTAINS", "EQUALS", "STARTS_WITH", "ENDS_WITH", "GLOB", "REGEX", "WORD",
		"LINE_CONTAINS", "LINE_REGEX"} {
		run(t, []row{
			{`input.gone ` + op + ` "x"`, nil, []string{input(`{}`)}},
			{`input.gone NOT ` + op + ` "x"`, []string{input(`{}`)}, nil},
		})
	}
}

func TestRow_0_23_Operators(t *testing.T) {
	run(t, []row{
		{`command CONTAINS "rm -rf"`, []string{bash("sudo rm -rf /")}, []string{bash("RM -RF"), bash("rm  -rf")}},
		{`command EQUALS "ls"`, []string{bash("ls")}, []string{bash("ls "), bash("LS")}},
		{`command STARTS_WITH "git "`, []string{bash("git push")}, []string{bash(" git push"), bash("gitk")}},
		{`command ENDS_WITH ".env"`, []string{bash("cat .env")}, []string{bash("cat .env.x")}},
		{`command CONTAINS "a.*"`, []string{bash("a.*")}, []string{bash("abc")}},
	})
}

// GLOB: "*" is anything but "/", "**" is anything, "?" is one; it is about the whole path.
func TestRow_0_27_Glob(t *testing.T) {
	at := func(paths ...string) []string {
		for i, p := range paths {
			paths[i] = write(p, "")
		}
		return paths
	}
	run(t, []row{
		{`path GLOB "*.log"`, at("a.log", ".log"), at("/a.log", "x/a.log", "a.log.x", "a-log")},
		{`path GLOB "src/*.rs"`, at("src/a.rs"), at("src/x/a.rs", "/src/a.rs")},
		{`path GLOB "src/**"`, at("src/a", "src/a/b", "src/"), at("src", "srcs/a")},
		{`path GLOB "**/*.ts"`, at("/w/a.ts", "w/x/a.ts", "a.ts", "a\n/b.ts"), at("a.tsx")},
		{`path GLOB "/a/**/b"`, at("/a/b", "/a/x/b", "/a/x/y/b"), at("/ab", "/a/xb")},
		{`path GLOB "a**b"`, at("ab", "a/x/b"), at("a")},
		{`path GLOB "a**/b"`, at("ax/b", "a/b"), at("ab")},
		{`path GLOB "?.c"`, at("a.c", "é.c"), at(".c", "ab.c")},
		{`path GLOB "**/*.{ts,tsx}"`, at("/a.ts", "/a.tsx"), at("/a.t", "/a.{ts,tsx}")},
		{`path GLOB "{a,b{c,d}}.x"`, at("a.x", "bc.x", "bd.x"), at("b.x", "c.x")},
		{`path GLOB "{a}-{,b}{"`, at("{a}-{", "{a}-b{"), at("a-")},
		{`path GLOB "{a{b},c}}"`, at("a{b}}", "c}"), at("ab}", "a{b,c")},
		{`path GLOB "{a{b,c}}"`, at("{ab}", "{ac}"), at("ab")},
		{`path GLOB "a,b"`, at("a,b"), at("a", "b")},
		{`path GLOB "app/[id]/(x)+.^$|\d"`, at(`app/[id]/(x)+.^$|\d`), at("app/i/x")},
		{`path GLOB "!a"`, at("!a"), at("b")},
	})
}

// REGEX is JavaScript's, and is looked for anywhere.
func TestRow_0_28_Regex(t *testing.T) {
	run(t, []row{
		{`command REGEX "rm\\s+-[a-z]*f"`, []string{bash("sudo rm  -rf"), bash("rm\u00a0-f")},
			[]string{bash("RM -f")}},
		{`command REGEX "^ls$"`, []string{bash("ls")}, []string{bash("ls\n"), bash("x\nls")}},
		{`command REGEX "\x41\u0042"`, []string{bash("AB")}, []string{bash("x41")}},
		{`command REGEX "a.b"`, []string{bash("axb")}, []string{bash("a\nb"), bash("a\u2028b")}},
	})
}

func TestRow_0_29_Word(t *testing.T) {
	run(t, []row{
		{`command WORD "rm"`, []string{bash("rm x"), bash("a;rm"), bash("x-rm-x"), bash("érm")},
			[]string{bash("rmdir"), bash("farm"), bash("_rm"), bash("Rm")}},
		{`command WORD "a.b"`, []string{bash("x a.b")}, []string{bash("axb")}},
		// one text, two patterns
		{`command REGEX "a?b" AND command NOT GLOB "a?b"`, []string{bash("b")}, []string{bash("axb"), bash("x")}},
	})
}

// LINE_CONTAINS and LINE_REGEX ask of each line by itself, without its // comment.
func TestRow_0_30_Line(t *testing.T) {
	of := func(content string) string { return write("/a", content) }
	run(t, []row{
		{`content LINE_CONTAINS "eval("`, []string{of("a\n  eval(x)\nb"), of("eval(x) // eval"), of("\r\neval(\r\n")},
			[]string{of("// eval(x)"), of("a // eval(x)\nb"), of("ev\nal(")}},
		{`content LINE_REGEX "^import x$"`, []string{of("a\nimport x\nb"), of("a\r\nimport x\r\n")},
			[]string{of("ximport x\n"), of("import x;")}},
		{`content NOT LINE_CONTAINS "ok"`, []string{of("a\nb"), of("// ok"), of("")}, []string{of("a\nok")}},
		{`content LINE_CONTAINS "https://x"`, nil, []string{of("https://x")}},
	})
}

// "If a regex pattern is invalid or dangerous (nested quantifiers), it matches rather than silently failing. This
// triggers the rule, erring on the side of caution." The document does not name the decision: such a pattern matches
// in restricting rules, and does not in rules that let the call go on, on either side of NOT.
func TestRow_0_32_FailSecure(t *testing.T) {
	bad := map[string]string{
		"invalid":            `(`,
		"look-ahead":         `a(?!b)`,
		"flags":              `(?i)drop`,
		"nested quantifiers": `(a+)+x`,
		"0-33: 501 long":     strings.Repeat("x", 501),
		"501 of UTF-16":      strings.Repeat("😀", 250) + "x",
	}
	for why, pattern := range bad {
		for _, op := range []string{"REGEX", "LINE_REGEX", "NOT REGEX", "NOT LINE_REGEX"} {
			condition := "command " + op + " " + quoted(pattern)
			for decision, want := range map[string]bool{"DENY any": true, "FORCE any": true, "ASK any": true,
				"ALLOW any": false, "LOG any": false, "SHADOW any": false} {
				for _, condition := range []string{condition, "NOT (" + condition + ")"} {
					if got := fires(t, decision, condition, bash("zzz")); got != want {
						t.Errorf("%s: %s IF %s fires: %v", why, decision, condition, got)
					}
				}
			}
		}
		s := set(t, "\nrule r {\nDENY any\nIF command REGEX "+quoted(pattern)+`
MESSAGE "m" }`)
		if len(s.Notes) != 1 || s.Notes[0].Origin != (callrules.Origin{File: "a.rules", Line: 2}) ||
			!strings.Contains(s.Notes[0].Text, "as matching") {
			t.Errorf("%s: validate says %+v", why, s.Notes)
		}
	}
	if got := compileRegex("(?i)drop").broken; got != "JavaScript has no (?i); write a letter of either case as [Aa]" {
		t.Error(got)
	}
	// It is the test that holds, not the rule: the other conditions are asked all the same.
	run(t, []row{{`tool EQUALS "Bash" AND command REGEX "("`, []string{bash("x")}, []string{write("/a", "")}}})
	long := strings.Repeat("x", 500)
	run(t, []row{{`command REGEX "` + long + `"`, []string{bash(long)}, []string{bash("x")}}})
}

// quoted writes a text as a file of rules has it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func TestRow_0_32_NestedQuantifiers(t *testing.T) {
	for pattern, want := range map[string]string{
		`(a+)+`:         `(a+)+`,
		`x(?:\s*y)*z`:   `(?:\s*y)*`,
		`(a{2,}b){3}`:   `(a{2,}b){3}`,
		`((a*)b)+`:      `((a*)b)+`,
		`((ab)+c){2,4}`: `((ab)+c){2,4}`,
		`(a+?)+?`:       `(a+?)+`,
		`([)]+)+`:       `([)]+)+`,
		`(\)+)+`:        `(\)+)+`,
		`(a+)?`:         "",
		`(a+){1}`:       "",
		`(a+){01}`:      "",
		`(a+){0,1}`:     "",
		`(ab)+`:         "",
		`(\d{1,3}\.)+`:  "",
		`a+b+`:          "",
		`(a\+)+`:        "",
		`([+*])+`:       "",
		`(a{)+`:         "",
		`(a{,3})+`:      "",
		`(a+)(b)+`:      "",
		`)+(a+)+`:       "",
		`(a+`:           "",
		`[(]a+)+`:       "",
		`([a+)+`:        "",
		``:              "",
	} {
		if got := nestedQuantifiers(pattern); got != want {
			t.Errorf("%s: %q, not %q", pattern, got, want)
		}
	}
}

// DENY block, ALLOW allow, LOG log, SHADOW shadow, ASK ask with PROMPT, FORCE force with SUBSTITUTE.
func TestRow_0_46_Decisions(t *testing.T) {
	for decision, want := range map[string]string{
		`DENY any`: "block r", `ALLOW any`: "allow r", `LOG any`: "log r", `SHADOW any`: "shadow r",
		`ASK any PROMPT "may it?"`:        "ask r",
		`FORCE any SUBSTITUTE "git mv x"`: "force r",
	} {
		s := set(t, "rule r { "+decision+` IF tool EQUALS "Bash" MESSAGE "why" }`)
		if got := decide(t, s, bash("x")); got != want {
			t.Errorf("%s: %s", decision, got)
		}
		r := s.Rules[0]
		if r.Reason != "why" || r.Prompt != map[bool]string{true: "may it?"}[r.Effect == callrules.Ask] ||
			r.Instead != map[bool]string{true: "git mv x"}[r.Effect == callrules.Force] {
			t.Errorf("%s: %+v", decision, r)
		}
	}
	s := set(t, `rule r { DENY any IF tool EQUALS "Bash" MESSAGE "why" CONTEXT "see docs/x.md" }`)
	if got := s.Rules[0].Reason; got != "why\nsee docs/x.md" {
		t.Errorf("%q", got)
	}
}

// The defaults: priority 50, severity warning, enabled true.
func TestRow_0_47_Defaults(t *testing.T) {
	s := set(t, `rule bare { DENY any IF tool EQUALS "x" MESSAGE "m" }
rule full {
  severity error
  priority 7
  enabled false
  DENY any
  IF tool EQUALS "x"
  MESSAGE "m"
}`)
	for i, want := range []callrules.Rule{
		{ID: "bare", Priority: 50, Severity: "warning", Origin: callrules.Origin{File: "a.rules", Line: 1}},
		{ID: "full", Priority: 7, Severity: "error", Disabled: true,
			Origin: callrules.Origin{File: "a.rules", Line: 2}},
	} {
		got := s.Rules[i]
		if got.ID != want.ID || got.Priority != want.Priority || got.Severity != want.Severity ||
			got.Disabled != want.Disabled || got.Origin != want.Origin {
			t.Errorf("%+v", got)
		}
	}
	if s.Dialect != "sigmashake" || s.Strategy != callrules.PriorityFirst || s.Default != callrules.Allow ||
		s.Name != "rules" {
		t.Errorf("%+v", s)
	}
}

// # comments, texts over several lines, \" and \\; any other backslash stays.
func TestRow_0_48_Lexis(t *testing.T) {
	s := set(t, "\ufeff# rule x { \"\r\nrule r{DENY any\r\nIF command CONTAINS \"a # b\" # a \" comment\r\nOR(command EQUALS \"\\\"\\\\ \\n\\d\" OR command EQUALS \"\\\\\") MESSAGE \"one\n  two\" } # end")
	for command, want := range map[string]string{"a # b": "block r", `"\ \n\d`: "block r", `\`: "block r",
		"a": "allow"} {
		if got := decide(t, s, bash(command)); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
	if got := s.Rules[0].Reason; got != "one\n  two" {
		t.Errorf("%q", got)
	}
	s = set(t, "rule a { DENY any IF tool EQUALS \"1\n2\" MESSAGE \"1\n2\" }\nrule b { DENY any IF tool EQUALS \"x\" MESSAGE \"m\" }")
	if a, b := s.Rules[0].Origin.Line, s.Rules[1].Origin.Line; a != 1 || b != 4 {
		t.Errorf("lines %d and %d", a, b)
	}
}

// Ids are unique in a file only; TestErrors has the duplicates.
func TestRow_0_49_IDs(t *testing.T) {
	text := []byte(`rule My-rule_1 { DENY any IF tool EQUALS "x" MESSAGE "m" }`)
	s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: text}, {Name: "b.rules", Text: text}})
	if err != nil || len(s.Rules) != 2 || s.Rules[1].Origin.File != "b.rules" {
		t.Errorf("%v, %+v", err, s)
	}
}

// A trace tells of each test as the file has it.
func TestTrace(t *testing.T) {
	s := set(t, `rule one { DENY execution IF NOT (command CONTAINS "a" OR path GLOB "x") MESSAGE "m" }`)
	for line, want := range map[string]string{
		write("/a", ""): "the target execution does not hold",
		bash("a"):       `command NOT CONTAINS "a" does not hold`,
	} {
		c, err := callrules.ParseCall([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Decide(c, callrules.Options{Trace: true}).Trace.Steps[0].Why; got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// 0-35: "Evaluation latency | < 2ms", "Rules loaded | 20-50". This is 50 rules of which none fires, on a file of
// 6 KB: 0.4 ms.
func BenchmarkRow_0_35(b *testing.B) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "rule r%d { priority %d DENY write IF path GLOB \"**/*.{ts,tsx}\" AND content REGEX \"import\\\\s+x%d\" OR content LINE_CONTAINS \"x%d\" MESSAGE \"m\" }\n", i, i, i, i)
	}
	s, err := Read("rules", []*document.Source{{Name: "a.rules", Text: []byte(text.String())}})
	if err != nil {
		b.Fatal(err)
	}
	c, err := callrules.ParseCall([]byte(write("/w/src/a.ts",
		strings.Repeat("import y from 'y'; // why\n", 10)+strings.Repeat("  return render(state.rows)\n", 220))))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if out := s.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}

// BenchmarkThousandRules is 0-35, "Evaluation latency | < 2ms", with twenty times the document's rules: none of them
// matches, so all are evaluated.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "rule r%d { priority %d DENY execution IF command CONTAINS \"git\" AND command REGEX \"push\\\\s+.*--force-%d\\\\b\" OR path GLOB \"**/secret-%d/*\" MESSAGE \"m\" }\n", i, i%100, i, i)
	}
	set := set(b, text.String())
	c, err := callrules.ParseCall([]byte(bash("git push origin feature --force-with-lease && make test lint")))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
