package scanner

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/judges"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
)

// A brokenRule is a violation before its texts are put together.
type brokenRule struct {
	path string // "": the tree lacks a file
	rule int    // index in the bundle
	ask  judges.Ask
	find *match.Find       // of an item that must not appear, or of one with a key
	key  *keyFind          // of one with a key, that find
	end  *verdict.Evidence // of an item that is missing; else nil: most violations need none, and it is large
	note string            // of verdict.Violation
	most int64             // how often find occurs in the form of the file that has most; 0: in no other one more often

	status string          // of verdict.Violation
	places []verdict.Place // with their status; nil: those of the find
	fresh  *fresh          // of the first introduced place; nil: that is the first one, or there is none
	joined *job            // of its file, if that is compared together with others, at the end
}

// times is how often the rule is broken there, in the form of the file in which that is most often: programs can read
// each of them.
func (br *brokenRule) times() int64 {
	if br.find == nil {
		return 1
	}
	return max(br.find.Evidence.Occurrences, br.most)
}

// judge appends the violations that the finds in a file are for the rules that
// select it.
func (s *selection) judge(path string, finds []*match.Find, b *rules.Bundle, broken []brokenRule) []brokenRule {
	if len(finds) == 0 {
		return broken
	}
	found := make(map[int]*match.Find, len(finds))
	for _, f := range finds {
		found[f.Pattern] = f
	}
	for _, r := range s.rules {
		for k, item := range b.Rules[r].Patterns {
			if item.Kind == rules.Key {
				continue
			}
			at, asked := s.engine.index[item]
			if f := found[at]; asked && f != nil {
				broken = append(broken, brokenRule{
					path: path, rule: r, ask: judges.Ask{Of: judges.ForbiddenItem, Index: k}, find: f,
				})
			}
		}
	}
	return broken
}

// A lack is what a content does not have of what it must have.
type lack struct {
	missing []int             // indices in the engine
	end     *verdict.Evidence // where the content ends
	note    string            // of what is not the file's own bytes
}

func lackOf(rep *match.Report, note string) lack { return lack{rep.Missing, rep.End, note} }

// appendLack appends what a content lacks, if it lacks anything: few do.
func appendLack(lacks []lack, rep *match.Report, note string) []lack {
	if len(rep.Missing) == 0 {
		return lacks
	}
	return append(lacks, lackOf(rep, note))
}

// lacking appends the violations that a lack is for the rules that select a file.
func (s *selection) lacking(path string, l lack, b *rules.Bundle, broken []brokenRule) []brokenRule {
	if len(l.missing) == 0 {
		return broken
	}
	for _, r := range s.rules {
		for k, item := range b.Rules[r].Required {
			if item.Kind != rules.Key && slices.Contains(l.missing, s.engine.index[item]) {
				broken = append(broken, brokenRule{
					path: path, rule: r, ask: judges.Ask{Of: judges.RequiredItem, Index: k}, end: l.end, note: l.note,
				})
			}
		}
	}
	return broken
}

// forbiddenPath appends the violations that a path is because of globs of forbidden_files.
func forbiddenPath(path string, globs []rules.GlobOf, broken []brokenRule) []brokenRule {
	for _, g := range globs {
		broken = append(broken, brokenRule{
			path: path, rule: g.Rule, ask: judges.Ask{Of: judges.ForbiddenFile, Index: g.Glob},
		})
	}
	return broken
}

// sortBroken puts violations in the order of the verdict.
func sortBroken(broken []brokenRule) {
	slices.SortFunc(broken, func(a, b brokenRule) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.path, b.path),
			cmp.Compare(a.ask.Of, b.ask.Of), cmp.Compare(a.ask.Index, b.ask.Index))
	})
}

func (br *brokenRule) violation(b *rules.Bundle) verdict.Violation {
	r := &b.Rules[br.rule]
	v := verdict.Violation{
		RuleID:   r.ID,
		RuleType: string(r.Type),
		Title:    r.Title,
		File:     verdict.Path(br.path),
		Reason:   r.Message,
		Note:     br.note,
	}
	if v.Reason == "" {
		v.Reason = r.Title + ": " + br.ask.Broken(r)
	}
	v.Status = br.status
	if br.find != nil {
		br.found(&v, r)
		return v
	}
	if br.end != nil {
		v.Evidence = *br.end
	} else {
		v.Evidence = verdict.Evidence{
			Kind: verdict.KindMissing, Line: 1, Column: 1, EndLine: 1, EndColumn: 1,
			UTF16Column: 1, UTF16EndColumn: 1, Occurrences: 1,
		}
	}
	if br.ask.Of == judges.ForbiddenFile {
		v.Evidence.Kind = verdict.KindFile
	}
	v.Evidence.Pattern = br.ask.Name(r)
	v.Fingerprint = verdict.Fingerprint(v.RuleID, v.File, v.Evidence.Pattern, verdict.NoLine(v.Evidence.Kind))
	return v
}

// found adds the evidence of what was found in the file.
func (br *brokenRule) found(v *verdict.Violation, r *rules.Rule) {
	f, item := br.find, br.ask.Item(r)
	v.Evidence = f.Evidence
	v.Evidence.Pattern = item.Name
	if item.Kind == rules.Regex {
		v.Evidence.Kind = verdict.KindRegex
	}
	line, path, redact := f.Line, 0, r.Redact
	if br.key != nil {
		path, redact = br.key.path, redact && br.key.hasPlace()
	}
	v.Evidence.Excerpt = excerptOf(item, f, path, redact)
	if redact {
		line = []byte(v.Evidence.Excerpt)
		v.Evidence.LineHash = "" // of 100 characters, so of what is masked
	}
	v.Fingerprint = verdict.Fingerprint(v.RuleID, v.File, v.Evidence.Pattern, line)
	br.showStatus(v, item, redact)
}

// excerptOf returns the excerpt of a find. path is the number of the path of a key that leads there.
func excerptOf(item rules.Item, f *match.Find, path int, redact bool) string {
	before, matched, after := f.Before, f.Matched, f.After
	if redact {
		before, after = mask(before), mask(after)
		switch item.Kind {
		case rules.Regex:
			before, matched, after = inPlace(before, item.Text, after)
		case rules.Key:
			before, matched, after = inPlace(before, item.Key.Paths[path].String(), after)
		}
	}
	return before + matched + after
}

// masked replaces a character that a rule redacts.
const masked = '•'

func mask(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return r
		}
		return masked
	}, s)
}

// inPlace cuts the parts of an excerpt whose match is replaced by an expression or a path: what it matched may be the
// secret. The expression comes first, and the room that it leaves is divided evenly.
func inPlace(before, expression, after string) (b, e, a string) {
	const room = 200
	left, mid, right := []rune(before), []rune(expression), []rune(after)
	mid = mid[:min(len(mid), room)]
	free := room - len(mid)
	l := min(len(left), max(free/2, free-len(right)))
	return string(left[len(left)-l:]), string(mid), string(right[:min(len(right), free-l)])
}

// judgeKeys appends the violations that finds of items with a key are for the rules that select a file. Only of a whole
// file is known what it lacks.
func (s *selection) judgeKeys(path string, k *keyed, whole bool, b *rules.Bundle, broken []brokenRule) []brokenRule {
	if len(k.finds) == 0 {
		return broken
	}
	for _, r := range s.keyed {
		add := func(items []rules.Item, of judges.Part, required bool) {
			for i, item := range items {
				if item.Kind != rules.Key {
					continue
				}
				if f, ok := k.finds[keyAsk{item.Name, required}]; ok {
					ask := judges.Ask{Of: of, Index: i}
					broken = append(broken, brokenRule{path: path, rule: r, ask: ask, find: f.Find, key: &f})
				}
			}
		}
		add(b.Rules[r].Patterns, judges.ForbiddenItem, false)
		if whole {
			add(b.Rules[r].Required, judges.RequiredItem, true)
		}
	}
	return broken
}
