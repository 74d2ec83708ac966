package docs

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

// pictured is the last command of the README's session.
const pictured = "policyscan --diff-base main"

// TestPicture: the README's picture is the terminal output of its last command. -update draws it again.
func TestPicture(t *testing.T) {
	needSh(t)
	dir := storyDir(t)
	if _, _, _, err := story(dir, "../README.md", read(t, "../README.md")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, strings.Fields(pictured)[1:]...)
	cmd.Dir = filepath.Join(dir, "infra")
	cmd.Env = environment(dir)
	printed, _ := cmd.Output()
	if status := cmd.ProcessState.ExitCode(); status != 1 {
		t.Fatalf("exit status %d\n%s", status, printed)
	}
	text, err := os.ReadFile(filepath.Join(cmd.Dir, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdict.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	// A pipe gets no colours, so the report is written again from the verdict. Without colours it equals the output.
	var plain, coloured bytes.Buffer
	options := report.TextOptions{Policy: after(t, printed, "policy: "), Root: after(t, printed, "root: ")}
	for _, c := range []struct {
		w     *bytes.Buffer
		color bool
	}{{&plain, false}, {&coloured, true}} {
		options.Color = c.color
		if err := report.WriteText(c.w, v, options); err != nil {
			t.Fatal(err)
		}
	}
	if got := regexp.MustCompile(`, \d+\.\d\d s\n$`).ReplaceAll(printed, []byte("\n")); !bytes.Equal(got, plain.Bytes()) {
		t.Fatalf("the program prints\n%s\nand the report of its verdict is\n%s", got, plain.Bytes())
	}
	isDrawn(t, "pictures/terminal.svg", "$ "+pictured+"\n"+coloured.String())
}

// TestEditorPicture: the picture of an editor is what Neovim has shown. TestNeovimScreen of lab/conformance/runners,
// with -update, writes that.
func TestEditorPicture(t *testing.T) {
	isDrawn(t, "pictures/editor.svg", read(t, "testdata/editor.txt"))
}

// isDrawn fails unless a picture shows a terminal's text.
func isDrawn(t *testing.T, picture, text string) {
	t.Helper()
	drawn := drawing(t, text)
	if *update {
		if err := os.WriteFile(picture, []byte(drawn), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if there := read(t, picture); there != drawn {
		t.Errorf("%s shows something else; go test ./docs -update draws it again. It would be\n%s", picture, drawn)
	}
}

// after returns the rest of the line that begins with before.
func after(t *testing.T, text []byte, begin string) string {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, begin); ok {
			return strings.TrimSuffix(rest, "\n")
		}
	}
	t.Fatalf("no line begins with %q in\n%s", begin, text)
	return ""
}

// Of the drawing, in pixels.
const (
	charWidth  = 8.43 // of the usual monospaced fonts at 14 px
	lineHeight = 20
	margin     = 20
)

// sgr is a coloured part of a terminal's text.
var sgr = regexp.MustCompile("\x1b\\[(?:1;)?(\\d+)m([^\x1b]*)\x1b\\[0m")

// drawing returns a terminal's text as an SVG picture.
func drawing(t *testing.T, text string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	widest := 0
	for i, line := range lines {
		widest = max(widest, utf8.RuneCountInString(sgr.ReplaceAllString(line, "$2")))
		body := sgr.ReplaceAllString(html.EscapeString(line), `<tspan class="s$1">$2</tspan>`)
		if strings.Contains(body, "\x1b") {
			t.Fatalf("a sequence is not known in %q", body)
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+(i+1)*lineHeight-6, body)
	}
	width, height := 2*margin+int(charWidth*float64(widest)), 2*margin+len(lines)*lineHeight
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d5d8de; white-space: pre }
.s1 { font-weight: bold; fill: #fff } .s2 { fill-opacity: .6 } .s4 { text-decoration: underline }
.s31 { font-weight: bold; fill: #ff7b72 } .s32 { font-weight: bold; fill: #7ee787 } .s34 { font-weight: bold; fill: #79c0ff }
</style>
<rect width="100%%" height="100%%" rx="8" fill="#16181d"/>
<g xml:space="preserve">
%s</g>
</svg>
`, width, height, b.String())
}

// TestDrawing: a drawing has the characters of the text, and colours for its sequences.
func TestDrawing(t *testing.T) {
	got := drawing(t, "$ a\n\x1b[1;31m[R]\x1b[0m  <b> \x1b[1mc\x1b[0m\n")
	for _, want := range []string{
		`<text x="20" y="34">$ a</text>`,
		`<text x="20" y="54"><tspan class="s31">[R]</tspan>  &lt;b&gt; <tspan class="s1">c</tspan></text>`,
		`height="80"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// TestReadmeIsShort: the README is two screens, and fits any window.
func TestReadmeIsShort(t *testing.T) {
	text := read(t, "../README.md")
	if lines := strings.Count(text, "\n"); lines >= 120 {
		t.Errorf("the README has %d lines", lines)
	}
	for i, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 120 {
			t.Errorf("README.md:%d has %d columns", i+1, n)
		}
	}
}

// TestProseIsNarrow: a sentence or a clause is on its own line. Tables, pictures, measurements and program output may
// be wider, except the tables of the pages for newcomers.
func TestProseIsNarrow(t *testing.T) {
	narrow := []string{"README.md", "tutorial.md", "editors.md", "troubleshooting.md"}
	lines := 0
	for _, page := range pages {
		fenced, measured := false, false
		for i, line := range strings.Split(read(t, page), "\n") {
			switch {
			case strings.HasPrefix(line, "```"):
				fenced = !fenced
			case strings.HasPrefix(line, "<!-- measured: "):
				measured = true
			case line == "<!-- end -->":
				measured = false
			case fenced, measured, strings.HasPrefix(line, "!["):
			case strings.HasPrefix(line, "|") && !slices.Contains(narrow, page):
			default:
				lines++
				if n := utf8.RuneCountInString(line); n > 120 {
					t.Errorf("%s:%d has %d columns", page, i+1, n)
				}
			}
		}
	}
	if lines < 2000 {
		t.Errorf("only %d lines were looked at", lines)
	}
}
