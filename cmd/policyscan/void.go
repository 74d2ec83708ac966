package main

import (
	"os"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// replaceOldVerdict replaces the verdict of an earlier run where this one, whose arguments or
// environment cannot be followed, would have written its own: an old PASS must not be
// taken for it. Only a file that is a verdict is touched, and none is made.
func replaceOldVerdict(output string) {
	if !verdict.IsVerdict(output) {
		return
	}
	f, err := verdict.Create(output, version(), verdict.Scope{Mode: "full"})
	if err != nil {
		return // the usage error is said, and decides
	}
	v := verdict.Incomplete(version(), verdict.Scope{Mode: "full"}, verdict.Error{Code: verdict.Usage, Message: "the flags or the environment of the last run could not be followed, so it did not scan"})
	v.Decide()
	_ = f.Write(v) // the marker that Create left says FAIL as well
}

// outputOf returns the output that arguments which cannot be parsed seem to name.
func outputOf(args []string) string {
	output := "verdict.json"
	if v := os.Getenv("POLICYSCAN_OUTPUT"); v != "" {
		output = v
	}
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--output="); ok {
			output = v
		} else if a == "--output" && i+1 < len(args) {
			output = args[i+1]
		}
	}
	return output
}
