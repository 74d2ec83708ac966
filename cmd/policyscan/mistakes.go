package main

import (
	"io"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict/report"
)

// shownMistake is a mistake of a rule file as a person is shown it.
func shownMistake(e *rules.Error) report.Mistake {
	source, caret := e.Source()
	return report.Mistake{Place: e.Place(), What: e.What(), Line: e.Line, Source: source, Caret: caret}
}

// showMistakes shows mistakes of rule files, each with its line and a caret.
func showMistakes(w io.Writer, list rules.Errors) error {
	shown := make([]report.Mistake, len(list))
	for i, e := range list {
		shown[i] = shownMistake(e)
	}
	return report.WriteMistakes(w, shown, textOptions(w))
}
