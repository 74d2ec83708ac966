package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestNarrowed: the model of one command equals its part of the whole model, and the whole model gets all arguments
// for which it could differ. It has variables only if one is set.
func TestNarrowed(t *testing.T) {
	t.Run("no variable", func(t *testing.T) {
		testNarrowed(t, regexp.MustCompile(` (-|POLICYSCAN_[A-Z0-9_]+)\n`))
	})
	t.Setenv("POLICYSCAN_QUIET", "")
	t.Run("a variable", func(t *testing.T) { testNarrowed(t, regexp.MustCompile(`^never\n`)) })
}

// testNarrowed compares the models, except for the parts left out of the whole one.
func testNarrowed(t *testing.T, but *regexp.Regexp) {
	whole := commandTree()
	for _, args := range [][]string{
		{}, {"--version", "-q"}, {"-q"}, {"infra"}, {"--diff-base", "main"}, {"scan"},
		{"report", "verdict.json"}, {"validate"}, {"test"}, {"eval"}, {"list"}, {"explain", "main.tf"},
		{"allow"}, {"init"}, {"hook", "run"}, {"schema"}, {"version"},
	} {
		name := "scan"
		if len(args) > 0 && childOf(whole, args[0]) != nil {
			name = args[0]
		}
		c := singleCommand(args)
		if c == nil {
			t.Errorf("%q: it is left to the whole", args)
			continue
		}
		parser, err := quickParser(c, streams{out: io.Discard, err: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(parser.Model.Children); n != 1 {
			t.Errorf("%q: it has %d commands", args, n)
		}
		if got, want := shapeOf(childOf(parser.Model.Node, name)),
			but.ReplaceAllString(shapeOf(childOf(whole, name)), " \n"); got != want {
			t.Errorf("%q:\n%s\nbut of the whole\n%s", args, got, want)
		}
		if got := shapeOf(&kong.Node{Flags: parser.Model.Flags}); !strings.Contains(got, "--version") {
			t.Errorf("%q: it has no --version: %s", args, got)
		}
	}
	for _, args := range [][]string{
		{"help"}, {"help", "scan"}, {"completion", "bash"}, {"action"}, {"-q", "report"}, {"infra", "help"},
	} {
		if c := singleCommand(args); c != nil {
			t.Errorf("%q is not left to the whole: %v", args, reflect.TypeOf(c))
		}
	}
}

// shapeOf returns a command's inputs: its arguments, flags and subcommands.
func shapeOf(n *kong.Node) string {
	if n == nil {
		return "nothing"
	}
	var b strings.Builder
	value := func(name string, v *kong.Value) {
		b.WriteString(name + " " + v.Target.Type().String() + " " + v.Default + " " + strings.Join(v.Tag.Envs, ",") +
			"\n")
	}
	for _, p := range n.Positional {
		value(p.Name, p)
	}
	for _, f := range n.Flags {
		value(string(f.Short)+" --"+f.Name, f.Value)
	}
	for _, child := range n.Children {
		b.WriteString(child.Name + "\n" + shapeOf(child))
	}
	return b.String()
}

// TestNarrowedSays: the output is the same, whichever of the two models reads the arguments.
func TestNarrowedSays(t *testing.T) {
	say := func(args ...string) string {
		var out, errs strings.Builder
		std := streams{in: strings.NewReader(""), out: &out, err: &errs}
		status := recovering(std, func() int { return dispatch(args, std, &out) })
		return string(rune('0'+status)) + out.String() + errs.String()
	}
	for _, args := range [][]string{
		{"--version"}, {"version"}, {"version", "--version"}, {"validate", "--version"}, {"list", "--help"},
		{"--help"},
		{"validate", "--nothing"}, {"report"}, {"schema", "nothing"}, {"test", "--policy", ""}, {"hook"},
		{"explain", "--rule", "a", "--json", "--json=x"}, {"schema", "verdict"}, {"-h"}, {"list", "-h"}, {"repot"},
	} {
		quick := say(args...)
		t.Setenv("POLICYSCAN_QUIET", "") // which has no effect, but that the whole model is used
		if slow := say(args...); quick != slow {
			t.Errorf("%q: it says\n%s\nbut with the whole model\n%s", args, quick, slow)
		}
		if err := os.Unsetenv("POLICYSCAN_QUIET"); err != nil {
			t.Fatal(err)
		}
	}
}

// packageInit is what Go says of the tables of one package that were made before main.
var packageInit = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

// TestStart: the tables that packages make before main, at each start of the program, stay as few as they are. They
// were 1,573 allocations, 360 of them of encoding/gob, which came with go-git's patterns of .gitignore. 201 are those of
// regexp2, the engine for JavaScript's expressions.
func TestStart(t *testing.T) {
	file, err := released()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	all, ours := 0, 0
	var list []string
	for _, m := range packageInit.FindAllStringSubmatch(said.String(), -1) {
		n, err := strconv.Atoi(m[3])
		if err != nil {
			t.Fatal(err)
		}
		all += n
		if strings.HasPrefix(m[1], "github.com/policyscan/") {
			ours += n
		}
		list = append(list, fmt.Sprintf("%6d %s", n, m[1]))
	}
	slices.Sort(list)
	if ours == 0 || all > 1400 || ours > 170 {
		t.Errorf("%d allocations before main, of which ours are %d; at most 1,400 and 170:\n%s\nmake a table when "+
			"it is "+
			"first used, as internal/late does, or import less", all, ours, strings.Join(list, "\n"))
	}
}
