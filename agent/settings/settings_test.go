package settings

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/policyscan/policyscan/rules"
)

func source(text string) *rules.Source { return &rules.Source{Name: "s.json", Text: []byte(text)} }

// install is what Install makes of a text; of none, if it is "".
func install(t *testing.T, of *Target, text string, args ...string) string {
	t.Helper()
	var src *rules.Source
	if text != "" {
		src = source(text)
	}
	out, err := of.Install(src, args)
	if err != nil {
		t.Fatalf("%s: %v\n%s", of.Agent, err, text)
	}
	return string(out)
}

// TestInstall: for every agent the hook is put in once, is found again whatever its arguments and the
// layout, and goes without a trace.
func TestInstall(t *testing.T) {
	for _, of := range Targets() {
		t.Run(of.Agent, func(t *testing.T) {
			fresh := install(t, of, "")
			if again := install(t, of, fresh); again != fresh {
				t.Errorf("installed twice:\n%s", again)
			}
			if out, err := of.Uninstall(source(fresh)); err != nil || out != nil {
				t.Errorf("of a file that Install began %q is left: %v", out, err)
			}

			had := "{\n  \"hooks\": {\n    \"Other\": [1]\n  }\n}\n"
			if of.version {
				had = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"Other\": [1]\n  }\n}\n"
			}
			args := []string{"--calls", "my rules/calls.yml"}
			out := install(t, of, had, args...)
			if !strings.HasPrefix(out, had[:strings.Index(had, "[1]")+3]) {
				t.Errorf("what was there did not stay:\n%s", out)
			}
			var compact strings.Builder
			e := json.NewEncoder(&compact)
			if err := e.Encode(decode(t, out)); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{out, compact.String()} {
				if again := install(t, of, text, args...); again != text {
					t.Errorf("installed twice:\n%s", again)
				}
				want := "s.json:"
				if _, err := of.Install(source(text), nil); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), `with other arguments: --calls "my rules/calls.yml"; to change them, first run: policyscan hook uninstall `+of.Agent) {
					t.Errorf("other arguments: %v", err)
				}
				back, err := of.Uninstall(source(text))
				if err != nil || mentions(back, "policyscan") || !mentions([]byte(text), "policyscan") {
					t.Errorf("uninstalled: %v\n%s", err, back)
				}
			}
			if back, err := of.Uninstall(source(out)); err != nil || string(back) != had {
				t.Errorf("uninstalled: %v\n%s", err, back)
			}
			if none, err := of.Uninstall(source(had)); err != nil || string(none) != had {
				t.Errorf("of a file without the hook: %v\n%s", err, none)
			}
		})
	}
}

// TestFresh: the files that Install begins, as the agents document them.
func TestFresh(t *testing.T) {
	const line = " --calls x || sh -c 'echo \"" + unjudged + "\" >&2; exit 2'"
	const deny = `'{"permissionDecision":"deny","permissionDecisionReason":"` + unjudged + `"}'`
	type m = map[string]any
	for agent, want := range map[string]m{
		"claude-code": {"hooks": m{"PreToolUse": []any{m{"matcher": "*", "hooks": []any{m{
			"type": "command", "timeout": 75.0, "onFailure": "block", "command": "policyscan hook claude-code" + line,
		}}}}}},
		"codex": {"hooks": m{"PreToolUse": []any{m{"matcher": "*", "hooks": []any{m{
			"type": "command", "timeout": 75.0, "command": "sh -c 'policyscan hook codex --calls x || { echo \"" + unjudged + "\" >&2; exit 2; }'",
			"commandWindows": "policyscan hook codex --calls x || (echo " + unjudged + " 1>&2 & exit 2)",
		}}}}}},
		"gemini": {"hooks": m{"BeforeTool": []any{m{"matcher": "*", "hooks": []any{m{
			"name": "policyscan", "type": "command", "timeout": 75000.0, "command": "policyscan hook gemini" + line,
		}}}}}},
		"copilot": {"version": 1.0, "hooks": m{"preToolUse": []any{m{
			"type": "command", "timeoutSec": 75.0,
			"bash":       "out=$(policyscan hook copilot --calls x) && printf '%s\\n' \"$out\" || printf '%s\\n' " + deny,
			"powershell": "$out = policyscan hook copilot --calls x; if ($LASTEXITCODE -eq 0) { $out } else { " + deny + " }",
		}}}},
		"cursor": {"version": 1.0, "hooks": m{"preToolUse": []any{m{
			"command": "policyscan hook cursor" + line, "timeout": 75.0, "failClosed": true,
		}}}},
	} {
		text := install(t, Named(agent), "", "--calls", "x")
		if diff := cmp.Diff(want, decode(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", agent, diff)
		}
		if !strings.HasSuffix(text, "}\n") || strings.Contains(text, `\u00`) {
			t.Errorf("%s: no text for people:\n%s", agent, text)
		}
	}
	if got := len(Targets()); got != 5 {
		t.Errorf("%d agents", got)
	}
	if Named("claude") != nil {
		t.Error("claude is an agent")
	}
}

// TestInstallRefused: settings in which the hook would not run, or is not as it was written.
func TestInstallRefused(t *testing.T) {
	for _, test := range []struct{ agent, text, want string }{
		{"claude-code", "{\n  \"disableAllHooks\": true\n}", `s.json:2:22: "disableAllHooks" is true: Claude Code would not run the hook; take it out`},
		{"copilot", `{"version": 1, "disableAllHooks": true}`, `s.json:1:35: "disableAllHooks" is true: GitHub Copilot would not run the hook; take it out`},
		{"gemini", `{"hooksConfig": {"enabled": false}}`, `s.json:1:29: "hooksConfig.enabled" is false: Gemini CLI would not run the hook; take it out`},
		{"gemini", `{"hooksConfig": {"disabled": ["x", "policyscan"]}}`, `s.json:1:36: "hooksConfig.disabled" is "policyscan": Gemini CLI would not run the hook; take it out`},
		{"copilot", `{"hooks": {}}`, `s.json:1:1: there is no "version": 1, without which GitHub Copilot reads no hooks; add it`},
		{"cursor", `{"version": 2}`, `s.json:1:13: there is no "version": 1, without which Cursor reads no hooks; add it`},
		{"codex", `{"$schema": "x"}`, `s.json:1:2: there is "$schema", and Codex refuses a file that has more than ["description" "hooks"]; take it out`},
		{"gemini", "{\n  \"a\": 1 // mine\n}", `s.json:2:10: a comment, which JSON does not have; add this by hand to the list hooks.BeforeTool: {"matcher":"*","hooks":[{"name":"policyscan","type":"command","command":"policyscan hook gemini || sh -c 'echo \"` + unjudged + `\" >&2; exit 2'","timeout":75000}]}`},
		{"cursor", `{"version": 1, "hooks": {"preToolUse": [1, {"command": "policyscan hook cursor"}]}}`, `s.json:1:44: what runs policyscan here is not as policyscan wrote it; take it out by hand`},
		{"claude-code", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "cd /; policyscan hook claude-code || true"}]}]}}`, `s.json:1:27: what runs policyscan here is not as policyscan wrote it; take it out by hand`},
	} {
		_, err := Named(test.agent).Install(source(test.text), nil)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %s:\n got %v\nwant %s", test.agent, test.text, err, test.want)
		}
	}

	// Switches that are off as they should be are none.
	install(t, Named("claude-code"), `{"disableAllHooks": false}`)
	install(t, Named("gemini"), `{"hooksConfig": {"enabled": true, "disabled": ["x"]}}`)
	install(t, Named("codex"), `{"description": "x"}`)
}

// TestChangedByHand: a hook that differs from the one that is written in anything but its arguments is
// neither there nor taken away.
func TestChangedByHand(t *testing.T) {
	for _, change := range []struct{ from, to string }{
		{`"timeout": 75`, `"timeout": 1`},
		{`exit 2`, `exit 1`},
		{`claude-code ||`, `claude-code; true ||`},
		{`claude-code ||`, `claude-code \"a ||`},
		{`"matcher": "*"`, `"matcher": "Bash"`},
		{`"matcher": "*"`, `"matcher": "*", "x": 1`},
		{`"type": "command"`, `"type": "command", "async": true`},
		{`"matcher"`, `"Matcher"`},
	} {
		of := Named("claude-code")
		text := install(t, of, "")
		changed := strings.Replace(text, change.from, change.to, 1)
		if changed == text {
			t.Fatalf("%q is not there", change.from)
		}
		_, inErr := of.Install(source(changed), nil)
		_, outErr := of.Uninstall(source(changed))
		for _, err := range []error{inErr, outErr} {
			if err == nil || !strings.Contains(err.Error(), "not as policyscan wrote it") {
				t.Errorf("%q for %q: %v", change.to, change.from, err)
			}
		}
	}

	of := Named("cursor")
	text := install(t, of, "")
	begin, end := strings.Index(text, "["), strings.LastIndex(text, "]")
	twice := text[:end] + "," + text[begin+1:]
	if _, err := of.Uninstall(source(twice)); err == nil || !strings.Contains(err.Error(), "the hook is there twice") {
		t.Errorf("twice: %v", err)
	}
}

// TestQuote: arguments that all shells take alike, and those that are refused.
func TestQuote(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--calls", ".policyscan/calls.yml"}, " --calls .policyscan/calls.yml"},
		{[]string{"--calls=.policyscan/calls.yml"}, ` "--calls=.policyscan/calls.yml"`},
		{[]string{"-x.y", "-x"}, ` "-x.y" -x`}, // PowerShell parts it at its dot
		{[]string{"azAZ09-_/"}, " azAZ09-_/"},
		{[]string{"my rules/é.yml"}, ` "my rules/é.yml"`},
		{[]string{"a,b", "@x", " "}, ` "a,b" "@x" " "`},
	} {
		got, err := quoteAll(test.args)
		if err != nil || got != test.want {
			t.Errorf("%q: %q, %v; want %q", test.args, got, err, test.want)
		}
		if !quotes(got) {
			t.Errorf("%q is not known again", got)
		}
	}
	for _, arg := range strings.Split("$HOME|`a`|a\"b|a'b|a;b|a&b|a\\b|a*|a?|~|a!|%A%|a^|(a)|{a}|<a|>a|#a|a\nb|a\x00b|\xff|", "|") {
		if got, err := quoteAll([]string{arg}); err == nil {
			t.Errorf("%q is quoted as %q", arg, got)
		}
	}
	for _, text := range []string{"a", " a  b", ` "a"`, ` "a b`, " a;b", `  `} {
		if quotes(text) {
			t.Errorf("%q is none of ours", text)
		}
	}
	if _, err := Named("codex").Install(nil, []string{"$HOME"}); err == nil || errors.As(err, new(*rules.Error)) {
		t.Errorf("an argument that is refused: %v", err)
	}
}

// FuzzInstall: whatever a file holds, what Install writes holds it still and the hook once, and
// Uninstall gives back the bytes that were there.
func FuzzInstall(f *testing.F) {
	for i := range Targets() {
		for _, text := range []string{`{"version":1}`, "{\n  \"version\": 1,\n  \"hooks\": {}\n}", `{"hooks":{"PreToolUse":[ ],"BeforeTool":[{}]}}`} {
			f.Add(i, text, "--calls", "my calls.yml")
		}
	}
	f.Fuzz(func(t *testing.T, agent int, text, first, second string) {
		if agent < 0 || agent >= len(Targets()) {
			return
		}
		of, args := Targets()[agent], []string{first, second}
		out, err := of.Install(source(text), args)
		if err != nil || string(out) == text {
			return
		}
		root, err := parse(source(string(out)))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
		array, _, err := list(source(string(out)), root, of.path)
		if err != nil {
			t.Fatal(err)
		}
		ours := slices.DeleteFunc(slices.Clone(array.items), func(it item) bool {
			_, ok := of.written(out[it.value.start:it.value.end])
			return !ok
		})
		if len(ours) != 1 {
			t.Errorf("%q became %q", text, out)
		}
		back, err := of.Uninstall(source(string(out)))
		if whole, _ := of.Install(nil, args); err != nil || string(back) != text && string(out) != string(whole) {
			t.Errorf("%q became %q, and then %q: %v", text, out, back, err)
		}
	})
}
