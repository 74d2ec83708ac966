// Package sigmashake reads the rules of SigmaShake, files of rule NAME { DENY execution IF … MESSAGE "…" }.
//
// The document is docs.sigmashake.com, "Evaluation Deep Dive"; the syntax, which is not in it, is from the project's
// page "Rule Syntax Reference" and its public packs. docs/dialects.md lists the source of each part and the
// differences.
//
// [Read] and [ReadConfig] parse and validate, and lower to a [callrules.Set]; [callrules.Set.Decide] decides. They
// keep no state: the loop guard and the circuit breaker of the document belong to the hook.
package sigmashake

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// Read reads the files of a directory of rules as one set, in the byte order of their names: rules of one priority
// are evaluated in the order in which they are read. It fails with [document.Errors], all mistakes of all
// files. A set without rules is an error, because it would allow everything.
func Read(name string, files []*document.Source) (*callrules.Set, error) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b *document.Source) int { return cmp.Compare(a.Name, b.Name) })

	set := &callrules.Set{
		Name:     name,
		Dialect:  Dialect,
		Strategy: callrules.PriorityFirst,
		Default:  callrules.Allow,
		Words:    map[callrules.Effect]string{callrules.Deny: "block"},
	}
	var errs document.Errors
	patterns := map[pattern]compiled{}
	var read []rule
	for _, src := range files {
		if err := src.Check(); err != nil {
			errs = append(errs, err)
			continue
		}
		p := &parser{src: src, patterns: patterns}
		p.file()
		errs = append(errs, p.errs...)
		read = append(read, p.rules...)
	}
	if len(read) == 0 && errs == nil {
		errs = append(errs,
			&document.Error{Code: document.CodeNoRules, File: name,
				Found: fmt.Sprintf("no rule in %d files", len(files)),
				Fix:   "write one; a set without rules would allow every call"})
	}
	if errs != nil {
		return nil, errs
	}
	for i := range read {
		set.Rules = append(set.Rules, read[i].callRule)
	}
	set.Notes = notes(read)
	return set, nil
}

// A rule is a rule of the set, with the parts of its file that notes need.
type rule struct {
	callRule  callrules.Rule
	target    string
	condition callrules.Predicate // without the target
	notes     []callrules.Note    // about its own text
}

// restrictive reports whether a rule that fires stops the call, or asks the user.
func restrictive(e callrules.Effect) bool { return e.Rank() > 0 }

// A pattern is the operand of an operator that is lowered to a regex, and compiled is the result. The packs repeat
// the same few patterns, so each is compiled once.
type pattern struct{ op, text string }

type compiled struct {
	regexp callrules.Regexp
	broken string // why it could not be compiled
}
