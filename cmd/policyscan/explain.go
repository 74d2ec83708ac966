package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

// explainCmd says what a scan does with one file.
type explainCmd struct {
	Path string `arg:"" help:"@explain_path"`

	policyFlag
	Rule  []string `placeholder:"ID" sep:"none" help:"Explain only this rule. Repeatable."`
	Stdin bool     `help:"@explain_stdin"`
	Rev   string   `placeholder:"REV" help:"@explain_rev"`
	Root  string   `placeholder:"DIR" help:"@explain_root"`
	AsOf  string   `placeholder:"DATE" help:"@explain_as_of"`
	JSON  bool     `name:"json" help:"Print JSON."`
}

// Help returns the text below the flags.
func (*explainCmd) Help() string {
	return `Says of each rule whether its globs select the file, and which glob decides; what was
looked for in the file, and how; and what was found. It scans that file alone, as
policyscan scan would, and writes nothing.

Exit status: 0 it is explained, whatever was found; 2 it could not be: there is no such
file, it cannot be read, or the rules are not valid.`
}

// Run explains the file.
func (c *explainCmd) Run(std streams) error {
	ctx, _, stop := interruptible(0)
	defer stop()
	about, path, err := c.open(ctx, std)
	if err != nil {
		return err
	}
	defer about.Close()
	x, err := scanner.Explain(ctx, about, path)
	if err != nil {
		return err
	}
	e := explained(x, about)
	e.forms()
	e.rev, e.Commit = c.Rev, about.Tree.Scope().HeadCommit
	if e.Kind == "file" && !c.Stdin {
		forms := func() error { return e.indexForms(about.Place, path) }
		if e.Commit != "" {
			forms = func() error { return e.commitForms(about, path) }
		}
		if err := forms(); err != nil {
			e.GitUnknown = err.Error()
		}
	}
	if c.JSON {
		text, err := verdict.JSON(e)
		if err == nil {
			_, err = std.out.Write(text)
		}
		if err != nil {
			return err
		}
	} else if err := print(std.out, "%s", e.text(about.Policy)); err != nil {
		return err
	}
	if x.Unreadable {
		return outcome{status: exitUndecided}
	}
	return nil
}

// open opens what a scan would be about, and returns the path of the file in it.
func (c *explainCmd) open(ctx context.Context, std streams) (about *run.Run, path string, err error) {
	if c.Rev != "" && c.Stdin {
		return nil, "", errors.New("--rev and --stdin are both given; choose one")
	}
	o := run.Options{
		Version: version(), Path: c.Root, Policies: c.flags(), RuleIDs: c.Rule, Rev: c.Rev, AsOf: c.AsOf,
		Allow: []string{check.AllowPartial}, Workers: 1, Git: gitEnvironment(), Getenv: getenv,
	}
	if o.Pins, err = c.pins(len(o.Policies)); err != nil {
		return nil, "", err
	}
	if o.Output, err = o.VerdictFile(); err != nil {
		return nil, "", err
	}
	if c.Stdin {
		o.ContentPath = c.Path
		o.Content = func(ctx context.Context) ([]byte, error) { return readStdin(ctx, std.in, 0) }
	}
	if about, err = run.Open(ctx, o); err != nil {
		return nil, "", err
	}
	switch {
	case c.Stdin:
		path, err = tree.CleanPath(c.Path)
	case c.Rev != "":
		path, err = about.Place.PathInCommit(c.Path)
	default:
		path, err = about.Place.Path(c.Path)
	}
	if err != nil {
		about.Close()
	}
	return about, path, err
}

// An explanation is what policyscan explain --json prints. Its lists are never null.
type explanation struct {
	Path   string `json:"path"`   // from the root, as in a verdict
	Commit string `json:"commit"` // of --rev; "": the file is on disk, or on standard input
	Kind   string `json:"kind"`   // "file", "symlink", "submodule", "special"; "" of what is left out
	// "left_out", "not_covered", "passes", "allowed", "undecided" or "violated"
	Result     string              `json:"result"`
	LeftOut    string              `json:"left_out"`    // why, as in a verdict; else ""
	NotScanned string              `json:"not_scanned"` // likewise
	Bytes      int64               `json:"bytes"`       // that were checked
	Forms      []explainedForm     `json:"forms"`       // in which the content was checked, or is elsewhere
	GitUnknown string              `json:"git_unknown"` // why it is not known which forms git has of it; else ""
	Mark       string              `json:"mark"`        // the encoding that a byte order mark names; "" without one
	AsOf       string              `json:"as_of"`       // as in a verdict
	Rules      []explainedRule     `json:"rules"`       // in order of evaluation
	Violations []verdict.Violation `json:"violations"`  // as in a verdict

	AllowedViolations []verdict.AllowedViolation `json:"allowed_violations"` // likewise
	Errors            []verdict.Error            `json:"errors"`             // likewise

	rev string // how the commit was named
}

// An explainedForm is a form of the file's content. What is "stored" is in git's index, or in the commit.
type explainedForm struct {
	// "content": it was searched in these encodings; "parsed": in these formats; "stored": git's index has it in
	// another encoding than git writes it on disk; "checkout": git writes it so on disk.
	Form    string   `json:"form"`
	As      []string `json:"as"`      // the encodings or formats
	Bytes   int64    `json:"bytes"`   // -1: unknown
	Checked bool     `json:"checked"` // in this explanation; the others in scans of commits and of what is staged
}

// An explainedRule is what a rule asks of the file.
type explainedRule struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Title  string `json:"title"`
	Bundle string `json:"bundle"`
	File   string `json:"file"` // the rule file in the bundle
	Line   int    `json:"line"`
	Result string `json:"result"` // as of the file, but never "left_out"

	Globs *listedChoice   `json:"globs"`
	Items []explainedItem `json:"items"` // of a rule that covers the file

	rule   *rules.Rule
	choice rules.Choice
}

// An explainedItem is what an item, or a glob of forbidden_files, asks of the file.
type explainedItem struct {
	Pattern   string   `json:"pattern"`   // as evidence calls it
	Required  bool     `json:"required"`  // it must be there; else it must not
	Encodings []string `json:"encodings"` // in which it was looked for
	Format    string   `json:"format"`    // in which the file was parsed for it; "" if it was not
	Reached   int      `json:"reached"`   // places of which a key is asked; -1: the file was not parsed for it
	Note      string   `json:"note"`      // why it was not asked for; else ""
	Result    string   `json:"result"`    // as of the rule

	ask     rules.PatternRef
	nothing string // why no place is asked; else ""
}

// explained puts together what is printed.
func explained(x *scanner.Explanation, s *run.Run) *explanation {
	e := &explanation{
		Path: verdict.Path(x.Path), Kind: x.Kind, Result: x.Outcome().String(), LeftOut: x.LeftOut,
		NotScanned: x.Reason, Bytes: x.Bytes, Mark: x.BOM, AsOf: x.Verdict.AsOf,
		Forms: []explainedForm{}, Rules: []explainedRule{},
		Violations:        verdict.OrEmpty(x.Verdict.Violations),
		AllowedViolations: verdict.OrEmpty(x.Verdict.AllowedViolations),
		Errors:            verdict.OrEmpty(x.Verdict.Errors),
	}
	if x.LeftOut != "" {
		e.Result = "left_out"
	}
	for i := range e.Violations {
		e.Violations[i].Evidence.Places = verdict.OrEmpty(e.Violations[i].Evidence.Places)
	}
	for i := range e.AllowedViolations {
		e.AllowedViolations[i].Evidence.Places = verdict.OrEmpty(e.AllowedViolations[i].Evidence.Places)
	}
	for i := range x.Rules {
		r := &x.Rules[i]
		one := explainedRule{
			ID: r.Rule.ID, Type: string(r.Rule.Type), Title: r.Rule.Title, Bundle: bundleOf(r.Rule, s),
			File: r.Rule.File, Line: r.Rule.Line, Result: r.Outcome.String(),
			Globs: listedChoiceOf(&r.Choice), Items: []explainedItem{}, rule: r.Rule, choice: r.Choice,
		}
		for _, item := range r.Items {
			one.Items = append(one.Items, explainedItem{
				Pattern: item.Name, Required: item.Ref.Of == rules.RequiredPattern,
				Encodings: verdict.OrEmpty(item.Encodings), Format: item.Format, Reached: item.Places, Note: item.Note,
				Result: item.Outcome.String(), ask: item.Ref, nothing: item.WhyNoPlace,
			})
		}
		e.Rules = append(e.Rules, one)
	}
	return e
}

// forms adds how the content was checked.
func (e *explanation) forms() {
	var encodings, parsed []string
	add := func(list []string, more ...string) []string {
		for _, s := range more {
			if s != "" && !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
		return list
	}
	for i := range e.Rules {
		for _, item := range e.Rules[i].Items {
			encodings, parsed = add(encodings, item.Encodings...), add(parsed, item.Format)
		}
	}
	if len(encodings) > 0 {
		e.Forms = append(e.Forms, explainedForm{"content", encodings, e.Bytes, true})
	}
	if len(parsed) > 0 {
		e.Forms = append(e.Forms, explainedForm{"parsed", parsed, e.Bytes, true})
	}
}

// indexForms adds the forms that git has of a file on disk, if .gitattributes makes it write another one than it
// stores. Without a repository around the place there are none.
func (e *explanation) indexForms(place run.Place, path string) error {
	r, err := gitEnvironment().Open(place.Root)
	if errors.Is(err, repo.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	top := run.At(r.WorkTree)
	inRepository, err := top.Path(filepath.Join(place.Root, filepath.FromSlash(path)))
	if err != nil {
		return nil // it is the repository of other files
	}
	idx, err := r.Index()
	if err != nil {
		return err
	}
	return e.gitForms(r, checkout.Snapshot{Index: idx}, inRepository)
}

// commitForms adds the forms that git has of a file of a commit: a scan of the commit checks them all.
func (e *explanation) commitForms(s *run.Run, path string) error {
	head, err := s.Repo.Commit(e.Commit)
	if err != nil {
		return err
	}
	tree, err := s.Repo.Tree(head)
	if err != nil {
		return err
	}
	return e.gitForms(s.Repo, checkout.Snapshot{Tree: tree}, path)
}

func (e *explanation) gitForms(r *repo.Repository, at checkout.Snapshot, path string) error {
	searched := len(e.Forms) > 0
	variants, err := checkout.Variants(r, at, path)
	for _, f := range variants {
		form, as := "checkout", f.Encoding
		if as == "" {
			form, as = "stored", "utf-8"
		}
		checked := e.Commit != "" && searched && f.Bytes >= 0
		e.Forms = append(e.Forms, explainedForm{form, []string{as}, f.Bytes, checked})
	}
	return err
}

// bundleOf names the bundle that a rule is from.
func bundleOf(r *rules.Rule, s *run.Run) string {
	for i := range s.Sources {
		if slices.ContainsFunc(s.Sources[i].Bundle.Rules, func(other rules.Rule) bool { return other.ID == r.ID }) {
			return s.Sources[i].Name
		}
	}
	return ""
}
