package match

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
)

// A repeated is a content: a text again and again up to a size, and an end.
type repeated struct {
	text string
	size int64
	end  string
	at   int64
	read int64 // bytes
}

func (r *repeated) Seek(offset int64, _ int) (int64, error) {
	r.at = offset
	return offset, nil
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) && r.at < r.size {
		k := copy(p[n:], r.text[r.at%int64(len(r.text)):])
		k = int(min(int64(k), r.size-r.at))
		n, r.at = n+k, r.at+int64(k)
	}
	if past := r.at - r.size; n < len(p) && past >= 0 && past < int64(len(r.end)) {
		k := copy(p[n:], r.end[past:])
		n, r.at = n+k, r.at+int64(k)
	}
	r.read += int64(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func engineOf(texts ...string) *Engine {
	var patterns []*Pattern
	for _, text := range texts {
		patterns = append(patterns, Compile(text, Options{}))
	}
	return NewEngine(patterns)
}

// TestFault_158_Evidence: however many finds a content has, and whatever is before them, the evidence is read in a few
// passes.
func TestFault_158_Evidence(t *testing.T) {
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprintf("pattern%03d!", i))
	}
	all := strings.Join(many, " ")
	wide := func(text string) string { return string(utf16LE.encode(text)) }
	for _, c := range []struct {
		name, text string
		size       int64
		patterns   []string
		end        string
		passes     int64 // over the content, after the first
	}{
		{"a line of spaces", " ", 5 << 20, many, all, 3},
		{"a line of spaces in UTF-16", " \x00", 5 << 20, many, wide(all), 3},
		{"a line of tabs and spaces", "\t ", 5 << 20, many, all, 3},
		{"a line each", " ", 2 << 20, many, "\n" + strings.ReplaceAll(all, " ", "\n"), 2},
		{"LF", "\n", 16 << 20, many[:1], many[0], 2},
		{"CRLF", "\r\n", 16 << 20, many[:1], many[0], 2},
		{"CR", "\r", 16 << 20, many[:1], many[0], 2},
		{"LF in UTF-16", "\n\x00", 16 << 20, many[:1], wide(many[0]), 2},
		{"a hole", strings.Repeat("\x00", 4096), 64 << 20, many[:1], many[0], 2},
		{"a hole before UTF-16", strings.Repeat("\x00", 4096), 64 << 20, many[:1], wide(many[0]), 2},
		{"a long line", "abcdefgh,", 16 << 20, many[:1], many[0], 2},
	} {
		text := strings.Repeat(c.text, 64<<10/len(c.text))
		e := engineOf(c.patterns...)
		examine := func(end string) (rep Report, content *repeated, took time.Duration) {
			content = &repeated{text: text, size: c.size, end: end}
			took = cputime.Of(func() {
				var err error
				if rep, err = (&Examiner{}).Examine(context.Background(), e, content); err != nil {
					t.Fatal(err)
				}
			})
			return rep, content, took
		}
		none, plain, without := examine(strings.Repeat("x", len(c.end)))
		rep, content, with := examine(c.end)
		if len(none.Finds) != 0 || len(rep.Finds) != len(c.patterns) {
			t.Fatalf("%s: %d and %d finds", c.name, len(none.Finds), len(rep.Finds))
		}
		t.Logf("%s: %v, without finds %v; read %d and %d bytes", c.name, with, without, content.read, plain.read)
		if most := (1+c.passes)*plain.read + 4<<20; content.read > most {
			t.Errorf("%s: %d bytes were read, without finds %d", c.name, content.read, plain.read)
		}
		// Ten times the measured time, for busy machines. It was 100 times and more.
		if with > 10*without+300*time.Millisecond && !cputime.RaceDetector {
			t.Errorf("%s: %v of processor time, without finds %v", c.name, with, without)
		}
	}
}

// TestFault_158_SameEvidence compares the places and line hashes of finds far into a content, of which only the end is
// read, with those in one window.
func TestFault_158_SameEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(158, 1))
	pieces := []string{"a", "b\n", "\n", "\r\n", "\r", " ", "\t", "é", "\U0001f600", "0.0.0.0/0", "key", "  \n",
		"long line, long line, ", "\ufeff"}
	for range often(100) {
		var b strings.Builder
		for b.Len() < 200+r.IntN(60_000) {
			b.WriteString(strings.Repeat(pieces[r.IntN(len(pieces))], 1+r.IntN(1+r.IntN(300))))
		}
		text := b.String() + "0.0.0.0/0 key\nkey"
		for enc := range encodings {
			content := string(enc.encode(text))
			e := engineOf("0.0.0.0/0", "key", "0/0 key", "a\nb")
			want := reportOf(t, e, []byte(content), 0).Finds
			for i, f := range reportOf(t, e, []byte(content), 1<<10).Finds {
				if all := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(f.Evidence.Pattern), "\n",
					"\r?\n")).FindAllStringIndex(content, -1); enc == utf8Enc &&
					(int64(all[0][0]) != f.Evidence.Offset || int64(len(all)) != f.Evidence.Occurrences) {
					t.Fatalf("%q: %+v; want %d from %d on", text[:min(len(text), 500)], f.Evidence, len(all),
						all[0][0])
				}
				if !reflect.DeepEqual(f.Evidence, want[i].Evidence) {
					t.Fatalf("%v, %q:\n%+v\n%+v", enc, text[:min(len(text), 500)], f.Evidence, want[i].Evidence)
				}
			}
		}
	}
}
