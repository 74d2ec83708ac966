package clash

import (
	"errors"
	"fmt"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

// A second implementation of the document, of its tables and sentences alone: no sorting, no lowering, a request is
// matched against every rule and the highest score among the matching rules decides.
type nrule struct {
	level          int
	effect, domain string
	ops            []string
	first          npat
	args, has      []npat
}

type npat struct {
	kind string // any, lit, re, sub, or, not
	text string
	in   []npat
}

type nrequest struct {
	domain, op, first string
	args              []string
}

func (p npat) String() string {
	switch p.kind {
	case "any":
		return "*"
	case "lit":
		return fmt.Sprintf("%q", p.text)
	case "re":
		return "/" + p.text + "/"
	case "sub":
		return fmt.Sprintf("(subpath %q)", p.text)
	}
	text := "(" + p.kind
	for _, q := range p.in {
		text += " " + q.String()
	}
	return text + ")"
}

func (p npat) matches(s string) bool {
	switch p.kind {
	case "lit":
		return s == p.text
	case "re":
		return regexp.MustCompile(p.text).MatchString(s)
	case "sub":
		return s == p.text || strings.HasPrefix(s, strings.TrimSuffix(p.text, "/")+"/")
	case "or":
		return slices.ContainsFunc(p.in, func(q npat) bool { return q.matches(s) })
	case "not":
		return !p.in[0].matches(s)
	}
	return true
}

func (p npat) score(path bool) int {
	switch p.kind {
	case "lit":
		return 3
	case "re":
		return map[bool]int{false: 1, true: 2}[path]
	case "sub", "not":
		return 1
	case "or":
		least := 9
		for _, q := range p.in {
			least = min(least, q.score(path))
		}
		return max(1, min(2, least))
	}
	return 0
}

func (r nrule) score() int { // primary * 1000 + secondary
	s := 1000 * r.first.score(r.domain == "fs")
	for _, a := range r.args {
		if r.domain == "net" {
			s += a.score(true)
		} else {
			s += a.score(false) + 1
		}
	}
	for _, h := range r.has {
		s += h.score(false)
	}
	if r.domain == "fs" && len(r.ops) > 0 {
		s += map[bool]int{true: 2, false: 1}[len(r.ops) == 1]
	}
	return s
}

func (r nrule) matches(q nrequest) bool {
	if r.domain != q.domain || len(r.ops) > 0 && !slices.Contains(r.ops, q.op) {
		return false
	}
	if r.domain == "tool" {
		return r.matchesTool(q.first)
	}
	if !r.first.matches(q.first) {
		return false
	}
	for i, a := range r.args {
		if i >= len(q.args) && a.kind != "any" || i < len(q.args) && !a.matches(q.args[i]) {
			return false
		}
	}
	var some func(has []npat, left []string) bool
	some = func(has []npat, left []string) bool {
		for i := range left {
			if len(has) > 0 && has[0].matches(left[i]) && some(has[1:], slices.Concat(left[:i], left[i+1:])) {
				return true
			}
		}
		return len(has) == 0
	}
	return some(r.has, q.args[min(len(r.args), len(q.args)):])
}

// twice is the tool of the alphabet that has two names.
const twice, meaning = "Agent", "Task"

func (r nrule) matchesTool(name string) bool {
	if name != twice {
		return r.first.matches(name)
	}
	if r.effect == "allow" {
		return r.first.matchesEither(twice, meaning)
	}
	return r.first.matches(twice) || r.first.matches(meaning)
}

// matchesEither is matches of something with two names.
func (p npat) matchesEither(a, b string) bool {
	switch p.kind {
	case "or":
		return slices.ContainsFunc(p.in, func(q npat) bool { return q.matchesEither(a, b) })
	case "not":
		return !p.in[0].matchesEither(a, b)
	}
	return p.matches(a) || p.matches(b)
}

func (r nrule) conflicts(s nrule) bool {
	apart := func(p, q npat) bool {
		return p.kind == "lit" && q.kind == "lit" && p.text != q.text ||
			p.kind == "not" && p.in[0].String() == q.String() || q.kind == "not" && q.in[0].String() == p.String()
	}
	if r.level != s.level || r.domain != s.domain || r.score() != s.score() || r.effect == s.effect || apart(r.first, s.first) ||
		len(r.ops) == 1 && len(s.ops) == 1 && r.ops[0] != s.ops[0] {
		return false
	}
	for i := range min(len(r.args), len(s.args)) {
		if apart(r.args[i], s.args[i]) {
			return false
		}
	}
	return true
}

func (r nrule) String() string {
	text := "(" + r.effect + " (" + r.domain
	if r.domain == "fs" {
		switch len(r.ops) {
		case 0:
			text += " *"
		case 1:
			text += " " + r.ops[0]
		default:
			text += " (or " + strings.Join(r.ops, " ") + ")"
		}
	}
	text += " " + r.first.String()
	for _, a := range r.args {
		text += " " + a.String()
	}
	if len(r.has) > 0 {
		text += " :has"
		for _, h := range r.has {
			text += " " + h.String()
		}
	}
	return text + "))"
}

// decide returns the effect. replaced is whether the file has its own policy for tools that touch nothing.
func decide(all []nrule, q nrequest, def string, replaced bool) string {
	best, effect := -1, def
	if q.domain == "tool" && !replaced && slices.Contains([]string{"Agent", "Task", "TodoWrite"}, q.first) {
		effect = "allow"
	}
	for _, r := range all {
		strictness := 0 // of tools that have two names, the strictest of equal rules
		if q.domain == "tool" {
			strictness = slices.Index([]string{"allow", "ask", "deny"}, r.effect)
		}
		if s := 100*r.score() + 10*r.level + strictness; r.matches(q) && s > best {
			best, effect = s, r.effect
		}
	}
	return effect
}

// words that programs, arguments, paths and hosts are made of: few, so that they meet.
func alphabet(domain string) []string {
	switch domain {
	case "fs":
		return []string{"/a", "/a/b", "/ab", "/a/b/c", "/c"}
	case "net":
		return []string{"a.b", "b", "a"}
	case "url":
		return []string{"/a", "/a/b", "/ab", "/"}
	case "tool":
		return []string{twice, meaning, "TodoWrite", "LS", "mcp__a__b"}
	}
	return []string{"a", "b", "-f", "ab"}
}

func drawPattern(t *rapid.T, domain string, depth int) npat {
	kinds := []string{"any", "lit", "lit", "re"}
	if domain == "fs" || domain == "url" {
		kinds = append(kinds, "sub", "sub")
	}
	if depth > 0 {
		kinds = append(kinds, "or", "not")
	}
	p := npat{kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch p.kind {
	case "lit", "sub":
		p.text = rapid.SampledFrom(alphabet(domain)).Draw(t, "text")
	case "re":
		p.text = rapid.SampledFrom([]string{"a", "^a", "b$", "^.$", "c"}).Draw(t, "regex")
	case "or":
		for range rapid.IntRange(1, 3).Draw(t, "members") {
			p.in = append(p.in, drawPattern(t, domain, depth-1))
		}
	case "not":
		inner := drawPattern(t, domain, depth-1)
		if inner.kind == "any" || inner.kind == "or" {
			inner = npat{kind: "lit", text: alphabet(domain)[0]} // (not *) does not load
		}
		p.in = []npat{inner}
	}
	return p
}

func drawRule(t *rapid.T) nrule {
	r := nrule{
		level:  rapid.IntRange(0, 1).Draw(t, "level"),
		effect: rapid.SampledFrom([]string{"allow", "deny", "ask"}).Draw(t, "effect"),
		domain: rapid.SampledFrom([]string{"exec", "exec", "fs", "net", "tool"}).Draw(t, "domain"),
	}
	r.first = drawPattern(t, r.domain, 2)
	switch r.domain {
	case "exec":
		for range rapid.IntRange(0, 3).Draw(t, "args") {
			r.args = append(r.args, drawPattern(t, r.domain, 1))
		}
		for range rapid.IntRange(0, 2).Draw(t, "has") {
			if p := drawPattern(t, r.domain, 1); p.kind != "any" {
				r.has = append(r.has, p)
			}
		}
	case "fs":
		r.ops = rapid.SampledFrom([][]string{nil, {"read"}, {"write"}, {"read", "write"}, {"write", "delete"}}).Draw(t,
			"ops")
	case "net":
		if rapid.Bool().Draw(t, "path") {
			r.args = []npat{drawPattern(t, "url", 1)}
		}
	}
	return r
}

// drawRequest returns a request and the call that is one.
func drawRequest(t *rapid.T) (nrequest, *call.Call) {
	domain := rapid.SampledFrom([]string{"exec", "exec", "fs", "net", "tool"}).Draw(t, "domain")
	word := rapid.SampledFrom(alphabet(domain))
	q := nrequest{domain: domain, first: word.Draw(t, "first")}
	c := &call.Call{Dir: "/w"}
	key, value := "file_path", q.first
	switch domain {
	case "exec":
		q.args = rapid.SliceOfN(word, 0, 4).Draw(t, "args")
		c.Tool, key, value = "Bash", "command", strings.Join(append([]string{q.first}, q.args...), " ")
	case "fs":
		c.Tool = rapid.SampledFrom([]string{"Read", "Write", "Edit"}).Draw(t, "tool")
		q.op = map[string]string{"Read": "read", "Write": "write", "Edit": "write"}[c.Tool]
	case "net":
		q.args = []string{rapid.SampledFrom(alphabet("url")).Draw(t, "path")}
		c.Tool, key, value = "WebFetch", "url", "https://"+q.first+q.args[0]
	case "tool":
		c.Tool, key = q.first, "path"
	}
	c.Input = call.NewObject(call.Member{Name: key, Value: call.Text(value)})
	return q, c
}

// write is a file for each of two levels, or for one if their number is 1. The default of the lower does not count.
func write(all []nrule, levels int, def string, replaced bool, shuffle *rand.Rand) (texts []string) {
	for level := range levels {
		own := slices.DeleteFunc(slices.Clone(all), func(r nrule) bool { return r.level != level })
		if level < levels-1 {
			texts = append(texts, writeLevel(own, "allow", false, shuffle))
		} else {
			texts = append(texts, writeLevel(own, def, replaced, shuffle))
		}
	}
	return texts
}

// writeLevel is a file of the rules: some in the default's policy, the rest in policies that it includes, or, if replaced,
// in one that replaces a built-in policy.
func writeLevel(all []nrule, def string, replaced bool, shuffle *rand.Rand) string {
	all = slices.Clone(all)
	if shuffle != nil {
		shuffle.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	}
	policies := []string{`(policy "main" (include "p1") `, `(policy "p1" (include "p2") `, `(policy "p2" `}
	if replaced {
		policies = append(policies, `(policy "__internal_claude__" `)
	}
	for i, r := range all {
		policies[i%len(policies)] += "\n " + r.String()
	}
	forms := append([]string{"(default " + def + ` "main")`}, policies...)
	for i := range policies {
		forms[i+1] += ")"
	}
	if shuffle != nil {
		shuffle.Shuffle(len(forms), func(i, k int) { forms[i], forms[k] = forms[k], forms[i] })
	}
	return strings.Join(forms, "\n")
}

// The reader and the evaluator against the document, and in whatever order the file has its rules, policies and
// default.
func TestNaive(t *testing.T) {
	loaded, matched := 0, 0
	check := func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(drawRule), 1, 6).Draw(t, "rules")
		def := rapid.SampledFrom([]string{"allow", "deny", "ask"}).Draw(t, "default")
		replaced := rapid.Bool().Draw(t, "replaced")
		levels := rapid.IntRange(1, 2).Draw(t, "levels")
		for i := range all {
			all[i].level = min(all[i].level, levels-1)
		}
		text := write(all, levels, def, replaced, nil)
		other := write(all, levels, def, replaced, rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))))

		conflict := false
		for i := range all {
			conflict = conflict || slices.ContainsFunc(all[:i], all[i].conflicts)
		}
		set, err := readLevels(text...)
		again, err2 := readLevels(other...)
		if (err != nil) != conflict || (err2 != nil) != conflict {
			t.Fatalf("conflict: %v\n%s\n%v\n%s\n%v", conflict, text, err, other, err2)
		}
		if conflict {
			return
		}
		loaded++
		for range 8 {
			q, c := drawRequest(t)
			want := decide(all, q, def, replaced)
			out := set.Decide(c, callrules.Options{})
			if string(out.Effect) != want {
				t.Fatalf("%s\n%+v: %s, want %s", text, q, out.Effect, want)
			}
			if got := again.Decide(c, callrules.Options{}).Effect; got != out.Effect {
				t.Fatalf("%s\n%+v: %s in one order, %s in\n%s", text, q, out.Effect, got, other)
			}
			if out.Rule != nil {
				matched++
			}
		}
	}
	for range 100 { // of a few draws none may load, or match
		if rapid.Check(t, check); t.Failed() || loaded >= 10 && matched >= 10 {
			return
		}
	}
	t.Errorf("%d files loaded, %d calls matched: too few to say anything", loaded, matched)
}

// builtins is how many of the built-in rules are in a trace: those of a domain that the call asks for.
func builtins(out callrules.Outcome) (n int) {
	for _, s := range out.Trace.Steps {
		if isBuiltin(s.Rule.ID) {
			n++
		}
	}
	return n
}

// Whatever the text: no panic, errors are within the file, and what loads decides any call, twice the same.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		``, `(`, `)`, `"`, `/`, `\`, "\x00", "\xff", `(version 1)`, `(default deny "main")`,
		of(`(allow (exec "git" * :has (or "a" /b/) (not "c")) :sandbox (allow (net)))`),
		of(`(deny (fs (or read write) (not (subpath (join (env PWD) "/x")))))`),
		of(`(allow (fs read (subpath :worktree (env PWD))))`),
		of(`(deny (tool (not (or "Task" /^mcp__/)))) (allow (net "a.b" (subpath "/x")))`),
		`(policy "__internal_claude__") (policy "main" (include "__worktree__"))`,
		`(policy "main" (include "a")) (policy "a" (include "main"))`,
		`(policy "main" (allow (exec /[\w&&]/)) (ask (net "a.b")) (deny (net "a.b")))`,
		strings.Repeat("(", 100), "(policy \"main\" ; c\r\n (allow (fs \"/a\")))",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := readOne("p", text, home())
		if err != nil {
			var list document.Errors
			if !errors.As(err, &list) || len(list) == 0 || set != nil {
				t.Fatalf("%v", err)
			}
			lines := strings.Split(text, "\n")
			for _, e := range list {
				if e.Line < 0 || e.Line > len(lines) || e.Line > 0 &&
					(e.Column < 0 || e.Column > len(lines[e.Line-1])+1) {
					t.Errorf("%v is beyond the file", e)
				}
			}
			return
		}
		for _, n := range set.Notes {
			if n.Origin.Line < 1 || n.Text == "" {
				t.Errorf("the note %+v", n)
			}
		}
		for i, r := range set.Rules {
			if r.Origin.Line < 1 || r.ID == "" || i > 0 && r.Domain == set.Rules[i-1].Domain &&
				compare(r.Score, set.Rules[i-1].Score) > 0 {
				t.Errorf("the rule %d %+v", i, r)
			}
		}
		for _, said := range []string{"Bash git push", "Bash ", "Read /w/x", "Write ../x", "WebFetch https://a.b/",
			"WebFetch :", "WebSearch x", "Task x", "Agent x", "LS x", "WebFetch https://a.b/x/../y"} {
			a, b := ask(t, set, said), ask(t, set, said)
			if a.Effect != b.Effect || a.Rule != b.Rule || a.Reason != b.Reason ||
				len(a.Trace.Steps) != len(set.Rules)+builtins(a) {
				t.Errorf("%s: %+v and %+v", said, a, b)
			}
		}
	})
}
