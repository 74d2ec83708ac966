package main

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict/output"
)

type commands struct {
	Scan          scanCmd     `cmd:"" default:"withargs" help:"Scan a tree (the default command)."`
	Fleet         fleetCmd    `cmd:"" help:"Scan many repositories, each at a commit."`
	History       historyCmd  `cmd:"" help:"Say which past changes the rules would have stopped."`
	Trend         trendCmd    `cmd:"" help:"Show how the results of many days changed."`
	Report        reportCmd   `cmd:"" help:"Write reports of a verdict.json."`
	Merge         mergeCmd    `cmd:"" help:"Make one verdict of the shard files of a scan."`
	Verify        verifyCmd   `cmd:"" help:"Make the run of a verdict.json again, and compare."`
	Validate      validateCmd `cmd:"" help:"Check a bundle, and show every mistake in it."`
	Test          testCmd     `cmd:"" help:"Run the examples in a bundle's rules."`
	evalCommand   `embed:""`
	List          listCmd    `cmd:"" help:"Print the rules of a bundle."`
	Diff          diffCmd    `cmd:"" help:"Compare two bundles, and say which rules are weaker."`
	Pin           pinCmd     `cmd:"" help:"Print the pin of a bundle: its hash, and the commit."`
	Explain       explainCmd `cmd:"" help:"Say what each rule asks of a file, and what a scan finds in it."`
	Allow         allowCmd   `cmd:"" help:"Write, tighten and list the allowances of a bundle."`
	Init          initCmd    `cmd:"" help:"Write a first bundle for this repository."`
	editorCommand `embed:""`
	Hook          hookCmd       `cmd:"" help:"Run as a coding agent's hook; install hooks for agents and git."`
	Schema        schemaCmd     `cmd:"" help:"Print the JSON Schema of a document."`
	Completion    completionCmd `cmd:"" help:"Print a completion script for a shell."`
	Help          helpCmd       `cmd:"" help:"Show the help of a command."`
	Version       versionCmd    `cmd:"" help:"Print the version."`
	Action        actionCmd     `cmd:"" hidden:"" help:"Scan with the inputs of action.yml, in a GitHub workflow."`

	VersionFlag versionFlag `name:"version" help:"Print the version." env:"-"`
}

// versionFlag prints the version and ends the program, wherever it is on the command line.
type versionFlag bool

// BeforeReset is called by kong when the flag is met.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if err := print(app.Stdout, "policyscan %s\n", version()); err != nil {
		return err
	}
	app.Exit(exitPass)
	return nil
}

// An exitError is the error that a command ends with, and its exit status. The error is nil
// if the command has already printed everything.
type exitError struct {
	status int
	err    error
}

func (o exitError) Error() string { return fmt.Sprint(o.err) }

// dispatch runs the command in the arguments. The output of --help or --version goes to help.
func dispatch(args []string, std streams, help io.Writer) int {
	if status, done := dispatchFast(args, std, help); done {
		return status
	}
	var c commands
	parser, err := newParser(&c, streams{out: help, err: std.err})
	if err != nil {
		printErrors(std.err, err)
		return exitUndecided
	}
	if err := checkEnvironment(parser); err != nil {
		command := commandOf(parser, args)
		if command == "action" && inWorkflow() {
			return finish(std, stepFailed(actionStep(std), err, std))
		}
		invalidateOutputs(command, args)
		printErrors(std.err, err)
		return exitUndecided
	}
	ctx, err := parse(parser, args)
	if err != nil {
		command := commandOf(parser, args)
		invalidateOutputs(command, args)
		node := parser.Model.Node
		if command == "scan" && len(args) > 0 && childOf(node, args[0]) == nil && isMistyped(args[0]) {
			if near := didYouMean(args[0], node); near != "" {
				command, err = "", fmt.Errorf("%q is neither a path nor a command%s", args[0], near)
			}
		}
		printErrors(std.err, withHelpHint(plainError(err, node, command), command))
		return exitUndecided
	}
	return finish(std, ctx.Run(std, parser))
}

func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	ctx, err := parser.Parse(args)
	if err == nil {
		err = checkFlags(ctx)
	}
	return ctx, err
}

func newParser(c any, std streams) (*kong.Kong, error) {
	return parserWith(c, std, kong.DefaultEnvars(envars), kong.PostBuild(expandHelps))
}

func parserWith(c any, std streams, more ...kong.Option) (*kong.Kong, error) {
	options := []kong.Option{
		kong.Name("policyscan"),
		kong.Writers(std.out, std.err),
		kong.Exit(func(int) { panic(helpExit{}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 90}),
		// The help explains environment variables once, not for every flag.
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }),
	}
	return kong.New(c, append(options, more...)...)
}

// commandOf returns the subcommand in the arguments: scan if they name none or cannot be read.
func commandOf(parser *kong.Kong, args []string) string {
	if ctx, err := kong.Trace(parser, args); err == nil && ctx.Selected() != nil {
		return ctx.Selected().Path()
	}
	return "scan"
}

// invalidateOutputs replaces the verdict of an earlier run, or the summary of a fleet, if this run's arguments or
// environment are invalid: everything that --output or its variable names, whatever else is wrong; without them all
// files that the command could write, since neither PATH nor the scope is known.
func invalidateOutputs(command string, args []string) {
	verdicts, fleets := command == "scan" || command == "merge", command == "fleet" || command == "merge"
	var files []string // more than one, if the flag is given twice
	for i, arg := range args {
		if file, is := strings.CutPrefix(arg, "--output="); is {
			files = append(files, file)
		} else if arg == "--output" && i+1 < len(args) && (args[i+1] == "-" || !strings.HasPrefix(args[i+1], "-")) {
			files = append(files, args[i+1])
		}
	}
	if strings.Join(files, "") == "" {
		files = []string{getenv(ownPrefix + "OUTPUT")}
	}
	if verdicts {
		replaceOldVerdict(run.VerdictFiles(gitEnvironment(), files...)...)
	}
	if fleets {
		for _, dir := range files {
			invalidateFleet(cmp.Or(dir, "policyscan-fleet"), command == "fleet")
		}
	}
}

func replaceOldVerdict(files ...string) { output.ReplaceOld(version(), files...) }

// checkFlags returns an error for an empty flag or argument: an unset variable of a script must not become a default.
// A flag with one value must not be given twice, since one of the values would be dropped.
func checkFlags(ctx *kong.Context) error {
	given := map[string]bool{}
	for _, p := range ctx.Path {
		switch {
		case p.Flag != nil && emptyValue(p.Flag.Target):
			return fmt.Errorf("--%s is empty; give it a value, or remove it", p.Flag.Name)
		case p.Flag != nil && given[p.Flag.Name] && !p.Flag.IsBool() && !p.Flag.IsCumulative():
			return fmt.Errorf("--%s takes one value, but is given twice; remove one of them", p.Flag.Name)
		case p.Flag != nil:
			given[p.Flag.Name] = true
		case p.Positional != nil && emptyValue(p.Positional.Target):
			return fmt.Errorf("the argument %s is empty; give it a value, or remove it",
				strings.ToUpper(p.Positional.Name))
		}
	}
	return nil
}

type flagUse struct {
	name  string
	given bool
}

func setNames(flags ...flagUse) (names []string) {
	for _, f := range flags {
		if f.given {
			names = append(names, f.name)
		}
	}
	return names
}

// emptyValue reports whether a string is empty, or a list is empty or has an empty item.
func emptyValue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Slice:
		for i := range v.Len() {
			if emptyValue(v.Index(i)) {
				return true
			}
		}
		return v.Len() == 0
	}
	return false
}

// release is the version that the linker sets in a build for a release (-X
// main.release=v1.2.3, see .goreleaser.yaml). No code changes it.
var release string

// version is the program's version: that of the release or of the module (go install MODULE@v1.2.3 says v1.2.3 too), or
// the commit's as Go writes it (a build in a clone), or devel (go run, a build without version control).
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// dispatchFast is [dispatch] with a model of one command: the model of all commands takes a third of the program's
// start time. It returns false, and has done nothing, if the whole model is needed: for help, for messages, and to
// check variables that are set.
func dispatchFast(args []string, std streams, help io.Writer) (status int, done bool) {
	if environmentSet() {
		return 0, false
	}
	if len(args) == 1 && args[0] == "--version" {
		return finish(std, new(versionCmd).Run(streams{out: help})), true // no model at all: a tenth of its time
	}
	c := singleCommand(args)
	if c == nil {
		return 0, false
	}
	parser, err := quickParser(c, streams{out: help, err: std.err})
	if err != nil {
		return 0, false
	}
	ctx, err := parse(parser, args)
	if err != nil {
		return 0, false
	}
	return finish(std, ctx.Run(std, parser)), true
}

// quickParser returns a parser without help, and without variables if none is set: kong makes a name for each flag,
// and searches each text for placeholders, which takes more than half of the time for one command's model. A call for
// help is an error then.
func quickParser(c any, std streams) (*kong.Kong, error) {
	options := []kong.Option{kong.NoDefaultHelp()}
	set := environmentSet()
	if set {
		options = append(options, kong.DefaultEnvars(envars))
	}
	return parserWith(c, std, append(options, kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
			switch n := node.(type) {
			case *kong.Application:
				n.Help = ""
			case *kong.Node:
				n.Help = ""
			case *kong.Flag:
				n.PlaceHolder = ""
			case *kong.Value:
				if n.Help = ""; !set {
					n.Tag.Envs = nil
				}
			}
			return next(nil)
		})
	}))...)
}

// singleCommand returns a pointer to a struct with only two fields of commands: the command in the arguments, and the
// global flag. It returns nil if the command is uncertain, or shows other commands.
func singleCommand(args []string) any {
	var fields []reflect.StructField
	names := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[commands]()) {
		f.Index, f.Offset = nil, 0
		if _, is := f.Tag.Lookup("cmd"); is {
			names[strings.ToLower(f.Name)] = f
		} else if f.Type == reflect.TypeFor[versionFlag]() {
			fields = append(fields, f)
		}
	}
	name := "scan"
	if len(args) > 0 {
		if _, is := names[args[0]]; is {
			name = args[0]
		} else if slices.ContainsFunc(args, func(arg string) bool { _, is := names[arg]; return is }) {
			return nil
		}
	}
	switch name {
	case "action", "completion", "help":
		return nil
	}
	return reflect.New(reflect.StructOf(append(fields, names[name]))).Interface()
}
