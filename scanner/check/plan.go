package check

import (
	"slices"
	"sync"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/keyitem"
	"github.com/policyscan/policyscan/rules/regex"
	"github.com/policyscan/policyscan/scanner/keys"
	"github.com/policyscan/policyscan/scanner/match"
)

// A Plan is a set of rules that select the same files, and the engine with at least their patterns.
type Plan struct {
	Rules  []int           // indices in the bundle, ascending
	keyed  []int           // the rules with key patterns
	asked  []*keyPattern   // the key patterns, each once
	filter *keys.Prefilter // of the forbidden ones
	marks  []*keyPattern   // those of "containing", each once
	engine *patternSet
}

type patternSet struct {
	engine *match.Engine
	index  map[rules.Item]int // engine index of each item without a key
	all    bool               // the engine has all rules; plans that share it use some of them
}

// A PlanCache has the plans of a bundle, made on demand. Several goroutines may use them.
type PlanCache struct {
	bundle *rules.Bundle

	mu       sync.Mutex       // guards the fields below
	plans    map[string]*Plan // by the rules' indices
	patterns map[rules.Item]*match.Pattern
	union    *patternSet // for all rules; nil until needed
}

// maxEngines bounds the number of engines for sets of rules. A tree can have a file for each of 2^n sets; later sets
// share an engine for all rules.
const maxEngines = 256

// Full reports whether further sets of rules share an engine.
func (es *PlanCache) Full() bool {
	es.mu.Lock()
	defer es.mu.Unlock()
	return len(es.plans) >= maxEngines
}

// NewPlanCache returns an empty cache for the rules of a bundle.
func NewPlanCache(b *rules.Bundle) *PlanCache {
	return &PlanCache{bundle: b, plans: map[string]*Plan{}, patterns: map[rules.Item]*match.Pattern{}}
}

// PlanKey appends a map key for the rules at the given indices.
func PlanKey(key []byte, selected []int) []byte {
	for _, i := range selected {
		key = append(key, byte(i), byte(i>>8)) // there are at most 10,000 rules
	}
	return key
}

// Plan returns the plan of the rules at the given indices.
func (es *PlanCache) Plan(selected []int) *Plan {
	es.mu.Lock()
	defer es.mu.Unlock()
	key := string(PlanKey(nil, selected))
	if s := es.plans[key]; s != nil {
		return s
	}
	s := es.newPlan(selected)
	if len(es.plans) < maxEngines {
		s.engine = es.engine(selected, nil)
	} else {
		if es.union == nil {
			all := make([]int, len(es.bundle.Rules))
			for i := range all {
				all[i] = i
			}
			es.union = es.engine(all, nil)
			es.union.all = true
		}
		s.engine = es.union
	}
	es.plans[key] = s
	return s
}

// newPlan returns a plan without its engine.
func (es *PlanCache) newPlan(selected []int) *Plan {
	s := &Plan{Rules: slices.Clone(selected)}
	for _, r := range selected {
		if hasKeys(&es.bundle.Rules[r]) {
			s.keyed = append(s.keyed, r)
		}
	}
	s.asked = askedBy(es.bundle, s.keyed, false)
	s.marks = askedBy(es.bundle, s.keyed, true)
	var forbidden []*keyitem.Item
	for _, a := range s.asked {
		if !a.required {
			forbidden = append(forbidden, a.item.Key)
		}
	}
	s.filter = keys.NewPrefilter(forbidden)
	return s
}

// engine compiles the literals and regexes of some rules, each once; with a prefilter, only the forbidden literals that
// the content may contain.
func (es *PlanCache) engine(selected []int, filter *match.Prefilter) *patternSet {
	e := &patternSet{index: map[rules.Item]int{}}
	var patterns []*match.Pattern
	var forbidden, required []bool // by pattern
	add := func(items []rules.Item, asked *[]bool, filter *match.Prefilter) {
		for _, item := range items {
			if item.Kind == rules.Key ||
				filter != nil && item.Kind == rules.Text && filter.Lacks(item.Text, options(item)) {
				continue
			}
			at, known := e.index[item]
			if !known {
				if es.patterns[item] == nil {
					es.patterns[item] = compile(item)
				}
				at = len(patterns)
				e.index[item] = at
				patterns = append(patterns, es.patterns[item])
				forbidden, required = append(forbidden, false), append(required, false)
			}
			(*asked)[at] = true
		}
	}
	for _, i := range selected {
		add(es.bundle.Rules[i].Patterns, &forbidden, filter)
		add(es.bundle.Rules[i].Containing, &forbidden, filter)
		add(es.bundle.Rules[i].Required, &required, nil)
	}
	e.engine = match.NewEngine(patterns)
	for at := range patterns {
		if required[at] {
			e.engine.Require(at, !forbidden[at])
		}
	}
	return e
}

// compile returns the pattern of a bundle's literal or regex. A bundle has only valid regexes.
func compile(item rules.Item) *match.Pattern {
	if item.Kind != rules.Regex {
		return match.Compile(item.Text, options(item))
	}
	x := expression(item.Text)
	if item.Except != "" {
		x = x.Except(expression(item.Except))
	}
	return match.CompileRegex(x, item.WithinLines)
}

func expression(text string) *regex.Expr {
	x, err := regex.Compile(text)
	if err != nil {
		panic("scanner: a bundle has an expression that does not compile: " + err.Error())
	}
	return x
}

func options(item rules.Item) match.Options {
	return match.Options{
		Spaces: item.Spaces, Words: item.Words, IgnoreCase: item.IgnoreCase, WithinLines: item.WithinLines,
	}
}
