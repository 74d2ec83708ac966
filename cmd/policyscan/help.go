package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/internal/late"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/verdict/report"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"@help_command"`
}

// Run shows the help of the command that is named.
func (c *helpCmd) Run(parser *kong.Kong) error {
	node, named := parser.Model.Node, ""
	for _, word := range c.Command {
		child := childOf(node, word)
		if child == nil {
			if len(node.Children) == 0 {
				return withHelpHint(fmt.Errorf("%s has no subcommands", strings.TrimSpace(named)), named)
			}
			name := quoted(strings.TrimSpace(named + " " + word))
			return withHelpHint(fmt.Errorf("%s is not a command%s", name, didYouMean(word, node)), named)
		}
		node, named = child, named+" "+child.Name
	}
	_, err := parser.Parse(append(c.Command, "--help")) // ends the program
	return err
}

type versionCmd struct{}

func (*versionCmd) Run(std streams) error { return print(std.out, "policyscan %s\n", version()) }

// isMistyped reports whether a first argument looks like a command, and is not the name of a file.
func isMistyped(word string) bool {
	if word == "" || word[0] == '-' || !filepath.IsLocal(word) ||
		filepath.Base(word) != word || filepath.Ext(word) != "" {
		return false
	}
	_, err := os.Lstat(word)
	return errors.Is(err, fs.ErrNotExist)
}

// withHelpHint adds to an error which help to read; "" is the program's.
func withHelpHint(err error, command string) error {
	see := "; see"
	if strings.HasSuffix(err.Error(), "?") {
		see = " See"
	}
	return fmt.Errorf("%w%s policyscan%s --help", err, see, strings.TrimRight(" "+strings.TrimSpace(command), " "))
}

var (
	missingValue = late.Regexp(`^(--[a-z-]+): (?:expected \w+ value but got|missing value, expecting) .*$`)
	notANumber   = late.Regexp(`^(--[a-z-]+): expected (?:a valid \d+ bit u?int|an int) but got (".*?").*$`)
	notADuration = late.Regexp(`^(--[a-z-]+): expected duration but got (".*?").*$`)
)

// plainError returns kong's error about arguments in plain words. To one about a missing subcommand it adds them all:
// kong lists five.
func plainError(err error, node *kong.Node, command string) error {
	text := missingValue().ReplaceAllString(err.Error(), "$1 needs a value")
	text = notANumber().ReplaceAllString(text, "$1 is $2, which is not a whole number")
	text = notADuration().ReplaceAllString(text, "$1 is $2, which is not a duration, such as 90s or 10m")
	if text != err.Error() {
		return errors.New(text)
	}
	for _, name := range strings.Fields(command) {
		if node = childOf(node, name); node == nil {
			return err
		}
	}
	if !strings.HasPrefix(err.Error(), "expected one of ") || !strings.HasSuffix(err.Error(), ", ...") {
		return err
	}
	return fmt.Errorf(`expected one of "%s"`, strings.Join(shownChildren(node), `", "`))
}

// commandTree returns the model of the whole command line, or an empty one on errors.
func commandTree() *kong.Node {
	parser, err := newParser(&commands{}, streams{})
	if err != nil {
		return &kong.Node{}
	}
	return parser.Model.Node
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// didYouMean suggests a command with a similar name, or returns "".
func didYouMean(word string, node *kong.Node) string {
	if near := document.Nearest(word, shownChildren(node)); near != "" && near != word {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// helpText has what --help says of the program, what it says of a command below its flags, by the name of the
// command's type (hookInstallGit), and in "flags" what does not fit on the line of a flag.
//
//go:embed help.txt
var helpText string

// expandHelps sets these texts. A flag with help:"@scan_allow" has the paragraph scan_allow of "flags". As kong's
// variables they would take twice as long as the rest of the model, at every start: kong expands each variable for
// each flag.
func expandHelps(k *kong.Kong) error {
	var formats strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&formats, "  %-10s %s\n", f.Name, f.About)
	}
	lists := strings.NewReplacer(
		"{formats}\n", formats.String(),
		"{report formats}", report.Names(),
		"{fleet formats}", report.FleetNames(),
		"{history formats}", report.HistoryNames(),
		"{trend formats}", report.TrendNames(),
		"{diff formats}", report.DiffNames(),
		"{dialects}", strings.Join(dialectNames(), ", "),
	)
	texts := sections(lists.Replace(helpText))
	flags := map[string]string{}
	for paragraph := range strings.SplitSeq(texts["flags"], "\n\n") {
		name, sentences, _ := strings.Cut(paragraph, "\n")
		flags[name] = strings.Join(strings.Fields(sentences), " ")
	}
	k.Model.Help = texts["policyscan"]
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		switch n := node.(type) {
		case *kong.Node:
			name := strings.TrimSuffix(n.Target.Type().Name(), "Cmd")
			n.Detail = texts[name] // a command may have none
			if about := flags[name]; strings.Contains(about, "{agent}") {
				n.Help = strings.Replace(about, "{agent}", n.Help, 1)
			}
		case *kong.Value:
			if name, named := strings.CutPrefix(n.Help, "@"); named {
				if n.Help = flags[name]; n.Help == "" {
					return fmt.Errorf("there is no text %q for the help of %s", name, n.Name)
				}
			}
		}
		return next(nil)
	})
}

// sections returns the texts of a file, each under its line "=== name ===".
func sections(file string) map[string]string {
	texts := map[string]string{}
	for section := range strings.SplitSeq(strings.TrimPrefix(file, "=== "), "\n=== ") {
		name, text, _ := strings.Cut(section, " ===\n")
		texts[name] = strings.TrimSuffix(text, "\n")
	}
	return texts
}
