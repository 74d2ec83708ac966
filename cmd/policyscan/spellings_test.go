package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A spelling is a text of a table.
type spelling struct {
	group, name, text string // the line above it that is not indented, and the file's name
	want              string // the word before it; "" of a text that must be found
}

// spellings reads a table: groups, and the lines of their texts, each with a format.
func spellings(t *testing.T, name string) (all []spelling) {
	t.Helper()
	group := ""
	for line := range strings.Lines(readFile(t, name)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			group = line
			all = append(all, spelling{group: group})
		default:
			format, want, _ := strings.Cut(strings.TrimSpace(line[:strings.IndexByte(line, '`')]), " ")
			if format != "dockerfile" {
				format = "f." + format
			}
			for _, text := range regexp.MustCompile("`[^`]*`").FindAllString(line, -1) {
				text = strings.NewReplacer("`", "", "⏎", "\n", "␍", "\r").Replace(text)
				all = append(all, spelling{group, format, text, want})
			}
		}
	}
	return all
}

// others are the text as it is, and as programs read it in the same way.
func (s spelling) others() map[string]string {
	all := map[string]string{"": s.text, "CRLF": strings.ReplaceAll(s.text, "\n", "\r\n")}
	if s.name == "dockerfile" || s.want != "" && s.want != "passes" {
		return all
	}
	for encoding, text := range marked(s.text + "\n") {
		all[strings.ReplaceAll(encoding, " ", "-")] = text
	}
	if s.want == "" && strings.HasSuffix(s.name, "json") { // some read it
		all["no-mark"] = all["utf-16be"][2:]
	}
	if s.name == "f.yaml" && !strings.Contains(s.text, "\r") {
		all["CR"] = strings.ReplaceAll(s.text, "\n", "\r")
	}
	return all
}

// A spelledBundle has a rule for each directory of a tree.
type spelledBundle struct{ boundaries, invariants string }

// add adds a rule, by its match without the files.
func (b *spelledBundle) add(dir, match string) {
	text := &b.boundaries
	if strings.Contains(match, "required_patterns") {
		text = &b.invariants
	}
	const rule = "  - {id: R-%d, title: t, match: {files: ['/%s/**'], %s}}\n"
	*text += fmt.Sprintf(rule, len(b.boundaries)+len(b.invariants), dir, match)
}

// scan returns what is said of each file of the tree: the number of its violations, and the codes of its errors.
func (b *spelledBundle) scan(t *testing.T) map[string]string {
	t.Helper()
	const head = "bundle: \"0.2\"\nrules:\n"
	writeFile(t, "policy/rules/boundaries.yml", head+b.boundaries)
	writeFile(t, "policy/rules/invariants.yml", head+b.invariants)
	v := scanned(t, "", exitViolation, "--policy", "policy", "tree")
	found, said := map[string]int{}, map[string]string{}
	for i := range v.Violations {
		name := string(v.Violations[i].File)
		found[name]++
		said[name] = fmt.Sprint(found[name])
	}
	for _, e := range v.Errors {
		said[string(e.File)] += e.Code
	}
	return said
}

// TestFault_188_Spellings: whatever form a rule has, nothing that it is against passes, in any spelling, encoding and with any
// line ends; what only looks like it does.
func TestFault_188_Spellings(t *testing.T) {
	all, b, wants := spellings(t, "testdata/spellings.txt"), &spelledBundle{}, map[string]string{}
	t.Chdir(t.TempDir())
	dir := ""
	for i, s := range all {
		if s.text == "" && s.name == "" { // a group
			dir = fmt.Sprint(i)
			match := s.group
			if list, item, _ := strings.Cut(match, " "); list == "forbidden" || list == "required" {
				match = list + "_patterns: [" + item + "]"
			}
			b.add(dir, match)
			continue
		}
		others := s.others()
		for k, as := range slices.Sorted(maps.Keys(others)) {
			if as != "" && k%5 != i%5 && !*long {
				continue
			}
			text := others[as]
			name := fmt.Sprintf("%s/%d%s/%s", dir, i, as, s.name)
			writeFile(t, "tree/"+name, text)
			wants[name] = map[string]string{"": "1", "passes": "", "E_PARSE": "E_PARSE"}[s.want]
			if as == "no-mark" {
				wants[name] = "E_PARSE"
			}
		}
	}
	said := b.scan(t)
	for name, want := range wants {
		if got := said[name]; got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%s: %q: %q, want %q", name, readFile(t, "tree/"+name), got, want)
		}
	}
}

// values writes the words NO and YES of a text as values of its format; false if it has none for null.
func (s spelling) values(no, yes string) (string, bool) {
	text := s.text
	for word, value := range map[string]string{"NO": no, "YES": yes} {
		if !strings.Contains(text, word) {
			continue
		}
		switch {
		case s.name == "f.yaml" || s.name == "dockerfile" && value != "~" || value[0] <= '9':
		case value != "~":
			value = fmt.Sprintf("%q", value)
		case strings.Contains(s.name, "tf") || s.name == "f.json":
			value = "null"
		default:
			return "", false
		}
		text = strings.ReplaceAll(text, word, value)
	}
	return text, true
}

// TestFault_189_Uncertain: a value that could be anything meets each condition, of if with both kinds of pattern and of where; a
// certain one for which the condition does not hold does not.
func TestFault_189_Uncertain(t *testing.T) {
	all := spellings(t, "testdata/uncertain.txt")
	t.Chdir(t.TempDir())
	b, wants := &spelledBundle{}, map[string]string{}
	var conditions [][]string // a condition, a value for which it does not hold, and one for which it does
	var object, path string
	for i, s := range all {
		words := strings.Fields(s.group)
		if words[0] != "path" {
			conditions = append(conditions, []string{words[0] + ": " + words[1], words[3], words[5]})
			continue
		}
		isPath := s.name == ""
		if isPath {
			object, path = words[1], words[2]
		}
		for _, c := range conditions {
			dir := strings.NewReplacer(": ", "-", "^", "", "$", "").Replace(object + "." + path + "/" + c[0])
			if isPath {
				b.add(dir, fmt.Sprintf("forbidden_patterns: [{key: %s.u, if: {%s: {%s}}}]", object, path, c[0]))
				b.add(dir, fmt.Sprintf("forbidden_patterns: [{key: %s.u, where: {%[1]s.%s: {%s}}}]", object, path, c[0]))
				b.add(dir, fmt.Sprintf("required_patterns: [{each: %s, key: e, if: {%s: {%s}}}]", object, path, c[0]))
				continue
			}
			if text, ok := s.values(c[1], c[2]); ok {
				name := fmt.Sprintf("%s/%d/%s", dir, i, s.name)
				writeFile(t, "tree/"+name, text)
				wants[name] = map[string]string{"": "3", "certain": ""}[s.want]
			}
		}
	}
	for name, got := range b.scan(t) {
		if _, ok := wants[name]; !ok {
			t.Errorf("%s: %q", name, got)
		}
		if got != wants[name] {
			t.Errorf("%s: %q: %s of 3 rules, want %q", name, readFile(t, "tree/"+name), got, wants[name])
		}
		delete(wants, name)
	}
	for name, want := range wants {
		if want != "" {
			t.Errorf("%s: %q passes", name, readFile(t, "tree/"+name))
		}
	}
}
