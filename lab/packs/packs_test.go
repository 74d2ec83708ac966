// Package packs holds policyscan to the public rule packs of SigmaShake: make packs loads each, asks it about ten
// ordinary calls, and writes lab/results/sigmashake.md. There is no code in it.
package packs

import (
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/lab/measured"
)

var dir = flag.String("packs", "", "a checkout of github.com/sigmashakeinc/rules")

const page = "../results/sigmashake.md"

// counts is in the note of validate on an expression that is invalid or dangerous.
const counts = "; it counts as "

// rulesets find the name of a file's ruleset in its path.
var rulesets = regexp.MustCompile(`/rulesets/([^/]+)/`)

// ordinary are the ten calls.
var ordinary = []string{
	`{"tool":"Read","input":{"file_path":"/w/README.md"}}`,
	`{"tool":"Edit","input":{"file_path":"/w/src/main.go","old_string":"a := 1","new_string":"a := 2"}}`,
	`{"tool":"Write","input":{"file_path":"/w/src/a.ts","content":"export const a = 1;\n"}}`,
	`{"tool":"Bash","input":{"command":"git status"}}`,
	`{"tool":"Bash","input":{"command":"npm test"}}`,
	`{"tool":"Bash","input":{"command":"go build ./..."}}`,
	`{"tool":"Bash","input":{"command":"ls -la"}}`,
	`{"tool":"Grep","input":{"pattern":"TODO","path":"/w/src"}}`,
	`{"tool":"WebFetch","input":{"url":"https://docs.python.org/3/","prompt":"What is new?"}}`,
	`{"tool":"Task","input":{"description":"Look","prompt":"Find the tests."}}`,
}

// TestPacks writes a line for each pack: the calls that it blocks, asks about or only notes, by their numbers, with the
// rule and why.
func TestPacks(t *testing.T) {
	if *dir == "" {
		t.Skip("needs -packs, see make packs")
	}
	var files []string
	err := filepath.WalkDir(*dir, func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".rules" {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no packs: %v", err)
	}
	var calls []*call.Call
	var text strings.Builder
	for i, line := range ordinary {
		c, err := callrules.ParseCall([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
		fmt.Fprintf(&text, "%d. `%s`\n", i+1, line)
	}
	var lines strings.Builder
	refused, silent, broken := 0, 0, 0
	for _, file := range files {
		set, err := dialect.Load("", file, "", nil)
		said := "none"
		switch {
		case err != nil:
			refused++
			said = "does not load: " + strings.TrimPrefix(firstLine(err.Error()), file+":")
		default:
			if all := decided(set, calls); all != "" {
				said = all
			} else {
				silent++
			}
			for _, n := range set.Notes {
				if strings.Contains(n.Text, counts) {
					broken++
				}
			}
		}
		name := strings.TrimSuffix(filepath.Base(file), ".rules")
		if ruleset := rulesets.FindStringSubmatch(filepath.ToSlash(file)); ruleset != nil {
			name = ruleset[1] + "/" + name
		}
		fmt.Fprintf(&lines, "| %s | %s |\n", name, strings.ReplaceAll(said, "|", `\|`))
	}
	fmt.Fprintf(&text, "\nOf %d packs %d do not load, and %d decide none of these calls.\n"+
		"%d of their conditions have an expression that is invalid or dangerous, and counts as the stricter answer.\n\n"+
		"| pack | of the ten calls |\n|---|---|\n%s", len(files), refused, silent, broken, lines.String())
	if err := measured.Write(page, "packs", text.String()); err != nil {
		t.Error(err)
	}
}

// decided returns the decisions of a pack about calls, each with its rule.
func decided(set *callrules.Set, calls []*call.Call) string {
	var all []string
	for i, c := range calls {
		out := set.Decide(c, callrules.Options{})
		if out.Rule == nil {
			continue
		}
		why := ""
		if slices.ContainsFunc(set.Notes, func(n callrules.Note) bool {
			return n.Origin == out.Rule.Origin && strings.Contains(n.Text, counts)
		}) {
			why = " (an expression that counts as matching)"
		}
		all = append(all, fmt.Sprintf("%d %s by `%s`%s", i+1, out.Decision, out.Rule.ID, why))
	}
	return strings.Join(all, ", ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
