package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// scanned is the verdict of a run in the current directory, which must end with a status.
func scanned(t *testing.T, stdin string, status int, args ...string) *verdictFile {
	t.Helper()
	got, out, said := fed(stdin, append(args, "--output", "-")...)
	if got != status {
		t.Fatalf("%q ends with status %d, want %d\n%s%s", args, got, status, out, said)
	}
	v, err := readVerdict([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// saysOf is a verdict's part about a file: the violated patterns and the error codes.
func saysOf(v *verdictFile, file string) string {
	var all []string
	for i := range v.Violations {
		if v.Violations[i].File == file {
			all = append(all, v.Violations[i].Evidence.Pattern)
		}
	}
	for _, e := range v.Errors {
		if e.File == file {
			all = append(all, e.Code)
		}
	}
	return strings.Join(all, " ")
}

// denied reports whether the agent's hook denies that a file is written.
func denied(t *testing.T, root, file, content string, flags ...string) bool {
	t.Helper()
	call, err := json.Marshal(map[string]any{
		"session_id": "s", "transcript_path": "/t", "cwd": root, "permission_mode": "default",
		"hook_event_name": "PreToolUse",
		"tool_name":       "Write", "tool_input": map[string]string{"file_path": filepath.Join(root, file),
			"content": content},
	})
	if err != nil {
		t.Fatal(err)
	}
	status, out, said := fed(string(call), append([]string{"hook", "claude-code", "--root", root}, flags...)...)
	if status != exitPass {
		t.Fatalf("status %d: %s%s", status, out, said)
	}
	return strings.Contains(out, `"permissionDecision":"deny"`)
}

// TestFault_166_LineEnds: a line end of YAML 1.1 is refused with its place, whatever stands around it, in every
// scope, by the bundle that init writes; its escape is not.
func TestFault_166_LineEnds(t *testing.T) {
	const fine = "apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: false\n"
	var refused []string
	for line := range strings.Lines(readFile(t, "testdata/lineends.txt")) {
		if text, err := strconv.Unquote(strings.TrimSuffix(line, "\n")); err == nil { // else it is a comment
			refused = append(refused, text)
		}
	}
	g := newGit(t)
	g.put("a.yaml", fine)
	t.Chdir(g.path(""))
	if status, out, said := fed("", "init"); status != exitPass {
		t.Fatal(out, said)
	}
	g.commit("base")
	scanned(t, "", exitPass, ".")
	contents := map[string]string{}
	for i, text := range refused {
		for k, char := range []string{"\u0085", "\u2028", "\u2029"} {
			if !*long && k != i%3 {
				continue
			}
			contents[fmt.Sprintf("f%d-%d.yaml", i, k)] = strings.ReplaceAll(text, "§", char)
		}
	}
	for name, text := range contents {
		writeFile(t, name, text)
	}
	isRefused := func(v *verdictFile, name string) bool {
		at := slices.IndexFunc(v.Errors, func(e verdict.Error) bool { return e.File == name })
		return at >= 0 && v.Errors[at].Code == code.Parse && v.Errors[at].Line > 0
	}
	g.git("add", "-A")
	all := map[string]*verdictFile{"full": scanned(t, "", exitUndecided, "."),
		"staged": scanned(t, "", exitUndecided, "--staged")}
	g.commit("change")
	all["diff"] = scanned(t, "", exitUndecided, "--diff-base", "HEAD~1")
	for scope, v := range all {
		for name, text := range contents {
			if !isRefused(v, name) {
				t.Errorf("%s: %q: %q", scope, text, saysOf(v, name))
			}
		}
	}
	for _, text := range contents {
		if !denied(t, g.path(""), "a.yaml", text) {
			t.Errorf("the agent may write %q", text)
		}
	}
	v := scanned(t, contents["f0-0.yaml"], exitUndecided, "--stdin", "--stdin-path", "x.yaml")
	if e := v.Errors[0]; e.Code != code.Parse || e.Line != 2 || e.Column != 20 {
		t.Errorf("%+v", e)
	}

	// A mark of a template makes no difference: some programs read the file.
	writeFile(t, "x.yaml", contents["f0-0.yaml"]+"# {{ x }}\n")
	if v := scanned(t, "", exitUndecided, "."); !isRefused(v, "x.yaml") || len(v.Coverage.Unparsed) > 0 {
		t.Errorf("%q", saysOf(v, "x.yaml"))
	}

	text := "a: \"\\N\\L\\P\"\n"
	scanned(t, text, exitPass, "--stdin", "--stdin-path", "x.yaml")
	if denied(t, g.path(""), "a.yaml", text) {
		t.Errorf("the agent may not write %q", text)
	}
}

// marked is a text in each of the five encodings, by its name.
func marked(text string) map[string]string {
	const mark = "\ufeff"
	all := map[string]string{"utf-8": text, "utf-8 with a mark": mark + text, "utf-16le": "", "utf-16be": "",
		"utf-32le": "", "utf-32be": ""}
	for _, u := range utf16.Encode([]rune(mark + text)) {
		all["utf-16le"] += string([]byte{byte(u), byte(u >> 8)})
		all["utf-16be"] += string([]byte{byte(u >> 8), byte(u)})
	}
	for _, r := range mark + text {
		all["utf-32le"] += string([]byte{byte(r), byte(r >> 8), byte(r >> 16), 0})
		all["utf-32be"] += string([]byte{0, byte(r >> 16), byte(r >> 8), byte(r)})
	}
	return all
}

// TestFault_167_Marks: a byte order mark before a later document belongs to no key, in every encoding of the file.
func TestFault_167_Marks(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	writeFile(t, "policy/rules/boundaries.yml", `bundle: "0.2"
rules:
  - id: NET
    title: Not on the node's network
    enforcement: {mode: fail}
    match: {files: ["**/*.yaml"], forbidden_patterns: [{key: spec.hostNetwork, is: true, where: {kind: Pod}}]}
`)
	writeFile(t, "policy/rules/invariants.yml", `bundle: "0.2"
rules:
  - id: RUN
    title: Not root
    enforcement: {mode: fail}
    match: {files: ["**/*.yaml"], required_patterns: [{key: spec.nonRoot, is: true, where: {kind: Pod}}]}
`)
	for _, c := range []struct {
		text         string
		line, column int64 // of the forbidden value
	}{
		{"kind: Service\n---\n\ufeffspec: {hostNetwork: true, nonRoot: true}\nkind: Pod\n", 3, 24},
		{"kind: Service\n---\n\ufeff{\"kind\": \"Pod\", \"spec\": {\"nonRoot\": true, \"hostNetwork\": true}}\n", 3,
			61},
		{"kind: Service\n--- # c\r\n\ufeff\r\nkind: Pod\r\nspec: {hostNetwork: true, nonRoot: true}\r\n", 5, 21},
		{"kind: A\n---\n\ufeffkind: B\n---\n\ufeffkind: Pod\nspec: {hostNetwork: true, nonRoot: true}\n", 6, 21},
	} {
		for encoding, text := range marked(c.text) {
			v := scanned(t, text, exitViolation, "--policy", "policy", "--stdin", "--stdin-path", "a.yaml")
			if len(v.Violations) != 1 || len(v.Errors) > 0 {
				t.Errorf("%s: %q: %+v, %+v", encoding, c.text, v.Violations, v.Errors)
				continue
			}
			e, column := v.Violations[0].Evidence, c.column
			if !strings.HasPrefix(encoding, "utf-8") {
				column = e.Column // which counts bytes
			}
			if e.Line != c.line || e.Column != column {
				t.Errorf("%s: %q: %d:%d", encoding, c.text, e.Line, e.Column)
			}
		}
	}

	// Elsewhere parsers differ, so the file is refused; its possible readings are checked.
	for _, text := range []string{
		"\ufeff\ufeffkind: Pod\n", "kind: Pod\n\ufeffspec: {nonRoot: true}\n",
		"kind: Pod\nspec: {nonRoot: true} # \ufeff\n",
		"kind: A\n--- \ufeff\nkind: A\n", "# a\n\ufeffkind: A\n", "kind: A\n---\n\n\ufeffkind: A\n", "a: '\ufeff'\n",
		"kind: A\n\ufeff---\nb: 1\n",
		"---\n\ufeff---\n\ufeffkind: A\n", "kind: A\r---\r\ufeffkind: A\r",
	} {
		v := scanned(t, text, exitUndecided, "--policy", "policy", "--stdin", "--stdin-path", "a.yaml")
		if len(v.Errors) != 1 || v.Errors[0].Code != code.Parse || v.Errors[0].Line == 0 {
			t.Errorf("%q: %+v", text, v.Errors)
		}
	}
	const after = "kind: A\n---\n\n\ufeffkind: Pod\nspec: {hostNetwork: true}\n"
	if v := scanned(t, after, exitViolation, "--policy", "policy", "--stdin", "--stdin-path", "a.yaml"); saysOf(v,
		"a.yaml") != v.Violations[0].Evidence.Pattern+" E_PARSE" {
		t.Errorf("%q", saysOf(v, "a.yaml"))
	}
}

// TestFault_168_Unparsable: unparsable: text is for templates that no reader can read; a text that some reader can
// read is checked in that reading, and stays undecided.
func TestFault_168_Unparsable(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	writeFile(t, ".policyscan/rules/boundaries.yml", `bundle: "0.2"
rules:
  - id: PRIV
    title: Not privileged
    enforcement: {mode: fail}
    match:
      files: ["/*.*"]
      unparsable: text
      forbidden_patterns: [{key: "**.privileged", is: true}, "privileged: TRUE"]
`)
	writeFile(t, ".policyscan/rules/invariants.yml", "bundle: \"0.2\"\nrules: []\n")
	const key = `{"key":"**.privileged","is":true}`
	for _, c := range []struct{ name, text, want string }{
		{"binary.yaml", "a: {privileged: true}\n!!binary eA==: 1\n", key + " E_PARSE"},
		{"stream.json", "{\"a\": 1}\n{\"privileged\": true}\n", key},
		{"empty.json", "", ""},
		{"stream.yaml", "{\"a\": 1}\n{\"privileged\": true}\n", key + " E_PARSE"},
		{"d1.yaml", "{privileged: true, a:}", key + " E_PARSE"},
		{"d6.yaml", "x: &x:a\nprivileged: true", key + " E_PARSE"},
		{"alias.yaml", "a: &x {privileged: true}\n---\nb: *x\n", key + " E_PARSE"},
		{"bytes.json", "{\"a\": \"\xff\", \"privileged\": true}", key + " E_PARSE"},
		{"comment.json", "{ // a\r\"b\": 1,\n\"privileged\": true}", key + " E_PARSE"},
		{"nomad.hcl", "a {\n  \"b.c\" = \"d\"\n}\n", "E_PARSE"},
		{"broken.yaml", "a: [\n", "E_PARSE"},
		{"helm.yaml", "a: {{ .x }}\nprivileged: true\n", ""},
		{"helm2.yaml", "a: {{ .x }}\nprivileged: TRUE\n", "privileged: TRUE"},
		{"tpl.tf", "a = {{ b }}\n", ""},
	} {
		// A mark in a comment or a text makes no template of what a reader reads.
		texts := []string{c.text}
		switch {
		case strings.HasSuffix(c.name, ".yaml") && !strings.HasPrefix(c.name, "b") || c.name == "nomad.hcl":
			texts = append(texts, c.text+"\n# {{ x }}\n")
		case strings.Contains(c.want, "E_PARSE") && strings.HasSuffix(c.name, ".json"):
			texts = append(texts, strings.Replace(c.text, "{", "{\"{{\": 1,", 1))
		}
		for _, text := range texts {
			if c.name == "stream.yaml" || c.name == "workflow.yaml" {
				text = c.text
			}
			status := exitPass
			switch {
			case strings.HasPrefix(c.want, key), strings.HasPrefix(c.want, "privileged"):
				status = exitViolation
			case c.want != "":
				status = exitUndecided
			}
			v := scanned(t, text, status, "--stdin", "--stdin-path", c.name)
			if got := saysOf(v, c.name); got != c.want {
				t.Errorf("%s: %q: %q, want %q", c.name, text, got, c.want)
			}
			isTemplate := strings.ContainsAny(c.name[:1], "hjt") && !strings.HasPrefix(c.name, "half") ||
				c.name == "erb.json"
			if unparsed := len(v.Coverage.Unparsed) == 1; unparsed != isTemplate {
				t.Errorf("%s: its text alone is checked: %v", c.name, unparsed)
			}
		}
	}

	// The agent's gate denies what can no longer be parsed, not what never could.
	writeFile(t, "a.yaml", "a: b\n")
	writeFile(t, "helm.yaml", "a: {{ .x }}\n")
	writeFile(t, "broken.yaml", "a: [\n")
	for _, c := range []struct {
		name, text string
		denied     bool
	}{
		{"a.yaml", "a: {b:}\n", true}, {"a.yaml", "a: [\n", true}, {"a.yaml", "a: {{ .x }}\n", false},
		{"helm.yaml", "a: {b:}\n", false}, {"helm.yaml", "a: {b:}\nprivileged: true\n", true},
		{"broken.yaml", "a: {b:}\n", false}, {"broken.yaml", "privileged: true\na: {b:}\n", true},
		{"new.yaml", "a: {b:}\n", false}, {"new.yaml", "privileged: true\na: {b:}\n", true},
		{"new.json", "{} {}", false},
		{"new.json", "{} {\"privileged\": true}", true},
	} {
		if got := denied(t, root, c.name, c.text); got != c.denied {
			t.Errorf("%s: %q: denied: %v", c.name, c.text, got)
		}
	}
}

// TestKeysOfRealFiles: what the tools of a file accept is read, and the message about another says what to do.
func TestKeysOfRealFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, ".policyscan/rules/boundaries.yml", `bundle: "0.2"
rules:
  - {id: ON, title: Off, enforcement: {mode: fail}, match: {files: ["/*.*"], forbidden_patterns: [{key: "**.on", is: /x}]}}
  - {id: TXT, title: Off, enforcement: {mode: fail}, match: {files: ["/t.*"], forbidden_patterns: [{key: "**.on"}, "off:"]}}
`)
	writeFile(t, ".policyscan/rules/invariants.yml", "bundle: \"0.2\"\nrules: []\n")
	for _, c := range []struct{ name, text, want string }{
		{"a.yaml", `on: "\/x"`, "violated"}, {"a.yaml", `on: "\\/x"`, "passed"}, {"a.yaml", `on: '\/x'`, "passed"},
		{"a.yaml", "{\n  \"a\": \"\\/\",\n  \"on\": \"\\/x\"\n}\n", "violated"},
		{"a.yaml", "{\n  \"a\": \"\\ud83d\\ude00\",\n  \"on\": \"\\/x\"\n}\n", "violated"},
		{"a.yaml", "run: |\n  \tmake\n\n  \tmake\non: /x\n", "violated"}, {"a.yaml", "run: |-\n  \t/x\n", "passed"},
		{"a.yaml", "a: b\n...\non: /x\n", "violated"}, {"a.yaml", "a: b\n...\n# c\n...\n---\non: /x\n", "violated"},
		{"a.json", "", "passed"}, {"a.json", "\n", "passed"}, {"a.jsonc", "// none\n", "passed"}, {"a.yaml", "", "passed"},
		{"a.json", "{\"a\": \"\\/\"}", "passed"},
		{"a.yaml", "{\n\"a\": 1,\n\"b\": \"\\q\"}\n", "line 3, column 7: not YAML: found unknown escape character; fix it, or exclude it from ON"},
		{"a.hcl", "config {\n  \"driver.x\" = \"1\"\n}\n", "line 2, column 3: this is HCL 1, as Nomad and Consul read it; drop the quotes or the comma, " +
			"or write the block as an object, NAME = {…}; fix it, or exclude it from ON"},
		{"a.hcl", "config = {\n  \"driver.x\" = \"1\",\n  on = \"/x\"\n}\n", "violated"},
		{"a.hcl", "ports {\n  http = 4646,\n  rpc = 4647\n}\n", "line 2, column 14: this is HCL 1"},
		{"a.yaml", "a:\n{{- if .x }}\n  b: c\n{{- end }}\n", "this looks like a template; to check only its text, add unparsable: text and a text or regex " +
			"pattern to ON; or exclude the file; or scan the rendered output"},
		{"t.json", "{{ range }}", "this looks like a template; to check only its text, add unparsable: text to ON and TXT; " +
			"or exclude the file; or scan the rendered output"},
		{"a.toml", "a = {% b %}", "this looks like a template; "},
		{"a.yaml", "on: [ ${{ a }}\n", "not YAML: "},
	} {
		status := map[string]int{"passed": exitPass, "violated": exitViolation}
		want, known := status[c.want]
		if !known {
			want = exitUndecided
		}
		v := scanned(t, c.text, want, "--stdin", "--stdin-path", c.name)
		if !known && (len(v.Errors) != 1 || !strings.Contains(v.Errors[0].Message, c.want) || strings.Contains(v.Errors[0].Message, "did not find") && c.want[0] == 't') {
			t.Errorf("%q: %+v", c.text, v.Errors)
		}
	}
}
