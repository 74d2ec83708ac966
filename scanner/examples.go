package scanner

import (
	"context"
	"errors"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/verdict"
)

// ExampleResults are the results of checking a bundle's rules against their own examples.
type ExampleResults struct {
	Ran, Failed int             // examples
	Untested    int             // rules without an example
	Mistakes    document.Errors // in the order of the rules; with both kinds demanded, also rules that lack one
}

// RunExamples checks each example of a bundle's rules against its rule alone. With both, each rule must have a
// violating and a passing example, unless the rule only requires files: an example is one file and no tree.
func RunExamples(b *rules.Bundle, both bool) (ExampleResults, error) {
	var t ExampleResults
	for i := range b.Rules {
		r := &b.Rules[i]
		if len(r.Examples) == 0 {
			t.Untested++
		}
		if lacks := missingExamples(r.Examples); both && lacks != "" && appliesToFiles(r) {
			t.Mistakes = append(t.Mistakes, r.Mistake(lacks))
		}
		for i, x := range r.Examples {
			why, err := runExample(r, x)
			if err != nil {
				return t, err
			}
			if t.Ran++; why != "" {
				t.Failed++
				t.Mistakes = append(t.Mistakes, r.ExampleMistake(i, why))
			}
		}
	}
	return t, nil
}

// appliesToFiles reports whether a file can violate a rule.
func appliesToFiles(r *rules.Rule) bool {
	return len(r.Patterns)+len(r.Required)+len(r.ForbiddenFiles) > 0
}

// missingExamples describes the kind of example that a rule does not have; "" if it has both kinds.
func missingExamples(examples []rules.Example) string {
	var dirty, clean bool
	for _, x := range examples {
		dirty, clean = dirty || x.Violates, clean || !x.Violates
	}
	switch {
	case !dirty && !clean:
		return "it has no example; write one that violates it and one that does not"
	case !dirty:
		return "it has no example that violates it"
	case !clean:
		return "it has no example that does not violate it"
	}
	return ""
}

// runExample describes an example's unexpected result; "" if it is as expected.
func runExample(r *rules.Rule, x rules.Example) (string, error) {
	found, err := check.File(context.Background(), rules.New([]rules.Rule{*r}, nil), x.Path, []byte(x.Content))
	var undecided *check.UndecidedError
	switch {
	case errors.As(err, &undecided):
		return undecided.Errors[0].Message, nil
	case err != nil:
		return "", err
	case (len(found) > 0) == x.Violates:
		return "", nil
	case len(found) > 0:
		return violates(&found[0]) + ", but it says that it does not violate the rule", nil
	case !appliesToFiles(r):
		return "the rule only requires files, so no example can violate it, but it says that it does", nil
	case !r.Selects(x.Path) && len(r.Files) > 0:
		return `the rule does not select "` + x.Path + `", but it says that it violates the rule`, nil
	case !r.Selects(x.Path):
		return `the rule does not forbid the path "` + x.Path + `", but it says that it violates the rule`, nil
	}
	return "nothing in it violates the rule, but it says so", nil
}

func violates(v *verdict.Violation) string {
	pattern := v.Evidence.PatternWords()
	switch v.Evidence.Kind {
	case verdict.KindFile:
		return "its path matches " + pattern
	case verdict.KindMissing:
		return "it does not have what is required: " + pattern
	case verdict.KindKey:
		return "it has what is forbidden: " + pattern
	}
	return "it contains " + pattern
}
