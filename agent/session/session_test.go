package session

import (
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
)

func bash(command string) *call.Call {
	return &call.Call{Tool: "Bash", Input: call.NewObject(call.Member{Name: "command", Value: call.Text(command)})}
}

// "Detects when the same Bash command is repeated 3+ times consecutively and blocks it".
func TestRow_0_36_LoopGuard(t *testing.T) {
	read := &call.Call{Tool: "Read", Input: call.NewObject(call.Member{Name: "file_path", Value: call.Text("/a")})}
	for _, c := range []struct {
		name  string
		calls []*call.Call
		want  string // b: blocked
	}{
		{"third and later", []*call.Call{bash("ls"), bash("ls"), bash("ls"), bash("ls"), bash("ls")}, "..bbb"},
		{"another command between", []*call.Call{bash("ls"), bash("ls"), bash("pwd"), bash("ls"), bash("ls"),
			bash("ls")}, ".....b"},
		{"another tool between", []*call.Call{bash("ls"), bash("ls"), read, bash("ls"), bash("ls")}, "....."},
		{"a blank more", []*call.Call{bash("ls"), bash("ls"), bash("ls "), bash("ls")}, "...."},
		{"another tool's calls", []*call.Call{read, read, read, read}, "...."},
		{"no command", []*call.Call{{Tool: "Bash"}, {Tool: "Bash"}, {Tool: "Bash"}}, "..."},
		{"an empty command", []*call.Call{bash(""), bash(""), bash("")}, "..b"},
		{"after a block", []*call.Call{bash("ls"), bash("ls"), bash("ls"), bash("pwd"), bash("ls")}, "..b.."},
		{"another agent's Bash", []*call.Call{bash("ls"), {Tool: "run_shell_command", Input: bash("ls").Input},
			bash("ls")}, "..b"},
	} {
		var s State
		var got strings.Builder
		for _, use := range c.calls {
			if s.Repeats(use) {
				got.WriteByte('b')
			} else {
				got.WriteByte('.')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, &got, c.want)
		}
	}
}

// "Disabled by default"; "automatically allow the next call after 5 consecutive deny decisions"; "Resets on any
// non-deny decision."
func TestRow_0_37_0_39_CircuitBreaker(t *testing.T) {
	for _, c := range []struct {
		name    string
		breaker bool
		denied  string // d: denied
		want    string // t: let through although denied
	}{
		{"off", false, "dddddddddddd", "............"},
		{"the sixth", true, "dddddd", ".....t"},
		{"once", true, "ddddddddddddd", ".....t.....t."},
		{"reset by what is not denied", true, "dddd.dddddd", "..........t"},
		{"the sixth is not denied", true, "ddddd.dddddd", "...........t"},
	} {
		var s State
		var got strings.Builder
		for _, d := range c.denied {
			if s.Judged(d == 'd', c.breaker) {
				got.WriteByte('t')
			} else {
				got.WriteByte('.')
			}
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, &got, c.want)
		}
	}
}

// Denials from before it was switched on count: they were consecutive too.
func TestBreakerSwitchedOn(t *testing.T) {
	var s State
	for range 7 {
		s.Judged(true, false)
	}
	if !s.Judged(true, true) || s.Judged(true, true) {
		t.Error("the breaker does not open once")
	}
}
