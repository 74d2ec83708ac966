package check

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
)

// A Reason is a reason why an item finds nothing in a file, or a key that a path of it may mean.
type Reason struct {
	Line   int64  `json:"line"` // 0: it is about the whole file
	Column int64  `json:"column"`
	Text   string `json:"text"`
}

// explain adds to a result which keys a key pattern may mean and, if that is wanted, why it finds nothing. Values are
// shown as in a verdict.
func (k *keyChecker) explain(ctx context.Context, x *match.Examiner, out *keyResult, text *match.Text, a *keyPattern,
	documents []keys.Document, names map[string]keys.Span,
) error {
	out.why[a.keyRef] = nil // it may be one of "containing", too
	list := keys.DottedKeys(a.item.Key, documents, names)
	if k.explains {
		asked, why := keys.Explain(a.item.Key, documents, a.required)
		out.places[a.keyRef], list = asked, append(why, list...)
	}
	redact := slices.ContainsFunc(k.bundle.Rules, func(r rules.Rule) bool {
		items := slices.Concat(r.Patterns, r.Required, r.Containing)
		return r.Redact && slices.ContainsFunc(items, func(i rules.Item) bool { return i.Name == a.name })
	})
	var regions [][]match.Region
	for _, part := range slices.Concat(list...) {
		if at, ok := part.(keys.Span); ok {
			regions = append(regions, []match.Region{{Start: at.Start, End: at.End}})
		}
	}
	finds, err := x.Locate(ctx, text, regions)
	if err != nil {
		return err
	}
	for _, parts := range list {
		var r Reason
		for i, part := range parts {
			switch part := part.(type) {
			case string:
				r.Text += part
			case keys.Failing:
				r.Text += verdict.Quote(part.Clause + " " + verdict.ConditionWords(a.name, part.Clause)[part.Index])
			case *keys.Node:
				r.Text += valueWords(part, text.UTF8, redact)
			case keys.Span:
				e := &finds[0].Evidence
				if finds = finds[1:]; i == 0 {
					r.Line, r.Column = e.Line, e.Column
				} else {
					r.Text += fmt.Sprintf("line %d", e.Line)
				}
			}
		}
		out.why[a.keyRef] = append(out.why[a.keyRef], r)
	}
	return nil
}

func valueWords(n *keys.Node, text []byte, redact bool) string {
	written := string(text[n.At.Start:n.At.End])
	switch {
	case n.Kind == keys.List && len(n.Items) == 0:
		return "an empty list"
	case n.Kind != keys.ScalarNode:
		return [...]string{keys.Null: "null", keys.Mapping: "a mapping", keys.List: "a list"}[n.Kind]
	case redact:
		return "a value that the rule redacts"
	case n.At.In == 0 && !strings.Contains(written, "\n"):
		return firstLine(written)
	}
	return firstLine(n.Scalar.Texts[0])
}

// firstLine returns the first line of a value, of the length that a verdict has.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	line = strings.ToValidUTF8(strings.TrimRight(line, " \t\r{["), "\uFFFD")
	if runes := []rune(line); len(runes) > verdict.MaxFound {
		line = string(runes[:verdict.MaxFound-1]) + "…"
	}
	return line
}

// nearly looks in a content for the items that it does not have, each without one of its options or with a wider one.
func (s *Plan) nearly(
	ctx context.Context, x *match.Examiner, content io.ReadSeeker, rep *match.Report,
) (map[rules.Item][]Reason, error) {
	var items []rules.Item
	var words []string // by item: what a place is that only the changed item finds
	var patterns []*match.Pattern
	for item, at := range s.engine.index {
		found := slices.ContainsFunc(rep.Finds, func(f *match.Find) bool { return f.Pattern == at })
		if found || s.engine.engine.Alone(at) && !slices.Contains(rep.Missing, at) {
			continue
		}
		add := func(can bool, what string, change func(*rules.Item)) {
			if other := item; can {
				change(&other)
				items, words, patterns = append(items, item), append(words, what), append(patterns, compile(other))
			}
		}
		add(item.Except != "", "within a match of except", func(i *rules.Item) { i.Except = "" })
		after := fmt.Sprintf("after line %d", item.WithinLines)
		add(item.WithinLines > 0, after, func(i *rules.Item) { i.WithinLines = 0 })
		add(item.Words, "as a part of a word", func(i *rules.Item) { i.Words = false })
		if item.Kind == rules.Regex {
			_, err := regex.Compile("(?i)" + item.Text)
			add(err == nil, "in another case", func(i *rules.Item) { i.Text = "(?i)" + i.Text })
			continue
		}
		folds := !item.IgnoreCase && strings.ToLower(item.Text) != strings.ToUpper(item.Text)
		add(folds, "in another case", func(i *rules.Item) { i.IgnoreCase = true })
		spaced := strings.ContainsAny(item.Text, " \t") && strings.Trim(item.Text, " \t") == item.Text
		add(!item.Spaces && spaced, "with other spaces", func(i *rules.Item) { i.Spaces = true })
	}
	e := match.NewEngine(patterns)
	for i, item := range items {
		if s.engine.engine.Alone(s.engine.index[item]) {
			e.Require(i, false)
		}
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil || len(patterns) == 0 {
		return nil, err
	}
	x.Keep = false
	again, err := x.Examine(ctx, e, content)
	if err != nil {
		return nil, err
	}
	rep.Reads += again.Reads
	all := map[rules.Item][]Reason{}
	for _, f := range again.Finds {
		text := "found only " + words[f.Pattern]
		if n := f.Evidence.Occurrences; n > 1 {
			text += fmt.Sprintf(", the first of %d places", n)
		}
		if item := items[f.Pattern]; !slices.Contains(again.Missing, f.Pattern) {
			all[item] = append(all[item], Reason{f.Evidence.Line, f.Evidence.Column, text})
		}
	}
	return all, nil
}
