package main

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/verdict/report"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completions has a template for the script of each shell.
//
//go:embed completion.txt
var completions string

// Run prints the script, which is made from the model of the command line, without its hidden commands.
func (c *completionCmd) Run(std streams, parser *kong.Kong) error {
	app := parser.Model
	first := completed{
		Flags: shownFlags(app.Flags, app.DefaultCmd.Flags), Values: shownChildren(app.Node),
	}
	script, err := template.New(c.Shell).Funcs(template.FuncMap{
		"join":    func(words []string) string { return strings.Join(words, " ") },
		"quote":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"line":    firstLine,
		"words":   strings.Fields,
		"values":  flagValues,
		"zshFlag": zshFlag,
	}).Parse(sections(completions)[c.Shell] + "\n")
	if err != nil {
		return err
	}
	commands := completedBelow(app.Node, "", app.Flags)
	deepest := slices.Clone(commands)
	slices.Reverse(deepest) // each before the command that its name begins with
	model := map[string]any{"First": first, "Commands": commands, "DeepestFirst": deepest}
	var text bytes.Buffer // one write: a reader such as head may go after the first
	if err := script.Execute(&text, model); err != nil {
		return err
	}
	_, err = std.out.Write(text.Bytes())
	return err
}

// A completed command, by its full name ("hook install git"), with its completions. The unnamed one has the first
// words: the subcommands, and the flags of the default command.
type completed struct {
	Name, Help string
	Flags      []*kong.Flag
	Values     []string // of its argument, if known, or its subcommands
	IsGroup    bool     // a subcommand must follow
}

// completedBelow returns the commands under one, each before its subcommands.
func completedBelow(node *kong.Node, before string, flags []*kong.Flag) []completed {
	var all []completed
	for _, cmd := range node.Children {
		if cmd.Hidden {
			continue
		}
		c := completed{
			Name: before + cmd.Name, Help: firstLine(cmd.Help),
			Flags: shownFlags(flags, cmd.Flags), IsGroup: len(cmd.Children) > 0,
		}
		if c.Name == "help" {
			c.Values = shownChildren(node)
		}
		for _, p := range cmd.Positional {
			if p.Enum != "" {
				c.Values = append(c.Values, p.EnumSlice()...)
			}
		}
		c.Values = append(c.Values, shownChildren(cmd)...)
		all = append(append(all, c), completedBelow(cmd, c.Name+" ", c.Flags)...)
	}
	return all
}

func shownFlags(lists ...[]*kong.Flag) []*kong.Flag {
	return slices.DeleteFunc(slices.Concat(lists...), func(f *kong.Flag) bool { return f.Hidden })
}

// flagValues returns the values of a flag, if there are few.
func flagValues(f *kong.Flag) []string {
	switch {
	case f.Enum != "":
		return f.EnumSlice()
	case f.Name != "report":
		return nil
	}
	for _, formats := range []string{report.Names(), report.FleetNames(), report.DiffNames(), report.TrendNames()} {
		if strings.Contains(f.Help, formats) {
			return strings.Split(formats, ", ")
		}
	}
	return nil
}

// Options returns the flags as they are typed.
func (c completed) Options() []string {
	var all []string
	for _, f := range c.Flags {
		all = append(all, "--"+f.Name)
		if f.Short != 0 {
			all = append(all, "-"+string(f.Short))
		}
	}
	slices.Sort(all)
	return all
}

func shownChildren(node *kong.Node) []string {
	var names []string
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func zshFlag(f *kong.Flag) string {
	help := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(firstLine(f.Help))
	flag := "--" + f.Name + "[" + help + "]"
	switch values := flagValues(f); {
	case f.IsBool():
		return flag
	case f.Name == "rule":
		return flag + ":value:_policyscan_rules"
	case values != nil:
		return flag + ":value:(" + strings.Join(values, " ") + ")"
	}
	return flag + ":value:_files"
}
