package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/keys"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// A keyRef identifies a key pattern by its name.
type keyRef struct {
	name     string
	required bool
}

// A keyResult is the result of the key patterns for a content.
type keyResult struct {
	finds    map[keyRef]KeyMatch
	errors   []verdict.Error // why rules could not check it
	reason   string          // the word for the first of them
	unjudged []int           // the rules that could not check it
	unparsed bool            // it cannot be parsed, and a rule allows checking its text alone
	textual  []int           // the rules with a key pattern that could not parse it
	perhaps  []int           // the rules whose "containing" is unknown for it
	parsed   []formats.Format
	textOnly []formats.Format      // the formats in which it cannot be parsed
	signs    map[string]keys.Signs // required items by name; nil if unused
	places   map[keyRef]int        // where items are checked; nil if unused
	why      map[keyRef][]Reason   // why they find nothing, and keys that they may mean; nil if unused
}

// A keyChecker checks contents for key patterns.
type keyChecker struct {
	bundle   *rules.Bundle
	budget   *ParseLimiter // nil: no limit on parallel parsing
	note     string        // the variant of the file in the contents, for messages; "" for the file itself
	traced   bool          // collects the signs of required items
	explains bool          // collects why items find nothing
}

// A ParseLimiter bounds the contents parsed at the same time: documents need many times the memory of their text. It
// has room for one content of the maximal length.
type ParseLimiter struct {
	mu   sync.Mutex
	free *sync.Cond
	left int64
}

func NewParseLimiter() *ParseLimiter {
	b := &ParseLimiter{left: int64(formats.Limits().Bytes)}
	b.free = sync.NewCond(&b.mu)
	return b
}

// weight is a content's share of the limiter. A quarter of the maximal length can have nearly as many values as any
// content, at two bytes each, and memory depends on values: a content of that length is parsed alone.
func weight(n int64) int64 { return min(4*n, int64(formats.Limits().Bytes)) }

// enter waits until there is room for a weight, and returns its release.
func (b *ParseLimiter) enter(n int64) (leave func()) {
	if b == nil {
		return func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.left < n {
		b.free.Wait()
	}
	b.left -= n
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.left += n
		b.free.Broadcast()
	}
}

func hasKeys(r *rules.Rule) bool {
	return slices.ContainsFunc(r.Patterns, isKey) || slices.ContainsFunc(r.Required, isKey) ||
		slices.ContainsFunc(r.Containing, isKey)
}

func isKey(item rules.Item) bool { return item.Kind == rules.Key }

// examine checks an examined content by the key patterns of the rules that select it.
func (k *keyChecker) examine(
	ctx context.Context, x *match.Examiner, s *Plan, path string, c io.ReadSeeker, rep *match.Report,
) (keyResult, error) {
	limit := int64(formats.Limits().Bytes)
	if rep.Bytes > limit {
		return k.tooLong(s, path, limit, rep), nil
	}
	defer k.budget.enter(weight(rep.Bytes))()
	if err := context.Cause(ctx); err != nil {
		return keyResult{}, err
	}
	content := rep.Content
	if content == nil {
		if _, err := c.Seek(0, io.SeekStart); err != nil {
			return keyResult{}, err
		}
		content = make([]byte, rep.Bytes)
		_, err := io.ReadFull(c, content)
		rep.Reads += 2 // one or more other ones
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = match.ErrChanged
		}
		if err != nil {
			return keyResult{}, err
		}
	}
	return k.judge(ctx, x, s, path, content, rep)
}

type keyPattern struct {
	keyRef
	item  rules.Item
	rules []int
}

// askedBy returns the key patterns of some rules, each once; with marks those of "containing".
func askedBy(b *rules.Bundle, keyed []int, marks bool) []*keyPattern {
	var all []*keyPattern
	known := map[keyRef]*keyPattern{}
	for _, r := range keyed {
		rule := &b.Rules[r]
		add := func(items []rules.Item, required bool) {
			for _, item := range items {
				if item.Kind != rules.Key {
					continue
				}
				ask := keyRef{item.Name, required}
				if known[ask] == nil {
					known[ask] = &keyPattern{keyRef: ask, item: item}
					all = append(all, known[ask])
				}
				known[ask].rules = append(known[ask].rules, r)
			}
		}
		if marks {
			add(rule.Containing, false)
			continue
		}
		add(rule.Patterns, false)
		add(rule.Required, true)
	}
	return all
}

func formatOf(item rules.Item, path string) (formats.Format, bool) {
	f, known := formats.Of(path)
	if named := formats.Format(item.Key.Format); named != "" && (named != formats.JSON || f != formats.TerraformJSON) {
		return named, true
	}
	return f, known
}

func (a *keyPattern) known(path string) bool {
	_, known := formatOf(a.item, path)
	return known
}

// judge parses a content, once in each format that items name, and checks the items.
func (k *keyChecker) judge(
	ctx context.Context, x *match.Examiner, s *Plan, path string, content []byte, rep *match.Report,
) (keyResult, error) {
	out := keyResult{finds: map[keyRef]KeyMatch{}, signs: map[string]keys.Signs{}, places: map[keyRef]int{},
		why: map[keyRef][]Reason{}}
	text, ok := match.Decode(content)
	type parsedFile struct {
		documents []keys.Document
		err       error
	}
	parsed := map[formats.Format]parsedFile{}
	parse := func(f formats.Format) ([]keys.Document, error) {
		p, known := parsed[f]
		switch {
		case known:
		case ok:
			p.documents, p.err = formats.Parse(f, text.UTF8, formats.Limits())
		default:
			const reason = "not text in the encoding of its byte order mark"
			p.err = &formats.ParseError{Offset: len(text.UTF8), Reason: reason}
		}
		parsed[f] = p
		return p.documents, p.err
	}
	for _, a := range s.marks {
		documents, err := []keys.Document(nil), error(nil)
		var limit *formats.LimitError
		f, known := formatOf(a.item, path)
		if known {
			documents, err = parse(f)
		}
		if !known || err != nil || keys.Beyond(a.item.Key, documents) != nil {
			out.perhaps = append(out.perhaps, a.rules...)
		}
		if errors.As(err, &limit) {
			err = k.unread(ctx, x, &out, path, text, f, []*keyPattern{a}, err)
		} else {
			err = k.ask(ctx, x, &out, path, text, f, []*keyPattern{a}, documents)
		}
		if err != nil {
			return keyResult{}, err
		}
	}
	order, byFormat := k.byFormat(&out, k.asking(s, &out, rep), path)
	for _, f := range order {
		documents, err := parse(f)
		items := byFormat[f]
		if err != nil {
			if err := k.unread(ctx, x, &out, path, text, f, items, err); err != nil {
				return keyResult{}, err
			}
			items = slices.DeleteFunc(items, func(a *keyPattern) bool { return a.required })
		} else {
			out.parsed = append(out.parsed, f)
		}
		if possible := s.filter.Possible(documents); possible != nil && !k.explains && !k.traced {
			items = slices.DeleteFunc(items, func(a *keyPattern) bool { return !a.required && !possible[a.item.Key] })
		}
		if err := k.ask(ctx, x, &out, path, text, f, items, documents); err != nil {
			return keyResult{}, err
		}
	}
	return out, context.Cause(ctx)
}

// asking returns the key patterns of a plan without the rules that want a file to contain what it does not have.
func (k *keyChecker) asking(s *Plan, out *keyResult, rep *match.Report) []*keyPattern {
	others := func(r int) bool { return !s.contains(k.bundle, r, rep.Finds, out) }
	if !slices.ContainsFunc(s.keyed, others) {
		return s.asked
	}
	var all []*keyPattern
	for _, a := range s.asked {
		if left := slices.DeleteFunc(slices.Clone(a.rules), others); len(left) > 0 {
			all = append(all, &keyPattern{a.keyRef, a.item, left})
		}
	}
	return all
}

// contains reports whether a file with some finds has one of the patterns of a rule's "containing", or may have.
func (s *Plan) contains(b *rules.Bundle, rule int, finds []*match.Find, k *keyResult) bool {
	wants := b.Rules[rule].Containing
	if len(wants) == 0 || slices.Contains(k.perhaps, rule) {
		return true
	}
	return slices.ContainsFunc(wants, func(item rules.Item) bool {
		if item.Kind == rules.Key {
			_, found := k.finds[keyRef{item.Name, false}]
			return found
		}
		at, asked := s.engine.index[item]
		return asked && slices.ContainsFunc(finds, func(f *match.Find) bool { return f.Pattern == at })
	})
}

// ask checks items in parsed documents, and adds their matches.
func (k *keyChecker) ask(
	ctx context.Context, x *match.Examiner, out *keyResult, path string, text *match.Text, f formats.Format,
	items []*keyPattern, documents []keys.Document,
) error {
	type brokenItem struct {
		*keyPattern
		hits []keys.Hit
	}
	var broken []brokenItem
	var regions [][]match.Region
	var names map[string]keys.Span // keys with dots
	for _, a := range items {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		var beyond *keys.BeyondError
		if errors.As(keys.Beyond(a.item.Key, documents), &beyond) {
			limit := &formats.LimitError{Offset: beyond.At.Start, Reason: beyond.Reason}
			if err := k.unread(ctx, x, out, path, text, f, []*keyPattern{a}, limit); err != nil {
				return err
			}
		}
		find := keys.Forbidden
		if a.required {
			find = keys.Required
			if k.traced {
				out.signs[a.name] = keys.SignsOf(a.item.Key, documents)
			}
		}
		if k.explains || k.traced {
			if names == nil {
				names = keys.DottedNames(documents)
			}
			if err := k.explain(ctx, x, out, text, a, documents, names); err != nil {
				return err
			}
		}
		if found := find(a.item.Key, documents); len(found) > 0 {
			broken = append(broken, brokenItem{a, found})
			var places []match.Region
			for _, hit := range found[:min(len(found), x.Kept())] {
				places = append(places, match.Region{Start: hit.At.Start, End: hit.At.End})
			}
			regions = append(regions, places)
		}
	}
	finds, err := x.Locate(ctx, text, regions)
	if err != nil {
		return err
	}
	for i, a := range broken {
		f := finds[i]
		f.Evidence.Kind = verdict.KindKey
		if a.required {
			f.Evidence.Kind = verdict.KindMissing // or has another value
		}
		first := a.hits[0]
		if a.required && first.At == (keys.Span{}) { // the file has no place for it
			if f, err = x.Lacking(ctx, text); err != nil {
				return err
			}
		}
		f.Evidence.Occurrences = int64(len(a.hits))
		found := KeyMatch{find: f, path: first.Path}
		for i, hit := range a.hits[:f.Known()] {
			found.paths = append(found.paths, hit.Path)
			if a.required {
				found.whys = append(found.whys, whyOf(&hit, text.UTF8))
				if i < len(f.Evidence.Places) {
					found.show(&f.Evidence.Places[i], i)
				}
			}
		}
		out.finds[a.keyRef] = found
	}
	return nil
}

// byFormat returns the formats in which a file is parsed, in order, and the items of each. It records items without a
// format.
func (k *keyChecker) byFormat(
	out *keyResult, asked []*keyPattern, path string,
) (order []formats.Format, items map[formats.Format][]*keyPattern) {
	items = map[formats.Format][]*keyPattern{}
	var nameless []int
	for _, a := range asked {
		f, known := formatOf(a.item, path)
		if !known {
			nameless = append(nameless, a.rules...)
			continue
		}
		if items[f] == nil {
			order = append(order, f)
		}
		items[f] = append(items[f], a)
	}
	if len(nameless) > 0 {
		out.fail(nameless, "unknown-format", code.Format, path, fmt.Sprintf(
			"unknown format, but %s has a key pattern; "+
				"add format: yaml, json, hcl, toml or dockerfile to it, or select only files named %s",
			k.named(nameless), strings.Join(formats.Names(), " ")))
	}
	return order, items
}

// rulesOf returns the rules of items, possibly repeated.
func rulesOf(items []*keyPattern) (all []int) {
	for _, a := range items {
		all = append(all, a.rules...)
	}
	return all
}

// add adds the results of another variant of the content, without repeating known ones, which are passed to again.
func (out *keyResult) add(form keyResult, again func(known, inForm *match.Find), noted func(KeyMatch)) {
	for ask, f := range form.finds {
		if known, ok := out.finds[ask]; ok {
			again(known.find, f.find)
			continue
		}
		if out.finds == nil {
			out.finds = map[keyRef]KeyMatch{}
		}
		out.finds[ask] = f
		noted(f)
	}
	for _, e := range form.errors {
		if !slices.ContainsFunc(out.errors, func(known verdict.Error) bool { return known.Code == e.Code }) {
			out.errors = append(out.errors, e)
		}
	}
	if out.reason == "" {
		out.reason = form.reason
	}
	out.unjudged = append(out.unjudged, form.unjudged...)
	out.unparsed = out.unparsed || form.unparsed
	out.textual, out.perhaps = append(out.textual, form.textual...), append(out.perhaps, form.perhaps...)
}
