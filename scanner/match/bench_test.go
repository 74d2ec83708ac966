package match

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// benchFiles are contents that look like Terraform, of 4 to 12 KB. Of each hundred lines one has an attribute that is
// forbidden with another value.
func benchFiles(n int) (files [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := []string{
		"resource \"aws_security_group_rule\" \"ingress_%d\" {\n", "  type        = \"ingress\"\n",
		"  from_port   = %d\n",
		"  protocol    = \"tcp\"\n", "  cidr_blocks = [\"10.%d.0.0/16\"]\n",
		"  description = \"from the office, see ticket %d\"\n", "}\n\n",
		"# a comment that says why the rule above is there\n",
	}
	for range n {
		var b strings.Builder
		for size := 4000 + r.IntN(8000); b.Len() < size; {
			line := lines[r.IntN(len(lines))]
			if r.IntN(100) == 0 {
				line = "  attribute_%d = false\n"
			}
			if strings.Contains(line, "%d") {
				line = fmt.Sprintf(line, r.IntN(250))
			}
			b.WriteString(line)
		}
		files = append(files, []byte(b.String()))
	}
	return files
}

// BenchmarkOptions compares 200 literals with and without options, in files of which most contain a part of one.
// "nothing" contains none.
func BenchmarkOptions(b *testing.B) {
	files := benchFiles(200)
	size := 0
	for _, f := range files {
		size += len(f)
	}
	for _, kind := range []struct{ name, text string }{
		{"nothing", "forbidden_%d = true"}, {"parts", "attribute_%d = true"},
	} {
		for _, o := range []struct {
			name string
			Options
		}{{"plain", Options{}}, {"spaces", spaces}, {"words", words}, {"case", ignoreCase}, {"all", all}} {
			var patterns []*Pattern
			for i := range 200 {
				patterns = append(patterns, Compile(fmt.Sprintf(kind.text, i), o.Options))
			}
			e := NewEngine(patterns)
			b.Run(kind.name+"/"+o.name, func(b *testing.B) {
				var x Examiner
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, f := range files {
						rep, err := x.Examine(context.Background(), e, bytes.NewReader(f))
						if err != nil || len(rep.Finds) > 0 {
							b.Fatal(rep.Finds, err)
						}
					}
				}
			})
		}
	}
}
