package verdict

import (
	"io"
	"strings"
)

// A Format is a way to write a verdict for some reader. Its writer needs the verdict and
// nothing else: equal verdicts have equal bytes, whenever and wherever they are written.
type Format struct {
	Name  string
	About string // in a few words, for help
	Write func(io.Writer, *Verdict) error

	// How each document of the format begins, and what is in its first 4 KiB.
	begins, holds string
}

// wrote reports whether a text is, as far as that can be told, a document of the format.
func (f *Format) wrote(text string) bool {
	switch f.Name {
	case "text":
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		last := lines[len(lines)-1]
		return strings.HasPrefix(last, string(Pass)+":") || strings.HasPrefix(last, string(Fail)+":")
	case "gitlab":
		if text == "[]\n" {
			return true
		}
	}
	return strings.HasPrefix(text, f.begins) && strings.Contains(text[:min(len(text), 4<<10)], f.holds)
}

// Formats returns all formats, in the order of the manual.
func Formats() []Format {
	return []Format{
		{"text", "for a person, with paths from the tree's root", writePlainText, "", ""},
		{"json", "verdict.json", WriteJSON, documentHead, "policyscan"},
		{"sarif", "SARIF 2.1.0, for GitHub's code scanning", WriteSARIF, "{\n  \"$schema\": \"https://json.schemastore.org/sarif-", "policyscan"},
		{"junit", "JUnit's XML, a test case for each rule", WriteJUnit, "<?xml ", "\"policyscan."},
		{"github", "annotations of a GitHub Actions run", WriteGitHub, "::", "title="},
		{"markdown", "GitHub's job summary, or a comment", WriteMarkdown, "## policyscan ", ""},
		{"gitlab", "GitLab's Code Quality", WriteGitLab, "[\n  {\n    \"description\"", "\"check_name\""},
		{"rdjson", "reviewdog, which comments on changes", WriteRDJSON, "{\n  \"source\": {\n    \"name\": \"policyscan\"", ""},
		{"html", "one page to read and to search", WriteHTML, "<!DOCTYPE html>", "policyscan"},
	}
}

// writePlainText writes the text report as it stands in a file, which a CI system may print.
func writePlainText(w io.Writer, v *Verdict) error {
	return WriteText(w, v, TextOptions{Commands: true})
}

// WriteJSON writes the document, as [Verdict.Encode] does.
func WriteJSON(w io.Writer, v *Verdict) error {
	text, err := v.Encode()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
