package clash

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
)

// BenchmarkThousandRules: a thousand rules of one domain, of which none matches, so all are asked.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	for i := range 250 {
		fmt.Fprintf(&text, "(deny (exec \"git\" \"push\" \"origin\" \"area-%d\" *))\n", i)
		fmt.Fprintf(&text, "(allow (exec \"tool-%d\" (or \"build\" /^te?st$/) (not \"x\")))\n", i)
		fmt.Fprintf(&text, "(ask (exec /^(cargo|make)-%d$/ *))\n", i)
		fmt.Fprintf(&text, "(deny (exec \"git\" :has \"--force-%d\" /^-/))\n", i)
	}
	set := read(b, of(text.String()))
	c := &call.Call{Tool: "Bash", Dir: "/w", Input: call.NewObject(call.Member{Name: "command",
		Value: call.Text("git push origin feature --force-with-lease --no-verify && make test lint")})}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
