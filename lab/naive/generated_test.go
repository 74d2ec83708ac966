package naive

import (
	"testing"
)

// TestGenerated checks the generator: what it damages is refused, and nearly all else is a bundle, most of which find
// something.
func TestGenerated(t *testing.T) {
	good, refused, clean := 0, 0, 0
	for n := range 4000 {
		p := newPair(n)
		b, mistakes := Load(p.rules())
		switch {
		case p.bad != "":
			if len(mistakes) == 0 {
				t.Errorf("pair %d is accepted:\n%v", n, p)
			}
			continue
		case len(mistakes) > 0:
			if refused++; testing.Verbose() && refused < 10 {
				t.Logf("%v\n%+v", p, mistakes)
			}
			continue
		}
		good++
		if o := Judge(b, Scan{Tree: p.tree, Parsed: p.parsed}); len(o.Violations) == 0 {
			clean++
		}
	}
	if good < 3000 || refused > good/50 || clean < good/10 || clean > good*3/5 {
		t.Errorf("%d bundles, %d more that are refused; %d find nothing", good, refused, clean)
	}
}
