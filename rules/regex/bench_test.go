package regex

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// benchText is 1 MiB of typical configuration lines; few of them match.
func benchText() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	lines := []string{
		"      containers:", "        - name: web", "          image: registry.example.com/team/web:1.27.3",
		"          imagePullPolicy: IfNotPresent",
		`resource "aws_db_instance" "main" {`, "  allocated_storage    = 20", `  engine_version       = "15.4"`, "}",
		"", "# the storage of the reports, see docs/storage.md",
		"std::vector<std::string> names(count);", "for (const auto &name : names) { use(name); }",
	}
	rare := []string{"          image: nginx:latest", "auto f = std::bind(g, 1);", `password = "hunter2"`}
	var b bytes.Buffer
	for b.Len() < 1<<20 {
		line := lines[random.IntN(len(lines))]
		if random.IntN(200) == 0 {
			line = rare[random.IntN(len(rare))]
		}
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// BenchmarkText: all matches in 1 MiB of short lines, by Find and line by line by Go's regexp.
func BenchmarkText(b *testing.B) {
	text := benchText()
	for i, source := range []string{
		`image:\s*\S+:latest\b`, `\bstd::(?:bind|function|regex)\b`, `(?i)password\s*[:=]\s*['"]?[^'"\s]+`,
		`[0-9a-f]{40}`, `\s+$`, `\S+@\S+`, `^[a-z]+\s*=\s*"`,
	} {
		e, err := Compile(source)
		if err != nil {
			b.Fatal(err)
		}
		re := regexp.MustCompile(source)
		b.Run(fmt.Sprintf("%d/find", i), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for range e.Find(text) {
				}
			}
		})
		b.Run(fmt.Sprintf("%d/regexp", i), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for line := range bytes.Lines(text) {
					re.FindAllIndex(bytes.TrimRight(line, "\n"), MaxMatches)
				}
			}
		})
	}
}

// TestMemory: the memory of the largest accepted regexes, and of a search in them, is as documented.
func TestMemory(t *testing.T) {
	for name, source := range map[string]string{
		"copies":  strings.Repeat("x{1000}", 20),
		"choices": strings.Repeat("(?:x{0,1000})", 9) + "y",
		"classes": strings.Repeat(`\pL`, 75) + strings.Repeat("x{1000}", 19),
		"words":   strings.Repeat("abcdefg|bcdefgh|", MaxBytes/16-1) + "a",
		"small":   "abc[0-9]+",
		"unicode": `\pL+`,
		"list":    strings.Join(words(500), "|"),
		"pieces":  strings.Repeat("(a)", MaxBytes/3),
	} {
		before := held()
		e, err := Compile(source)
		if err != nil {
			t.Fatal(name, err)
		}
		text := []byte(strings.Repeat("x", 1200))
		for range e.Find(text) {
		}
		d := e.dfa() // not in the pool, where the garbage collector would free it
		d.findLines(text, func(Match) bool { return true })
		with := held() - before
		runtime.KeepAlive(d)
		without := held() - before
		runtime.KeepAlive(e)
		if bytes := int64(e.Bytes()); without > bytes+bytes/10+16<<10 || bytes > 3*without+16<<10 {
			t.Errorf("%s: the expression holds %d bytes, and says %d", name, without, bytes)
		}
		if without > 3<<20 || with-without > 1<<20 {
			t.Errorf("%s: the expression holds %d bytes, a search %d", name, without, with-without)
		}
		t.Logf("%s: the expression holds %d bytes, a search %d", name, without, with-without)
	}
}

// held returns the memory in use.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what a pool held
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
