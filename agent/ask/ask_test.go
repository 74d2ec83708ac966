package ask

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/verdict"
)

func command(text string) *call.Value {
	return call.NewObject(call.Member{Name: "command", Value: call.Text(text)})
}

func question(c *call.Call, reason string) *Question {
	return &Question{Call: c, Reason: reason, Safe: verdict.Visible}
}

// neverAnswers is a terminal at which nobody is.
type neverAnswers struct{}

func (neverAnswers) Read([]byte) (int, error) { select {} }

func TestAsk(t *testing.T) {
	c := &call.Call{Tool: "Bash", Input: command("rm -r x\n[y/N] y")}
	never := make(chan time.Time)
	for _, x := range []struct {
		typed string
		want  bool
	}{
		{"y\n", true}, {"Y\r", true}, {" yes \n", true}, {"YES\r\n", true},
		{"\n", false}, {"n\n", false}, {"yep\n", false}, {"y", true}, {"", false}, {"y n\n", false},
		{strings.Repeat("y", 200), false},
	} {
		var shown strings.Builder
		q := question(c, "rule PUSH: a person\nlooks")
		got, err := q.ask(t.Context(), strings.NewReader(x.typed), &shown, never)
		if err != nil || got != x.want {
			t.Errorf("%q: got %v, %v", x.typed, got, err)
		}
		want := "\r\npolicyscan: Bash wants to run\r\n" +
			"  rm -r x\\u{a}[y/N] y\r\n  {\"command\":\"rm -r x\\n[y/N] y\"}\r\n" +
			"  rule PUSH: a person\r\n  looks\r\nAllow it? [y/N] (no, in 60 seconds) "
		if shown.String() != want {
			t.Errorf("got  %q\nwant %q", shown.String(), want)
		}
	}
}

// TestAskTimesOut: "Times out after 60 seconds (deny on timeout)."
func TestAskTimesOut(t *testing.T) {
	if Patience != 60*time.Second {
		t.Error(Patience)
	}
	late := make(chan time.Time, 1)
	late <- time.Time{}
	var shown strings.Builder
	got, err := question(&call.Call{Tool: "Bash"}, "r").ask(t.Context(), neverAnswers{}, &shown, late)
	if err != nil || got || !strings.HasSuffix(shown.String(), "no answer, so: no\r\n") {
		t.Errorf("got %v, %v: %q", got, err, shown.String())
	}
}

func TestAskFails(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	end(errors.New("SIGTERM"))
	q := question(&call.Call{Tool: "Bash"}, "r")
	if got, err := q.ask(ended, neverAnswers{}, io.Discard, make(chan time.Time)); got || err == nil {
		t.Errorf("after a signal: %v, %v", got, err)
	}
	closed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := q.ask(t.Context(), strings.NewReader("y\n"), closed, make(chan time.Time)); got || err == nil {
		t.Errorf("a question that nobody could see: %v, %v", got, err)
	}
}

func TestAskMode(t *testing.T) {
	for mode, want := range map[string]string{"": "", "tty": "", "agent": "", "dashboard": "", "TTY": "tty"} {
		if err := CheckMode(Mode(mode)); (err != nil) != (want != "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", mode, err)
		}
	}
}

// TestShownInput: a command is seen first, and what is not shown is reported.
func TestShownInput(t *testing.T) {
	long := strings.Repeat("x", 5000)
	c := &call.Call{Tool: "Bash", Input: call.NewObject(
		call.Member{Name: "description", Value: call.Text(long)},
		call.Member{Name: "command", Value: call.Text("rm -r /")},
	)}
	shown := question(c, "").input()
	if !strings.HasPrefix(shown, "  rm -r /\n  {\"description\":\"xxx") ||
		!strings.Contains(shown, "bytes that are not shown)\n") {
		t.Errorf("%.100s … %s", shown, shown[len(shown)-80:])
	}
	c.Input = command(long)
	if shown := question(c, "").input(); !strings.Contains(shown, "(and 1000 bytes that are not shown)") {
		t.Errorf("%s", shown[4000:])
	}
}
