package call

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLines: empty lines are counted but not returned, the last line needs no end, and what cannot be read is said.
func TestLines(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		in   io.Reader
		want string
	}{
		{strings.NewReader(""), ""},
		{strings.NewReader("\n \r\n"), ""},
		{strings.NewReader("{}\r\n\n\t[1] \nx"), "1:{} 3:[1] 4:x"},
		{io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)), "1:a broken"},
		{
			io.MultiReader(strings.NewReader("a\n"), bytes.NewReader(make([]byte, MaxLine+1))),
			"1:a line 2 has over 67108864 bytes",
		},
	} {
		var got []string
		for line := range Lines(c.in) {
			text := string(rune('0'+line.Number)) + ":" + string(line.Text)
			if line.Err != nil {
				text = line.Err.Error()
			}
			got = append(got, text)
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("got %q, want %q", all, c.want)
		}
	}
	for line := range Lines(strings.NewReader("a\nb\n")) {
		if string(line.Text) != "a" {
			t.Errorf("%q is read after the reader has stopped", line.Text)
		}
		break
	}
}
