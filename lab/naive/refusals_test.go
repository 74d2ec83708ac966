package naive

import (
	"fmt"

	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"

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

// TestBadItems: both programs refuse each item that a 0.2 file cannot have, in a list that forbids and in one that
// requires, and name the same line.
func TestBadItems(t *testing.T) {
	dir := t.TempDir()
	plain := ruleText{version: "0.2", rules: []ruleYAML{plainRule("PLAIN", "boundary")}}
	for _, item := range badItems() {
		for _, list := range []string{"required_absent", "required_patterns"} {
			r := ruleWith("BAD", "invariant", "q", item)
			r.lists[1].key = list
			text := ruleText{version: "0.2", rules: []ruleYAML{r}}.yaml()
			_, mistakes := loadFile("invariants.yml", text)
			err := WriteTree(dir, []File{
				{"rules/boundaries.yml", plain.yaml(), Regular}, {"rules/invariants.yml", text, Regular},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, err = rules.LoadDir(dir)
			switch {
			case len(mistakes) == 0:
				t.Errorf("naively %s is accepted in %s", item, list)
			case err == nil:
				t.Errorf("%s is accepted in %s; naively %+v", item, list, mistakes)
			case mistakes[0].Line > 0 && !strings.Contains(err.Error(), fmt.Sprintf("invariants.yml:%d:", mistakes[0].Line)):
				t.Errorf("%s in %s: %v; naively %+v", item, list, err, mistakes)
			}
		}
	}
}
