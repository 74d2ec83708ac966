package regex

import (
	"runtime"
	"strings"
	"testing"
)

// TestMemory: what the largest accepted expressions hold, and what a search in them holds, is what the manual
// says.
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
		m := e.matcher() // not in the pool, where a collection would free it
		m.find(text, func(Match) bool { return true })
		with := held() - before
		runtime.KeepAlive(m)
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

// held is how much memory is in use.
func held() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what a pool held
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
