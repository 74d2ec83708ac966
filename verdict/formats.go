package verdict

import "io"

// A Format is a way to write a verdict for some reader. Its writer needs the verdict and
// nothing else: equal verdicts have equal bytes, whenever and wherever they are written.
type Format struct {
	Name  string
	About string // in a few words, for help
	Write func(io.Writer, *Verdict) error
}

// Formats returns all formats, in the order of the manual.
func Formats() []Format {
	return []Format{
		{"text", "for a person, with paths from the tree's root", writePlainText},
		{"json", "verdict.json", WriteJSON},
		{"sarif", "SARIF 2.1.0, for GitHub's code scanning", WriteSARIF},
		{"junit", "JUnit's XML, a test case for each rule", WriteJUnit},
		{"github", "annotations of a GitHub Actions run", WriteGitHub},
		{"markdown", "GitHub's job summary, or a comment", WriteMarkdown},
		{"gitlab", "GitLab's Code Quality", WriteGitLab},
		{"rdjson", "reviewdog, which comments on changes", WriteRDJSON},
		{"html", "one page to read and to search", WriteHTML},
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
