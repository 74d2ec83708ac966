package naive

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules/regex"
)

// TestRefusals: both programs refuse the same of random expressions, most of which ask for more than a line or nearly do.
func TestRefusals(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 53))
	parts := []string{
		"a", "b", ".", "|", "(", ")", "(?:", "[", "]", "[^", "^", "$", `\n`, `\r`, `\x0a`, `\x{d}`, `\x{a}`, `\12`, `\015`,
		`\1`, "1", `\s`, `\S`, `\w`, `\W`, `\b`, `\A`, `\z`, "(?s)", "(?i)", "(?s:", "(?m)", "(?is)", "(?-s)", "(?s-i:",
		`\Q`, `\E`, `[:alpha:]`, "[:space:]", `[^\n]`, `[\s\S]`, "*", "+", "?", `\\`, `\x{FEFF}`, "-", `\t`, "(?P<s>", `\pL`,
	}
	accepted := map[bool]int{} // of a file's lines, of a value
	for range 20_000 {
		var b strings.Builder
		if r.IntN(4) == 0 {
			b.WriteString("(?s)")
		}
		for range 1 + r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		for _, ofFile := range []bool{true, false} {
			_, want := compile(b.String(), ofFile)
			_, got := regex.Compile(b.String())
			if !ofFile {
				_, got = regex.CompileValue(b.String())
				if isWhole(b.String()) {
					_, want = compileWhole(b.String())
				}
			}
			if (want == nil) != (got == nil) {
				t.Errorf("%#q, of a file: %v: %v, naively %v", b.String(), ofFile, got, want)
			}
			if want == nil {
				accepted[ofFile]++
			}
		}
	}
	if accepted[true] < 1000 || accepted[false] < 1500 {
		t.Errorf("accepted %v: too few to say anything", accepted)
	}
}
