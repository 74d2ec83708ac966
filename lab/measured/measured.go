// Package measured is for the runs that write the manual: what was measured is in a page between
// two lines, <!-- measured: NAME --> and <!-- end -->, and only a run writes there.
package measured

import (
	"fmt"
	"os"
	"strings"
)

// Part returns what is between the marks of a name in the page, a file. It is an error if
// the page has no such part.
func Part(page, name string) (string, error) {
	_, text, _, err := cut(page, name)
	return text, err
}

// Write puts text, which ends in a newline, between the marks of a name in the page.
func Write(page, name, text string) error {
	before, _, after, err := cut(page, name)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(before+text+after), 0o644)
}

func cut(page, name string) (before, text, after string, err error) {
	all, err := os.ReadFile(page)
	if err != nil {
		return "", "", "", err
	}
	begin, end := "<!-- measured: "+name+" -->\n", "<!-- end -->\n"
	before, rest, begun := strings.Cut(string(all), begin)
	text, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return "", "", "", fmt.Errorf("%s has no part %q: write %sand %sinto it", page, name, begin, end)
	}
	return before + begin, text, end + after, nil
}
