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

// The program reads its environment here. Kong reads the flags' variables, and package scanner/repo git's variables
// for its index, objects and config. TestDoor checks that nothing else does.

// getenv returns the value of a variable that others define.
func getenv(name string) string { return os.Getenv(name) }

// gitEnvironment returns the variables that select the repository, and git's merge in progress.
func gitEnvironment() repo.Environment {
	return repo.Environment{
		GitDir: getenv("GIT_DIR"), WorkTree: getenv("GIT_WORK_TREE"), Merging: repo.Merging(os.Environ()),
	}
}

// newOptions returns the options that do not come from the command line.
func newOptions() run.Options {
	return run.Options{Version: version(), Git: gitEnvironment(), Getenv: getenv}
}

// runnerReadsOutput reports whether a GitHub Actions runner looks for workflow commands in the output. Any value
// counts, unlike in [inWorkflow]: escaping a command needlessly does no harm, an executed one does.
func runnerReadsOutput() bool { return getenv("GITHUB_ACTIONS") != "" || getenv("TF_BUILD") != "" }

func inWorkflow() bool { return run.InGitHub(getenv) }

// inGitHook reports whether git runs the program before a commit: it names the index then.
func inGitHook() bool { return getenv("GIT_INDEX_FILE") != "" }

func monochrome() bool { return getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" }

// ownPrefix begins the flags' variables. Kong knows it without the underscore.
const (
	envars    = "POLICYSCAN"
	ownPrefix = envars + "_"
)

// environmentSet reports whether any POLICYSCAN_ variable exists, empty or not.
func environmentSet() bool {
	return slices.ContainsFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, ownPrefix) })
}

// checkEnvironment returns an error for a POLICYSCAN_ variable that no flag reads: the user's gate could depend on an
// ignored setting. An empty variable counts as unset, because CI systems set such variables.
func checkEnvironment(parser *kong.Kong) error {
	known := map[string]bool{shard.CountVariable: true} // read by --shard auto
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
