package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/policyscan/policyscan/verdict"
)

// parityBoundaries and parityInvariants have an item of each form, of each kind of rule.
const parityBoundaries = `bundle: "0.2"
rules:
  - id: TEXT-1
    title: Texts
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf"]
      path_case: ignore
      forbidden_patterns:
        - "0.0.0.0/0"
        - {text: 'acl = "public"', spaces: any}
        - {text: "std::bind", words: true}
        - {text: "TlsV1", case: ignore}
        - {text: "run a b", spaces: any, words: true, case: ignore}
        - "x\ny"
        - "{{ y }}"
  - id: REGEX-1
    title: Expressions
    enforcement: {mode: fail}
    match:
      files: ["**/*.{tf,TF}"]
      forbidden_patterns: [{regex: 'image:\s*\S+:latest\b'}, {regex: '^x+$'}, {regex: '(?i)KEY_?id'}]
  - id: PATH-1
    title: Paths
    enforcement: {mode: fail}
    match: {forbidden_files: ["**/*.pem", "net/B.TF", "**/b.tf"], path_case: ignore, exclude: ["NET/x.pem"]}
`

const parityInvariants = `bundle: "0.2"
rules:
  - id: HAS-1
    title: What must be there
    enforcement: {mode: fail}
    match:
      files: ["**/*.tf", "/MAIN.TF"]
      required_patterns:
        - "owner"
        - {text: "managed by", spaces: any, case: ignore}
        - {text: "ok", words: true}
        - {regex: 'team-[0-9]+'}
  - id: LACKS-1
    title: What must not be there
    enforcement: {mode: fail}
    match: {files: ["**"], required_absent: [{regex: 'todo!+'}, {text: "std::bind", words: true, case: ignore}]}
  - id: FILE-1
    title: A licence
    enforcement: {mode: fail}
    match: {required_files: ["/LICENSE*", "docs/*.md"]}
`

// parityText is text that the rules find nothing in, or much.
func parityText(rnd *rand.Rand) string {
	pieces := []string{
		"0.0.0.0/0", `acl="public"`, `acl`, "\t =  ", `"public"`, "std::bind", "_", "xstd::bind", "TLSv1", "Run\ta", "  b", "B ", "run  A b",
		"image:", " nginx:latest", "r", "x", "xx", "\n", "\r\n", "\r", "y", "key_ID", "kEyId", "owner", "Managed\t by", "managedby", "ok", "ok.", "bok",
		"team-7", "team-", "todo!!", "{{ y }}", "\x00", "é", "😀", "\ufeff", "K", " ", "harmless\n",
	}
	var b strings.Builder
	for range rnd.IntN(14) {
		b.WriteString(pieces[rnd.IntN(len(pieces))])
	}
	if rnd.IntN(2) == 0 { // nothing is missing
		b.WriteString("\nowner managed by ok team-1\n")
	}
	if rnd.IntN(25) == 0 {
		return strings.Repeat("a line of no harm\n", 1+rnd.IntN(8000)) + b.String()
	}
	return b.String()
}

// parityEncodings are the encodings that a text can have.
var parityEncodings = []encoding.Encoding{
	encoding.Nop, unicode.UTF8BOM,
	unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
	utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
}

// TestParity: a file with the same content has the same violations in every scope, to the last place and count, and as
// an example of a rule. A scope lists the files that it does not check.
func TestParity(t *testing.T) {
	t.Parallel()
	h := newHookRepo(t)
	h.write("policy/rules/boundaries.yml", parityBoundaries)
	h.write("policy/rules/invariants.yml", parityInvariants)
	h.git("commit", "-q", "--allow-empty", "-m", "root")
	rnd := rand.New(rand.NewPCG(30, 6))
	kinds := map[string]int{}
	rounds := 15
	if *long {
		rounds = 300
	}
	for round := range rounds {
		name := []string{"a.tf", "MAIN.TF", "net/b.tf", "NET/X.Pem", "net/x.pem", "x.txt", "deep/er/Z.tF"}[rnd.IntN(7)]
		text := parityText(rnd)
		content, err := parityEncodings[rnd.IntN(len(parityEncodings))].NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		if rnd.IntN(4) == 0 {
			text, content = strings.ToValidUTF8(text, ""), text
		}
		h.git("checkout", "-q", "-f", "--orphan", fmt.Sprint("b", round))
		h.git("rm", "-rfq", "--ignore-unmatch", ".")
		h.git("commit", "-q", "--allow-empty", "-m", "empty")
		base := h.head()
		licence := rnd.IntN(3)
		if licence > 0 {
			h.put("LICENSE", []string{"", "x"}[licence-1])
		}
		h.put(name, content)
		h.git("add", "-A")
		staged := h.judge("--policy", "policy", "--staged", "repo")
		h.git("commit", "-q", "-m", "x")
		h.write("list", name+"\n")
		stdin := *h
		stdin.stdin = content
		full := h.judge("--policy", "policy", "repo")
		for _, o := range full.Violations {
			kinds[o.RuleID+" "+o.Evidence.Kind]++
		}
		one := func(file string) bool { return file == name }
		for scope, v := range map[string]*verdictFile{
			"tracked": h.judge("--policy", "policy", "--tracked", "repo"),
			"diff":    h.judge("--policy", "policy", "--diff-base", base, "repo"), "staged": staged,
			"files": h.judge("--policy", "policy", "--files-from", "list", "repo"),
			"stdin": stdin.judge("--policy", "policy", "--stdin", "--stdin-path", name),
		} {
			if !v.Complete {
				t.Fatalf("%s: %s: %+v", scope, name, v.Errors)
			}
			of := hookAny
			if scope == "files" || scope == "stdin" {
				of = one
				if got := fmt.Sprint(leftOut(v, verdict.LeftRequiredFile)); got != "[LICENSE* docs/*.md]" {
					t.Errorf("%s: not judged: %s", scope, got)
				}
			} else if got := leftOut(v, verdict.LeftRequiredFile); len(got) > 0 {
				t.Errorf("%s: not judged: %s", scope, got)
			}
			if got, want := parityFound(t, v, of), parityFound(t, full, of); !slices.Equal(got, want) {
				t.Errorf("%s: %s with %q\n%s\nin a full scan\n%s", scope, name, content, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if strings.TrimSpace(text) != "" { // an example has a content
			h.examples(name, text, content == text, full)
		}
		if t.Failed() {
			return
		}
	}
	t.Log(kinds)
	for _, kind := range []string{
		"TEXT-1 text", "REGEX-1 regex", "PATH-1 file", "HAS-1 missing", "LACKS-1 regex", "LACKS-1 text", "FILE-1 missing",
	} {
		if kinds[kind] == 0 {
			t.Errorf("no violation of %s: nothing was tried", kind)
		}
	}
}

// leftOut are the files, or globs, that a run left out for a reason.
func leftOut(v *verdictFile, reason string) []string {
	var files []string
	for _, o := range v.Coverage.LeftOut {
		if o.Reason == reason {
			files = append(files, o.File)
		}
	}
	return files
}

// parityFound is all that a verdict says of its violations in some files, except which are new: where a scope tells
// that, all are, since the baseline is empty; only missing files are not.
func parityFound(t *testing.T, v *verdictFile, of func(file string) bool) []string {
	t.Helper()
	lines := []string{}
	for i := range v.Violations {
		if !of(v.Violations[i].File) {
			continue
		}
		x := v.Violations[i]
		if mode := v.Scope.Mode; mode == "diff" || mode == "staged" {
			want := map[bool]string{true: verdict.PreExisting, false: verdict.Introduced}[x.File == ""]
			if x.Status != want {
				t.Errorf("%s: %s is %s, want %s", mode, x.File, x.Status, want)
			}
			x.Status, x.Evidence.Places = "", slices.Clone(x.Evidence.Places)
			for k := range x.Evidence.Places {
				p := &x.Evidence.Places[k]
				first := k == 0 && p.Excerpt == x.Evidence.Excerpt && p.LineHash == x.Evidence.LineHash
				if p.Status != verdict.Introduced || !first && p.Excerpt+p.LineHash != "" {
					t.Errorf("%s: place %d of %s is %+v", mode, k, x.File, *p)
				}
				p.Status, p.Excerpt, p.LineHash = "", "", ""
			}
		}
		line, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

// examples fails unless "policyscan test" finds the same in a file, as an example of each rule, as a scan. An example
// is text, so its content may be the file's in UTF-8: then the scan is repeated.
func (h *hookRepo) examples(name, text string, same bool, full *verdictFile) {
	h.t.Helper()
	if !same {
		again := *h
		again.stdin = text
		full = again.judge("--policy", "policy", "--stdin", "--stdin-path", name)
	}
	quoted := strconv.QuoteToASCII(text) // which is YAML, too
	for file, rules := range map[string]string{"boundaries.yml": parityBoundaries, "invariants.yml": parityInvariants} {
		var b strings.Builder
		for i, rule := range strings.SplitAfter(rules, "\n  - id: ") {
			b.WriteString(rule)
			if i == 0 {
				continue
			}
			id, _, _ := strings.Cut(rule, "\n")
			violates := slices.ContainsFunc(full.Violations, func(o verdict.Violation) bool { return o.RuleID == id && o.File != "" })
			at := b.String()
			rest := ""
			if j := strings.LastIndex(at, "\n  - id: "); j == len(at)-len("\n  - id: ") {
				at, rest = at[:j+1], at[j+1:]
			}
			b.Reset()
			fmt.Fprintf(&b, "%s    examples: [{path: %q, content: %s, violates: %v}]\n%s", at, name, quoted, violates, rest)
		}
		h.write(filepath.Join("examples/rules", file), b.String())
	}
	if e := h.run("test", "examples"); e.status != 0 {
		h.t.Errorf("the examples of %s with %q: status %d\n%s%s", name, text, e.status, e.out, e.err)
	}
	if err := os.RemoveAll(filepath.Join(h.dir, "examples")); err != nil {
		h.t.Fatal(err)
	}
}
