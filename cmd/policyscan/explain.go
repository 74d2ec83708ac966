package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
)

type explainCmd struct {
	Path string `arg:"" optional:"" help:"@explain_path"`

	policyFlag
	Rule  []string `placeholder:"ID" sep:"none" help:"Explain only this rule. Repeatable."`
	Stdin bool     `help:"@explain_stdin"`
	Rev   string   `placeholder:"REV" help:"@explain_rev"`
	Root  string   `placeholder:"DIR" help:"@explain_root"`
	AsOf  string   `placeholder:"DATE" help:"@explain_as_of"`
	JSON  bool     `name:"json" help:"Print JSON."`
}

func (c *explainCmd) Run(std streams) error {
	ctx, _, stop := interruptible(0)
	defer stop()
	id := c.Path // unless it is a file
	if c.Path == "" && (c.Stdin || len(c.Rule) != 1) {
		return withHelpHint(errors.New("no file or rule is named"), "explain")
	}
	if c.Path == "" {
		id = c.Rule[0]
	}
	about, err := c.open(ctx, std)
	if err != nil {
		return err
	}
	defer about.Close()
	if c.Path == "" {
		return c.explainRule(ctx, std, about, id)
	}
	x, path, err := c.explainFile(ctx, about)
	var absent *scanner.MissingFileError
	isAbsent := errors.As(err, &absent)
	if (isAbsent || disk.Absent(err)) && !c.Stdin && ruleOf(about, id) != nil {
		return c.explainRule(ctx, std, about, id)
	}
	if isAbsent && !c.Stdin {
		return fmt.Errorf("%w%s", err, c.nearest(ctx, about, path))
	}
	if err != nil {
		return err
	}
	if x.Kind == "file" && !c.Stdin {
		if err := addGitForms(x, about, path); err != nil {
			x.GitUnknown = err.Error()
		}
	}
	if c.JSON {
		err = printJSON(std, x)
	} else {
		text := explanationText(x, c.Rev, about.Policy)
		if ruleOf(about, id) != nil {
			text += fmt.Sprintf("note: %s is also the id of a rule: policyscan explain --rule %[1]s explains that\n",
				safe(id))
		}
		err = print(std.out, "%s", text)
	}
	if err == nil && x.Unreadable {
		return exitError{status: exitUndecided}
	}
	return err
}

// open opens the tree of the scan.
func (c *explainCmd) open(ctx context.Context, std streams) (about *run.Run, err error) {
	if c.Rev != "" && c.Stdin {
		return nil, errors.New("--rev and --stdin are both given; choose one")
	}
	o := newOptions()
	o.Path, o.Policies, o.RuleIDs, o.Rev, o.AsOf = c.Root, policyNames(c.Policy), c.Rule, c.Rev, c.AsOf
	o.Allow, o.Workers = []string{check.AllowPartial}, 1
	if o.Pins, err = c.pins(len(o.Policies)); err != nil {
		return nil, err
	}
	if o.Output, err = o.VerdictFile(); err != nil {
		return nil, err
	}
	if tracked, err := o.Git.Tracks(o.Output); err == nil && tracked {
		o.Output = "" // no scan writes there
	}
	if c.Stdin {
		o.ContentPath = c.Path
		o.Content = func(ctx context.Context) ([]byte, error) { return readStdin(ctx, std.in, 0) }
	}
	return run.Open(ctx, o)
}

// explainFile explains the file of the argument, and returns its path from the root.
func (c *explainCmd) explainFile(ctx context.Context, about *run.Run) (x *scanner.Explanation, path string, err error) {
	switch {
	case c.Stdin:
		path, err = tree.CleanPath(c.Path)
	case c.Rev != "":
		path, err = about.Place.PathInCommit(c.Path)
	default:
		path, err = about.Place.Path(c.Path)
	}
	if err == nil {
		x, err = scanner.Explain(ctx, about, path)
	}
	return x, path, err
}

// nearest suggests the file or rule that a path without a file was most likely meant to be, or returns "".
func (c *explainCmd) nearest(ctx context.Context, about *run.Run, path string) string {
	var ids []string
	for i := range about.Rules.Bundle.Rules {
		ids = append(ids, about.Rules.Bundle.Rules[i].ID)
	}
	near := document.Nearest(c.Path, ids)
	if near == "" {
		files, _ := scanner.Files(ctx, about, nil)
		if near = document.Nearest(path, files); near == "" {
			end := "/" + filepath.ToSlash(filepath.Clean(c.Path))
			i := slices.IndexFunc(files, func(f string) bool { return strings.HasSuffix("/"+f, end) })
			if i < 0 {
				return ""
			}
			near = files[i]
		}
		near = filepath.ToSlash(filepath.Join(about.Place.Prefix, filepath.FromSlash(near)))
	}
	return fmt.Sprintf(", did you mean %s?", quoted(near))
}

// explainRule prints what a rule says, the files of the tree that it covers, its examples and its allowances.
func (c *explainCmd) explainRule(ctx context.Context, std streams, about *run.Run, id string) error {
	if c.JSON {
		return errors.New("--json is for a file; policyscan list --json prints rules")
	}
	rule := ruleOf(about, id)
	if rule == nil {
		return fmt.Errorf("there is no rule %s", quoted(id))
	}
	var files []string
	var wrong []verdict.Error
	for i := range about.Rules.Bundle.Rules {
		if r := &about.Rules.Bundle.Rules[i]; r.ID == id {
			files, wrong = scanner.Covered(ctx, about, r)
		}
	}
	for i := range files {
		files[i] = about.Place.Prefix + files[i]
	}
	if err := print(std.out, "%s", ruleText(rule, files)); err != nil {
		return err
	}
	if len(wrong) > 0 {
		printErrorsOf(std, wrong, about.Place.Prefix)
		return exitError{status: exitUndecided}
	}
	return nil
}

// addGitForms adds the other variants that git may write of a file because of .gitattributes: for a file of a commit,
// all that a scan of the commit checks, or for a file on disk. Without a repository there is no other variant.
func addGitForms(x *scanner.Explanation, about *run.Run, path string) error {
	if x.Commit != "" {
		head, err := about.Repo.Commit(x.Commit)
		if err != nil {
			return err
		}
		files, err := about.Repo.Tree(head)
		if err != nil {
			return err
		}
		return addForms(x, about.Repo, checkout.Snapshot{Tree: files}, path)
	}
	r, err := gitEnvironment().Open(about.Place.Root)
	if errors.Is(err, repo.ErrNotRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	top := run.At(r.WorkTree)
	path, err = top.Path(filepath.Join(about.Place.Root, filepath.FromSlash(path)))
	if err != nil {
		return nil // another file's repository
	}
	idx, err := r.Index()
	if err != nil {
		return err
	}
	return addForms(x, r, checkout.Snapshot{Index: idx}, path)
}

func addForms(x *scanner.Explanation, r *repo.Repository, at checkout.Snapshot, path string) error {
	searched := len(x.Forms) > 0
	variants, err := checkout.Variants(r, at, path)
	for _, f := range variants {
		form, as := "checkout", f.Encoding
		if as == "" {
			form, as = "stored", "utf-8"
		}
		checked := x.Commit != "" && searched && f.Bytes >= 0
		x.Forms = append(x.Forms, scanner.ExplainedForm{Form: form, As: []string{as}, Bytes: f.Bytes, Checked: checked})
	}
	return err
}

// explanationText is the explanation for display: the file, the rules that cover it with their patterns, violated ones
// first, then the other rules.
func explanationText(e *scanner.Explanation, rev, policy string) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		for i := range args {
			if s, ok := args[i].(string); ok {
				args[i] = safe(s)
			}
		}
		fmt.Fprintf(&b, format+"\n", args...)
	}
	var covering, others []*scanner.RuleExplanation
	for i := range e.Rules {
		if r := &e.Rules[i]; r.Outcome != scanner.NotCovered {
			covering = append(covering, r)
		} else {
			others = append(others, r)
		}
	}
	line("%s: %s", e.Path, outcomeText(e, len(covering)))
	for _, note := range fileNotes(e, rev, len(covering)) {
		line("  %s", note)
	}
	for i := range e.Errors {
		place := ""
		if e.Errors[i].File != e.Path {
			place = e.Errors[i].File + ": "
		}
		line("  %s%s [%s]", place, e.Errors[i].Message, e.Errors[i].Code)
	}
	line("policy: %s", policy)
	if e.LeftOut != "" {
		return b.String()
	}
	slices.SortStableFunc(covering, func(a, b *scanner.RuleExplanation) int { return int(b.Outcome) - int(a.Outcome) })
	for _, r := range covering {
		line("\n%s: %s", r.ID, strings.ReplaceAll(r.Outcome.String(), "_", " "))
		line("  %s (%s, %s:%d of %s)", r.Title, r.Type, r.File, r.Line, r.Bundle)
		for _, why := range r.Choice.Reasons(r.Rule) {
			line("  %s", why)
		}
		items := slices.Clone(r.Items)
		slices.SortStableFunc(items, func(a, b scanner.ItemExplanation) int { return int(b.Outcome) - int(a.Outcome) })
		for i := range items {
			line("  %s: %s", items[i].Outcome.String(), itemText(r.Rule, &items[i]))
			for _, why := range items[i].Why {
				place := ""
				if why.Line > 0 {
					place = fmt.Sprintf("line %d, column %d: ", why.Line, why.Column)
				}
				line("    %s%s", place, why.Text)
			}
		}
	}
	if len(others) > 0 {
		line("\nnot covered by %s:", plural(len(others), "rule"))
	}
	for _, r := range others {
		line("  %s: %s", r.ID, whyNotCovered(r))
	}
	return b.String()
}

func outcomeText(e *scanner.Explanation, covering int) string {
	by, places := "; covered by "+plural(covering, "rule"), 0
	for i := range e.Violations {
		places += int(e.Violations[i].PlaceCount)
	}
	skipped := map[string]string{
		"rules":          "it is a rule file in use, which contains the patterns",
		"output":         "the verdict of a scan is written there",
		"earlier-output": "an earlier scan has written it, and git does not track it",
		"git":            "it belongs to git",
	}
	return map[scanner.Outcome]string{
		scanner.LeftOut:    "a scan skips it: " + skipped[e.LeftOut],
		scanner.NotCovered: "no rule covers it, so a scan does not read it",
		scanner.Passed:     "passes" + by,
		scanner.Allowed:    "passes, with violations that are allowed" + by,
		scanner.Undecided:  "undecided" + by,
		scanner.Violated:   plural(places, "place") + by,
	}[e.Outcome]
}

// fileNotes describe the file and how much of it was checked. rev is its commit as the user named it.
func fileNotes(e *scanner.Explanation, rev string, covering int) (all []string) {
	if e.Commit != "" {
		all = append(all, fmt.Sprintf("as it is in the commit %s (%s)", rev, e.Commit[:12]))
	}
	switch {
	case e.Kind == "symlink":
		all = append(all, "a symbolic link, not followed: its path is checked; its target only if that is in the tree")
	case e.Kind == "submodule" && e.Commit != "":
		all = append(all, "a submodule: its files are in another repository, and a scan of a commit does not read them")
	case e.Kind == "submodule":
		all = append(all, "it is a submodule: if it is checked out, its files are checked under their own paths")
	case e.Kind == "special":
		all = append(all, "it is a FIFO, a socket or a device, which a scan never opens")
	}
	switch {
	case e.NotScanned != "":
		all = append(all, "not checked completely: "+e.NotScanned)
	case e.LeftOut == "" && covering > 0 && readsContent(e):
		read := fmt.Sprintf("%s, read to the last one", plural(int(e.Bytes), "byte"))
		if e.BOM != "" {
			read += "; with a byte order mark: " + e.BOM
		}
		all = append(all, read)
	case e.LeftOut == "" && covering > 0:
		all = append(all, "its path alone is checked, so it is not read")
	}
	for _, f := range e.Forms {
		switch f.Form {
		case "stored":
			who := "a scan of a change checks both:"
			if e.Commit != "" {
				who = "a scan checks both:"
			}
			all = append(all, fmt.Sprintf("git stores %s of it, and writes it on disk in another encoding "+
				"(working-tree-encoding in .gitattributes); %s", plural(int(f.Bytes), "byte"), who))
		case "checkout":
			if f.Bytes < 0 {
				all = append(all, "  in "+f.As[0]+", which policyscan cannot write, so that such a scan is incomplete")
				continue
			}
			all = append(all, fmt.Sprintf("  in %s, %s", f.As[0], plural(int(f.Bytes), "byte")))
		}
	}
	if e.GitUnknown != "" {
		all = append(all, "it is not known in which encoding git checks it out: "+e.GitUnknown)
	}
	return all
}

func readsContent(e *scanner.Explanation) bool {
	return slices.ContainsFunc(e.Rules, func(r scanner.RuleExplanation) bool {
		return slices.ContainsFunc(r.Items, func(item scanner.ItemExplanation) bool {
			return item.Ref.Of != rules.ForbiddenFile
		})
	})
}

func itemText(r *rules.Rule, i *scanner.ItemExplanation) string {
	pattern := i.Ref.InWords(r)
	var parts []string
	switch {
	case i.Ref.Of == rules.ForbiddenFile:
		parts = append(parts, "no file may match "+pattern)
	case i.Required:
		parts = append(parts, "required: "+pattern)
	default:
		parts = append(parts, "must not appear: "+pattern)
	}
	switch {
	case i.Violation != nil:
		parts = append(parts, violationText(i))
	case i.Outcome != scanner.Passed || i.Note != "" || i.Ref.Of == rules.ForbiddenFile:
	case i.Required && i.Places == 0:
		parts = append(parts, "not asked")
	case i.Required:
		parts = append(parts, "found")
	default:
		parts = append(parts, "not found")
	}
	switch n := len(i.Encodings); {
	case i.Note != "":
		parts = append(parts, i.Note)
	case i.Format != "":
		parts = append(parts, "parsed as "+i.Format)
	case n == 5:
		parts = append(parts, "looked for as UTF-8, UTF-16 and UTF-32")
	case n > 0:
		parts = append(parts, "looked for as "+strings.Join(i.Encodings, ", "))
	}
	return strings.Join(parts, "; ")
}

func violationText(i *scanner.ItemExplanation) string {
	v := &i.Violation.Evidence
	place := fmt.Sprintf("line %d, column %d", v.Line, v.Column)
	text := "found at " + place
	switch {
	case v.Kind == verdict.KindFile:
		text = "this one does"
	case i.Required && (v.Excerpt == "" || len(v.Places) == 0):
		text = "it is missing"
	case i.Required && len(v.Places) > 0:
		text = "not at " + place + ": " + v.Places[0].WhyWords()
		if v.Occurrences > 1 {
			text += fmt.Sprintf(", the first of %s places", grouped(int(v.Occurrences)))
		}
	case v.Occurrences > 1:
		text = fmt.Sprintf("found %s times, first at %s", grouped(int(v.Occurrences)), place)
	}
	if a := i.Allowance; a != nil {
		return fmt.Sprintf("%s, allowed up to %s by %s (%s)", text, grouped(a.AtMost), a.Owner, a.Reason)
	}
	if i.Violation.Note != "" {
		text += "; " + i.Violation.Note
	}
	return text
}

// whyNotCovered explains why a rule does not cover the file, and names the deciding glob.
func whyNotCovered(r *scanner.RuleExplanation) string {
	if why := r.Choice.Reasons(r.Rule); len(why) > 0 {
		if r.Choice.Excluded() || !r.Choice.Requires() {
			return strings.Join(why, "; ")
		}
		return strings.Join(why, "; ") + ": one such file must be in the tree"
	}
	const most = 5
	var globs []string
	for _, g := range slices.Concat(r.Rule.Files, r.Rule.ForbiddenFiles, r.Rule.RequiredFiles) {
		globs = append(globs, fmt.Sprintf("%q", g))
	}
	more := ""
	if n := len(globs) - most; n > 0 {
		globs, more = globs[:most], fmt.Sprintf(" and %d more", n)
	}
	return "no glob matches: " + strings.Join(globs, ", ") + more
}
