package allowance

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/rules"
)

// What the tests of package allowance_test need, which make repositories of histories.

// A Repository is a history as a repository can hold it: each file is YAML, each token a value in it, and the rules
// forbid values.
type Repository struct{ h history }

// Today is the day of the tests.
const Today = today

// DrawRepository draws a history.
func DrawRepository(t *rapid.T) Repository {
	h := drawHistory(t, anything)
	for i := range h {
		for k := range h[i].rules {
			h[i].rules[k].never = false // with which an entry would be an error
		}
		for k := range h[i].entries {
			e := &h[i].entries[k]
			e.File += ".yaml"
			for n := range e.From {
				e.From[n] += ".yaml"
			}
		}
	}
	return Repository{h}
}

// Len is how many commits there are.
func (r Repository) Len() int { return len(r.h) }

// Parents returns those of a commit.
func (r Repository) Parents(i int) []int { return r.h[i].parents }

// Files returns what a commit has, by path.
func (r Repository) Files(i int) map[string]string {
	s := r.h[i].snapshot
	all := map[string]string{}
	for name, f := range s.files {
		var b strings.Builder
		b.WriteString(strings.Repeat("#\n", f.layout) + "t:\n")
		for _, token := range f.tokens {
			fmt.Fprintf(&b, "- value-%c\n", token)
		}
		if f.broken {
			b.WriteString("u: [\n")
		}
		all[name+".yaml"] = b.String()
	}
	var b strings.Builder
	b.WriteString("bundle: \"0.2\"\nrules:\n")
	for _, v := range s.rules {
		var exclude []string
		for _, name := range v.not {
			exclude = append(exclude, fmt.Sprintf("%c.yaml", name))
		}
		list := ""
		if exclude != nil {
			list = ", exclude: [" + strings.Join(exclude, ", ") + "]"
		}
		fmt.Fprintf(&b, "  - id: %s\n    title: t\n    enforcement: {mode: fail}\n    match: {files: ['*.yaml']%s, "+
			"forbidden_patterns: [{key: t, is: [value-%s]}]}\n", v.id, list, strings.Join(strings.Split(v.tokens, ""), ", value-"))
	}
	all[".policyscan/rules/boundaries.yml"] = b.String()
	if text := rules.FormatAllowances(s.entries); text != nil {
		all[".policyscan/rules/allowances.yml"] = string(text)
	}
	return all
}

// named is a scene whose files are named as the repository's.
func (s snapshot) named() snapshot {
	n := s.clone()
	n.files = map[string]file{}
	for name, f := range s.files {
		n.files[name+".yaml"] = f
	}
	for i, v := range n.rules {
		n.rules[i].not = ""
		for _, name := range v.not {
			n.rules[i].not += fmt.Sprintf("%c.yaml ", name)
		}
	}
	return n
}

// Judge is the naive reading of a change: the rules and files that fail it, those that are allowed, each as "X in a",
// and whether a file of the change cannot be judged. compared is false if the head adds nothing to the base.
func (r Repository) Judge(base, head int) (failed, allowed map[string]bool, incomplete, compared bool) {
	sc := r.h.scene(base, head)
	for i := range sc.mergeBases {
		sc.mergeBases[i] = sc.mergeBases[i].named()
	}
	sc.base, sc.head = sc.base.named(), sc.head.named()
	failed, allowed = map[string]bool{}, map[string]bool{}
	bases := r.h.mergeBases(base, head)
	if len(bases) == 0 || len(bases) == 1 && bases[0] == head {
		return failed, allowed, false, false
	}
	for _, name := range sc.judged(sc.naiveTouched()) {
		sc.enforced(func(v version, ofBase, ofHead bool) {
			if f, there := sc.head.files[name]; there && f.broken && !strings.Contains(v.not, name) {
				incomplete = true
			}
			if v.count(sc.head, name) == 0 {
				return
			}
			at := v.id + " in " + name
			if naiveAllowed(sc, v, ofBase, ofHead, name) {
				allowed[at] = true
			} else {
				failed[at] = true
			}
		})
	}
	return failed, allowed, incomplete, true
}

// String shows the history.
func (r Repository) String() string { return r.h.String() }
