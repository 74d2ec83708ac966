package summary

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
)

// PartVersion is the version of the format of a [Part]. No fleet has it.
const PartVersion = "fleet-shard-1"

// A Part is the shard file of a fleet, shard.json: the results of one shard's repositories. Its fields are in the
// order of the file.
type Part struct {
	SchemaVersion string      `json:"schema_version"`
	Verdict       string      `json:"verdict"` // shard.Undecided or shard.Fail, never PASS
	Shard         shard.Split `json:"shard"`
	State         string      `json:"state"` // as in [shard.Document]
	Options       Options     `json:"options"`
	// Fleet has the shard's repositories, but the List of the whole run, and never says PASS.
	Fleet Fleet  `json:"fleet"`
	Sum   string `json:"sum"` // see [shard.Seal]
}

//go:embed partschema.json
var partSchema string

// PartSchema returns the JSON Schema (draft 2020-12) of a shard.json of this [PartVersion].
func PartSchema() []byte { return []byte(partSchema) }

// Options are the flags that verdicts depend on and a [Fleet] does not contain.
type Options struct {
	RequireGoverned bool  `json:"require_governed"`
	MaxFileBytes    int64 `json:"max_file_bytes"`
}

// NewPart returns the part of a run whose fleet is decided.
func NewPart(of shard.Split, state string, o Options, f *Fleet) *Part {
	p := &Part{Verdict: shard.Undecided, Shard: of, State: state, Options: o, Fleet: *f}
	p.Fleet.Verdict = verdict.Fail // also for the only shard: the merge decides
	if f.Totals.Places > 0 {
		p.Verdict = shard.Fail
	}
	return p
}

// Decided reports whether all repositories of the part were decided, with or without violations.
func (p *Part) Decided() bool {
	return p.State == shard.Done && len(p.Fleet.Errors) == 0 && p.Fleet.Totals.Incomplete == 0
}

// Encode returns the document's bytes, with its checksum.
func (p *Part) Encode() ([]byte, error) {
	c := *p
	c.SchemaVersion, c.Sum = PartVersion, ""
	return shard.Seal(&c)
}

// DecodePart reads the bytes of [Part.Encode]. It fails for other, truncated or changed text.
func DecodePart(text []byte) (*Part, error) {
	p := &Part{}
	if err := shard.Unseal(text, p); err != nil {
		return nil, err
	}
	if p.SchemaVersion != PartVersion {
		return nil, fmt.Errorf("its schema_version is %q; this policyscan reads %q", p.SchemaVersion, PartVersion)
	}
	if p.Shard.Count < 1 || p.Shard.Count > shard.MaxCount || p.Shard.Index < 0 || p.Shard.Index >= p.Shard.Count ||
		p.Fleet.SchemaVersion != SchemaVersion || p.Fleet.Verdict != verdict.Fail || !p.Fleet.consistent() ||
		!verdict.IsJSON(text, p) {
		return nil, errors.New("it is not as policyscan writes it")
	}
	return p, nil
}

// consistent reports whether rows, rules and totals follow from the repositories.
func (f *Fleet) consistent() bool {
	for i := range f.Repositories {
		r := &f.Repositories[i]
		if i > 0 && f.Repositories[i-1].Name >= r.Name ||
			sum(r.Rules) != r.Places || sum(r.AllowedRules) != r.AllowedPlaces ||
			r.Complete != (r.ErrorCount == 0) || len(r.Errors) != min(r.ErrorCount, MaxErrors) ||
			r.Verdict == verdict.Pass && (r.Places > 0 || !r.Complete || r.SHA256 == "") {
			return false
		}
	}
	again := f.decided()
	if again.Totals != f.Totals || again.Complete != f.Complete {
		return false
	}
	broken := again.Rules
	for i := range f.Rules {
		r := &f.Rules[i]
		var want Rule
		if len(broken) > 0 && broken[0].ID == r.ID {
			want, broken = broken[0], broken[1:]
		}
		if i > 0 && f.Rules[i-1].ID >= r.ID || r.Repositories != want.Repositories ||
			r.Places != want.Places || r.Enforced < r.Repositories || r.Enforced > f.Totals.Repositories {
			return false
		}
	}
	return len(broken) == 0
}

func sum(counts []RuleCount) (n int) {
	for _, c := range counts {
		n += c.Places
	}
	return n
}

// A NamedPart is a shard file for a merge, or the error of reading it.
type NamedPart struct {
	Name string // for display
	Part *Part
	Err  error
	Dir  string // of the part's verdicts; unused here
}

// Attempts removes superseded attempts of shards: an engine may retry a shard while the first attempt still runs. If
// any attempt of a shard is done, only done ones count, and complete ones before others; of equal ones, the first.
// Attempts that differ all stay, and are an error in [Merge].
func Attempts(parts []NamedPart) []NamedPart {
	rank := func(n *NamedPart) int {
		switch {
		case n.Err != nil || n.Part.State != shard.Done:
			return 0
		case !n.Part.Decided():
			return 1
		}
		return 2
	}
	best := map[shard.Split]int{}
	for i := range parts {
		if n := &parts[i]; n.Err == nil {
			best[n.Part.Shard] = max(best[n.Part.Shard], rank(n))
		}
	}
	type content struct {
		of  shard.Split
		sum string
	}
	seen := map[content]bool{}
	var counted []NamedPart
	for i := range parts {
		n := &parts[i]
		if n.Err == nil && best[n.Part.Shard] > 0 {
			is := content{n.Part.Shard, n.Part.Sum}
			if rank(n) < best[is.of] || seen[is] {
				continue
			}
			seen[is] = true
		}
		counted = append(counted, *n)
	}
	return counted
}

// Merge returns the fleet of all parts, as of a single run. wrong names every part that is missing, doubled, of
// another run, truncated or not done, and all other conflicts; the fleet is then empty.
func Merge(version string, parts []NamedPart) (f *Fleet, wrong []error) {
	f = New(version)
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	var known []NamedPart
	for _, n := range parts {
		switch p := n.Part; {
		case n.Err != nil:
			fail("%s: %w", n.Name, n.Err)
		case p.State == shard.InProgress:
			fail("%s: shard %s is in progress; wait until it ends, or run it again", n.Name, p.Shard)
		case p.State != shard.Done:
			fail("%s: shard %s is not done (%s); run it again", n.Name, p.Shard, p.State)
		case p.Fleet.Tool.Version != version:
			fail("%s: it was written by policyscan %s, and this is %s; run all shards and the merge with one program",
				n.Name, verdict.Visible(p.Fleet.Tool.Version), version)
		default:
			known = append(known, n)
		}
	}
	if len(known) == 0 {
		if len(wrong) == 0 {
			fail("there is no shard to merge")
		}
		return f, wrong
	}
	first := known[0]
	byIndex := map[int]NamedPart{}
	dated := NamedPart{}
	for _, n := range known {
		p := n.Part
		if what := first.Part.other(p); what != "" {
			fail("%s: it has %s than %s: they are not shards of one run", n.Name, what, first.Name)
			continue
		}
		if other, doubled := byIndex[p.Shard.Index]; doubled {
			fix := "; give each shard once"
			if p.Sum != other.Part.Sum {
				fix = ", with another result; remove both, and run the shard again"
			}
			fail("%s: shard %s is also in %s%s", n.Name, p.Shard, other.Name, fix)
			continue
		}
		byIndex[p.Shard.Index] = n
		if day := p.Fleet.AsOf; day != "" && dated.Part == nil {
			dated = n
		} else if day != "" && day != dated.Part.Fleet.AsOf {
			fail("%s: it is as of %s, and %s as of %s; run all shards with the same --as-of", n.Name, day, dated.Name,
				dated.Part.Fleet.AsOf)
		}
		for i := range p.Fleet.Repositories {
			if r := &p.Fleet.Repositories[i]; !p.Shard.Owns(r.Name) {
				fail("%s: the repository %s is not one of shard %s", n.Name, verdict.Visible(r.Name), p.Shard)
			}
		}
	}
	for i := range first.Part.Shard.Count {
		if _, there := byIndex[i]; !there {
			fail("shard %s is missing", shard.Split{Index: i, Count: first.Part.Shard.Count})
		}
	}
	if wrong != nil {
		return f, wrong
	}
	return join(f, known)
}

// other describes the difference between parts of different runs; "" without one.
func (p *Part) other(q *Part) string {
	a, b := &p.Fleet, &q.Fleet
	switch {
	case p.Shard.Count != q.Shard.Count:
		return "another number of shards"
	case a.List != b.List:
		return "another list of repositories"
	case !slices.Equal(a.Policy, b.Policy):
		return "other bundles"
	case a.OwnPolicy != b.OwnPolicy, !slices.Equal(a.Allowed, b.Allowed), p.Options != q.Options:
		return "other flags"
	}
	return ""
}

func join(f *Fleet, parts []NamedPart) (*Fleet, []error) {
	version := f.Tool.Version
	one := &parts[0].Part.Fleet
	f.OwnPolicy, f.Policy, f.Allowed, f.List = one.OwnPolicy, one.Policy, one.Allowed, one.List
	for _, n := range parts {
		f.Join(&n.Part.Fleet)
		for _, e := range n.Part.Fleet.Errors {
			if !slices.Contains(f.Errors, e) {
				f.Errors = append(f.Errors, e)
			}
		}
	}
	f.Decide()
	if len(f.Repositories) != f.List.Repositories || ListHash(f.Repositories) != f.List.SHA256 {
		return New(version), []error{fmt.Errorf("the shards have %d repositories, which are not the %d of the list",
			len(f.Repositories), f.List.Repositories)}
	}
	return f, nil
}

// ListHash is the identity of a list, in hexadecimal: names, paths and revisions of the repositories, by name. Comments
// and the order of lines do not count.
func ListHash(list []Repository) string {
	h := sha256.New()
	for i := range list {
		fmt.Fprintf(h, "%s\x00%s\x00%s\n", list[i].Name, list[i].Path, list[i].Revision)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
