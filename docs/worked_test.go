package docs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
)

// The code down to TestManualIsEnough follows verdict.md and rules.md, and shares no code with the program.

// writtenPath implements "Paths".
func writtenPath(raw string) string {
	out := ""
	for len(raw) > 0 {
		r, n := utf8.DecodeRuneInString(raw)
		switch {
		case r == utf8.RuneError && n == 1:
			out += fmt.Sprintf(`\x%02x`, raw[0])
		case r == '\\':
			out += `\\`
		default:
			out += raw[:n]
		}
		raw = raw[n:]
	}
	return out
}

// hashed implements "Fingerprint".
func hashed(id, path, pattern, line string) string {
	all := ""
	for _, text := range []string{id, path, pattern, line} {
		all += strconv.Itoa(len(text)) + ":" + text
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(all)))
}

// unitSize is 1, 2 or 4 bytes.
func unitSize(encoding string) int {
	switch {
	case strings.HasPrefix(encoding, "utf-16"):
		return 2
	case strings.HasPrefix(encoding, "utf-32"):
		return 4
	}
	return 1
}

// unitAt returns the first code unit of b.
func unitAt(b, encoding string) uint32 {
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasSuffix(encoding, "be") {
		order = binary.BigEndian
	}
	switch unitSize(encoding) {
	case 2:
		return uint32(order.Uint16([]byte(b[:2])))
	case 4:
		return order.Uint32([]byte(b[:4]))
	}
	return uint32(b[0])
}

// lineOf implements item 4 of "Fingerprint".
func lineOf(content, encoding string, offset int) string {
	size := unitSize(encoding)
	start := offset
	for start-size >= 0 {
		if u := unitAt(content[start-size:], encoding); u == '\r' || u == '\n' {
			break
		}
		start -= size
	}
	if start < size { // the first line, with the bytes before its first whole unit
		start = 0
	}
	end := offset
	for end+size <= len(content) {
		if u := unitAt(content[end:], encoding); u == '\r' || u == '\n' {
			break
		}
		end += size
	}
	if end+size > len(content) {
		end = len(content)
	}
	return content[max(start, offset-2048):min(end, offset+2048)]
}

// characters implements item 1 of "Line hash".
func characters(content, encoding string, offset int) []rune {
	size := unitSize(encoding)
	content = content[offset%size:]
	var out []rune
	for len(content) > 0 {
		if size > 1 {
			if len(content) < size {
				return append(out, utf8.RuneError)
			}
			u := unitAt(content, encoding)
			if size == 4 && !utf8.ValidRune(rune(u)) {
				u = utf8.RuneError
			}
			out = append(out, rune(u))
			content = content[size:]
			continue
		}
		r, n := utf8.DecodeRuneInString(content)
		if r == utf8.RuneError && n == 1 {
			n = maximalPart(content)
		}
		out = append(out, r)
		content = content[n:]
	}
	return out
}

// maximalPart returns the number of bytes of an invalid sequence that count as one: the longest beginning of a
// character, by the table of the Encoding Standard, or one.
func maximalPart(s string) int {
	b, low, high, need := s[0], byte(0x80), byte(0xbf), 0
	switch {
	case b >= 0xc2 && b <= 0xdf:
		need = 1
	case b >= 0xe0 && b <= 0xef:
		need = 2
	case b >= 0xf0 && b <= 0xf4:
		need = 3
	}
	switch b {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	n := 1
	for n < len(s) && n <= need && low <= s[n] && s[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

// lineHash implements "Line hash"; line is 1-based.
func lineHash(text []rune, line int) string {
	var units []uint16
	for i, r := range text {
		switch {
		case r == ' ' || r == '\t':
		case r == '\r' && i+1 < len(text) && text[i+1] == '\n': // the LF follows
		case r == '\r':
			units = append(units, '\n')
		case r > 0xffff:
			units = append(units, utf16.Encode([]rune{r})...)
		default:
			units = append(units, uint16(r)) // a lone surrogate of UTF-16 is a unit
		}
	}
	units = append(units, 0xffff)
	var hashes []uint64
	for i := range units {
		if i > 0 && units[i-1] != '\n' {
			continue
		}
		h := uint64(0)
		for k := i; k < i+100; k++ {
			u := uint64(0)
			if k < len(units) {
				u = uint64(units[k])
			}
			h = h*37 + u
		}
		hashes = append(hashes, h)
	}
	if line > len(hashes) {
		return "no such line"
	}
	count := 0
	for _, h := range hashes[:line] {
		if h == hashes[line-1] {
			count++
		}
	}
	return fmt.Sprintf("%x:%d", hashes[line-1], count)
}

// identity implements "Identity" of rules.md.
func identity(dir string) string {
	all := ""
	for _, name := range []string{"rules/boundaries.yml", "rules/deprecated.yml", "rules/invariants.yml"} {
		if text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			all += name + "\n" + strings.ReplaceAll(string(text), "\r\n", "\n") + "\n"
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(all)))
}

// canonical implements "Canonical JSON" for one string.
func canonical(text string) string {
	out := `"`
	for i, r := range text {
		short := strings.IndexRune("\"\\\b\f\n\r\t", r)
		switch {
		case short >= 0:
			out += `\` + string(`"\bfnrt`[short])
		case r == '#' && i > 0 && text[i-1] == '#' && strings.HasPrefix(text[i:], "#["):
			out += `\u0023`
		case !(unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S) || r == ' '),
			unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point), r == 0x2800:
			for _, u := range utf16.Encode([]rune{r}) {
				out += fmt.Sprintf(`\u%04x`, u)
			}
		default:
			out += string(r)
		}
	}
	return out + `"`
}

// hostile makes files that are hard to get right, and a bundle for them.
func hostile(t *testing.T) (dir string, files map[string]string) {
	t.Helper()
	wide := func(text, encoding string) string {
		var out []byte
		for _, u := range utf16.Encode([]rune(text)) {
			switch encoding {
			case "utf-16le":
				out = binary.LittleEndian.AppendUint16(out, u)
			case "utf-16be":
				out = binary.BigEndian.AppendUint16(out, u)
			case "utf-32le":
				out = binary.LittleEndian.AppendUint32(out, uint32(u))
			}
		}
		return string(out)
	}
	long := strings.Repeat("x ", 3000)
	files = map[string]string{
		"plain.tf":      "# a\n\tcidr = [\"0.0.0.0/0\"]\nb\n",
		"last":          "a\r\nb\rc 0.0.0.0/0",
		"long":          "\n" + long + "0.0.0.0/0" + long + "\nx\n",
		"twice":         "x\n\nx 0.0.0.0/0\nx 0.0.0.0/0\n",
		"same/hash":     strings.Repeat("0.0.0.0/0\n", 200),
		"mark":          "\ufeff0.0.0.0/0 \U0001f600 é\n",
		"no\\text":      "\xff\xe2\x28\xf0\x9f\x98 0.0.0.0/0 \xed\xa0\x80\xf0\x9f\n\xc3",
		"sixteen":       wide("\ufeffa\r\n b 0.0.0.0/0 \U0001f600\n c", "utf-16le"),
		"sixteen be":    wide("a\rb 0.0.0.0/0\n c", "utf-16be"),
		"odd":           "z" + wide("a\nb 0.0.0.0/0\nc", "utf-16le") + "z",
		"odd first":     "z" + wide("\u01010.0.0.0/0 y", "utf-16le"),
		"thirty-two":    "zz" + wide("a\nb 0.0.0.0/0\nc", "utf-32le") + "zzz",
		"a##[x]::y":     "::error::0.0.0.0/0 ##[group] ###[",
		"b\u202e\u200b": "\x00\x1b[2J\u202e\u2066\u2800\ufe0f\u3164\ue000\U000e0041\u0085\u2028 0.0.0.0/0 <&>\x7f",
		"secret":        "key = \"AKIA\u00e9SECRET\" \tx\n",
	}
	if runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		files["bytes\xff\\\n"] = "0.0.0.0/0"
	}
	if runtime.GOOS == "windows" {
		for _, name := range []string{"no\\text", "a##[x]::y", "b\u202e\u200b"} {
			delete(files, name)
		}
	}
	dir = t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write("tree/"+name, text)
	}
	write("rules/boundaries.yml", "rules:\r\n  - {id: NET-é, title: 'T \"##[x\"', enforcement: {mode: fail},\r\n"+
		"    match: {files: ['**'], forbidden_patterns: [0.0.0.0/0, \"0\\r\\n\"]}}\r\n")
	write("rules/invariants.yml", "rules:\n  - {id: KEY, title: t, redact: true, enforcement: {mode: fail},\n"+
		"    match: {files: ['**'], required_absent: [AKIA, AKIAé]}}\n")
	return dir, files
}

// TestManualIsEnough: the manual is enough to compute the contents of a verdict.
func TestManualIsEnough(t *testing.T) {
	dir, files := hostile(t)
	cmd := exec.Command(program, "scan", "--policy", dir, "--quiet", "--output", "-", filepath.Join(dir, "tree"))
	cmd.Env = environment(dir)
	text, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	var v struct {
		Policy []struct {
			SHA256 string `json:"sha256"`
		} `json:"policy"`
		Violations []struct {
			RuleID   string `json:"rule_id"`
			File     string `json:"file"`
			Evidence struct {
				Pattern  string `json:"pattern"`
				Excerpt  string `json:"excerpt"`
				Offset   int    `json:"offset"`
				Line     int    `json:"line"`
				Encoding string `json:"encoding"`
				LineHash string `json:"line_hash"`
			} `json:"evidence"`
			Fingerprint string `json:"fingerprint"`
		} `json:"violations"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if got, want := v.Policy[0].SHA256, identity(dir); got != want {
		t.Errorf("the bundle's sha256 is %s; by the manual it is %s", got, want)
	}
	byPath := map[string]string{}
	for name, content := range files {
		byPath[writtenPath(name)] = content
	}
	seen, encodings, redacted := map[string]bool{}, map[string]bool{}, 0
	for _, x := range v.Violations {
		content, ok := byPath[x.File]
		if !ok {
			t.Errorf("%q is no path as the manual writes it", x.File)
			continue
		}
		e := x.Evidence
		seen[x.File], encodings[e.Encoding] = true, true
		line, hash := lineOf(content, e.Encoding, e.Offset), lineHash(characters(content, e.Encoding, e.Offset), e.Line)
		if x.RuleID == "KEY" {
			line, hash = e.Excerpt, ""
			redacted++
			want := map[string]string{"AKIA": "••• • •AKIA•••••••• \t•", "AKIAé": "••• • •AKIAé••••••• \t•"}[e.Pattern]
			if e.Excerpt != want {
				t.Errorf("the masked excerpt is %q; by the manual it is %q", e.Excerpt, want)
			}
		}
		if e.LineHash != hash {
			t.Errorf("%q, %q: the line hash is %s; by the manual it is %s", x.File, e.Pattern, e.LineHash, hash)
		}
		if want := hashed(x.RuleID, x.File, e.Pattern, line); x.Fingerprint != want {
			t.Errorf("%q, %q: the fingerprint is %s; by the manual it is %s", x.File, e.Pattern, x.Fingerprint, want)
		}
	}
	if len(seen) != len(files) || len(encodings) != 4 || redacted != 2 {
		t.Errorf("seen: %d of %d files, %v, %d redacted", len(seen), len(files), encodings, redacted)
	}
	checkCanonical(t, text)
}

// checkCanonical checks each line of a verdict against "Canonical JSON".
func checkCanonical(t *testing.T, text []byte) {
	t.Helper()
	if !strings.HasSuffix(string(text), "}\n") || strings.HasSuffix(string(text), "\n\n") {
		t.Error("a verdict ends in one line feed")
	}
	texts := 0
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		rest := strings.TrimLeft(line, " ")
		if (len(line)-len(rest))%2 != 0 {
			t.Errorf("line %d: the indentation is %q", i+1, line[:len(line)-len(rest)])
		}
		for rest = strings.TrimSuffix(rest, ","); rest != ""; {
			if rest[0] == '"' {
				var s string
				dec := json.NewDecoder(strings.NewReader(rest))
				if err := dec.Decode(&s); err != nil {
					t.Fatalf("line %d: %v: %s", i+1, err, line)
				}
				written := rest[:dec.InputOffset()]
				if want := canonical(s); written != want {
					t.Errorf("line %d: written %s; by the manual %s", i+1, written, want)
				}
				texts++
				rest = rest[dec.InputOffset():]
				if after, ok := strings.CutPrefix(rest, ": "); ok && after != "" {
					rest = after
				} else if rest != "" {
					t.Fatalf("line %d: %q after a text", i+1, rest)
				}
				continue
			}
			if _, err := strconv.Atoi(rest); err != nil && !slices.Contains([]string{"{", "}", "[", "]", "[]", "{}", "true", "false"}, rest) {
				t.Errorf("line %d: %q", i+1, rest)
			}
			break
		}
	}
	if texts < 200 {
		t.Errorf("%d texts were checked", texts)
	}
}

// unquoted returns the text of a table's cell, `"…"` in Go's notation or `…`.
func unquoted(t *testing.T, cell string) string {
	t.Helper()
	text := strings.TrimSuffix(strings.TrimPrefix(cell, "`"), "`")
	if !strings.HasPrefix(text, `"`) {
		return text
	}
	s, err := strconv.Unquote(text)
	if err != nil {
		t.Fatalf("%s: %v", cell, err)
	}
	return s
}

func TestPathTable(t *testing.T) {
	for _, row := range worked(t, "verdict.md", "paths", 5) {
		if got := writtenPath(unquoted(t, row[0])); got != unquoted(t, row[1]) {
			t.Errorf("%s is written %s, not %s", row[0], got, row[1])
		}
	}
}

func TestLineHashTable(t *testing.T) {
	for _, row := range worked(t, "verdict.md", "line hashes", 6) {
		line, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if got := lineHash(characters(unquoted(t, row[0]), "utf-8", 0), line); got != unquoted(t, row[2]) {
			t.Errorf("the hash of line %d of %s is %s, not %s", line, row[0], got, row[2])
		}
	}
}

func TestGlobTable(t *testing.T) {
	for _, row := range worked(t, "rules.md", "globs", 12) {
		g := unquoted(t, row[0])
		if err := glob.Check(g); err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		set := glob.Compile([]string{g})
		for column, want := range []bool{true, false} {
			for _, cell := range strings.Split(row[1+column], ", ") {
				if cell != "" && set.Match(unquoted(t, cell)) != want {
					t.Errorf("%s and %s: %v is not so", row[0], cell, want)
				}
			}
		}
	}
}

func TestRefusedGlobTable(t *testing.T) {
	for _, row := range worked(t, "rules.md", "refused globs", 12) {
		if err := glob.Check(unquoted(t, row[0])); err == nil || err.Error() != row[1] {
			t.Errorf("%s: the error is %v, not %s", row[0], err, row[1])
		}
	}
}

func TestMatchTable(t *testing.T) {
	for _, row := range worked(t, "matching.md", "matches", 16) {
		b := rules.New([]rules.Rule{{ID: "R", Type: rules.Boundary, Files: []string{"**"}, Patterns: rules.PlainItems(unquoted(t, row[0]))}}, nil)
		found, err := check.File(context.Background(), b, "f", []byte(unquoted(t, row[1])))
		if err != nil {
			t.Fatal(err)
		}
		got := []string{"", "", ""}
		if len(found) > 0 {
			e := found[0].Evidence
			got = []string{strconv.FormatInt(e.Offset, 10), e.Encoding, strconv.FormatInt(e.Occurrences, 10)}
		}
		if !slices.Equal(got, row[2:5]) {
			t.Errorf("%s in %s: it is %q, not %q", row[0], row[1], got, row[2:5])
		}
	}
}

// TestItemTable: each 0.2 pattern matches exactly the examples that the manual lists as matches.
func TestItemTable(t *testing.T) {
	for _, row := range worked(t, "rules.md", "items", 10) {
		b, err := rules.Load(rules.Files{rules.BoundariesFile: []byte("bundle: \"0.2\"\nrules:\n  - id: R\n    title: t\n" +
			"    enforcement: {mode: fail}\n    match: {files: ['**'], forbidden_patterns: [" + strings.Trim(row[0], "`") + "]}\n")})
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		for column, want := range []bool{true, false} {
			for _, cell := range strings.Split(row[1+column], ", ") {
				found, err := check.File(context.Background(), b, "f", []byte(unquoted(t, cell)))
				if err != nil || len(found) > 0 != want {
					t.Errorf("%s in %s: %d violations, %v; that it is there is %v in the manual", row[0], cell, len(found), err, want)
				}
			}
		}
	}
}
