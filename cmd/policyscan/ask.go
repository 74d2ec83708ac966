package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/internal/disk"
)

// The ways in which a person is asked about a call that needs one.
const (
	askTerminal = "tty"   // a question on the terminal
	askAgent    = "agent" // the agent's own question, if it has one; else the call is denied
	// dashboard is sigmashake's other way, which needs a service.
	dashboard = "dashboard"
)

// checkAskMode returns an error for a mode in which policyscan cannot ask.
func checkAskMode(mode string) error {
	switch mode {
	case "", askTerminal, askAgent:
		return nil
	case dashboard:
		return errors.New("the ask mode dashboard needs a service to which the question is sent, " +
			"and policyscan uses no network; set tty or agent")
	}
	return oneOf("--ask-mode", mode, []string{askTerminal, askAgent})
}

// patience is how long a person has to answer. After it, the answer is no.
const patience = 60 * time.Second

// askPerson asks at the terminal whether a call may proceed. It returns an error if there is nobody to ask.
func askPerson(ctx context.Context, c *call.Call, reason string) (bool, error) {
	in, out, err := openTerminal()
	if err != nil {
		return false, fmt.Errorf("the call needs a person, and there is no terminal to ask at (%w), so it is denied",
			disk.Cause(err))
	}
	defer in.Close()  // nothing was buffered
	defer out.Close() // likewise
	return ask(ctx, in, out, c, reason, time.After(patience))
}

// openTerminal opens the terminal that the program was started from, wherever its standard input
// and output lead.
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
func ask(
	ctx context.Context, in io.Reader, out io.Writer, c *call.Call, reason string, late <-chan time.Time,
) (bool, error) {
	question := fmt.Sprintf("\npolicyscan: %s wants to run\n%s", safe(c.Tool), shownInput(c))
	for line := range strings.SplitSeq(reason, "\n") {
		question += "  " + safe(line) + "\n"
	}
	question += fmt.Sprintf("Allow it? [y/N] (no, in %d seconds) ", int(patience.Seconds()))
	question = strings.ReplaceAll(question, "\n", "\r\n") // the agent may have the terminal in raw mode
	if f, ok := in.(*os.File); ok {
		forgetTyped(f) // before there is a question
	}
	if _, err := io.WriteString(out, question); err != nil {
		return false, fmt.Errorf("the call needs a person, and the terminal cannot be written to: %w", disk.Cause(err))
	}
	answer := make(chan string, 1)
	go func() { answer <- readAnswer(in) }()
	select {
	case a := <-answer:
		a = strings.ToLower(strings.TrimSpace(a))
		return a == "y" || a == "yes", nil
	case <-late:
		_, _ = io.WriteString(out, "\r\nno answer, so: no\r\n") // nothing depends on whether it is seen
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// maxShown is how much of an input a person is shown, in bytes.
const maxShown = 4000

// shownInput returns what a person sees of a call's input. A command comes first: otherwise the agent could hide it
// behind other members. Each part is one line, so that the agent cannot draw its own question.
func shownInput(c *call.Call) string {
	show := func(text string) string {
		text = safe(text)
		if len(text) <= maxShown {
			return "  " + text + "\n"
		}
		cut := cutTo(text, maxShown)
		return fmt.Sprintf("  %s\n  (and %d bytes that are not shown)\n", cut, len(text)-len(cut)+len("…"))
	}
	command := c.Input.Member("command")
	if command == nil {
		return show(c.Input.JSON())
	}
	text, ok := command.Scalar()
	if !ok {
		text = command.JSON()
	}
	return show(text) + show(c.Input.JSON())
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

// cutTo cuts a text to at most n bytes.
func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
