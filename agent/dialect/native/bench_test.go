package native

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

// BenchmarkThousandRules: every rule of all-violations is asked.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	text.WriteString("rules:\n")
	for i := range 500 {
		fmt.Fprintf(&text, "  - {id: E%d, title: t, effect: deny, when: {all: [{fact: exec.bin, equals: git}, {fact: exec.args, one_of: [-f, --force-%d]}, {fact: command, matches: 'push\\s.*-%d\\b'}]}}\n", i, i, i)
		fmt.Fprintf(&text, "  - {id: P%d, title: t, effect: ask, when: {any: [{fact: path, glob: '**/area-%d/*.tf'}, {fact: command, contains: ' area-%d'}]}}\n", i, i, i)
	}
	set := read(b, text.String())
	c := &call.Call{Tool: "Bash", Dir: "/w", Input: call.NewObject(call.Member{Name: "command",
		Value: call.Text("git push origin feature --force-with-lease --no-verify && make test lint")})}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
