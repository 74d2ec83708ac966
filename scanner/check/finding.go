package check

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/keys"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
)

// A Finding is a violation before its texts are put together.
type Finding struct {
	Path           string // "" if the file is missing in the tree
	Rule           int    // index in the bundle
	Ref            rules.PatternRef
	Match          *match.Find       // a forbidden item, or a key pattern
	Key            *KeyMatch         // matches of a key pattern
	EOF            *verdict.Evidence // of a missing item; otherwise nil: most violations need none, and it is large
	Note           string            // of verdict.Violation
	MaxOccurrences int64             // of Match in the variant with most; 0: no other variant has more

	Status    string          // of verdict.Violation
	NewPlaces int64           // new ones among the places that count
	Places    []verdict.Place // with their labels; nil: those of the match
	Same      []bool          // of the match's first places: whether a key pattern finds them, too; nil: none
	Grouped   *Result         // its file's group, if several files are compared together, at the end

	firstNew *firstNew // the first new place; nil: the first place, if any, is shown
}

// A firstNew is the evidence of a violation's first new place, other than its first place.
type firstNew struct {
	place   int // in Places
	match   *match.Find
	keyPath int // of the path that leads to the key
}

// Occurrences is the largest number of matches in one variant of the file: programs can read each variant.
func (br *Finding) Occurrences() int64 {
	if br.Match == nil {
		return 1
	}
	return max(br.Match.Evidence.Occurrences, br.MaxOccurrences)
}

// PlaceCount is the number of places to fix: the occurrences that no key pattern of the rule finds, too.
func (br *Finding) PlaceCount() int64 {
	n := br.Occurrences()
	for _, same := range br.Same {
		if same {
			n--
		}
	}
	return n
}

// IsSame reports whether a key pattern finds an occurrence, too.
func (br *Finding) IsSame(occurrence int) bool {
	return occurrence < len(br.Same) && br.Same[occurrence]
}

// ShowPlace adds to a place what is known of its occurrence, except its status.
func (br *Finding) ShowPlace(p *verdict.Place, occurrence int) {
	p.SameAsKey = br.IsSame(occurrence)
	if br.Key != nil {
		br.Key.show(p, occurrence)
	}
}

// LabelNew labels a finding and all its places as new.
func (br *Finding) LabelNew() {
	br.Status, br.NewPlaces = verdict.Introduced, br.PlaceCount()
	if br.Match != nil && br.Places == nil {
		br.Places = slices.Clone(br.Match.Evidence.Places)
	}
	for k := range br.Places {
		br.Places[k].Status = verdict.Introduced
	}
}

// A KeyMatch is a match of a key pattern. Its evidence shows the first place.
type KeyMatch struct {
	find  *match.Find
	path  int         // index of the path that leads to the key, or whose key is missing
	paths []int       // for each occurrence that the find knows
	whys  []keyReason // of a required item, like paths; nil if the result was stored
}

// hasPlace reports whether the find has a place in the file, and does not mean that something is missing in the whole
// file.
func (f KeyMatch) hasPlace() bool {
	return f.find.Evidence.Kind == verdict.KindKey || f.find.Evidence.Offset > 0 || f.find.Matched != ""
}

// A keyReason is why a required key is not as required: see [verdict.Place].
type keyReason struct{ word, found string }

func whyOf(hit *keys.Hit, text []byte) keyReason {
	w := keyReason{word: [...]string{
		keys.Missing: verdict.WhyMissing, keys.PerhapsMissing: verdict.WhyPerhapsMissing,
		keys.IsNull: verdict.WhyNull, keys.IsMapping: verdict.WhyMapping, keys.IsList: verdict.WhyList,
		keys.OtherValue: verdict.WhyOther, keys.Uncertain: verdict.WhyUncertain,
	}[hit.Why]}
	if hit.Top {
		return w
	}
	w.found = firstLine(string(text[hit.At.Start:hit.At.End]))
	return w
}

// show adds to a place why the key is not as required in one of its occurrences.
func (f *KeyMatch) show(p *verdict.Place, occurrence int) {
	if occurrence < len(f.whys) {
		p.Why, p.Found = f.whys[occurrence].word, f.whys[occurrence].found
	}
}

// judge returns the violations of the rules that select a file, by its finds.
func (r *Result) judge(b *rules.Bundle) (broken []Finding) {
	s, finds := r.Plan, r.finds
	if len(finds) == 0 {
		return nil
	}
	found := make(map[int]*match.Find, len(finds))
	for _, f := range finds {
		found[f.Pattern] = f
	}
	for _, rule := range s.Rules {
		if !r.contains(rule, b) {
			continue
		}
		for k, item := range b.Rules[rule].Patterns {
			if !r.asks(rule, item) {
				continue
			}
			at, asked := s.engine.index[item]
			if f := found[at]; asked && f != nil {
				ref := rules.PatternRef{Of: rules.ForbiddenPattern, Index: k}
				broken = append(broken, Finding{Path: r.File.Path, Rule: rule, Ref: ref, Match: f})
			}
		}
	}
	return broken
}

// contains reports whether the file has one of the patterns that a rule's "containing" wants, or may have.
func (r *Result) contains(rule int, b *rules.Bundle) bool {
	if !r.Scanned && !r.OnlyKeysFailed || !r.asksKeys() && slices.ContainsFunc(b.Rules[rule].Containing, isKey) {
		return true
	}
	return r.Plan.contains(b, rule, r.finds, &r.keys)
}

// asks reports whether a text or a regex of a rule is looked for in the file.
func (r *Result) asks(rule int, item rules.Item) bool {
	return item.Kind != rules.Key && (!item.OnlyUnparsable || slices.Contains(r.keys.textual, rule))
}

// missingItems are the required items that a content does not have.
type missingItems struct {
	missing []int             // indices in the engine
	end     *verdict.Evidence // the end of the content
	note    string            // from a variant of the file
}

func appendMissing(lacks []missingItems, rep *match.Report, note string) []missingItems {
	if len(rep.Missing) == 0 {
		return lacks
	}
	return append(lacks, missingItems{rep.Missing, rep.End, note})
}

func (r *Result) addMissing(l missingItems, b *rules.Bundle) {
	if len(l.missing) == 0 {
		return
	}
	for _, rule := range r.Plan.Rules {
		for k, item := range b.Rules[rule].Required {
			if r.asks(rule, item) && slices.Contains(l.missing, r.Plan.engine.index[item]) && r.contains(rule, b) {
				r.Findings = append(r.Findings, Finding{
					Path: r.File.Path, Rule: rule, Ref: rules.PatternRef{Of: rules.RequiredPattern, Index: k},
					EOF: l.end, Note: l.note,
				})
			}
		}
	}
}

// PathFindings appends the violations of a path by globs of forbidden_files.
func PathFindings(path string, globs []rules.GlobOf, broken []Finding) []Finding {
	for _, g := range globs {
		broken = append(broken, Finding{
			Path: path, Rule: g.Rule, Ref: rules.PatternRef{Of: rules.ForbiddenFile, Index: g.Glob},
		})
	}
	return broken
}

// SortFindings puts violations in the order of the verdict.
func SortFindings(broken []Finding) {
	slices.SortFunc(broken, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Ref.Of, b.Ref.Of), cmp.Compare(a.Ref.Index, b.Ref.Index))
	})
}

// Violation returns the verdict's violation for a finding.
func (br *Finding) Violation(b *rules.Bundle) verdict.Violation {
	r := &b.Rules[br.Rule]
	v := verdict.Violation{
		RuleID:   r.ID,
		RuleType: string(r.Type),
		Title:    r.Title,
		File:     verdict.Path(br.Path),
		Reason:   r.Message,
		Note:     br.Note,
	}
	if v.Reason == "" {
		v.Reason = r.Title + ": " + br.Ref.Broken(r)
	}
	v.Status, v.PlaceCount = br.Status, br.PlaceCount()
	if br.Status == verdict.Introduced {
		v.NewPlaceCount = min(max(br.NewPlaces, 1), v.PlaceCount)
	}
	if br.Match != nil {
		br.found(&v, r)
		return v
	}
	if br.EOF != nil {
		v.Evidence = *br.EOF
	} else {
		v.Evidence = verdict.Evidence{
			Kind: verdict.KindMissing, Line: 1, Column: 1, EndLine: 1, EndColumn: 1,
			UTF16Column: 1, UTF16EndColumn: 1, Occurrences: 1,
		}
	}
	if br.Ref.Of == rules.ForbiddenFile {
		v.Evidence.Kind = verdict.KindFile
	}
	v.Evidence.Pattern = br.Ref.Name(r)
	v.Fingerprint = verdict.Fingerprint(v.RuleID, v.File, v.Evidence.Pattern, verdict.NoLine(v.Evidence.Kind))
	return v
}

func (br *Finding) found(v *verdict.Violation, r *rules.Rule) {
	f, item := br.Match, br.Ref.Item(r)
	v.Evidence = f.Evidence
	v.Evidence.Pattern = item.Name
	if item.Kind == rules.Regex {
		v.Evidence.Kind = verdict.KindRegex
	}
	line, path, redact := f.Line, 0, r.Redact
	if br.Key != nil {
		path, redact = br.Key.path, redact && br.Key.hasPlace()
	}
	v.Evidence.Excerpt = excerptOf(item, f, path, redact)
	if redact {
		line = []byte(v.Evidence.Excerpt)
		v.Evidence.LineHash = "" // of 100 characters, redacted ones included
	}
	v.Fingerprint = verdict.Fingerprint(v.RuleID, v.File, v.Evidence.Pattern, line)
	br.showStatus(v, item, redact)
	if r.Redact && br.Key != nil {
		v.Evidence.Places = slices.Clone(v.Evidence.Places)
		for i := range v.Evidence.Places {
			v.Evidence.Places[i].Found = "" // it may be the secret
		}
	}
}

// excerptOf returns the excerpt of a find. path is the index of the path that leads to the key.
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

// inPlace cuts the parts of an excerpt whose match is replaced by a regex or a path: the match may be the secret. The
// regex comes first, and the rest of the room is divided evenly.
func inPlace(before, expression, after string) (b, e, a string) {
	const room = 200
	left, mid, right := []rune(before), []rune(expression), []rune(after)
	mid = mid[:min(len(mid), room)]
	free := room - len(mid)
	l := min(len(left), max(free/2, free-len(right)))
	return string(left[len(left)-l:]), string(mid), string(right[:min(len(right), free-l)])
}

// judgeKeys appends the violations of the rules that select a file, by its finds of key patterns. Missing items are
// known only if the whole file was read.
func (r *Result) judgeKeys(whole bool, b *rules.Bundle, broken []Finding) []Finding {
	if len(r.keys.finds) == 0 {
		return broken
	}
	for _, rule := range r.Plan.keyed {
		if !r.contains(rule, b) {
			continue
		}
		add := func(items []rules.Item, of rules.PatternList, required bool) {
			for i, item := range items {
				if item.Kind != rules.Key {
					continue
				}
				if f, ok := r.keys.finds[keyRef{item.Name, required}]; ok {
					ask := rules.PatternRef{Of: of, Index: i}
					broken = append(broken, Finding{Path: r.File.Path, Rule: rule, Ref: ask, Match: f.find, Key: &f})
				}
			}
		}
		add(b.Rules[rule].Patterns, rules.ForbiddenPattern, false)
		if whole {
			add(b.Rules[rule].Required, rules.RequiredPattern, true)
		}
	}
	return broken
}

// ShowInstead makes the violation show an occurrence other than the first: the one with a number, at an index of
// Places, as it was read again.
func (br *Finding) ShowInstead(place, occurrence int, read *match.Find) {
	br.firstNew = &firstNew{place: place, match: read}
	if br.Key != nil {
		br.firstNew.keyPath = br.Key.paths[occurrence]
	}
}

func (br *Finding) showStatus(v *verdict.Violation, item rules.Item, redact bool) {
	if br.Places == nil {
		return
	}
	v.Evidence.Places = br.Places
	first := slices.IndexFunc(br.Places, func(p verdict.Place) bool { return p.Status == verdict.Introduced })
	switch {
	case br.firstNew != nil:
		p := &br.Places[br.firstNew.place]
		p.Excerpt = excerptOf(item, br.firstNew.match, br.firstNew.keyPath, redact)
		if !redact {
			p.LineHash = br.firstNew.match.Evidence.LineHash
		}
	case first == 0:
		br.Places[0].Excerpt, br.Places[0].LineHash = v.Evidence.Excerpt, v.Evidence.LineHash
	}
}
