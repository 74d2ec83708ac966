package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/lab/conformance/install"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/report"
)

// reviewdogModule is the newest version whose modules the module proxy has.
const reviewdogModule = "github.com/reviewdog/reviewdog/cmd/reviewdog@v0.21.0"

// diagnostic is what reviewdog read, as it writes it.
type diagnostic struct {
	Message  string `json:"message"`
	Location struct {
		Path  string `json:"path"`
		Range struct {
			Start, End struct{ Line, Column int64 }
		} `json:"range"`
	} `json:"location"`
	Severity string `json:"severity"`
	Source   struct{ Name, URL string }
	Code     struct{ Value, URL string }
	Output   string `json:"original_output"`
}

// TestReviewdog feeds rdjson to reviewdog, as a user would, and looks at what it says.
func TestReviewdog(t *testing.T) {
	asked(t)
	t.Parallel()
	program := install.Go(t, reviewdogModule)
	dir := t.TempDir()
	command(t, dir, "git", "init", "--quiet")
	run := func(report []byte, args ...string) (stdout string, failed bool) {
		t.Helper()
		var out, log bytes.Buffer
		cmd := exec.Command(program, append([]string{"-f=rdjson", "-diff=cat change.diff"}, args...)...)
		cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, bytes.NewReader(report), &out, &log
		var status *exec.ExitError
		if err := cmd.Run(); err != nil && (!errors.As(err, &status) || !strings.Contains(log.String(), "found at least one issue")) {
			t.Fatalf("%v\n%s", err, log.Bytes())
		}
		return out.String(), status != nil
	}
	if err := os.WriteFile(filepath.Join(dir, "change.diff"), nil, 0o666); err != nil {
		t.Fatal(err)
	}

	for name, v := range verdicts(t) {
		rd := writeReport(t, filepath.Join(dir, name+".rdjson"), report.Named("rdjson").Write, v)
		var sent struct{ Diagnostics []diagnostic }
		if err := json.Unmarshal(rd, &sent); err != nil {
			t.Fatal(err)
		}
		// It reads all that was sent, and as it was meant.
		lines, _ := run(rd, "-reporter=rdjsonl", "-filter-mode=nofilter")
		var read []diagnostic
		for dec := json.NewDecoder(strings.NewReader(lines)); dec.More(); {
			var d diagnostic
			if err := dec.Decode(&d); err != nil {
				t.Fatal(err)
			}
			if d.Source.Name != "policyscan" || d.Source.URL != "https://github.com/policyscan/policyscan" {
				t.Errorf("%s: the source is %+v", name, d.Source)
			}
			d.Source.Name, d.Source.URL = "", ""
			read = append(read, d)
		}
		want := slices.Clone(sent.Diagnostics)
		for i := range want {
			want[i].Output = "" // which it keeps to itself
			// It cleans paths: the file is the same.
			want[i].Location.Path = filepath.Clean(want[i].Location.Path)
		}
		if !slices.Equal(read, want) {
			t.Errorf("%s: reviewdog reads\n%+v\nnot\n%+v", name, read, want)
		}

		if name == "scan-fail" {
			if got, want := fmt.Sprint(read[0].Location), "{main.tf {{1 9} {1 18}}}"; got != want {
				t.Errorf("the first violation is on %s, want %s", got, want)
			}
		}

		// What it prints are our lines, and it fails for an ERROR, not for a PASS.
		text, failed := run(rd, "-reporter=local", "-filter-mode=nofilter", "-fail-level=error")
		wantText := ""
		for _, d := range sent.Diagnostics {
			wantText += d.Output + "\n"
		}
		if text != wantText || failed != (v.Verdict == verdict.Fail) {
			t.Errorf("%s: it prints, and fails is %v:\n%s\nwant\n%s", name, failed, text, wantText)
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Errorf("%s: it prints a workflow command: %q", name, line)
			}
		}
	}

	// By default it says only what is on added lines: that of line 2, not that of line 4.
	v := scan(t, map[string]string{
		"policy/rules/boundaries.yml": "rules:\n  - {id: A, title: T, enforcement: {mode: fail}, match: {files: ['*.tf'], forbidden_patterns: ['added', \"end\\n\"]}}\n",
		"policy/rules/invariants.yml": "rules: []\n",
		"a.tf":                        "one\nadded\nthree\nend\n", "b.tf": "one\nthe end\n",
	})
	diff := "--- a/a.tf\n+++ b/a.tf\n@@ -1,3 +1,4 @@\n one\n+added\n three\n end\n--- a/b.tf\n+++ b/b.tf\n@@ -1 +1,2 @@\n one\n+the end\n"
	if err := os.WriteFile(filepath.Join(dir, "change.diff"), []byte(diff), 0o666); err != nil {
		t.Fatal(err)
	}
	rd := writeReport(t, filepath.Join(dir, "diff.rdjson"), report.Named("rdjson").Write, v)
	text, _ := run(rd, "-reporter=local", "-diff=cat change.diff")
	var places []string
	for _, line := range strings.Split(text, "\n") {
		if place, _, ok := strings.Cut(line, ": "); ok && strings.Contains(place, ".tf:") {
			places = append(places, place)
		}
	}
	if want := []string{"a.tf:2:1", "b.tf:2:5"}; !slices.Equal(places, want) {
		t.Errorf("of a change it shows %q, want %q:\n%s", places, want, text)
	}
}

// TestMarkdownOfMessages: a reader of GitHub's Markdown sees in each message of rdjson text and code with its meaning,
// and nothing that is made a link, a mention or an emoji.
func TestMarkdownOfMessages(t *testing.T) {
	parts := []string{
		"a", "word", " ", "  ", "    ", "\t", "*", "**", "_", "__", "`", "``", "```", "~~", "~~~", "[x](y)", "![x](y)", "[x]", "[^1]", "<b>", "<!--", "-->", "</p>",
		"&amp;", "#", "# ", "> ", "- ", "1. ", "+ ", "===", "---", "|", "| a | b |", "\\", "@someone", "#12", "GH-12", ":tada:", "https://example.com/a_b", "!", "$x$", "=", "\x1b", "世", "é", "\n", "\n\n", "\n\n    word",
		"::error::x", "##[group]", "(", ")", "{", "}", "%", "\"", "0.0.0.0/0",
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same texts each time
	v := verdict.New("1.0")
	texts := 200
	if *long {
		texts = 2000
	}
	for range texts {
		text := ""
		for range 1 + random.IntN(7) {
			text += parts[random.IntN(len(parts))]
		}
		v.Errors = append(v.Errors, verdict.Error{Code: code.Usage, Message: text})
	}
	v.Decide()
	rd := writeReport(t, filepath.Join(t.TempDir(), "x"), report.Named("rdjson").Write, v)
	var sent struct{ Diagnostics []diagnostic }
	if err := json.Unmarshal(rd, &sent); err != nil || len(sent.Diagnostics) != len(v.Errors) {
		t.Fatalf("%v, %d diagnostics", err, len(sent.Diagnostics))
	}
	for i, d := range sent.Diagnostics {
		r := renderMarkdown(d.Message)
		want := bare("could not decide: " + shown(strings.Join(strings.Fields(v.Errors[i].Message), " ")))
		if r.all != want || len(r.wrong) > 0 {
			t.Fatalf("%q is read as %q with %q, want %q", d.Message, r.all, r.wrong, want)
		}
		for _, words := range r.words {
			for _, active := range []string{"@someone", "#12", "GH-12", ":tada:", "$x$", "[^1]"} {
				if strings.Contains(words, active) {
					t.Fatalf("%q leaves %q outside of code", d.Message, active)
				}
			}
		}
	}
}
