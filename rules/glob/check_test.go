package glob

import (
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/policyscan/policyscan/internal/cputime"
)

// accepted are globs that mean what they look like.
var accepted = []string{
	"**", "*", "?", "*.tf", "**/*.tf", "**/*.tf.json", "**/*_b.tf", "**/*tf", "**/*.", "a", "a/b", "a/*/b", "a/**", "a/**/b", "**/a/**", "a/**/**/b",
	"{a,b}", "{a,{b,c}}/d", "{**/,}*.tf", "a{,/b}", "a{,.b}", "{a}", "{a,**}/b", "**{/a,}", "a/{b,**/c}",
	"[a]", "[a-z]", "[a-a]", "[,]", "[{]{a,b}[,}]", "[!a]", "[^a]", "[-a]", "[a-]", "[--a]", `[\]]`, `[\-a]`, `[\\]`, "[.]", "[:]", "[[.]", "[:a]", "[[:a]", "[(]a)", "[ ]a",
	`\*`, `\?`, `\[a\]`, `\{a,b\}`, `a\\b`, `\!a`, "a!b", "a@b", "a,b", "a]b", "a(b)", "(a)/b", "a b", ".a", "...", "..a", "a..b", "~a",
	".github/**", "**/.*", "é", "日本/*", "\uFFFD",
	strings.Repeat("a/", 511) + "ab", strings.Repeat("{a,b}", 8), "{" + strings.Repeat("a,", 255) + "b}",
}

func TestCheckAccepts(t *testing.T) {
	for _, g := range accepted {
		if err := Check(g); err != nil {
			t.Errorf("Check(%q) = %v", g, err)
		}
		if !doublestar.ValidatePattern(g) {
			t.Errorf("doublestar refuses %q", g)
		}
	}
}

// TestFault_094_CatastrophicBraces: braces with too many expansions are refused before they are expanded.
func TestFault_094_CatastrophicBraces(t *testing.T) {
	for _, g := range []string{
		strings.Repeat("{a,aa}", 26),
		strings.Repeat("{a,aa}", 170),
		strings.Repeat("{"+strings.Repeat("a,", 60)+"b}", 8),
		strings.Repeat("{", 500) + strings.Repeat("}", 500),
		strings.Repeat("{a,", 250) + strings.Repeat("}", 250),
	} {
		took := cputime.Of(func() {
			for range 20 {
				if Check(g) == nil {
					t.Errorf("Check(%.40q…) accepts", g)
				}
			}
		})
		if took > 200*time.Millisecond {
			t.Errorf("Check(%.40q…) took %v twenty times", g, took)
		}
	}
}

// FuzzCheck: doublestar accepts everything that Check accepts, within the limits.
func FuzzCheck(f *testing.F) {
	for _, g := range accepted {
		f.Add(g)
	}
	f.Fuzz(func(t *testing.T, glob string) {
		err := Check(glob)
		if err != nil {
			if err.Found == "" || err.Fix == "" {
				t.Fatalf("Check(%q) = %#v", glob, err)
			}
			return
		}
		if !doublestar.ValidatePattern(glob) {
			t.Fatalf("Check accepts %q, doublestar does not", glob)
		}
		list := expansions(glob)
		if len(list) == 0 || len(list) > Expansions(glob) || Expansions(glob) > MaxExpansions {
			t.Fatalf("%q has %d of %d expansions", glob, len(list), Expansions(glob))
		}
		for _, e := range list {
			if strings.HasPrefix(e, "/") || strings.HasSuffix(e, "/") || strings.Contains(e, "//") || !doublestar.ValidatePattern(e) {
				t.Fatalf("%q has the expansion %q", glob, e)
			}
		}
		Notes(glob)
	})
}
