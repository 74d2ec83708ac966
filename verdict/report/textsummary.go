package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/verdict"
)

// summary says what checked what, and what a reader has to know of it.
func (t *textWriter) summary(v *verdict.Verdict) {
	if t.Policy != "" {
		t.labelled("policy: ", t.Policy)
	}
	if t.Root != "" {
		t.labelled("root: ", t.Root)
	}
	if scope := compared(v); scope != "" {
		t.labelled("scope: ", scope)
	}
	if note := behindNote(v); note != "" {
		t.remark(note)
	}
	switch {
	case v.Coverage.Files > 0 && coversNothing(v):
		t.remark("no file is covered by a rule: nothing was checked")
	case v.Coverage.Files == 0 && v.Verdict == verdict.Pass:
		t.remark("there was nothing to scan")
	}
	t.unused(v)
	if note := notJudgedNote(v); note != "" {
		t.remark(note)
	}
	if v.Partial {
		why, so := partialNote(v)
		t.remark(why + "; " + so)
	}
	for _, n := range t.Notes {
		t.remark(n)
	}
	for i, o := range v.Coverage.NotScanned {
		const most = 20
		if i == most {
			t.remark(fmt.Sprintf("and %s not scanned", count(len(v.Coverage.NotScanned)-most, "more file")))
			break
		}
		t.remark(fmt.Sprintf("%s: not scanned: %s", t.Prefix+o.File, o.Reason))
	}
	for i, file := range v.Coverage.Unparsed {
		const most = 20
		if i == most {
			t.remark(fmt.Sprintf("and %s that cannot be parsed", count(len(v.Coverage.Unparsed)-most, "more file")))
			break
		}
		t.remark(t.Prefix + file + ": cannot be parsed: only its text was checked")
	}
}

// outcome writes the last line, which says in words what came of the run and what it rests on; before it, of many
// violations, how many each rule and each folder has.
func (t *textWriter) outcome(v *verdict.Verdict, groups []*ruleGroup) {
	t.tallies(v, groups)
	outcome := t.paint(green, string(verdict.Pass)+":")
	if v.Verdict != verdict.Pass {
		outcome = t.paint(red, string(verdict.Fail)+":")
	}
	var parts []string
	if n := len(v.Violations); n > 0 {
		ids := map[string]bool{}
		for _, g := range groups {
			ids[g.rule.ID] = true
		}
		parts = append(parts, fmt.Sprintf("%s of %s%s%s", count(n, "violation"), count(len(ids), "rule"),
			inFiles(v, count), newSuffix(v)))
	} else if v.Complete {
		parts = append(parts, "no violation")
	}
	if !v.Complete {
		parts = append(parts, "could not decide ("+count(len(v.Errors), "error")+")")
	}
	tail := lookedAt(v) + ", " + count(len(v.Rules), "rule")
	if t.Elapsed > 0 {
		tail += fmt.Sprintf(", %.2f s", t.Elapsed.Seconds())
	}
	t.line("%s %s%s; %s", outcome, strings.Join(parts, "; "), allowedSuffix(v), tail)
}

// lookedAt says how many files were checked, and how many of them a rule covers.
func lookedAt(v *verdict.Verdict) string {
	c := &v.Coverage
	if c.Scanned < c.Governed {
		return fmt.Sprintf("%s, %d covered by a rule, %d of these scanned", count(c.Files, "file"), c.Governed,
			c.Scanned)
	}
	return fmt.Sprintf("%s checked, %d covered by a rule", count(c.Files, "file"), c.Governed)
}

// manyViolations is from how many on the report ends with how many each rule and each folder has.
const manyViolations = 10

func (t *textWriter) tallies(v *verdict.Verdict, groups []*ruleGroup) {
	if len(v.Violations) < manyViolations {
		return
	}
	var rules, folders []tallied
	for _, g := range groups {
		rules = append(rules, tallied{g.rule.ID, len(g.violations)})
	}
	folders = byFolder(v, t.Prefix)
	for _, list := range []struct {
		label string
		all   []tallied
	}{{"by rule: ", rules}, {"by folder: ", folders}} {
		if len(list.all) > 1 {
			parts, room := tallies(list.all), t.Width-len(list.label)
			if room < 20 { // as wrap has it
				parts = []string{strings.Join(parts, " ")}
			}
			label := list.label
			for _, line := range fill(parts, room) {
				t.line("%s%s", label, line)
				label = strings.Repeat(" ", len(label))
			}
		}
	}
}

// A tallied is a name and how many violations it has.
type tallied struct {
	name string
	n    int
}

// tallies lists names with their numbers, the largest first, a comma after each but the last.
func tallies(all []tallied) []string {
	slices.SortStableFunc(all, func(a, b tallied) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) })
	var parts []string
	for i, x := range all {
		const most = 40
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", verdict.Visible(clip(x.name, 200)), x.n))
	}
	for i := range len(parts) - 1 {
		parts[i] += ","
	}
	return parts
}

// byFolder counts the violations of each folder: of those that the folder has which all files with one are in.
func byFolder(v *verdict.Verdict, prefix string) []tallied {
	var files []string
	for i := range v.Violations {
		if file := v.Violations[i].File; file != "" {
			files = append(files, prefix+file)
		}
	}
	if len(files) == 0 {
		return nil
	}
	common := files[0][:strings.LastIndexByte(files[0], '/')+1]
	for _, file := range files {
		for !strings.HasPrefix(file, common) {
			common = common[:strings.LastIndexByte(common[:len(common)-1], '/')+1]
		}
	}
	at := map[string]int{}
	var all []tallied
	for _, file := range files {
		folder, _, inside := strings.Cut(file[len(common):], "/")
		if folder = common + folder + "/"; !inside {
			folder = cmp.Or(common, "./")
		}
		if _, known := at[folder]; !known {
			at[folder] = len(all)
			all = append(all, tallied{name: folder})
		}
		all[at[folder]].n++
	}
	return all
}

// unused names the rules that cover no file in a tree of which others cover some: a
// glob may be a mistake. A change or a list need not touch what a rule is about.
func (t *textWriter) unused(v *verdict.Verdict) {
	if v.Scope.Mode != "full" || coversNothing(v) {
		return
	}
	var ids []string
	for i := range v.Rules {
		if v.Rules[i].Files == 0 {
			ids = append(ids, verdict.Visible(v.Rules[i].ID))
		}
	}
	if n := len(ids); n > 0 {
		const most = 5
		if n > most {
			ids = append(ids[:most], "…")
		}
		t.remark(fmt.Sprintf("%d of %s %s no file: %s", n, count(len(v.Rules), "rule"),
			selects(n), strings.Join(ids, ", ")))
	}
}
