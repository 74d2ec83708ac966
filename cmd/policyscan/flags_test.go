package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestFault_147_FlagsGivenTwice: of two values of a flag that takes one, none is dropped: of every flag of every
// command.
func TestFault_147_FlagsGivenTwice(t *testing.T) {
	parser, err := newParser(&commands{}, streams{out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(t)
	p.stdin = `{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}`
	flags := 0
	for _, leaf := range parser.Model.Leaves(false) {
		words := strings.Fields(leaf.Path())
		for _, arg := range leaf.Positional {
			if arg.Required {
				words = append(words, append(arg.EnumSlice(), "x")[0])
			}
		}
		for _, f := range leaf.Flags {
			if f.IsBool() || f.IsCumulative() {
				continue
			}
			flags++
			value := "x"
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
			e := p.run(append(words, given, given)...)
			denies := words[0] == "hook" && strings.Contains(e.out, "eny") // an agent's hook answers
			if said := e.out + e.err; e.status != exitUndecided && !denies || !strings.Contains(said, "--"+f.Name+" takes one value, but is given twice") {
				t.Errorf("%q: status %d, %s", append(words, given, given), e.status, said)
			}
		}
	}
	if flags < 30 {
		t.Errorf("%d flags were tried", flags)
	}
}

// TestPolicyFlag: a value of --policy has a bundle on each line, as the environment and the action have it.
func TestPolicyFlag(t *testing.T) {
	for _, c := range []struct {
		given, want []string
	}{
		{nil, []string{""}},
		{[]string{"a"}, []string{"a"}},
		{[]string{"a", "b,c"}, []string{"a", "b,c"}},
		{[]string{"a\nb"}, []string{"a", "b"}},
		{[]string{"a\r\n\nb c\n"}, []string{"a", "b c"}},
		{[]string{"\n"}, []string{"\n"}}, // which is no folder
	} {
		if got := (&policyFlag{c.given}).flags(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %q, want %q", c.given, got, c.want)
		}
	}
}
