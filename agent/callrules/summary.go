package callrules

import (
	"fmt"
	"strings"
)

// Summary tells how many rules the set has, and of which effects, in the words of its dialect: "12 rules:
// 3 deny, 6 allow, 3 escalate". Rules that their file disables are counted and reported.
func (s *Set) Summary() string {
	count := map[Effect]int{}
	disabled := 0
	for i := range s.Rules {
		count[s.Rules[i].Effect]++
		if s.Rules[i].Disabled {
			disabled++
		}
	}
	var parts []string
	for _, e := range []Effect{Deny, Force, Allow, Ask, Log, Shadow} {
		if count[e] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[e], s.Word(e)))
		}
	}
	text := fmt.Sprintf("%d rules: %s", len(s.Rules), strings.Join(parts, ", "))
	switch len(s.Rules) {
	case 0:
		text = "no rules"
	case 1:
		text = "1 rule: " + strings.Join(parts, ", ")
	}
	if disabled > 0 {
		text += fmt.Sprintf("; %d of them not enabled", disabled)
	}
	return text
}
