package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/setup"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
)

type listCmd struct {
	bundleArg `embed:""`
	For       string `placeholder:"PATH" help:"@list_for"`
	Tree      bool   `help:"@list_tree"`
	JSON      bool   `name:"json" help:"Print JSON, with every field of each rule."`
	ForAgents bool   `help:"@list_for_agents"`
	Write     string `placeholder:"FILE" xor:"file" help:"@list_write"`
	Check     string `placeholder:"FILE" xor:"file" help:"@list_check"`
	Packs     bool   `help:"Print the packs of rules in the program: with --policy builtin:NAME their rules."`
	IDs       bool   `name:"ids" hidden:"" help:"Print the ids of the enforced rules, for completions."`
}

// Run prints the rules in order of evaluation, deprecated ones last, or only the rules that apply to a path.
func (c *listCmd) Run(std streams) error {
	err := c.list(std)
	if errors.Is(err, syscall.EPIPE) { // its reader, such as head, has seen enough
		return exitError{status: exitUndecided}
	}
	return err
}

func (c *listCmd) list(std streams) error {
	if c.Packs {
		return c.packs(std)
	}
	if c.ForAgents {
		return c.forAgents(std)
	}
	if c.Write != "" || c.Check != "" {
		return errors.New("--write and --check are about a block of --for-agents; add that, or remove them")
	}
	policies, err := c.load()
	if err != nil {
		return err
	}
	if c.IDs {
		for _, b := range policies.Bundles() {
			for i := range b.Rules {
				if err := print(std.out, "%s\n", safe(b.Rules[i].ID)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if c.Tree {
		return c.tree(std, policies)
	}
	path := ""
	if c.For != "" {
		if path, err = tree.CleanPath(c.For); err != nil {
			return fmt.Errorf("--for: %w", err)
		}
	}
	all := listing(policies, path)
	switch {
	case c.JSON:
		return printJSON(std, all)
	case path != "" && len(all) == 0:
		return print(std.out, "no rule looks at %s\n", safe(path))
	case path != "":
		rows := [][]string{{"ID", "TYPE", "BUNDLE", "WHY"}}
		for _, r := range all {
			for _, a := range r.Allowed {
				r.why = append(r.why, "allowed "+a.limit())
			}
			rows = append(rows, []string{safe(r.ID), r.Type, safe(r.Bundle), safe(strings.Join(r.why, "; "))})
		}
		return printTable(std, rows)
	}
	rows := [][]string{{"ID", "TYPE", "SEVERITY", "OWNER", "TITLE"}}
	for _, r := range all {
		rows = append(rows, []string{
			safe(r.ID), r.Type, cmp.Or(r.Severity, "-"), cmp.Or(safe(r.Owner), "-"), safe(r.Title),
		})
	}
	if err := printTable(std, rows); err != nil {
		return err
	}
	return printAllowances(std, policies)
}

// forAgents prints, writes or checks the block of rules for coding agents. The argument is a directory of the tree.
func (c *listCmd) forAgents(std streams) error {
	if c.For != "" || c.JSON {
		return errors.New("--for-agents prints its own block; remove --for and --json")
	}
	dir := ""
	if c.Dir != "" {
		var err error
		if dir, err = tree.CleanPath(c.Dir); err != nil && filepath.Clean(c.Dir) != "." {
			return fmt.Errorf("with --for-agents the argument is a directory of the tree: %w", err)
		}
	}
	policies, err := (&bundleArg{Policy: c.Policy}).load()
	if err != nil {
		return err
	}
	block := setup.AgentRules(policies.Bundles(), dir)
	switch {
	case c.Check != "":
		if err := setup.CheckAgentRules(c.Check, block); err != nil {
			return exitError{exitViolation, err}
		}
		return nil
	case c.Write == "":
		return print(std.out, "%s", block)
	}
	changed, err := setup.WriteAgentRules(c.Write, block)
	if err != nil || !changed {
		return err
	}
	return print(std.out, "wrote the rules to %s\n", safe(c.Write))
}

// packs prints the packs in the program.
func (c *listCmd) packs(std streams) error {
	all, err := setup.Packs()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(std, all)
	}
	rows := [][]string{{"PACK", "RULES", "ABOUT"}}
	for _, p := range all {
		rows = append(rows, []string{p.Name, strconv.Itoa(p.Rules), p.About})
	}
	return printTable(std, rows)
}

// mostListed is the number of files, or of allowances, that list and explain show of a longer list.
const mostListed = 10

// printAllowances prints the first entries of the bundles, if they have some, and the number of all.
func printAllowances(std streams, ps run.RuleSources) error {
	var all []rules.Allowance
	for i := range ps {
		all = append(all, ps[i].Bundle.Allowances...)
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b rules.Allowance) int {
		return cmp.Or(strings.Compare(a.Rule, b.Rule), report.Natural(a.File, b.File))
	})
	rows := [][]string{{"ALLOWED FOR", "IN", "AT MOST", "UNTIL", "OWNER", "REASON"}}
	for _, a := range all[:min(len(all), mostListed)] {
		atMost := grouped(a.AtMost)
		if a.MayGrow {
			atMost += " (may grow)"
		}
		rows = append(rows, []string{
			safe(a.Rule), safe(a.File), atMost, cmp.Or(a.Until, "-"), safe(a.Owner), safe(a.Reason),
		})
	}
	if err := print(std.out, "\n%s:\n", plural(len(all), "allowance")); err != nil {
		return err
	}
	err := printTable(std, rows)
	if n := len(all) - mostListed; n > 0 && err == nil {
		err = print(std.out, "and %s more; policyscan list --json prints all\n", grouped(n))
	}
	return err
}

// A listedRule is a rule as policyscan list --json prints it. Its lists are never null.
type listedRule struct {
	ID          string          `json:"id"`
	Type        string          `json:"type"` // "boundary", "invariant" or "deprecated"
	Title       string          `json:"title"`
	Severity    string          `json:"severity"`
	Owner       string          `json:"owner"`
	Tags        []string        `json:"tags"`
	Files       []string        `json:"files"`
	Exclude     []string        `json:"exclude"`
	Patterns    []listedItem    `json:"patterns"`
	Message     string          `json:"message"`
	Remediation string          `json:"remediation"`
	DocsURL     string          `json:"docs_url"`
	Redact      bool            `json:"redact"`
	Examples    []listedExample `json:"examples"`
	Bundle      string          `json:"bundle"`
	File        string          `json:"file"` // the rule file in the bundle
	Line        int             `json:"line"` // 1-based

	// Only 0.2 bundles have these.
	FileExclude      []string     `json:"file_exclude,omitempty"` // of the rule file
	PathCase         string       `json:"path_case,omitempty"`
	Containing       []listedItem `json:"containing,omitempty"`
	RequiredPatterns []listedItem `json:"required_patterns,omitempty"`
	Unparsable       string       `json:"unparsable,omitempty"`
	ForbiddenFiles   []string     `json:"forbidden_files,omitempty"`
	RequiredFiles    []string     `json:"required_files,omitempty"`

	Allowances string            `json:"allowances,omitempty"` // "never", or nothing
	Allowed    []listedAllowance `json:"allowed,omitempty"`    // the entries of allowances.yml for it

	For *scanner.GlobMatches `json:"for,omitempty"` // how its globs match the path of --for

	why []string // the globs decide that, in words
}

// A listedItem is a pattern as it can be written: a string, or a mapping.
type listedItem rules.Item

// MarshalJSON returns the string, or the mapping.
func (i listedItem) MarshalJSON() ([]byte, error) {
	if item := rules.Item(i); !item.IsPlain() {
		return []byte(item.Name), nil
	}
	return verdict.JSON(i.Text)
}

func listedItems(list []rules.Item) []listedItem {
	all := []listedItem{}
	for _, item := range list {
		all = append(all, listedItem(item))
	}
	return all
}

type listedExample struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Violates bool   `json:"violates"`
}

// A listedAllowance is an entry of allowances.yml, with its rule.
type listedAllowance struct {
	File    string   `json:"file"`
	AtMost  int      `json:"at_most"`
	Owner   string   `json:"owner"`
	Reason  string   `json:"reason"`
	Until   string   `json:"until"` // "" without an end
	From    []string `json:"from"`  // never null
	MayGrow bool     `json:"may_grow"`
	Bundle  string   `json:"bundle"` // the owner of the entry
	Line    int      `json:"line"`   // 1-based
}

// limit is the number of an entry, and its end.
func (a *listedAllowance) limit() string {
	text := "at most " + grouped(a.AtMost)
	if a.Until != "" {
		text += " until " + a.Until
	}
	return text
}

// listing returns the rules of the loaded bundles in order of evaluation, deprecated ones last. With a path: the
// enforced rules that apply to it, or would without an exclude.
func listing(ps run.RuleSources, path string) []listedRule {
	all := []listedRule{}
	allowed := map[string][]listedAllowance{} // by rule
	for i := range ps {
		for _, a := range ps[i].Bundle.Allowances {
			if path == "" || a.File == verdict.Path(path) {
				allowed[a.Rule] = append(allowed[a.Rule], listedAllowance{
					File: a.File, AtMost: a.AtMost, Owner: a.Owner, Reason: a.Reason, Until: a.Until,
					From: verdict.OrEmpty(a.From), MayGrow: a.MayGrow, Bundle: ps[i].Name, Line: a.Line,
				})
			}
		}
	}
	add := func(r *rules.Rule, kind, bundle string) {
		one := listed(r, kind, bundle)
		one.Allowed = allowed[r.ID]
		if path != "" {
			choice := r.Choose(path)
			if !choice.Looks() {
				return
			}
			globs := scanner.MatchesOf(&choice)
			one.For, one.why = &globs, choice.Reasons(r)
		}
		all = append(all, one)
	}
	const deprecated = "deprecated"
	for _, kind := range []rules.Type{rules.Boundary, rules.Invariant, deprecated} {
		for i := range ps {
			of := ps[i].Bundle.Rules
			if kind == deprecated {
				of = ps[i].Bundle.Deprecated
			}
			for k := range of {
				if kind == of[k].Type || kind == deprecated && path == "" {
					add(&of[k], string(kind), ps[i].Name)
				}
			}
		}
	}
	return all
}

func listed(r *rules.Rule, kind, bundle string) listedRule {
	samples := []listedExample{}
	for _, x := range r.Examples {
		samples = append(samples, listedExample{x.Path, x.Content, x.Violates})
	}
	wordIf := func(set bool, word string) string {
		if set {
			return word
		}
		return ""
	}
	return listedRule{
		ID: r.ID, Type: kind, Title: r.Title, Severity: r.Severity, Owner: r.Owner, Tags: verdict.OrEmpty(r.Tags),
		Files: verdict.OrEmpty(r.Files), Exclude: verdict.OrEmpty(r.Exclude), Patterns: listedItems(r.Patterns),
		Message: r.Message, Remediation: r.Remediation, DocsURL: r.DocsURL, Redact: r.Redact, Examples: samples,
		Bundle: bundle, File: r.File, Line: r.Line,
		FileExclude: r.FileExclude, PathCase: wordIf(r.PathCase, "ignore"), Unparsable: wordIf(r.Unparsable, "text"),
		Containing: listedItems(r.Containing), RequiredPatterns: listedItems(r.Required),
		ForbiddenFiles: r.ForbiddenFiles, RequiredFiles: r.RequiredFiles, Allowances: wordIf(r.NeverAllowed, "never"),
	}
}

// ruleOf returns the rule with an id, enforced or deprecated; nil if there is no such rule.
func ruleOf(about *run.Run, id string) *listedRule {
	all := listing(about.Sources, "")
	if i := slices.IndexFunc(all, func(r listedRule) bool { return r.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// ruleText is the text of a rule for display, with the files that it covers.
func ruleText(r *listedRule, files []string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	list := func(title string, words []string) {
		if len(words) > 0 {
			line("\n%s:", title)
		}
		for _, w := range words {
			line("  %s", safe(w))
		}
	}
	first := func(title string, words []string) {
		list(title, words[:min(len(words), mostListed)])
		if n := len(words) - mostListed; n > 0 {
			line("  and %s more", grouped(n))
		}
	}
	quotedAll := func(globs []string) (all []string) {
		for _, g := range globs {
			all = append(all, fmt.Sprintf("%q", g))
		}
		return all
	}
	patterns := func(items []listedItem) (all []string) {
		for _, i := range items {
			all = append(all, patternText(i.Name))
		}
		return all
	}
	line("%s: %s", safe(r.ID), safe(r.Title))
	facts := []string{r.Type}
	if r.Severity != "" {
		facts = append(facts, "severity "+r.Severity)
	}
	if r.Owner != "" {
		facts = append(facts, "owner "+r.Owner)
	}
	line("  %s, %s:%d of %s", safe(strings.Join(facts, ", ")), safe(r.File), r.Line, safe(r.Bundle))
	for _, text := range []string{r.Message, r.Remediation, r.DocsURL} {
		if text = strings.TrimSpace(text); text != "" {
			line("  %s", strings.ReplaceAll(safe(text), "\n", "\n  "))
		}
	}
	list("must not appear", patterns(r.Patterns))
	list("required", patterns(r.RequiredPatterns))
	list("in the files", quotedAll(r.Files))
	list("that contain one of", patterns(r.Containing))
	list("no file may match", quotedAll(r.ForbiddenFiles))
	list("a file must match each of", quotedAll(r.RequiredFiles))
	list("except in", quotedAll(slices.Concat(r.Exclude, r.FileExclude)))

	switch n := len(files); {
	case r.Type == "deprecated":
		line("\nIt is deprecated: a scan does not enforce it.")
	case n == 0 && len(r.RequiredFiles) > 0:
		line("\nIt is checked on the tree, not on files.")
	case n == 0:
		line("\nIt covers no file here.")
	default:
		slices.SortFunc(files, report.Natural)
		first("It covers "+plural(n, "file")+" here", files)
	}
	var examples []string
	for _, x := range r.Examples {
		word := "passes"
		if x.Violates {
			word = "violates"
		}
		content, rest, more := strings.Cut(strings.TrimSpace(x.Content), "\n")
		if more && rest != "" {
			content += " …"
		}
		examples = append(examples, fmt.Sprintf("%s: %s: %s", word, x.Path, content))
	}
	list("examples", examples)
	var allowed []string
	slices.SortStableFunc(r.Allowed, func(a, b listedAllowance) int { return report.Natural(a.File, b.File) })
	for _, a := range r.Allowed {
		allowed = append(allowed, fmt.Sprintf("%s: %s, by %s (%s)", a.File, a.limit(), a.Owner, a.Reason))
	}
	if r.Allowances != "" {
		allowed = []string{"never"}
	}
	title := "allowances"
	if n := len(allowed); n > mostListed {
		title = plural(n, "allowance")
	}
	first(title, allowed)
	return b.String()
}

// patternText is a pattern in words, or the glob of a forbidden file.
func patternText(name string) string {
	if words, ok := verdict.MappingWords(name); ok {
		return words
	}
	return verdict.Quote(name)
}
