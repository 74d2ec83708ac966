package corpora

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A meaning is what lines of Terraform can mean, and the patterns that look for it.
type meaning struct {
	name     string // as the page has it
	key      string // an argument's name, or with a star before it its end
	values   []string
	literals []string // of a bundle of 0.1
	spaces   []string // one text with spaces
	all      []string // the items of a bundle of 0.2, as YAML has them
}

func meanings() []meaning {
	return []meaning{
		{
			name: "`encrypted = false`", key: "*encrypted", values: []string{"false", "0"},
			literals: []string{`'encrypted = false'`},
			spaces:   []string{`{text: 'encrypted = false', spaces: any}`},
			all: []string{
				`{text: 'encrypted = false', spaces: any, case: ignore}`,
				`{text: 'encrypted = "false"', spaces: any, case: ignore}`,
				`{text: 'encrypted = "0"', spaces: any}`,
			},
		},
		{
			name: "`publicly_accessible = true`", key: "publicly_accessible", values: []string{"true", "1"},
			literals: []string{`'publicly_accessible = true'`},
			spaces:   []string{`{text: 'publicly_accessible = true', spaces: any}`},
			all: []string{
				`{text: 'publicly_accessible = true', spaces: any, case: ignore}`,
				`{text: 'publicly_accessible = "true"', spaces: any, case: ignore}`,
				`{text: 'publicly_accessible = "1"', spaces: any}`,
			},
		},
		{
			name: "`acl = \"public-read\"`", key: "acl", values: []string{"public-read"},
			literals: []string{`'acl = "public-read"'`},
			spaces:   []string{`{text: 'acl = "public-read"', spaces: any, words: true}`},
			all:      []string{`{text: 'acl = "public-read"', spaces: any, words: true}`},
		},
	}
}

// means reports whether a line without its comment says one of the values of the key, whatever its letter case and
// quotes: what is before the first = is the key, and what is behind it the value.
func (m meaning) means(code string) bool {
	key, value, ok := strings.Cut(code, "=")
	key = strings.TrimSpace(key)
	end, star := strings.CutPrefix(m.key, "*")
	if !ok || star && !strings.HasSuffix(key, end) || !star && key != m.key {
		return false
	}
	value = strings.Trim(strings.TrimSpace(value), `"`)
	for _, wanted := range m.values {
		if strings.EqualFold(value, wanted) {
			return true
		}
	}
	return false
}

// withoutComments are the lines of a file of Terraform without #, // and /* */. It knows quotes, and no heredocs.
func withoutComments(content string) (lines []string) {
	inside := false // a comment that goes on
	for line := range strings.SplitSeq(content, "\n") {
		var code strings.Builder
		quoted := false
		for i := 0; i < len(line); i++ {
			rest := line[i:]
			switch {
			case inside:
				if strings.HasPrefix(rest, "*/") {
					inside = false
					i++
				}
				continue
			case quoted && rest[0] == '\\' && len(rest) > 1:
				code.WriteByte(rest[0])
				i++
			case rest[0] == '"':
				quoted = !quoted
			case quoted:
			case strings.HasPrefix(rest, "/*"):
				inside = true
				i++
				continue
			}
			if !quoted && (rest[0] == '#' || strings.HasPrefix(rest, "//")) {
				break
			}
			code.WriteByte(line[i])
		}
		lines = append(lines, code.String())
	}
	return lines
}

func TestWithoutComments(t *testing.T) {
	const content = "a = 1 # x\nb = \"#\" // y\n/* c = 1\nd = 2 */ e = 3\nf = \"\\\"/*\" /* */ g\r"
	want := []string{"a = 1 ", "b = \"#\" ", "", " e = 3", "f = \"\\\"/*\"  g\r"}
	if got := withoutComments(content); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%q, want %q", got, want)
	}
	for code, want := range map[string]bool{
		" storage_encrypted\t= False ": true, `encrypted="0"`: true, "encrypted = true": false, "encrypted": false,
		"encrypted_x = false": false, "encrypted = falsely": false,
	} {
		if meanings()[0].means(code) != want {
			t.Errorf("%q: %v", code, !want)
		}
	}
}

var mentions = regexp.MustCompile(`(?i)encrypted|publicly_accessible|acl`)

// A fixture is a line of Terraform that has a key's name, whatever it says of it.
type fixture struct{ text, code string }

// TestCheckov counts the lines of Checkov's Terraform files that mean something, and what of them patterns find.
func TestCheckov(t *testing.T) {
	if *checkov == "" {
		t.Skip("it needs a clone of bridgecrewio/checkov: see make checkov")
	}
	head := strings.TrimSpace(git(t, *checkov, "", "rev-parse", "HEAD"))
	files := map[string]string{}
	for entry := range strings.SplitSeq(git(t, *checkov, "", "ls-tree", "-r", "-z", "HEAD"), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); strings.HasSuffix(name, ".tf") && fields[1] == "blob" {
			files[fmt.Sprintf("%d.tf", len(files))] = git(t, *checkov, "", "cat-file", "blob", fields[2])
		}
	}
	whole, single := t.TempDir(), t.TempDir()
	writeFiles(t, whole, files)
	var fixtures []fixture
	for _, content := range files {
		code := withoutComments(content)
		for i, text := range strings.Split(content, "\n") {
			if mentions.MatchString(text) {
				writeFiles(t, single, map[string]string{fmt.Sprintf("%d.tf", len(fixtures)): text + "\n"})
				fixtures = append(fixtures, fixture{text, code[i]})
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Checkov %s, %d files `*.tf`:\n\n", head, len(files))
	b.WriteString("| what is meant | lines | the literal | `spaces: any` | and quotes, `case: ignore` | ")
	b.WriteString("in a comment |\n|---|---|---|---|---|---|\n")
	for _, m := range meanings() {
		wanted := 0
		for _, f := range fixtures {
			if m.means(f.code) {
				wanted++
			}
		}
		var counts [3]int
		comments := 0 // lines that the last items find, and that are one
		for i, items := range [][]string{m.literals, m.spaces, m.all} {
			found := map[int]bool{}
			for _, v := range scan(t, single, rule(i > 0, items)).Violations {
				n, err := strconv.Atoi(strings.TrimSuffix(v.File, ".tf"))
				if err != nil {
					t.Fatal(err)
				}
				found[n] = true
			}
			other := 0
			for n, f := range fixtures {
				switch {
				case found[n] && m.means(f.code):
					counts[i]++
				case found[n] && strings.TrimSpace(f.code) != "":
					t.Errorf("%s: found in %q, which says something else", m.name, f.text)
				case found[n]:
					other++
				case i == 2 && m.means(f.code):
					t.Errorf("%s: not found in %q", m.name, f.text)
				}
			}
			comments = other
			// The same lines where they are: in files with all the others.
			occurrences := 0
			for _, v := range scan(t, whole, rule(i > 0, items)).Violations {
				occurrences += int(v.Evidence.Occurrences)
			}
			if occurrences != counts[i]+other {
				t.Errorf("%s: %d occurrences in the files, %d in their lines", items, occurrences, counts[i]+other)
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", m.name, wanted, counts[0], counts[1], counts[2], comments)
	}
	writePart(t, "checkov", b.String())
}

// rule is a bundle of one rule, of 0.2 or 0.1, with these items.
func rule(second bool, items []string) string {
	head := ""
	if second {
		head = "bundle: \"0.2\"\n"
	}
	return head + `rules:
  - id: TF-001
    title: t
    enforcement: {mode: fail}
    match:
      files: ["**"]
      forbidden_patterns:
        - ` + strings.Join(items, "\n        - ") + "\n"
}
