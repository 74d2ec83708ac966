package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/agent/protocol"
	"github.com/policyscan/policyscan/agent/settings"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
)

// hookInstallAgentCmd puts the hook into the settings of the agent that the command is named after.
type hookInstallAgentCmd struct {
	User  bool     `help:"Write the user's own settings instead of the project's."`
	Print bool     `help:"Print the settings as they would be, and write nothing."`
	Args  []string `arg:"" optional:"" name:"argument" help:"Arguments of the hook, after --."`
}

// Help is shown below the flags.
func (*hookInstallAgentCmd) Help() string {
	return `Puts a hook into the agent's settings that runs "policyscan hook AGENT" before every
call of a tool, and denies the call if policyscan fails or is missing. The project's
settings are those of the repository around the current folder, or of the current
folder. All else in them stays as it is, byte for byte.

Arguments after -- are the hook's own:

  policyscan hook install claude-code -- --calls .policyscan/calls.yml

Exit status: 0 the hook is there; 2 it is not.`
}

// Run writes the hook, or prints the file as it would be.
func (c *hookInstallAgentCmd) Run(std streams, ctx *kong.Context) error {
	f, err := openSettings(ctx.Selected().Name, c.User)
	if err != nil {
		return err
	}
	if err := hookTakes(f.of.Agent, c.Args); err != nil {
		return err
	}
	program := "" // what a team shares names it by its name, for each has it elsewhere
	if c.User {
		running, err := os.Executable()
		if err != nil {
			return fmt.Errorf("the program that runs cannot be found: %w", err)
		}
		if program, err = settings.Program(running, os.Getenv("PATH")); err != nil {
			return err
		}
	}
	text, err := f.of.Install(f.source, program, c.Args)
	if err != nil {
		return err
	}
	if c.Print {
		return print(std.out, "%s\n%s", safe(f.shown), shownLines(text))
	}
	done := "there already:"
	if f.source == nil || string(text) != string(f.source.Text) {
		if err := f.write(text); err != nil {
			return err
		}
		done = "wrote"
	}
	if err := print(std.out, "%s %s\n%s runs it before every call of a tool, from its next start on, and makes no call that it denies\n%s\n",
		done, safe(f.shown), f.of.Title, f.of.Next); err != nil || c.User {
		return err
	}
	if err := hookJudges(f.of.Agent, c.Args); err != nil {
		lines := messages(err)
		between := "\n  "
		if len(lines) == 1 {
			between = " "
		}
		return print(std.out, "as things are it denies every call:%s\n", between+strings.Join(lines, between))
	}
	return nil
}

// hookJudges is an error if the hook, in this project and with some arguments, could judge nothing.
func hookJudges(name string, args []string) error {
	hook := onlyHook(protocol.Named(name), append([]string{"hook", name}, args...), streams{out: io.Discard, err: io.Discard})
	if hook == nil {
		return nil // hookTakes has looked at them
	}
	at, err := rootAt(hook.Root)
	if err != nil {
		return err
	}
	g, err := hook.gate(at)
	if err == nil && slices.ContainsFunc(g.Sets, isSigmashake) {
		_, err = hook.sigmashake(at)
	}
	return err
}

// hookTakes is an error if the hook could not be run with some arguments: it would deny every call.
func hookTakes(agent string, args []string) (err error) {
	defer func() {
		if p := recover(); p == (stop{}) {
			err = errors.New("an argument after -- asks for help, or for the version; leave it out")
		} else if p != nil {
			panic(p)
		}
	}()
	parser, err := newParser(&commands{}, streams{out: io.Discard, err: io.Discard})
	if err != nil {
		return err
	}
	ctx, err := parser.Parse(append([]string{"hook", agent}, args...))
	if err == nil {
		err = checkFlags(ctx)
	}
	if hook := onlyHook(protocol.Named(agent), append([]string{"hook", agent}, args...), streams{out: io.Discard, err: io.Discard}); err == nil && hook != nil {
		err = hook.checkInstalled()
	}
	if err != nil {
		return fmt.Errorf("an argument after -- is not one that the hook takes: %w; see policyscan hook %s --help", err, agent)
	}
	return nil
}

// check is an error if flags of an agent's hook do not fit, so that it would deny every call.
func (c *agentHookCmd) check() error {
	switch {
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout %s is no time to judge a call in; most agents make a call whose hook takes too long, so there has to be a limit", c.Timeout)
	case c.LogInput && c.Log == "":
		return errors.New("--log-input is given without --log; name the file to write")
	case c.Log == "-":
		return errors.New("--log is -, but standard output is for the answer; name a file, such as ./-")
	}
	return checkAskMode(c.AskMode)
}

// checkInstalled is an error if flags do not fit the entry that hook install writes.
func (c *agentHookCmd) checkInstalled() error {
	// What is left after a person was asked and the decision logged.
	if most := settings.Limit - patience - logTime; c.Timeout > most {
		return fmt.Errorf("--timeout %s is too long: the agent waits %s, %s of which a person at the terminal may take, and most agents then make the call; choose at most %s",
			c.Timeout, settings.Limit, patience, most)
	}
	if c.Serve {
		return errors.New("--serve is for a program that keeps the hook running; the agent starts it for each call, so leave it out")
	}
	return c.check()
}

// hookUninstallAgentCmd takes the hook out of the settings of the agent that the command is named after.
type hookUninstallAgentCmd struct {
	User bool `help:"Write the user's own settings instead of the project's."`
}

// Run takes the hook out, if it is as it was written.
func (c *hookUninstallAgentCmd) Run(std streams, ctx *kong.Context) error {
	f, err := openSettings(ctx.Selected().Name, c.User)
	if err != nil {
		return err
	}
	none := func() error { return print(std.out, "there is no hook of policyscan in %s\n", safe(f.shown)) }
	if f.source == nil {
		return none()
	}
	text, err := f.of.Uninstall(f.source)
	switch {
	case err != nil:
		return err
	case text == nil: // nothing else is in it
		if err := f.unchanged(); err != nil {
			return err
		}
		if err := os.Remove(f.path); err != nil {
			return fmt.Errorf("the settings cannot be removed: %w", err)
		}
		return print(std.out, "removed %s\n", safe(f.shown))
	case string(text) == string(f.source.Text):
		return none()
	}
	if err := f.write(text); err != nil {
		return err
	}
	return print(std.out, "removed the hook from %s\n", safe(f.shown))
}

// A settingsFile is an agent's file of settings.
type settingsFile struct {
	of     *settings.Target
	path   string        // as the system opens it
	shown  string        // as a person would name it from the current folder
	source *rules.Source // what is in it: nil if it is not there
	mode   fs.FileMode   // its permissions, if it is there
}

// openSettings finds and reads an agent's settings: the user's own, or those of the project around the
// current folder.
func openSettings(agent string, user bool) (*settingsFile, error) {
	f := &settingsFile{of: settings.Named(agent)}
	if user {
		dir, err := userSettings(f.of)
		if err != nil {
			return nil, err
		}
		f.path = filepath.Join(dir, filepath.FromSlash(f.of.User))
		f.shown = filepath.ToSlash(f.path)
	} else {
		p, err := findPlace("")
		if err != nil {
			return nil, err
		}
		f.path = filepath.Join(p.root, filepath.FromSlash(f.of.Project))
		f.shown = p.prefix + f.of.Project
		if err := noLinkTo(p.root, f.of.Project); err != nil {
			return nil, err
		}
	}
	return f, f.read()
}

// userSettings is the folder of the user's own settings of an agent.
func userSettings(of *settings.Target) (string, error) {
	if of.HomeVar != "" && os.Getenv(of.HomeVar) != "" {
		dir, err := filepath.Abs(os.Getenv(of.HomeVar))
		if err != nil {
			return "", fmt.Errorf("the folder of %s cannot be found: %w", of.HomeVar, err)
		}
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("the user's home folder cannot be found: %w", err)
	}
	return filepath.Join(home, of.Home), nil
}

// noLinkTo is an error if a folder on the way to a file of the project is a link: the project would have
// another's settings written.
func noLinkTo(root, file string) error {
	for i, r := range file {
		if r != '/' {
			continue
		}
		st, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file[:i])))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !st.IsDir() {
			err = errors.New("it is a link, or no folder; make it one")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file[:i], disk.Cause(err))
		}
	}
	return nil
}

// read reads the file, and never through a link.
func (f *settingsFile) read() error {
	st, err := os.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot determine whether there are settings: %w", err)
	case st.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link, and was left as it is; what it leads to has to be edited by hand", f.shown)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file, and was left as it is", f.shown)
	case st.Size() > rules.MaxFileBytes:
		return fmt.Errorf("%s has over %d bytes, and was left as it is", f.shown, rules.MaxFileBytes)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("the settings cannot be read: %w", err)
	}
	f.source, f.mode = &rules.Source{Name: f.shown, Text: text}, st.Mode().Perm()
	return nil
}

// unchanged is an error if the file is no longer as it was read.
func (f *settingsFile) unchanged() error {
	now := settingsFile{of: f.of, path: f.path, shown: f.shown}
	if err := now.read(); err != nil {
		return err
	}
	if (now.source == nil) != (f.source == nil) || f.source != nil && string(now.source.Text) != string(f.source.Text) {
		return fmt.Errorf("%s changed meanwhile, and was left as it is; try again", f.shown)
	}
	return nil
}

// write puts a text in the file's place, whole or not at all, with the permissions that it had: half a
// file of settings would be none, and no hook.
func (f *settingsFile) write(text []byte) error {
	if err := f.replace(text); err != nil {
		return fmt.Errorf("%s cannot be written: %w", f.shown, disk.Cause(err))
	}
	return nil
}

func (f *settingsFile) replace(text []byte) (err error) {
	dir, name := filepath.Split(f.path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if f.source != nil {
		mode = f.mode
	}
	// The mode is there from the first byte on: there may be secrets in the settings.
	tmp, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", name, os.Getpid())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if f.source != nil && err == nil {
		err = tmp.Chmod(mode) // whatever the umask
	}
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = f.unchanged()
	}
	if err == nil {
		err = os.Rename(tmp.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// shownLines is a text as it is safe to print.
func shownLines(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(safe(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
