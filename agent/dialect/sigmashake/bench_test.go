package sigmashake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
)

// BenchmarkThousandRules is 0-35, "Evaluation latency | < 2ms", with twenty times the rules that the document
// has in mind: none of them fires, so all are asked.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "rule r%d { priority %d DENY execution IF command CONTAINS \"git\" AND command REGEX \"push\\\\s+.*--force-%d\\\\b\" OR path GLOB \"**/secret-%d/*\" MESSAGE \"m\" }\n", i, i%100, i, i)
	}
	set := set(b, text.String())
	c, err := callrules.ParseCall([]byte(bash("git push origin feature --force-with-lease && make test lint")))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
