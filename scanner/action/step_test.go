package action

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, " \t\r\n": nil, "a  b\n c\r\n": {"a", "b", "c"}, `'a b' "c 'd"`: {"a b", "c 'd"}, `a'b c'd`: {"ab cd"},
		`'' ""`: {"", ""}, `a\ b`: {`a\`, "b"}, "$x `y`;z": {"$x", "`y`;z"},
	} {
		if got, err := words(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`'`, `a "b`, `"'`} {
		if got, err := words(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestFault_132_StepOutputs: no value can bring its own output.
func TestFault_132_StepOutputs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x\nverdict<<policyscan_\nPASS\npolicyscan_\nverdict=PASS")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Skip(err) // not every system has such names
	}
	v := verdict.New("1.0")
	v.Rules = []verdict.Rule{{ID: "R"}}
	v.Violations = []verdict.Violation{{RuleID: "R"}}
	v.Scope.BaseCommit = "x\r\nverdict=PASS"
	v.Decide()
	s := &Step{sarif: name, Status: func(*verdict.Verdict) int { return 1 }}
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := s.writeOutputs(w, v); err != nil {
			t.Fatal(err)
		}
	}
	begins := regexp.MustCompile(`(?m)^[a-z-]+<<(policyscan_[A-Z2-7]{26})$`)
	seen := map[string]bool{}
	for _, m := range begins.FindAllStringSubmatch(first.String()+second.String(), -1) {
		seen[m[1]] = true
	}
	const outputs = 10
	if len(seen) != 2*outputs {
		t.Errorf("%d delimiters that nobody can know:\n%s", len(seen), first.String())
	}
	got := map[string]string{}
	for text := first.String(); text != ""; { // as the runner reads it
		head, rest, _ := strings.Cut(text, "\n")
		name, delimiter, begins := strings.Cut(head, "<<")
		value, after, ends := strings.Cut("\n"+rest, "\n"+delimiter+"\n")
		if !begins || !ends {
			t.Fatalf("no output: %q", text)
		}
		got[name], text = strings.TrimPrefix(value, "\n"), after
	}
	if len(got) != outputs || got["verdict"] != "FAIL" || got["sarif-file"] != name || got["exit-code"] != "1" ||
		got["base-sha"] != v.Scope.BaseCommit {
		t.Errorf("%q", got)
	}
}
