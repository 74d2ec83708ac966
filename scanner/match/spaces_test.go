package match

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
)

// TestWindowEndsWithText: what is next to a text counts, also where a window ends with the text.
func TestWindowEndsWithText(t *testing.T) {
	texts := []asked{{"ab b", Options{Spaces: true, Words: true}}, {"ab b", words}, {"a b", all}}
	for enc := range encodings {
		for before := range often(12) {
			content := enc.encode(strings.Repeat(".", before) + strings.Repeat("ab bab b.", 20))
			for window := range 24 {
				compare(t, texts, content, 4*window)
			}
		}
	}
}

// TestLongRun: in a content of several windows a text has runs of spaces up to a bound, in each encoding and wherever
// the windows end; one that is longer, next to a part of the text, is an error.
func TestLongRun(t *testing.T) {
	e := NewEngine([]*Pattern{Compile("key = b", Options{Spaces: true, Words: true})})
	for enc := range encodings {
		most := allRuns / 2 / enc.unit()
		for _, run := range []int{most, most + 1} {
			for before := range often(8) {
				text := strings.Repeat("x\n", before*16<<10) + "key" + strings.Repeat("\t", run) + "= b"
				content := enc.encode(text + "\n" + strings.Repeat("x\n", 200<<10))
				x := Examiner{}
				rep, err := x.Examine(context.Background(), e, bytes.NewReader(content))
				if run > most {
					if !errors.Is(err, ErrSpaces) {
						t.Errorf("%v, %d spaces: %v, %v", enc, run, rep.Finds, err)
					}
					continue
				}
				at := int64(enc.unit() * before * 32 << 10)
				if err != nil || len(rep.Finds) != 1 || rep.Finds[0].Evidence.Offset != at ||
					rep.Finds[0].Evidence.Occurrences != 1 {
					t.Errorf("%v, %d spaces, from %d: %v, %v", enc, run, at, rep.Finds, err)
				}
			}
		}
	}
}

// TestManyBeginnings: content in which a text begins at each place, and never ends, takes a time that grows with it.
func TestManyBeginnings(t *testing.T) {
	for _, c := range []struct {
		text  string
		o     Options
		again string
	}{
		{"a = = = b", spaces, "= "}, {"a = = = b", spaces, "a = = = "},
		{"a = b", spaces, "a "}, {"= = = = x", spaces, "=\t"},
		{"a b c d e f", spaces, "a b c d e "}, {"a\n b\n c", spaces, "a\n b\n "}, {"= = = = = = = = =a", spaces, "= "},
		{"a = b", all, "A\t\t"}, {"aab", Options{Words: true, IgnoreCase: true}, "aA"}, {"aa ", words, "a"},
	} {
		text := []asked{{c.text, c.o}}
		var took [2]time.Duration
		for i := range took {
			content := []byte(strings.Repeat(c.again, (1+15*i)*often(1<<20)/len(c.again)) + "." + c.text)
			took[i] = cputime.Of(func() {
				if f := examine(t, text, content, 0)[0]; f == nil || f.Evidence.Occurrences != 1 {
					t.Errorf("%q after many of %q: %+v", c.text, c.again, f)
				}
			})
		}
		// 16 times the content; a time that grows with its square would be 256 times as long.
		t.Logf("%q, %q: %v, %v", c.text, c.again, took[0], took[1])
		if took[1] > 64*took[0]+300*time.Millisecond && !cputime.RaceDetector {
			t.Errorf("%q after many of %q: %v of processor time, for 16 times as many %v",
				c.text, c.again, took[0], took[1])
		}
	}
}
