package scanner

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
)

var (
	long        = flag.Bool("long", false, "do all of the tests that otherwise do a part")
	differPairs = flag.Int("pairs", 30_000, "how many pairs of a file and a pattern are compared with the oracle; make differ asks for 1,000,000")
)

// The texts for files and patterns of the differential test: those of the other properties, and some of
// infrastructure.
var differWords = append(slices.Clone(words), "0.0", "/0", "cidr = ", "\"", "x", "ß", "\u0a00", "\u0101", "key", "Key", "::/0", "\t", "\r")

// A differ draws bundles and files from a seed, and counts what was compared.
type differ struct {
	*rand.Rand
	pairs int
	found map[string]int // by encoding
}

func (d *differ) text(most int) string {
	var b strings.Builder
	for range 1 + d.IntN(most) {
		b.WriteString(differWords[d.IntN(len(differWords))])
	}
	return b.String()
}

// bundle draws two rules of n patterns together: more than 48 are searched in another way.
func (d *differ) bundle(n int) []rules.Rule {
	seen := map[string]bool{}
	for len(seen) < n {
		if p := strings.ToValidUTF8(d.text(2+n/20), "\ufffd"); strings.TrimSpace(p) != "" {
			seen[p] = true
		}
	}
	patterns := slices.Sorted(maps.Keys(seen))
	d.Shuffle(n, func(i, k int) { patterns[i], patterns[k] = patterns[k], patterns[i] })
	half := (n + 1) / 2
	list := []rules.Rule{testRule("B-1", patterns[:half]...), testRule("I-1", patterns[half:]...)}
	list[1].Type, list[1].Redact = rules.Invariant, d.IntN(4) == 0
	if half == n {
		list = list[:1]
	}
	return list
}

// file draws a content: text in one of the encodings, with or without a BOM, aligned or not, or texts of several.
func (d *differ) file(list []rules.Rule) []byte {
	content := []byte("xyz")[:max(0, d.IntN(7)-3)]
	if len(content) > 0 && d.IntN(2) == 0 {
		content = content[:0]
	}
	texts, size := 1, 20
	switch d.IntN(20) {
	case 0:
		texts = 1 + d.IntN(4)
	case 1:
		size = 300
	}
	for range texts {
		enc := d.IntN(len(oracleEncodings))
		if d.IntN(3) == 0 {
			content = append(content, oracleEncode(enc, 0xFEFF)...)
		}
		text := d.text(size)
		if d.IntN(2) == 0 { // long patterns, too
			r := &list[d.IntN(len(list))]
			text += r.Patterns[d.IntN(len(r.Patterns))].Text + d.text(5)
		}
		if enc == 0 {
			content = append(content, text...)
			continue
		}
		content = append(content, oracleEncodeAll(enc, strings.ToValidUTF8(text, "\ufffd"))...)
	}
	if d.IntN(10) == 0 {
		content = content[:d.IntN(len(content)+1)] // a character is cut
	}
	return content
}

// compare checks one bundle and some files against the oracle.
func (d *differ) compare(t *testing.T, patterns, files int) {
	t.Helper()
	list := d.bundle(patterns)
	bundle := rules.New(list, nil)
	checkers := []*check.ContentChecker{check.NewContentChecker(bundle), nil}
	for i := range files {
		if i%16 == 0 {
			checkers[1] = check.NewContentChecker(bundle)
			checkers[1].Few = true
		}
		content := d.file(list)
		want := oracle(list, "a/main.tf", content)
		var got []verdict.Violation
		for _, checker := range checkers {
			var err error
			got, err = checker.Check(t.Context(), "a/main.tf", content)
			must(t, err)
			if !slices.EqualFunc(want, got, func(a, b verdict.Violation) bool { return cmp.Equal(a, b) }) {
				t.Fatalf("%d patterns in %q, few contents: %v (-oracle +got):\n%s", patterns, content, checker.Few, cmp.Diff(want, got))
			}
		}
		d.pairs += patterns
		for _, v := range got {
			d.found[v.Evidence.Encoding]++
		}
	}
}

// TestDifferential compares pairs of a file and a pattern with the oracle: the matches and their evidence.
func TestDifferential(t *testing.T) {
	// Around 48 patterns, the maximum of the vector unit.
	sizes := []int{1, 2, 5, 11, 20, 40, 48, 49, 60, 120}
	differs := make([]differ, runtime.GOMAXPROCS(0))
	t.Run("pairs", func(t *testing.T) {
		for i := range differs {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				d := &differs[i]
				d.Rand, d.found = rand.New(rand.NewPCG(uint64(i), 11)), map[string]int{}
				for round := 0; d.pairs*len(differs) < *differPairs; round++ {
					d.compare(t, sizes[round%len(sizes)], 25)
				}
			})
		}
	})
	pairs, all, found := 0, 0, map[string]int{}
	for _, d := range differs {
		pairs += d.pairs
		for encoding, n := range d.found {
			found[encoding] += n
			all += n
		}
	}
	if t.Failed() {
		return
	}
	var each []string
	for _, e := range oracleEncodings {
		each = append(each, fmt.Sprint(e.name, " ", found[e.name]))
		if found[e.name] < pairs/500 {
			t.Errorf("%d of %d pairs were found in %s: too few to say much", found[e.name], pairs, e.name)
		}
	}
	t.Logf("measured: a file and a pattern, all of the evidence | a naive search | %d | none; %d found (%s)", pairs, all, strings.Join(each, ", "))
}
