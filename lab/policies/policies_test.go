// Package policies measures what the rules of a bundle can say: policies drawn from public tools, each with a rule that
// says it exactly, nearly or not, and examples that are run. There is no code in it.
package policies

import (
	"os"
	"strings"
	"testing"
)

// A source is a repository with policies.
type source struct {
	name, repository, commit string
	policies                 []policy
}

// A policy is what is drawn; outside says why it is not one about files.
type policy struct{ id, about, outside string }

// sources reads drawn.txt.
func sources(t *testing.T) []source {
	t.Helper()
	text, err := os.ReadFile("drawn.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []source
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "= "); ok {
			words := strings.Fields(head)
			list = append(list, source{name: words[0], repository: words[1], commit: words[2]})
		} else if id, about, ok := strings.Cut(line, "\t"); ok {
			last := &list[len(list)-1]
			p := policy{id: id, about: about}
			if why, out := strings.CutPrefix(about, "outside: "); out {
				p.outside = why
			}
			last.policies = append(last.policies, p)
		}
	}
	return list
}
