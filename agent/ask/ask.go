// Package ask asks the user whether a call of an agent may run.
//
// [Question.Person] first shows the call, and then asks, on the terminal that the program was started from, even if
// standard input and output are redirected. Only y or yes is a yes. Everything else is a no, and so is an answer
// after [Patience].
//
// With a directory it asks in another terminal instead, where [Watch] runs: the question is a file with an unguessable
// name in a directory that only the user may write, and the answer has the hash of that file.
// If Watch does not run, or ends, the answer is no.
//
// # Limits
//
// A program that runs as the same user can type the answer, or write it. Except on Linux, earlier input counts as the
// answer; in Watch, only what was typed of a line before the question.
package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/disk"
)

// A Mode is how the user is asked when a call rule says ask; "" is the default.
type Mode string

// The modes.
const (
	TTY       Mode = "tty"       // policyscan asks, at the terminal
	Agent     Mode = "agent"     // the agent asks, with its own question
	Dashboard Mode = "dashboard" // policyscan asks, where the user runs policyscan ask --watch
)

// CheckMode returns an error for a mode that there is not.
func CheckMode(mode Mode) error {
	switch mode {
	case "", TTY, Agent, Dashboard:
		return nil
	}
	return fmt.Errorf("--ask-mode is %q; choose one of %s, %s, %s", mode, TTY, Agent, Dashboard)
}

// Patience is how long the user has to answer. After it, the answer is no.
const Patience = 60 * time.Second

// A Question is a question for the user.
type Question struct {
	Call   *call.Call
	Reason string              // why the call needs a confirmation; may have several lines
	Dir    string              // of questions for [Watch], which then asks; "" to ask here, at the terminal
	Safe   func(string) string // makes a string safe to print within a line
}

// Person asks whether a call may proceed. It returns an error without a user to ask.
func (q *Question) Person(ctx context.Context) (bool, error) {
	if q.Dir != "" {
		yes, err := q.elsewhere(ctx, time.After(Patience))
		if err != nil {
			err = fmt.Errorf("the call needs a person, and policyscan ask --watch --dir %q cannot ask, "+
				"so it is denied: %w", q.Dir, err)
		}
		return yes, err
	}
	in, out, err := openTerminal()
	if err != nil {
		return false, fmt.Errorf("the call needs a person, and there is no terminal to ask at (%w), so it is denied",
			disk.Cause(err))
	}
	defer in.Close()  // nothing was buffered
	defer out.Close() // the same
	return q.ask(ctx, in, out, time.After(Patience))
}

func openTerminal() (in, out *os.File, err error) {
	if runtime.GOOS != "windows" {
		in, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
		return in, in, err
	}
	if in, err = os.OpenFile("CONIN$", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	if out, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return in, out, nil
}

// ask writes the question and waits for the answer: yes is y or yes and the Enter key, anything else is no.
func (q *Question) ask(ctx context.Context, in io.Reader, out io.Writer, late <-chan time.Time) (bool, error) {
	question := "\n" + q.text() + prompt(Patience)
	question = strings.ReplaceAll(question, "\n", "\r\n") // the agent may have the terminal in raw mode
	// Before there is a question.
	forgetTyped(in)
	if _, err := io.WriteString(out, question); err != nil {
		return false, fmt.Errorf("the call needs a person, and the terminal cannot be written to: %w", disk.Cause(err))
	}
	answer := make(chan string, 1)
	go func() { answer <- readAnswer(in) }()
	select {
	case a := <-answer:
		return isYes(a), nil
	case <-late:
		_, _ = io.WriteString(out, "\r\nno answer, so: no\r\n") // nothing depends on whether it is seen
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func isYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

func prompt(left time.Duration) string {
	return fmt.Sprintf("Allow it? [y/N] (no, in %d seconds) ", int(left.Round(time.Second).Seconds()))
}

// text is the question in lines that are safe to print.
func (q *Question) text() string {
	text := fmt.Sprintf("policyscan: %s wants to run\n%s", q.Safe(q.Call.Tool), q.input())
	for line := range strings.SplitSeq(q.Reason, "\n") {
		text += "  " + q.Safe(line) + "\n"
	}
	return text
}

// maxShown is the limit of an input for display, in bytes.
const maxShown = 4000

// input returns a call's input for display. A command comes first: otherwise the agent could hide it behind other
// members. Each part is one line, so that the agent cannot draw its own question.
func (q *Question) input() string {
	show := func(text string) string {
		text = q.Safe(text)
		if len(text) <= maxShown {
			return "  " + text + "\n"
		}
		begin := strings.ToValidUTF8(text[:maxShown], "") // not the first bytes of a character
		return fmt.Sprintf("  %s…\n  (and %d bytes that are not shown)\n", begin, len(text)-len(begin))
	}
	input := q.Call.Input
	command := input.Member("command")
	if command == nil {
		return show(input.JSON())
	}
	text, ok := command.Scalar()
	if !ok {
		text = command.JSON()
	}
	return show(text) + show(input.JSON())
}

// readAnswer reads to the Enter key, which in raw mode is a carriage return.
func readAnswer(in io.Reader) string {
	var b strings.Builder
	var c [1]byte
	for b.Len() < 100 {
		if n, err := in.Read(c[:]); err != nil || n == 1 && (c[0] == '\n' || c[0] == '\r') {
			break
		}
		b.WriteByte(c[0])
	}
	return b.String()
}
