package scanner

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/keys/formats"
	"github.com/policyscan/policyscan/scanner/match"
	"github.com/policyscan/policyscan/scanner/reuse"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Reuse takes results of files from earlier scans, where they are of the same blob, and keeps new ones. Only trees of
// a commit's blobs that are compared with nothing reuse results.
type Reuse struct {
	Store   *reuse.Store
	Program [sha256.Size]byte // what the program is: another one's results are not reused

	reused, again, read atomic.Int64
}

// Counts returns how many files' results were reused, how many of these were made again and compared, and how many
// bytes of files were read in all.
func (r *Reuse) Counts() (reused, again, read int64) {
	return r.reused.Load(), r.again.Load(), r.read.Load()
}

// A kept is what is stored of a job: all that the verdict needs of a file that was scanned.
type kept struct {
	Bytes    int64
	Unparsed bool      `json:",omitzero"`
	Finds    []keptOne `json:",omitzero"` // of items without a key
	Keyed    []keptOne `json:",omitzero"` // of those with one, by item
	Lacks    []keptEnd `json:",omitzero"`
}

type keptOne struct {
	Pattern                int    `json:",omitzero"` // of an item without a key: its index in the engine
	Item                   string `json:",omitzero"` // of one with a key
	Required               bool   `json:",omitzero"`
	Path                   int    `json:",omitzero"`
	Paths                  []int  `json:",omitzero"`
	Evidence               verdict.Evidence
	Before, Matched, After string
	Line                   []byte
}

type keptEnd struct {
	Missing []int
	End     verdict.Evidence
}

// reusable returns the key of a job's result, if that depends on nothing but what is in the key.
func (p *collector) reusable(j *job) (k reuse.Key, ok bool) {
	if p.Reuse == nil || p.past != nil || p.witness != nil || !j.file.IsRegular() || j.file.Blob.IsZero() {
		return k, false
	}
	if j.engine.all { // its numbers of patterns, which a kept result has, depend on more than the rules of the key
		return k, false
	}
	if j.file.Checkout != nil {
		// What git writes in another encoding is judged in that one, too.
		if w, err := j.file.Checkout.Written(j.file.Path); err != nil || len(w.Encodings) > 0 {
			return k, false
		}
	}
	h := sha256.New()
	add := func(texts ...string) { // none of which can be taken for another
		for _, text := range texts {
			h.Write(binary.AppendUvarint(nil, uint64(len(text))))
			h.Write([]byte(text))
		}
	}
	add(string(p.Reuse.Program[:]), p.Version, fmt.Sprint(p.MaxFileBytes), strings.Join(p.allowed, "\n"))
	for i := range p.Policies {
		add(p.Policies[i].SHA256)
	}
	add("rules")
	for _, r := range j.rules {
		add(p.Bundle.Rules[r].ID)
	}
	add("blob", j.file.Blob.String())
	if j.asksKeys() {
		f, known := formats.Of(j.file.Path)
		add(fmt.Sprint(f, known))
	}
	return reuse.Key(h.Sum(nil)), true
}

// fromStore takes the result of a job from the store; false if the file is to be read. It then returns what the store
// has, if that is to be compared.
func (p *collector) fromStore(j *job, k reuse.Key) (compare []byte, done bool) {
	text, ok := p.Reuse.Store.Get(k)
	if !ok {
		return nil, false
	}
	var of kept
	if json.Unmarshal(text, &of) != nil || !of.fits(j) {
		return nil, false
	}
	if p.checksAgain(k) {
		return text, false
	}
	p.Reuse.reused.Add(1)
	of.restore(&j.result)
	if j.file.Checkout != nil {
		if w, err := j.file.Checkout.Written(j.file.Path); err == nil {
			p.Rewritten.Add(j.file.Path, w)
		}
	}
	return nil, true
}

// checksAgain reports whether a reused result is one of those, one in a hundred, that are made again: other ones
// in each commit, so that who forges an entry does not know whether it will be found out.
func (p *collector) checksAgain(k reuse.Key) bool {
	sum := sha256.Sum256(append(k[:], p.tree.Scope().HeadCommit...))
	return binary.BigEndian.Uint64(sum[:8])%100 == 0
}

// keep stores the result of a job that was scanned. If there was one in the store, it must have been the same.
func (p *collector) keep(j *job, k reuse.Key, compare []byte) {
	s := &j.result
	whole := s.scanned && s.err == nil && len(s.keyed.errors) == 0
	var text []byte
	if whole {
		var err error
		if text, err = json.Marshal(keptOf(s)); err != nil {
			whole = false // it has text that JSON does not hold
		}
	}
	switch {
	case compare != nil && string(text) != string(compare):
		s.err = &verdict.Error{Code: code.Reuse, File: verdict.Path(j.file.Path), Message: "the result that an " +
			"earlier run kept for this content (" + hex.EncodeToString(k[:8]) + "…) is not what a scan finds in it; " +
			"delete the folder of --reuse, and find out who can write to it"}
	case compare != nil:
		p.Reuse.reused.Add(1)
		p.Reuse.again.Add(1)
	case whole && !p.secret(s, j):
		p.Reuse.Store.Put(k, text)
	}
}

// secret reports whether a rule that redacts has found something in the file: that is not to be in another one.
func (p *collector) secret(s *result, j *job) bool {
	for _, r := range j.rules {
		if !p.Bundle.Rules[r].Redact {
			continue
		}
		for _, item := range slices.Concat(p.Bundle.Rules[r].Patterns, p.Bundle.Rules[r].Required) {
			for ask := range s.keyed.finds {
				if item.Kind == rules.Key && ask.name == item.Name {
					return true
				}
			}
			at, asked := j.engine.index[item]
			if asked && slices.ContainsFunc(s.finds, func(f *match.Find) bool { return f.Pattern == at }) {
				return true
			}
		}
	}
	return false
}

// keptOf returns what is stored of a result, the same for equal results.
func keptOf(s *result) *kept {
	k := &kept{Bytes: s.bytes, Unparsed: s.keyed.unparsed}
	one := func(f *match.Find) keptOne {
		return keptOne{Evidence: f.Evidence, Before: f.Before, Matched: f.Matched, After: f.After, Line: f.Line}
	}
	for _, f := range s.finds {
		o := one(f)
		o.Pattern = f.Pattern
		k.Finds = append(k.Finds, o)
	}
	for ask, f := range s.keyed.finds {
		o := one(f.Find)
		o.Pattern, o.Item, o.Required, o.Path, o.Paths = f.Pattern, ask.name, ask.required, f.path, f.paths
		k.Keyed = append(k.Keyed, o)
	}
	slices.SortFunc(k.Keyed, func(a, b keptOne) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(fmt.Sprint(a.Required), fmt.Sprint(b.Required)))
	})
	for _, l := range s.lacks {
		k.Lacks = append(k.Lacks, keptEnd{l.missing, *l.end})
	}
	return k
}

// fits reports whether what is stored can be of a job: its indices are of that job's patterns. What is forged may be
// wrong, but must not end the run.
func (k *kept) fits(j *job) bool {
	n := j.engine.Len()
	in := func(i int) bool { return i >= 0 && i < n }
	for _, f := range k.Finds {
		if !in(f.Pattern) {
			return false
		}
	}
	for _, l := range k.Lacks {
		if slices.ContainsFunc(l.Missing, func(i int) bool { return !in(i) }) {
			return false
		}
	}
	for _, f := range k.Keyed {
		if !j.selection.fits(f) {
			return false
		}
	}
	return k.Bytes >= 0
}

// fits reports whether what is stored of an item with a key can be of one of the selection.
func (s *selection) fits(o keptOne) bool {
	return slices.ContainsFunc(s.asked, func(a *asked) bool {
		in := func(i int) bool { return i >= 0 && i < len(a.item.Key.Paths) }
		return a.keyAsk == keyAsk{o.Item, o.Required} && in(o.Path) &&
			!slices.ContainsFunc(o.Paths, func(i int) bool { return !in(i) })
	})
}

func (k *kept) restore(s *result) {
	find := func(o *keptOne) *match.Find {
		return &match.Find{
			Pattern: o.Pattern, Evidence: o.Evidence,
			Before: o.Before, Matched: o.Matched, After: o.After, Line: o.Line,
		}
	}
	s.reached, s.scanned, s.examined, s.bytes, s.keyed.unparsed = true, true, true, k.Bytes, k.Unparsed
	for i := range k.Finds {
		s.finds = append(s.finds, find(&k.Finds[i]))
	}
	for i := range k.Keyed {
		o := &k.Keyed[i]
		if s.keyed.finds == nil {
			s.keyed.finds = map[keyAsk]keyFind{}
		}
		s.keyed.finds[keyAsk{o.Item, o.Required}] = keyFind{Find: find(o), path: o.Path, paths: o.Paths}
	}
	for _, l := range k.Lacks {
		s.lacks = append(s.lacks, lack{missing: l.Missing, end: &l.End})
	}
}
