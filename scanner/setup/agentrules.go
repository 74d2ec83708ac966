package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/verdict"
)

// The lines around the rules in a file for agents.
const (
	rulesBegin = "<!-- policyscan: rules -->"
	rulesEnd   = "<!-- policyscan: end of rules -->"
)

const (
	maxBlockLines = 200 // an agent reads the block in every session
	maxWords      = 3   // items and globs that a line names of a longer list
	maxBlockFile  = 10 << 20
)

// AgentRules returns the enforced rules that can apply to a file below a directory ("": the root) as a block of
// Markdown for a file that coding agents read, such as AGENTS.md: one rule on each line, at most 200 lines.
func AgentRules(bundles []*rules.Bundle, dir string) string {
	var lines []string
	for _, kind := range []rules.Type{rules.Boundary, rules.Invariant} {
		for _, b := range bundles {
			for i := range b.Rules {
				if r := &b.Rules[i]; r.Type == kind && appliesBelow(r, dir) {
					lines = append(lines, agentLine(r, dir))
				}
			}
		}
	}
	head := []string{rulesBegin, "policyscan refuses a change that breaks one of these rules:", ""}
	if len(lines) == 0 {
		head = []string{rulesBegin, "No rule of policyscan applies here."}
	}
	if room := maxBlockLines - len(head) - len("\n"); len(lines) > room {
		rest := fmt.Sprintf("- and %d more rules, which `policyscan list` prints", len(lines)-room+1)
		lines = append(lines[:room-1], rest)
	}
	return strings.Join(slices.Concat(head, lines, []string{rulesEnd}), "\n") + "\n"
}

// appliesBelow reports whether a rule can apply to a file below a directory, or requires one there.
func appliesBelow(r *rules.Rule, dir string) bool {
	if dir != "" && glob.Covers(r.Excludes(), []string{strings.TrimPrefix(globOf(dir), "/") + "/**"}) {
		return false
	}
	all := slices.Concat(r.Files, r.ForbiddenFiles, r.RequiredFiles)
	return !glob.NewFollower(all, r.PathCase).Below(dir).Empty()
}

// agentFiles are the usual names of the file that gets the block.
var agentFiles = []string{"AGENTS.md", "CLAUDE.md"}

// agentLine is what a rule refuses and what to do, in one line. A rule that covers the file for agents itself is not
// quoted, since the line would violate it.
func agentLine(r *rules.Rule, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- **%s** %s.", verdict.Visible(r.ID), strings.TrimRight(oneLine(r.Title), "."))
	var clauses []string
	add := func(before, joint string, words []string) {
		if len(words) > 0 {
			clauses = append(clauses, before+firstWords(words, joint))
		}
	}
	patterns := itemWords(r.Patterns)
	coversBlock := func(name string) bool { return r.Selects(path.Join(dir, name)) }
	if len(patterns) > 0 && slices.ContainsFunc(agentFiles, coversBlock) {
		patterns = []string{"what " + code("policyscan explain "+verdict.Visible(r.ID)) + " shows"}
	}
	add("must not contain ", "or", patterns)
	add("must contain ", "and", itemWords(r.Required))
	if len(clauses) > 0 {
		files := "Files like " + firstWords(codes(r.Files), "or")
		if len(r.Containing) > 0 {
			files += " that contain " + firstWords(itemWords(r.Containing), "or")
		}
		clauses[0] = files + " " + clauses[0]
	}
	add("No file may be named like ", "or", codes(r.ForbiddenFiles))
	add("There must be a file like ", "and", codes(r.RequiredFiles))
	add("not in ", "or", codes(slices.Concat(r.Exclude, r.FileExclude)))
	if len(clauses) > 0 {
		fmt.Fprintf(&b, " %s.", strings.Join(clauses, "; "))
	}
	if fix := oneLine(r.Remediation); fix != "" {
		fmt.Fprintf(&b, " Fix: %s", fix)
	}
	return b.String()
}

func itemWords(items []rules.Item) (all []string) {
	for _, item := range items {
		words, is := verdict.MappingWords(item.Name)
		if !is {
			words = verdict.Visible(item.Name)
		}
		all = append(all, code(words))
	}
	return all
}

func codes(globs []string) (all []string) {
	for _, g := range globs {
		all = append(all, code(verdict.Visible(g)))
	}
	return all
}

// firstWords joins the first words of a list.
func firstWords(words []string, joint string) string {
	if n := len(words) - maxWords; n > 1 {
		words = append(slices.Clone(words[:maxWords]), fmt.Sprintf("%d others", n))
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " " + joint + " " + words[last]
}

// code returns a text as a code span of Markdown.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// oneLine returns a text without line ends, in which Markdown makes no HTML.
func oneLine(text string) string {
	return strings.ReplaceAll(verdict.Visible(strings.Join(strings.Fields(text), " ")), "<", `\<`)
}

// CheckAgentRules returns an error if a file does not have the block, with what to do.
func CheckAgentRules(file, block string) error {
	st, updated, now, err := readAgentRules(file, block)
	switch {
	case err == nil && st == nil:
		err = fmt.Errorf("%s does not exist; write it with policyscan list --for-agents --write", disk.Shown(file))
	case err == nil && !bytes.Equal(updated, now):
		err = fmt.Errorf("%s does not have the rules of the bundle as they are now; "+
			"run policyscan list --for-agents with --write", disk.Shown(file))
	}
	return err
}

// WriteAgentRules writes the block into a file: in place of the one that it has, or at its end. All other bytes stay.
// It reports whether the file changed.
func WriteAgentRules(file, block string) (changed bool, err error) {
	st, updated, was, err := readAgentRules(file, block)
	if err != nil || st != nil && bytes.Equal(updated, was) {
		return false, err
	}
	target := file // of a symlink
	if st != nil {
		if target, err = disk.Real(file); err != nil {
			return false, disk.Cause(err)
		}
	}
	return true, disk.ReplaceIf(target, updated, st, func() error {
		now, err := os.ReadFile(file)
		if st == nil && errors.Is(err, fs.ErrNotExist) || st != nil && err == nil && bytes.Equal(now, was) {
			return nil
		}
		return fmt.Errorf("%s changed while policyscan was writing it; try again", disk.Shown(file))
	})
}

// readAgentRules returns a file as it is (nil if it does not exist), and as it is with the block.
func readAgentRules(file, block string) (st fs.FileInfo, updated, now []byte, err error) {
	st, err = os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		st, err = nil, nil
		if _, lerr := os.Lstat(file); lerr == nil {
			err = fmt.Errorf("%s is a symlink to a missing file; create it", disk.Shown(file))
		}
	case err == nil && (!st.Mode().IsRegular() || st.Size() > maxBlockFile):
		err = fmt.Errorf("%s is not a regular file of at most 10 MiB; name one", disk.Shown(file))
	case err == nil:
		now, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	updated, err = withBlock(now, block)
	if err != nil {
		err = fmt.Errorf("%s: %w", disk.Shown(file), err)
	}
	return st, updated, now, err
}

// withBlock returns a text with the block, whose lines end as those of the text.
func withBlock(text []byte, block string) ([]byte, error) {
	if bytes.Contains(text, []byte("\r\n")) {
		block = strings.ReplaceAll(block, "\n", "\r\n")
	}
	var begins, ends []int // offsets of the lines, and after them
	at := 0
	for line := range bytes.Lines(text) {
		switch string(bytes.TrimRight(line, "\r\n")) {
		case rulesBegin:
			begins = append(begins, at)
		case rulesEnd:
			ends = append(ends, at+len(line))
		}
		at += len(line)
	}
	switch {
	case len(begins) == 0 && len(ends) == 0:
		var gap string
		if len(text) > 0 {
			newline := block[len(strings.TrimRight(block, "\r\n")):]
			if gap = newline; !bytes.HasSuffix(text, []byte("\n")) {
				gap += newline
			}
		}
		return slices.Concat(text, []byte(gap), []byte(block)), nil
	case len(begins) != 1 || len(ends) != 1 || ends[0] <= begins[0]:
		return nil, fmt.Errorf("its lines %q and %q are not one pair; remove the others", rulesBegin, rulesEnd)
	}
	if !bytes.HasSuffix(text[:ends[0]], []byte("\n")) { // the last line of the file has no end
		block = strings.TrimRight(block, "\r\n")
	}
	return slices.Concat(text[:begins[0]], []byte(block), text[ends[0]:]), nil
}
