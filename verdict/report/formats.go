// Package report writes a verdict for terminals, browsers, GitHub, GitLab, reviewdog, and readers of SARIF or JUnit.
// [Formats] is the table of formats for flags, help and commands. A view of the verdict derives the facts of several
// formats once (groups, places, labels, notes, counts); one writer for each format prints them, and escapes all text
// that is from a tree or a bundle.
//
// docs/reports.md is the manual of the formats.
package report

import (
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A Format is a way to write a verdict. Equal verdicts have equal bytes, whenever and wherever they are written, except
// for a name from [Format.Naming].
type Format struct {
	Name  string
	About string // in a few words, for help
	Write func(io.Writer, *verdict.Verdict) error

	// The beginning of each document of the format, and a text in its first 4 KiB.
	begins, holds string
}

// Wrote reports whether a text looks like a document of the format.
func (f *Format) Wrote(text string) bool {
	switch f.Name + f.begins {
	case "text":
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		last := lines[len(lines)-1]
		return strings.HasPrefix(last, string(verdict.Pass)+":") || strings.HasPrefix(last, string(verdict.Fail)+":")
	}
	if f.Name == "gitlab" && text == "[]\n" {
		return true
	}
	return strings.HasPrefix(text, f.begins) && strings.Contains(text[:min(len(text), 4<<10)], f.holds)
}

// Formats returns all formats, in the order of the manual.
func Formats() []Format { return formats(Arrangement{}) }

func formats(a Arrangement) []Format {
	return []Format{
		{"text", "for people, with paths from the tree's root", func(w io.Writer, v *verdict.Verdict) error {
			return WriteText(w, v, TextOptions{Commands: true, Arrangement: a}) // a CI system may print it
		}, "", ""},
		{"json", "verdict.json", func(w io.Writer, v *verdict.Verdict) error { return v.Write(w) },
			verdict.DocumentHead, "policyscan"},
		{
			"sarif", "SARIF 2.1.0, for GitHub's code scanning", writeSARIF,
			"{\n  \"$schema\": \"https://json.schemastore.org/sarif-", "policyscan",
		},
		{"junit", "JUnit's XML, a test case for each rule", writeJUnit, "<?xml ", "\"policyscan."},
		{"github", "annotations of a GitHub Actions run", writeGitHub, "::", "title="},
		{"markdown", "GitHub's job summary, or a comment", func(w io.Writer, v *verdict.Verdict) error {
			return writeMarkdown(w, v, a)
		}, "## policyscan ", ""},
		{"gitlab", "GitLab's Code Quality", writeGitLab, "[\n  {\n    \"description\"", "\"check_name\""},
		{"rdjson", "reviewdog, which comments on changes", writeRDJSON,
			"{\n  \"source\": {\n    \"name\": \"policyscan\"", ""},
		{"html", "one page to read and to search", func(w io.Writer, v *verdict.Verdict) error {
			return writeHTML(w, v, "", a)
		}, "<!DOCTYPE html>", "policyscan"},
	}
}

// formatsOf returns the formats of a document that is not a verdict. A format without a writer is dropped.
func formatsOf[T any](doc T, json, textBegins, markdownBegins, about string,
	text func(io.Writer, T, TextOptions) error, markdown, page func(io.Writer, T) error,
) []Format {
	of := func(write func(io.Writer, T) error) func(io.Writer, *verdict.Verdict) error {
		return func(w io.Writer, _ *verdict.Verdict) error { return write(w, doc) }
	}
	all := []Format{
		{"text", "for people", of(func(w io.Writer, doc T) error {
			return text(w, doc, TextOptions{Commands: true}) // a CI system may print it
		}), textBegins, ""},
		{"json", json, of(func(w io.Writer, doc T) error { return verdict.WriteJSON(w, doc) }),
			verdict.DocumentHead, "policyscan"},
		{"markdown", "GitHub's job summary, or a comment", of(markdown), markdownBegins, ""},
		{"html", about, of(page), "<!DOCTYPE html>", "policyscan"},
	}
	return slices.DeleteFunc(all, func(f Format) bool {
		return f.Name == "markdown" && markdown == nil || f.Name == "html" && page == nil
	})
}

// Naming returns the format with a name for what was scanned, which the page of html shows. A verdict has none, since
// equal trees have equal verdicts wherever they are.
func (f Format) Naming(tree string) Format {
	if f.Name == "html" {
		f.Write = func(w io.Writer, v *verdict.Verdict) error { return writeHTML(w, v, tree, Arrangement{}) }
	}
	return f
}

// Named returns the format with a name, or the zero Format.
func Named(name string) Format {
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	return Format{}
}

// Names are the names of all formats, for display.
func Names() string { return names(Formats()) }

func names(formats []Format) string {
	var all []string
	for _, f := range formats {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}
