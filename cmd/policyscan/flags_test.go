package main

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/internal/cputime"
)

// TestFault_147_FlagsGivenTwice: of two values of a flag that takes one, none is dropped: of every flag of every
// command.
func TestFault_147_FlagsGivenTwice(t *testing.T) {
	parser, err := newParser(&commands{}, streams{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const call = `{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}`
	flags := 0
	for _, leaf := range parser.Model.Leaves(false) {
		words := strings.Fields(leaf.Path())
		for _, arg := range leaf.Positional {
			if arg.Required {
				words = append(words, cmp.Or(append(arg.EnumSlice(), "x")[0], "x"))
			}
		}
		for _, f := range leaf.Flags {
			if f.IsBool() || f.IsCumulative() {
				continue
			}
			flags++
			value := "x"
			if f.Enum != "" {
				value = f.EnumSlice()[0]
			}
			switch f.Target.Interface().(type) {
			case time.Duration:
				value = "1s"
			case int64:
				value = "1"
			default:
				if f.Target.Kind() != reflect.String {
					t.Fatalf("--%s takes a %s", f.Name, f.Target.Kind())
				}
			}
			given := "--" + f.Name + "=" + value
			status, out, errs := fed(call, append(words, given, given)...)
			denies := words[0] == "hook" && strings.Contains(out, "eny") // an agent's hook answers
			if said := out + errs; status != exitUndecided && !denies ||
				!strings.Contains(said, "--"+f.Name+" takes one value, but is given twice") {
				t.Errorf("%q: status %d, %s", append(words, given, given), status, said)
			}
		}
	}
	if flags < 30 {
		t.Errorf("%d flags were tried", flags)
	}
}

// TestBrokenCommandLineVoidsVerdicts: arguments or variables that cannot be followed leave no old PASS where they say
// that the verdict is, whatever is wrong and wherever it stands.
func TestBrokenCommandLineVoidsVerdicts(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.run("--policy", "policy", "good").want(t, exitPass)
	pass := readFile(t, filepath.Join(p.dir, "verdict.json"))
	names := []string{"verdict.json", "a.json", "b.json", "--output"}
	for _, c := range []struct {
		env, args, want string
	}{
		{"", "--nonsense", "verdict.json"},
		{"", "--nonsense --output a.json", "a.json"},
		{"", "--output a.json list", "a.json"},
		{"", "good --nonsense --output=", "verdict.json"},
		{"", "--max-file-bytes=x --output a.json", "a.json"},
		{"", "--report=sarif --report --output=a.json", "a.json"},
		{"", "nosuch", "verdict.json"},
		{"POLICYSCAN_OUTPUT=b.json", "--nonsense", "b.json"},
		{"POLICYSCAN_OUTPUT=b.json", "--nonsense --output=a.json", "a.json"},
		{"POLICYSCAN_NONSENSE=1", "scan --output=a.json good", "a.json"},
		{"POLICYSCAN_NONSENSE=1", "good", "verdict.json"},
		{"POLICYSCAN_NONSENSE=1", "list --policy policy", ""},
		{"", "list --nonsense --output=a.json", ""},
		{"", "hook install --output=a.json", ""},
	} {
		for _, name := range names {
			p.write(name, pass)
		}
		p.env = []string{c.env}
		p.run(strings.Fields(c.args)...).want(t, exitUndecided)
		var voided []string
		for _, name := range names {
			if text := readFile(t, filepath.Join(p.dir, name)); text != pass {
				voided = append(voided, name)
				if !strings.Contains(text, "E_USAGE") {
					t.Errorf("%s %q: %s is %s", c.env, c.args, name, text)
				}
			}
		}
		if got := strings.Join(voided, " "); got != c.want {
			t.Errorf("%s %q replaces %q, not %q", c.env, c.args, got, c.want)
		}
	}
}

// TestModelIsSmall: the model of the command line is built at every start, and for an agent's hook before every call.
// With kong's variables for the helps it has twice as many allocations.
// The race detector allocates, too, and the program that people run is built without it.
func TestModelIsSmall(t *testing.T) {
	for what, c := range map[string]struct {
		model func() any
		most  float64
	}{
		"all commands": {func() any { return &commands{} }, 27_000},
		"an agent's hook": {func() any {
			return &struct {
				Hook agentHookCmd `cmd:""`
			}{}
		}, 2_000},
	} {
		allocations := testing.AllocsPerRun(10, func() {
			if _, err := newParser(c.model(), streams{out: io.Discard, err: io.Discard}); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > c.most && !cputime.RaceDetector {
			t.Errorf("%s: %.0f allocations, over %.0f", what, allocations, c.most)
		}
	}
}

// TestHelpFiles: each text of help.txt belongs to a command or a flag.
func TestHelpFiles(t *testing.T) {
	parser, err := newParser(&commands{}, streams{})
	if err != nil {
		t.Fatal(err)
	}
	said := parser.Model.Help
	if err := kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		switch n := node.(type) {
		case *kong.Node:
			said += "\n" + n.Help + "\n" + n.Detail
		case *kong.Value:
			said += "\n" + n.Help
		}
		return next(nil)
	}); err != nil {
		t.Fatal(err)
	}
	texts := sections(helpText)
	if len(texts) < 10 {
		t.Fatalf("only %d texts", len(texts))
	}
	for name, text := range texts {
		if name != "flags" {
			if end := strings.TrimSpace(text[len(text)/2:]); !strings.Contains(said, end) {
				t.Errorf("no command has %s", name)
			}
			continue
		}
		for paragraph := range strings.SplitSeq(text, "\n\n") {
			name, sentences, _ := strings.Cut(paragraph, "\n")
			start, _, _ := strings.Cut(strings.Join(strings.Fields(sentences), " "), "{")
			if !strings.Contains(said, "\n"+start) {
				t.Errorf("no flag has %s", name)
			}
		}
	}
}
