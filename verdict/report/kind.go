package report

import (
	"fmt"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// A violation is of a text, an expression or a key that occurs in a file, of a file that must not be there, or of
// something that is missing: from a file, or from the tree. The last two have no place in a file, unless it is a key
// that is missing, and the very last no file.

// hasPlace reports whether evidence is at a place in a file.
func hasPlace(e *verdict.Evidence) bool {
	return e.Kind != verdict.KindFile && (e.Kind != verdict.KindMissing || e.Excerpt != "")
}

// theTree is where a violation is that is about no file.
const theTree = "the tree"

// fileOf is the file of a violation as reports show it.
func fileOf(v *verdict.Violation) string {
	if v.File == "" {
		return theTree
	}
	return verdict.Visible(v.File)
}

// placeOf is where a violation is.
func placeOf(v *verdict.Violation) string {
	if !hasPlace(&v.Evidence) {
		return fileOf(v)
	}
	p := pointed(v)
	return fmt.Sprintf("%s:%d:%d", fileOf(v), p.Line, p.Column)
}

// foundOf says what was found, or is missing, as a name and a value: "found" and the pattern. pattern is that, as the
// report shows it.
func foundOf(v *verdict.Violation, pattern string) (name, value string) {
	switch {
	case v.Evidence.Kind == verdict.KindFile:
		return "found", "a path that matches " + pattern
	case v.Evidence.Kind == verdict.KindMissing && v.File == "":
		return "missing", "a file that matches " + pattern + " and is not empty"
	case v.Evidence.Kind == verdict.KindMissing:
		return "missing", pattern
	case v.Evidence.Kind == verdict.KindRegex:
		return "found", "a match of " + pattern
	}
	return "found", pattern
}

// foundLine is [foundOf] in one line.
func foundLine(v *verdict.Violation) string {
	name, value := foundOf(v, quotedPattern(&v.Evidence))
	return name + ": " + value
}

// foundSentence is what was found, or is missing, as a sentence. It says in words what a mapping stands for.
func foundSentence(v *verdict.Violation) string {
	e := &v.Evidence
	clipped := func(s string) string { return clip(verdict.Visible(s), 200) }
	n := named(e)
	pattern := n.quote(clipped(e.Pattern))
	if n.isMapping() {
		before, value, after := n.words()
		pattern = before + `"` + clipped(value) + `"` + clipped(after)
	}
	switch {
	case e.Kind == verdict.KindFile:
		return "The path matches " + pattern + "."
	case e.Kind == verdict.KindMissing && v.File == "":
		return "No file that is not empty matches " + pattern + "."
	case e.Kind == verdict.KindMissing:
		return "The file does not contain " + pattern + "."
	}
	return "The file contains " + pattern + "."
}

// hidesPattern reports whether the place of a match does not show what the pattern is: then a report has to say it.
func hidesPattern(e *verdict.Evidence) bool {
	n := named(e)
	return !hasPlace(e) || n.isMapping()
}

// inAnotherEncoding reports whether a reader has to know in which encoding a match is.
func inAnotherEncoding(e *verdict.Evidence) bool { return e.Encoding != "utf-8" && e.Encoding != "" }

// inFiles says in how many files violations are; "" if they are in none, but about the tree.
func inFiles(v *verdict.Verdict, words func(n int, thing string) string) string {
	files := map[string]bool{}
	for i := range v.Violations {
		if file := v.Violations[i].File; file != "" {
			files[file] = true
		}
	}
	if len(files) == 0 {
		return ""
	}
	return " in " + words(len(files), "file")
}

// coversNothing reports whether no rule had anything to look at: no rule covers a file, nor is any about paths.
func coversNothing(v *verdict.Verdict) bool {
	for i := range v.Rules {
		if v.Rules[i].Files > 0 {
			return false
		}
	}
	return v.Coverage.Governed == 0
}

// onlyPaths reports whether rules had files to look at, and of these no more than the paths: none is covered.
func onlyPaths(v *verdict.Verdict) bool {
	return v.Coverage.Governed == 0 && v.Coverage.Files > 0 && !coversNothing(v)
}

// notJudged returns the globs of required files that the run did not look for.
func notJudged(v *verdict.Verdict) []string {
	var globs []string
	for _, o := range v.Coverage.LeftOut {
		if o.Reason == verdict.LeftRequiredFile {
			globs = append(globs, o.File)
		}
	}
	return globs
}

// notJudgedNote says which required files the run did not look for; "" if there are none.
func notJudgedNote(v *verdict.Verdict) string {
	globs := notJudged(v)
	if len(globs) == 0 {
		return ""
	}
	const most = 5
	shown := make([]string, 0, most+1)
	for i, g := range globs {
		if i == most {
			shown = append(shown, "…")
			break
		}
		shown = append(shown, `"`+clip(verdict.Visible(g), 200)+`"`)
	}
	return fmt.Sprintf("%s not looked for, because this scope does not have the whole tree: %s",
		count(len(globs), "required file"), strings.Join(shown, ", "))
}
