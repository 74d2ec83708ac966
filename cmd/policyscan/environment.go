package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict/shard"
)

// The program reads its environment here. Kong reads the variables of flags, and package scanner/repo those of git
// that say where its index, objects and settings are. TestDoor checks that nothing else does.

// getenv returns the value of a variable, for what reads variables that others name.
func getenv(name string) string { return os.Getenv(name) }

// gitEnvironment returns the variables that say which repository is meant, and what git merges into it.
func gitEnvironment() repo.Environment {
	return repo.Environment{
		GitDir: getenv("GIT_DIR"), WorkTree: getenv("GIT_WORK_TREE"), Merging: repo.Merging(os.Environ()),
	}
}

// newOptions returns the options of a run that the command line does not choose.
func newOptions() run.Options {
	return run.Options{Version: version(), Git: gitEnvironment(), Getenv: getenv}
}

// obeyed reports whether a GitHub Actions runner looks for workflow commands in what the program prints. Any value
// counts, unlike in [inWorkflow]: a command that is defused for nobody does no harm, and one that is obeyed does.
func obeyed() bool { return getenv("GITHUB_ACTIONS") != "" }

func inWorkflow() bool { return run.InGitHub(getenv) }

func monochrome() bool { return getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" }

// ownPrefix begins the names of the variables that flags read. Kong knows it without the line.
const (
	envars    = "POLICYSCAN"
	ownPrefix = envars + "_"
)

// environmentSet reports whether any POLICYSCAN_ variable is there, empty or not.
func environmentSet() bool {
	return slices.ContainsFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, ownPrefix) })
}

// checkEnvironment returns an error for a POLICYSCAN_ variable that no flag reads: the user's
// gate could depend on a setting that is silently ignored. An empty variable counts as not
// set, because CI systems set such variables.
func checkEnvironment(parser *kong.Kong) error {
	known := map[string]bool{shard.CountVariable: true} // which --shard auto reads
	err := kong.Visit(parser.Model, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok {
			for _, name := range f.Envs {
				known[name] = true
			}
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case !strings.HasPrefix(name, ownPrefix):
		case value == "":
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		case !known[name]:
			return fmt.Errorf("unknown environment variable %s; see policyscan --help", name)
		}
	}
	return nil
}
