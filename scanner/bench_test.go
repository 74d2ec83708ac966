package scanner

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/tree"
)

// benchText returns n bytes of text that looks like Terraform.
func benchText(r *rand.Rand, size int) string {
	lines := []string{
		"resource \"aws_security_group_rule\" \"ingress_%d\" {\n", "  type        = \"ingress\"\n",
		"  from_port   = %d\n", "  protocol    = \"tcp\"\n",
		"  cidr_blocks = [\"10.%d.0.0/16\"]\n", "  description = \"from the office, see ticket %d\"\n", "}\n\n",
		"# a comment that says why the rule above is there\n",
	}
	var b strings.Builder
	for b.Len() < size {
		line := lines[r.IntN(len(lines))]
		if strings.Contains(line, "%d") {
			line = fmt.Sprintf(line, r.IntN(250))
		}
		b.WriteString(line)
	}
	return b.String()[:size]
}

// benchRules returns rules of two patterns each, which most files do not contain.
func benchRules(n int) []rules.Rule {
	list := []rules.Rule{testRule("NET-1", "0.0.0.0/0", "::/0")}
	for i := 1; i < n; i++ {
		list = append(list, testRule(fmt.Sprint("R-", i), fmt.Sprintf("forbidden_attribute_%d = true", i),
			fmt.Sprintf("legacy-%d.example.com", i)))
	}
	return list
}

// The gain of a second worker justifies the workers. The tree is 2,000 files of 8 KB.
func BenchmarkScan(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{}
	var bytes int64
	for i := range 2000 {
		text := benchText(r, 4000+r.IntN(8000))
		if i%100 == 0 {
			text += "cidr_blocks = [\"0.0.0.0/0\"]\n"
		}
		files[fmt.Sprintf("env%d/module%d/main%d.tf", i%3, i%40, i)] = text
		bytes += int64(len(text))
	}
	root := openRoot(b, writeTree(b, files))
	bundle := rules.New(benchRules(20), nil)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			b.SetBytes(bytes)
			for b.Loop() {
				if v := scanWith(b.Context(), bundle, tree.Dir(root),
					testOptions{Workers: workers}); len(v.Violations) != 20 {
					b.Fatalf("%d violations", len(v.Violations))
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	text := []byte(benchText(rand.New(rand.NewPCG(3, 4)), 100<<10))
	for name, bundle := range map[string]*rules.Bundle{"rules=1": rules.New(benchRules(1), nil),
		"rules=200": rules.New(benchRules(200), nil)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := check.File(b.Context(), bundle, "main.tf", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// one is a bundle that judges alone, as one from disk does.
