package attributes

import (
	"strings"
	"testing"
)

// FuzzValues: whatever a text is, every reading answers for every path, in time. A pattern matches as a naive second
// implementation has it.
func FuzzValues(f *testing.F) {
	for _, text := range []string{
		"*.tf working-tree-encoding=UTF-16LE\n", "[attr]enc working-tree-encoding=IBM037\n/a/**/z.tf enc\n", `"a\040b" -text !diff` + "\n",
		mark + "* text\x00x\n*.tf builtin_x\n", strings.Repeat("*a", 1500) + "b text\n", "[!a-z[:upper:]]*/** x=y\r\n", "[", `\`, "[[:alpha:]-z] a",
	} {
		f.Add([]byte(text), "a/b/z.tf")
		f.Add([]byte(text), strings.Repeat("a", 200))
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		path = strings.Trim(strings.ReplaceAll(path, "//", "/"), "/")
		if path == "" || strings.Contains(path, "\x00") || len(path) > 300 || len(text) > 8<<10 {
			t.Skip()
		}
		files := Read(text, true)
		if len(files) == 0 || len(files) > 24 {
			t.Fatalf("%d readings", len(files))
		}
		for _, file := range files {
			for _, fold := range []bool{false, true} {
				v := Values([]Frame{{"", file}}, path, fold, Encoding, Filter)
				for _, value := range v {
					if value.State != Text && value.Text != "" || strings.ContainsAny(value.Text, "\n\x00 \t") {
						t.Fatalf("%+v", value)
					}
				}
				for _, l := range file.lines {
					subject := path
					if l.pattern.name {
						subject = path[strings.LastIndexByte(path, '/')+1:]
					}
					steps := 5_000
					naive, ended := l.pattern.naive(l.pattern.tokens, subject, fold, &steps)
					if l.pattern.tokens == nil {
						naive = !l.pattern.never && (subject == l.pattern.literal || fold && strings.EqualFold(subject, l.pattern.literal) && equalFold(subject, l.pattern.literal))
					}
					if got := l.pattern.matches(path, path[strings.LastIndexByte(path, '/')+1:], fold); ended && got != (naive && !l.pattern.never) {
						t.Fatalf("%+v matches %q: %v", l.pattern, subject, got)
					}
				}
			}
		}
	})
}

// naive tries one way after another; false if it would take too many steps.
func (p *pattern) naive(tokens []token, text string, fold bool, steps *int) (matches, ended bool) {
	if *steps--; *steps < 0 {
		return false, false
	}
	if len(tokens) == 0 {
		return text == "", true
	}
	t, rest := tokens[0], tokens[1:]
	switch t.kind {
	case char, one, class:
		if text == "" || !t.takes(text[0], fold) {
			return false, true
		}
		return p.naive(rest, text[1:], fold, steps)
	case dirs:
		if yes, ended := p.naive(rest[1:], text, fold, steps); yes || !ended {
			return yes, ended
		}
		return p.naive(rest, text, fold, steps)
	}
	for i := 0; i <= len(text); i++ {
		if t.kind == dirsEnd && (i == 0 || text[i-1] != '/') {
			continue
		}
		if yes, ended := p.naive(rest, text[i:], fold, steps); yes || !ended {
			return yes, ended
		}
		if t.kind == star && i < len(text) && text[i] == '/' {
			break
		}
	}
	return false, true
}

// TestIsFile: the names under which some disk has an attributes file.
func TestIsFile(t *testing.T) {
	for name, want := range map[string]bool{
		".gitattributes": true, ".GITATTRIBUTES": true, ".gitAttributes": true, ".gitattribute\u017f": true, ".git\u200cattributes": true, "\ufeff.GitAttributes": true,
		"gitattributes": false, ".gitattributes.": false, ".gitattribute": false, "xgitattributes": false, ".gitattributesx": false, ".gitignore_____": false, "": false,
	} {
		if got := IsFile(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestPatternTime: a pattern of many stars takes a time that grows with the product of both lengths.
func TestPatternTime(t *testing.T) {
	p, _ := newPattern(strings.Repeat("*a", 120)+"b", strictStars)
	name := strings.Repeat("a", 250)
	for range 1000 { // by trying one way after another the first would not end
		if p.matches(name, name, true) {
			t.Fatal("it matches")
		}
	}
}

// TestStyles: what versions of git make of two stars next to other characters.
func TestStyles(t *testing.T) {
	for _, c := range []struct{ pattern, path, want string }{ // want has a letter for each style that matches
		{"a**/b", "ab", "lb"},
		{"a**/b", "ax/b", "slb"},
		{"a**/b", "a/b", "slb"},
		{"a**/b", "a/x/b", "lb"},
		{"a?**/b", "ax/b", "sl"},
		{"x/**.tf", "x/a.tf", "sl"},
		{"x/**.tf", "x/a/b.tf", ""},
		{"x/a**", "x/a/b", "lb"},
		{"x/a**", "x/ab", "slb"},
		{"**.tf", "x.tf", "slb"},
		{"**/a/**", "a/b", "slb"},
	} {
		got := ""
		for style, letter := range []string{"s", "l", "b"} {
			p, odd := newPattern(c.pattern, starStyle(style))
			if p.matches(c.path, c.path[strings.LastIndexByte(c.path, '/')+1:], false) {
				got += letter
			}
			if clear := c.pattern == "**.tf" || c.pattern == "**/a/**"; odd == clear {
				t.Errorf("%s: odd is %v", c.pattern, odd)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s matches in the styles %q, want %q", c.pattern, c.path, got, c.want)
		}
	}
}
