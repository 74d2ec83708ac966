package claudecube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
)

// BenchmarkThousandRules: a thousand rules of all three actions, of which none matches, so all are asked.
func BenchmarkThousandRules(b *testing.B) {
	var text strings.Builder
	text.WriteString(head)
	for i := range 1000 {
		action := []string{"escalate", "allow", "deny"}[i%3]
		text.WriteString(rule(i, action, "Bash|Write|Edit", "command",
			fmt.Sprintf(`regex git\s+push\s.*--force-%d\b`, i), fmt.Sprintf("literal make %d", i)))
	}
	set := read(b, text.String())
	c := uses("Bash", `{"command": "git push origin feature --force-with-lease && make test lint"}`)
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}

// BenchmarkThousandGlobs is the same for paths.
func BenchmarkThousandGlobs(b *testing.B) {
	var text strings.Builder
	text.WriteString(head)
	for i := range 1000 {
		action := []string{"escalate", "allow", "deny"}[i%3]
		text.WriteString(rule(i, action, "Write|Edit", "file_path",
			fmt.Sprintf("glob /home/*/src/**/area-%d/*.{ts,tsx}", i)))
	}
	set := read(b, text.String())
	c := uses("Edit", `{"file_path": "/home/u/src/app/components/area-x/list/view/item.tsx"}`)
	b.ReportAllocs()
	for b.Loop() {
		if out := set.Decide(c, callrules.Options{}); out.Rule != nil {
			b.Fatal(out.Rule.ID)
		}
	}
}
