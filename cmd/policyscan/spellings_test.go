package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A spelling is a text that a rule finds, passes or refuses.
type spelling struct {
	rule, name, text, want string // want is "", passes, or the code of an error
}

var (
	backquoted = regexp.MustCompile("`[^`]*`")
	lineEnds   = strings.NewReplacer("⏎", "\n", "␍", "\r")
)

// spellings reads a table, of which a line names a format and has texts, and a line that is not indented is what the
// rule of those below it has beside its files.
func spellings(t *testing.T, name string) (all []spelling, rules []string) {
	t.Helper()
	for line := range strings.Lines(readFile(t, name)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			rules = append(rules, line)
		default:
			words := strings.Fields(line[:strings.IndexByte(line, '`')])
			name, want := words[0], strings.Join(words[1:], " ")
			if !strings.Contains(name, "file") {
				name = "f." + name
			}
			for _, text := range backquoted.FindAllString(line, -1) {
				text = lineEnds.Replace(strings.Trim(text, "`"))
				all = append(all, spelling{fmt.Sprintf("S-%d", len(rules)), name, text, want})
			}
		}
	}
	return all, rules
}

// others are further spellings of a text that programs read in the same way.
func (s spelling) others() map[string]string {
	all := map[string]string{"as it is": s.text, "CRLF": strings.ReplaceAll(s.text, "\n", "\r\n")}
	if s.name == "dockerfile" {
		return all
	}
	for encoding, text := range marked(s.text + "\n") {
		all[encoding] = text
	}
	if s.name == "f.yaml" && !strings.Contains(s.text, "\r") {
		all["CR"] = strings.ReplaceAll(s.text, "\n", "\r")
	}
	return all
}

// TestSpellings: whatever form a rule has, no spelling of what it is against passes, in any encoding and with any line
// ends; what only looks like it does.
func TestSpellings(t *testing.T) {
	all, rules := spellings(t, "testdata/spellings.txt")
	t.Chdir(t.TempDir())
	texts := []string{"bundle: \"0.2\"\nrules:\n", "bundle: \"0.2\"\nrules:\n"} // boundaries, invariants
	for i, match := range rules {
		list, item, _ := strings.Cut(match, " ")
		file := 0
		switch list {
		case "required":
			file = 1
			fallthrough
		case "forbidden":
			match = list + "_patterns: [" + item + "]"
		}
		texts[file] += fmt.Sprintf("  - {id: S-%d, title: t, match: {files: [/S-%[1]d/**], %s}}\n", i+1, match)
	}
	writeFile(t, "policy/rules/boundaries.yml", texts[0])
	writeFile(t, "policy/rules/invariants.yml", texts[1])
	type file struct {
		spelling
		as string
	}
	files := map[string]file{}
	for i, s := range all {
		for as, text := range s.others() {
			if s.want != "" && s.want != "passes" && as != "as it is" {
				continue
			}
			name := fmt.Sprintf("%s/%d/%s/%s", s.rule, i, strings.ReplaceAll(as, " ", "-"), s.name)
			writeFile(t, "tree/"+name, text)
			files[name] = file{s, as}
		}
	}
	v := scanned(t, "", exitViolation, "--policy", "policy", "tree")
	got := map[string]string{}
	for i := range v.Violations {
		got[string(v.Violations[i].File)] = "found"
	}
	for _, e := range v.Errors {
		got[string(e.File)] += e.Code
	}
	for name, f := range files {
		want := map[string]string{"": "found", "passes": ""}
		w, ok := want[f.want]
		if !ok {
			w = f.want
		}
		if got[name] != w {
			t.Errorf("%s: %s %q (%s): %q, want %q", f.rule, f.name, f.text, f.as, got[name], w)
		}
	}
	t.Logf("%d rules, %d spellings, %d files", len(rules), len(all), len(files))
}
