package check

import (
	"cmp"
	"context"
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

// Reuse takes results of files from earlier scans of the same blob, and stores new ones. Only trees of a commit's
// blobs without a baseline reuse results.
type Reuse struct {
	Store   *reuse.Store
	Program [sha256.Size]byte // identifies the program: results of another one are not reused

	reused, again, read atomic.Int64
}

// Counts returns the number of files with reused results, of those checked again for comparison, and of bytes read
// from files.
func (r *Reuse) Counts() (reused, again, read int64) {
	return r.reused.Load(), r.again.Load(), r.read.Load()
}

// A kept is the stored result of a scanned file, with all that the verdict needs.
type kept struct {
	Bytes    int64
	Unparsed bool          `json:",omitzero"`
	Textual  []int         `json:",omitzero"` // as in a keyResult
	Perhaps  []int         `json:",omitzero"`
	Finds    []*match.Find `json:",omitzero"` // of items without a key
	Keyed    []keptKey     `json:",omitzero"` // of those with one, by item
	Lacks    []keptEnd     `json:",omitzero"`
}

type keptKey struct {
	Item     string
	Required bool `json:",omitzero"`
	Path     int
	Paths    []int
	Find     *match.Find
}

type keptEnd struct {
	Missing []int
	End     verdict.Evidence
}

// A Cache reuses results in one scan.
type Cache struct {
	Reuse  *Reuse
	Depend []string // other inputs of a result than the file and the rules: the version, the bundles' hashes
	Commit string   // the scanned commit: it selects the results to check again
}

// check checks a file by its content, or takes the result of an earlier scan.
func (u *Cache) check(ctx context.Context, c *Checker, x *match.Examiner, r *Result) {
	key, reusable := u.key(c, r)
	var compare []byte
	if reusable {
		var done bool
		if compare, done = u.fromStore(c, r, key); done {
			return
		}
	}
	c.check(ctx, x, r)
	u.Reuse.read.Add(r.read)
	if reusable && r.examined && (ctx.Err() == nil || r.Scanned || r.Reason != "") {
		u.keep(c, r, key, compare)
	}
}

func (u *Cache) key(c *Checker, r *Result) (k reuse.Key, ok bool) {
	if !r.File.IsRegular() || r.File.Blob.IsZero() {
		return k, false
	}
	if r.Plan.engine.all { // the pattern indices in a kept result depend on more than the rules of the key
		return k, false
	}
	if r.File.Checkout != nil {
		// A blob that git checks out in another encoding is checked in that one, too.
		if a, err := r.File.Checkout.Attributes(r.File.Path); err != nil || len(a.Encodings) > 0 {
			return k, false
		}
	}
	h := sha256.New()
	add := func(texts ...string) { // no two keys can be confused
		for _, text := range texts {
			h.Write(binary.AppendUvarint(nil, uint64(len(text))))
			h.Write([]byte(text))
		}
	}
	add(string(u.Reuse.Program[:]), fmt.Sprint(c.MaxFileBytes), strings.Join(c.Allowed, "\n"))
	add(u.Depend...)
	add("rules")
	for _, rule := range r.Plan.Rules {
		add(c.Bundle.Rules[rule].ID)
	}
	add("blob", r.File.Blob.String())
	if r.asksKeys() {
		f, known := formats.Of(r.File.Path)
		add(fmt.Sprint(f, known))
	}
	return reuse.Key(h.Sum(nil)), true
}

// fromStore takes the result of a file from the store, or returns false if the file must be read. It then returns the
// stored result if the two are to be compared.
func (u *Cache) fromStore(c *Checker, r *Result, k reuse.Key) (compare []byte, done bool) {
	text, ok := u.Reuse.Store.Get(k)
	if !ok {
		return nil, false
	}
	var of kept
	if json.Unmarshal(text, &of) != nil || !of.fits(r) {
		return nil, false
	}
	if u.checksAgain(k) {
		return text, false
	}
	u.Reuse.reused.Add(1)
	of.restore(r)
	if r.File.Checkout != nil {
		if a, err := r.File.Checkout.Attributes(r.File.Path); err == nil {
			c.FilterReport.Add(r.File.Path, a)
		}
	}
	return nil, true
}

// checksAgain selects one in a hundred reused results for another check. The selection differs in each commit, so that
// nobody who forges an entry knows whether it will be found.
func (u *Cache) checksAgain(k reuse.Key) bool {
	sum := sha256.Sum256(append(k[:], u.Commit...))
	return binary.BigEndian.Uint64(sum[:8])%100 == 0
}

// keep stores the result of a scanned file. It must equal a result that the store already had.
func (u *Cache) keep(c *Checker, r *Result, k reuse.Key, compare []byte) {
	whole := r.Scanned && r.Err == nil && len(r.keys.errors) == 0
	var text []byte
	if whole {
		var err error
		if text, err = json.Marshal(keptOf(r)); err != nil {
			whole = false // it has text that JSON cannot represent
		}
	}
	switch {
	case compare != nil && string(text) != string(compare):
		r.Err = &verdict.Error{Code: code.Reuse, File: verdict.Path(r.File.Path), Message: "the result that an " +
			"earlier run kept for this content (" + hex.EncodeToString(k[:8]) + "…) is not what a scan finds in it; " +
			"delete the directory of --reuse, and find out who can write to it"}
	case compare != nil:
		u.Reuse.reused.Add(1)
		u.Reuse.again.Add(1)
	case whole && !c.secret(r) && !c.sharesPlaces(r):
		u.Reuse.Store.Put(k, text)
	}
}

// secret reports whether a rule with redact found something in the file: its text must not be stored.
func (c *Checker) secret(r *Result) bool {
	for _, rule := range r.Plan.Rules {
		if !c.Bundle.Rules[rule].Redact {
			continue
		}
		for _, item := range slices.Concat(c.Bundle.Rules[rule].Patterns, c.Bundle.Rules[rule].Required) {
			for ask := range r.keys.finds {
				if item.Kind == rules.Key && ask.name == item.Name {
					return true
				}
			}
			at, asked := r.Plan.engine.index[item]
			if asked && slices.ContainsFunc(r.finds, func(f *match.Find) bool { return f.Pattern == at }) {
				return true
			}
		}
	}
	return false
}

// keptOf returns the stored form of a result, the same for equal results.
func keptOf(s *Result) *kept {
	k := &kept{
		Bytes: s.Bytes, Unparsed: s.keys.unparsed, Textual: s.keys.textual, Perhaps: s.keys.perhaps, Finds: s.finds,
	}
	for ask, f := range s.keys.finds {
		k.Keyed = append(k.Keyed, keptKey{ask.name, ask.required, f.path, f.paths, f.find})
	}
	slices.SortFunc(k.Keyed, func(a, b keptKey) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(fmt.Sprint(a.Required), fmt.Sprint(b.Required)))
	})
	for _, l := range s.missing {
		k.Lacks = append(k.Lacks, keptEnd{l.missing, *l.end})
	}
	return k
}

// fits reports whether a stored result can belong to a file: its indices are in the plan. A forged result may be
// wrong, but must not end the run.
func (k *kept) fits(r *Result) bool {
	n := r.Plan.engine.engine.Len()
	in := func(i int) bool { return i >= 0 && i < n }
	if slices.ContainsFunc(k.Finds, func(f *match.Find) bool { return f == nil || !in(f.Pattern) }) {
		return false
	}
	for _, l := range k.Lacks {
		if slices.ContainsFunc(l.Missing, func(i int) bool { return !in(i) }) {
			return false
		}
	}
	if slices.ContainsFunc(k.Keyed, func(f keptKey) bool { return f.Find == nil || !r.Plan.fits(f) }) {
		return false
	}
	return k.Bytes >= 0
}

// fits reports whether a stored result of a key pattern can belong to the plan.
func (s *Plan) fits(o keptKey) bool {
	return slices.ContainsFunc(slices.Concat(s.asked, s.marks), func(a *keyPattern) bool {
		in := func(i int) bool { return i >= 0 && i < len(a.item.Key.Paths) }
		return a.keyRef == keyRef{o.Item, o.Required} && in(o.Path) &&
			!slices.ContainsFunc(o.Paths, func(i int) bool { return !in(i) })
	})
}

func (k *kept) restore(s *Result) {
	s.Reached, s.Scanned, s.examined, s.Bytes, s.keys.unparsed = true, true, true, k.Bytes, k.Unparsed
	s.finds, s.keys.textual, s.keys.perhaps = k.Finds, k.Textual, k.Perhaps
	for _, o := range k.Keyed {
		if s.keys.finds == nil {
			s.keys.finds = map[keyRef]KeyMatch{}
		}
		s.keys.finds[keyRef{o.Item, o.Required}] = KeyMatch{find: o.Find, path: o.Path, paths: o.Paths}
	}
	for _, l := range k.Lacks {
		s.missing = append(s.missing, missingItems{missing: l.Missing, end: &l.End})
	}
}
