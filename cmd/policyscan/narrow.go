package main

import (
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// dispatchNarrowly runs the command that the arguments name as [dispatch] does, with a model of that command alone:
// the model of all commands takes a third of the time that the program needs to start. It returns false, and has done
// nothing, if the whole model is needed: for help, for messages, and to check variables that are set.
func dispatchNarrowly(args []string, std streams, help io.Writer) (status int, done bool) {
	if environmentSet() {
		return 0, false
	}
	if len(args) == 1 && args[0] == "--version" {
		return finish(std, new(versionCmd).Run(streams{out: help})), true // no model at all: a tenth of its time
	}
	c := narrowed(args)
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

// quickParser returns a parser without help, and without variables if none is set: kong makes a name for each flag, and
// looks for placeholders in each text with a regular expression, which takes more than half of the time that the model
// of one command needs. A call for help is an error then.
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

// narrowed returns a pointer to a struct that has, of the fields of commands, the one of the command that the
// arguments name, and the flag that is everyone's. nil: they name none for certain, or one that shows other commands.
func narrowed(args []string) any {
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
