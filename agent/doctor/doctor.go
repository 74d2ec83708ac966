// Package doctor checks whether the hook of an agent would deny a violation: from the entry in the agent's settings to
// the answer to a planted call.
//
// # Limits
//
// No agent and no other program is run. Where an agent would run the entry's command line, the line is read, the
// program in it is looked up as a shell does, and its arguments are run in this process with the payload that the
// agent would give it. So what a shell's start file, another machine or the agent itself does with the entry is not
// seen: whether the directory is trusted, and for Codex whether the hook is.
package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/ask"
	"github.com/policyscan/policyscan/agent/call/shell"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/agent/hook"
	"github.com/policyscan/policyscan/agent/settings"
)

// A Doctor checks the hooks of agents in a project.
type Doctor struct {
	Root, Prefix string // the project's, and how messages name it: "", or with a slash at its end
	Around       gate.Around
	Home         func() (string, error)
	Hook         func(agent string, args []string) (*hook.Hook, error) // what an entry with these arguments runs
}

// A Report is about one agent.
type Report struct {
	Agent  string
	Found  bool // there are settings of the agent
	Denies bool // a violation would be denied
	Lines  []string
}

// say adds a line, once.
func (r *Report) say(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(r.Lines, line) {
		r.Lines = append(r.Lines, line)
	}
}

// An entry runs policyscan.
type entry struct {
	of      settings.Entry
	file    string
	program string
	hook    []string // the words that say so
	args    []string // after them
}

// Examine checks the hook of an agent.
func (d *Doctor) Examine(ctx context.Context, t *settings.Target) *Report {
	r := &Report{Agent: t.Agent}
	files, failed := t.Files(d.Root, d.Prefix, d.Around.Getenv, d.Home)
	r.Found = len(files)+len(failed) > 0
	for _, err := range failed {
		r.say("%v", err)
	}
	var ours, others []entry
	off := len(failed) > 0
	for _, f := range files {
		entries, err := f.Entries()
		if err != nil {
			off = true
			r.say("%v", err)
		}
		for _, e := range entries {
			if is := d.own(t.Agent, e); is != nil {
				is.file = f.Shown
				ours = append(ours, *is)
			} else {
				others = append(others, entry{of: e, file: f.Shown})
			}
		}
	}
	events, covered := t.Events(), []string{}
	for _, event := range events {
		if slices.ContainsFunc(ours, func(e entry) bool { return e.of.Event == event }) {
			covered = append(covered, event)
		}
	}
	if !slices.Contains(covered, events[0]) {
		r.say("no entry of %s runs policyscan hook %s; run policyscan hook install %s", events[0], t.Agent, t.Agent)
	} else {
		r.say("events: %s", strings.Join(covered, ", "))
	}
	for _, e := range ours {
		if d.program(r, &e) && e.of.Event == events[0] && d.call(ctx, r, t, &e) {
			r.Denies = true
		}
	}
	r.Denies = r.Denies && !off
	for _, e := range others {
		r.say("next to it, for %s in %s: %s", e.of.Event, e.file, e.of.Command)
	}
	if len(ours) > 0 {
		r.say("not seen from here: %s", t.Next)
	}
	return r
}

// own returns an entry that runs the agent's hook of policyscan, or nil.
func (d *Doctor) own(agent string, e settings.Entry) *entry {
	for _, c := range shell.Read(e.Command) {
		for _, words := range [][]string{{"hook", agent}, {"hook", "stop", agent}} {
			if n := len(words); len(c.Args) >= n && slices.Equal(c.Args[:n], words) {
				return &entry{of: e, program: c.Word, hook: words, args: c.Args[n:]}
			}
		}
	}
	return nil
}

// program reports whether the program of an entry is this one.
func (d *Doctor) program(r *Report, e *entry) bool {
	path, ext := filepath.FromSlash(e.program), ""
	if d.Around.Exts != nil { // Windows
		ext = filepath.Ext(d.Around.Program)
	}
	switch {
	case !strings.ContainsRune(path, filepath.Separator):
		path = settings.Find(path+ext, d.Around.Path)
	case !filepath.IsAbs(path):
		path = filepath.Join(d.Root, path)
	}
	is, err := os.Stat(path)
	own, ownErr := os.Stat(d.Around.Program)
	where := fmt.Sprintf("%s: the program %s", e.file, e.program)
	switch {
	case path == "":
		r.say("%s is not in the PATH; install it there", where)
	case err != nil:
		r.say("%s cannot be found; install it, or run policyscan hook install %s again", where, r.Agent)
	case ownErr != nil || !os.SameFile(is, own):
		r.say("%s is %s, and not this one; run the doctor of that one, or remove one of them", where, path)
	default:
		r.say("%s is this one", where)
		return d.reaches(r, e)
	}
	return false
}

// reaches reports whether the answer of an entry's program is what the agent gets: the entry is as hook install writes
// it, or runs the program and nothing else.
func (d *Doctor) reaches(r *Report, e *entry) bool {
	words := append(append([]string{e.program}, e.hook...), e.args...)
	switch where := e.file + ", " + e.of.Event; {
	case e.of.Written:
		return true
	case e.of.Plain && slices.Equal(strings.Fields(e.of.Command), words):
		r.say("%s: the entry is not as hook install writes it: if it fails, the agent may go on", where)
		return true
	default:
		r.say("%s: the entry is not as hook install writes it, and cannot be tried: it has other members, "+
			"or does more than run the program", where)
	}
	return false
}

// call reports whether a planted violation is denied, with each tool that edits.
func (d *Doctor) call(ctx context.Context, r *Report, t *settings.Target, e *entry) bool {
	h, err := d.Hook(t.Agent, e.args)
	if err == nil {
		err = h.Ready()
	}
	if err != nil {
		r.say("%s: it denies every call: %v", e.file, err)
		return false
	}
	state, err := os.MkdirTemp("", "policyscan-doctor")
	if err != nil {
		r.say("no call was planted: %v", err)
		return false
	}
	defer os.RemoveAll(state)
	h.Log, h.State, h.AskMode, h.Warn = "", state, ask.Agent, func(error) {}
	answer := func(c tool) string {
		var out bytes.Buffer
		if err := h.Once(ctx, strings.NewReader(payload(t.Agent, e.of.Event, d.Root, c)), &out); err != nil {
			return string(hook.Denial(h.Agent, err))
		}
		return out.String()
	}
	echo := harmless(t.Agent)
	r.say("%s of echo: %s", echo.name, permission(answer(echo)))
	planted, about := d.plant(h, t, answer)
	if planted == nil {
		r.say("no violation can be planted: %s", about)
		return false
	}
	denied := true
	for _, c := range planted {
		word := permission(answer(c))
		if !matches(e.of.Matcher, c.name) {
			word = fmt.Sprintf("not asked, by the matcher %q", e.of.Matcher)
		}
		denied = denied && (word == "deny" || word == "ask")
		r.say("%s of %s: %s", c.name, about, word)
	}
	return denied
}

// plant returns calls that are to be denied, or nil, and what they are about.
func (d *Doctor) plant(h *hook.Hook, t *settings.Target, answer func(tool) string) ([]tool, string) {
	b, err := h.Bundle()
	if err != nil {
		return nil, err.Error()
	}
	if b != nil {
		all := plants(b, d.Root)
		for _, p := range all[:min(len(all), maxPlants)] {
			calls := edits(t.Agent, filepath.Join(d.Root, filepath.FromSlash(p.path)), p.content)
			if text := answer(calls[0]); permission(text) == "deny" && strings.Contains(text, p.rule+": ") {
				return calls, fmt.Sprintf("a new %s that violates %s", p.path, p.rule)
			}
		}
	}
	if !h.AllowRuleEdits { // an edit of the hook's own settings needs a person
		calls := edits(t.Agent, filepath.Join(d.Root, ".git", "policyscan-doctor"), "x\n")
		if word := permission(answer(calls[0])); word == "deny" || word == "ask" {
			return calls, "a new file in .git, which is guarded"
		}
	}
	return nil, "give a rule of the bundle an example that violates it"
}

// matches reports whether a matcher lets a tool's calls be asked about.
func matches(matcher, name string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	re, err := regexp.Compile("^(?:" + matcher + ")$")
	return err == nil && re.MatchString(name)
}
