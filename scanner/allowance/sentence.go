package allowance

import (
	"fmt"
	"strings"
)

// Explain describes in a clause or two why occurrences are not allowed, and what to do; "" if they just have no
// allowance. line writes an entry as a line of allowances.yml.
func (r *Denial) Explain(line func(Entry) string) string {
	text := r.sentence()
	if text == "" {
		return ""
	}
	if r.Propose != nil {
		some := "; if some were"
		switch {
		case r.Kind == Renamed && r.Now == 1:
			some = "; if it was"
		case r.Kind == Renamed:
			some = "; if they were"
		}
		text += some + " moved here from " + listed(r.Sources) + ", run policyscan allow --tighten, or write into " +
			"rules/allowances.yml: - " + line(*r.Propose)
	}
	if r.Entries > 1 {
		text += fmt.Sprintf("; of the %d entries for this rule and file "+
			"the smallest number and the earliest date count", r.Entries)
	}
	return text
}

func (r *Denial) sentence() string {
	switch r.Kind {
	case Never:
		return `its allowance has no effect, because the rule says "allowances: never"`
	case Incomplete:
		return "its allowance has no effect, because " + r.files() + " could not be checked completely"
	case Expired:
		return fmt.Sprintf("its allowance ended on %s; fix %s, or extend it in a separate change",
			r.Until, them(r.Now))
	case AboveLimit, TooLow:
		if r.Number == 0 && r.Group == nil {
			return fmt.Sprintf("its allowance was withdrawn (at_most: 0); fix %s, or raise it in a separate change",
				them(r.Now))
		}
		return r.tooMany()
	case Dropped:
		return fmt.Sprintf("%s %s, and this change leaves it no allowance; fix %s, or write an entry for it",
			r.have(), places(r.Now), them(r.Now))
	case OwnAllowance:
		return r.ownEntry()
	case Increased:
		if r.Now <= r.Before {
			return fmt.Sprintf("%s more matches of this rule at its places than before, in %s; "+
				"remove the new ones, since an allowance never lets the number grow", r.have(), r.At)
		}
		return fmt.Sprintf("%s %s and had %d before, in %s; remove %d, since an allowance never lets the number grow",
			r.have(), places(r.Now), r.Before, r.At, r.Now-r.Before)
	case BaseMoved:
		n := r.Before
		what := "has %d by now"
		if !r.Grew {
			n, what = r.Number, "allows %d by now"
		}
		return fmt.Sprintf("%s %s, and the base "+what+": merge the base, or rebase", r.have(), places(r.Now), n)
	case InBase:
		return fmt.Sprintf("%s %s, up from %d at the merge base, %s; the base has as many by now: merge it, or rebase",
			r.have(), places(r.Now), r.Before, r.At)
	case Renamed:
		return "the file is new, with " + places(r.Now)
	case Unseen:
		return fmt.Sprintf("%s could not be read or parsed before, in %s, and counts as having had none; fix %s, "+
			`or merge an allowance with "may_grow: true" first`, r.files(), r.At, them(r.Now))
	case OtherVersion:
		return "base and head differ in this rule, and the other version does not allow this file"
	case EarlyGrow:
		return `the "may_grow: true" of its allowance counts from the next change on; merge the allowance first`
	}
	return ""
}

func (r *Denial) tooMany() string {
	if r.Kind == TooLow {
		return fmt.Sprintf("%s %s, and this change's allowance is for %d; fix %d, or write at_most: %d",
			r.have(), places(r.Now), r.Number, r.Now-r.Number, r.Now)
	}
	before := ""
	if r.At != "" {
		before = ", as before this change"
	}
	return fmt.Sprintf("%s %s and an allowance for %d%s; fix %d, or raise the allowance in a separate change",
		r.have(), places(r.Now), r.Number, before, r.Now-r.Number)
}

func (r *Denial) ownEntry() string {
	what := "adds its allowance"
	if r.Number > 0 {
		what = fmt.Sprintf("raises its allowance from %d", r.Number)
	}
	text := "this change " + what + ", and a change cannot allow its own violations"
	if r.Grew && r.Now > r.Before {
		return text + fmt.Sprintf("; remove %d, and merge an allowance for the rest first", r.Now-r.Before)
	}
	return text + ": merge the allowance first, in a separate change"
}

// files names the counted files, as a subject.
func (r *Denial) files() string {
	if r.Group == nil {
		return "the file"
	}
	return listed(r.Group) + " together"
}

func listed(files []string) string {
	const most = 5
	if n := len(files); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), n-most)
	}
	last := len(files) - 1
	if last == 0 {
		return files[0]
	}
	return strings.Join(files[:last], ", ") + " and " + files[last]
}

func (r *Denial) have() string {
	if r.Group == nil {
		return "the file has"
	}
	return r.files() + " have"
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func places(n int) string {
	if n == 1 {
		return "1 place that breaks this rule"
	}
	return fmt.Sprintf("%d places that break this rule", n)
}
