package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
)

// bundleOf returns rules as one bundle.
func bundleOf(all ...rules.Rule) []*rules.Bundle {
	for i := range all {
		all[i].Type = rules.Boundary
	}
	return []*rules.Bundle{rules.New(all, nil)}
}

func text(texts ...string) (items []rules.Item) {
	for _, t := range texts {
		items = append(items, rules.Item{Kind: rules.Text, Text: t, Name: t})
	}
	return items
}

func TestAgentRules(t *testing.T) {
	b := bundleOf(
		rules.Rule{ID: "A-1", Title: "No\n <b>a", Files: []string{"deploy/*.tf"}, Patterns: text("a`b"),
			Remediation: "Write\tb."},
		rules.Rule{ID: "B-1", Title: "All.", Files: []string{"**/*"}, Exclude: []string{"docs/**"},
			Patterns: text("secret")},
		rules.Rule{ID: "C-1", Title: "Names", ForbiddenFiles: []string{"**/*.pem"}, RequiredFiles: []string{"LICENSE"}},
		rules.Rule{ID: "F-1", Title: "Head", Files: []string{"**/*.md"}, Required: text("h")},
		rules.Rule{ID: "D-1", Title: "Many", Files: []string{"web/**/*.ts"}, Patterns: text("1", "2", "3", "4", "5"),
			Required: text("r", "s")},
		rules.Rule{ID: "E-1", Title: "Four", Files: []string{"web/**/*.ts"}, Patterns: text("1", "2", "3", "4")},
	)
	line := map[string]string{
		"A-1": "- **A-1** No \\<b>a. Files like `deploy/*.tf` must not contain `` a`b ``. Fix: Write b.",
		"B-1": "- **B-1** All. Files like `**/*` must not contain what `policyscan explain B-1` shows; not in `docs/**`.",
		"C-1": "- **C-1** Names. No file may be named like `**/*.pem`; There must be a file like `LICENSE`.",
		"F-1": "- **F-1** Head. Files like `**/*.md` must contain `h`.",
		"D-1": "- **D-1** Many. Files like `web/**/*.ts` must not contain `1`, `2`, `3` or 2 others; must contain `r` and `s`.",
		"E-1": "- **E-1** Four. Files like `web/**/*.ts` must not contain `1`, `2`, `3` or `4`.",
	}
	for _, c := range []struct{ dir, ids string }{
		{"", "A-1 B-1 C-1 F-1 D-1 E-1"},
		{"deploy", "A-1 B-1 C-1 F-1"},
		{"web/a", "B-1 C-1 F-1 D-1 E-1"},
		{"docs", "C-1 F-1"},
	} {
		want := rulesBegin + "\npolicyscan refuses a change that breaks one of these rules:\n\n"
		for _, id := range strings.Fields(c.ids) {
			want += line[id] + "\n"
		}
		if got := AgentRules(b, c.dir); got != want+rulesEnd+"\n" {
			t.Errorf("below %q:\n%s\nwant\n%s", c.dir, got, want)
		}
	}
	if got := AgentRules(bundleOf(b[0].Rules[0]), "web"); strings.Count(got, "\n") != 3 {
		t.Errorf("without a rule:\n%s", got)
	}
}

func TestAgentRulesAreFew(t *testing.T) {
	for _, n := range []int{194, 195, 196, 197, 1000} {
		var all []rules.Rule
		for i := range n {
			all = append(all, rules.Rule{ID: fmt.Sprint("R-", i), Title: "t", Files: []string{"*"}, Patterns: text("x")})
		}
		block := AgentRules(bundleOf(all...), "")
		named := strings.Count(block, "- **R-")
		if lines := strings.Count(block, "\n"); lines > maxBlockLines {
			t.Errorf("%d rules make %d lines", n, lines)
		}
		rest := fmt.Sprintf("- and %d more rules,", n-named)
		if named != n && !strings.Contains(block, rest) || named == n && strings.Contains(block, "more rules") {
			t.Errorf("%d rules: %d are named, and the block ends\n%s", n, named, block[len(block)-200:])
		}
	}
}

func TestWriteAgentRules(t *testing.T) {
	const block = rulesBegin + "\nnew\n" + rulesEnd + "\n"
	crlf := strings.ReplaceAll(block, "\n", "\r\n")
	old := rulesBegin + "\nold\nlines\n" + rulesEnd + "\n"
	for _, c := range []struct{ was, want string }{
		{"", block},
		{"# A\n", "# A\n\n" + block},
		{"# A", "# A\n\n" + block},
		{"# A\r\n", "# A\r\n\r\n" + crlf},
		{"# A\r\nb", "# A\r\nb\r\n\r\n" + crlf},
		{old, block},
		{"a\n" + old + "\xff b", "a\n" + block + "\xff b"},
		{"a\n" + strings.TrimSuffix(old, "\n"), "a\n" + strings.TrimSuffix(block, "\n")},
		{"a\r\n" + strings.ReplaceAll(old, "\n", "\r\n") + "b", "a\r\n" + crlf + "b"},
		{"see `" + rulesBegin + "`\n", "see `" + rulesBegin + "`\n\n" + block},
	} {
		file := write(t, t.TempDir(), "AGENTS.md", c.was)
		if err := CheckAgentRules(file, block); err == nil {
			t.Errorf("%q passes the check", c.was)
		}
		changed, err := WriteAgentRules(file, block)
		if got := read(t, file); err != nil || !changed || got != c.want {
			t.Errorf("%q became %q, %v; want %q", c.was, got, err, c.want)
		}
		if err := CheckAgentRules(file, block); err != nil {
			t.Errorf("%q after a write: %v", c.was, err)
		}
		if changed, err := WriteAgentRules(file, block); changed || err != nil {
			t.Errorf("a second write of %q: %v, %v", c.was, changed, err)
		}
	}
	for _, was := range []string{rulesBegin, rulesEnd, old + old, rulesEnd + "\n" + rulesBegin, rulesBegin + "\n" + old} {
		file := write(t, t.TempDir(), "AGENTS.md", was)
		_, err := WriteAgentRules(file, block)
		if err == nil || !strings.Contains(err.Error(), "not one pair") || read(t, file) != was {
			t.Errorf("%q: %v", was, err)
		}
	}
}

// A file for one agent is often a symlink to that of another one.
func TestWriteAgentRulesThroughLink(t *testing.T) {
	const block = rulesBegin + "\nnew\n" + rulesEnd + "\n"
	dir := t.TempDir()
	write(t, dir, "AGENTS.md", "# A\n")
	link := filepath.Join(dir, "CLAUDE.md")
	if err := os.Symlink("AGENTS.md", link); err != nil {
		t.Skip(err)
	}
	if changed, err := WriteAgentRules(link, block); err != nil || !changed {
		t.Fatal(changed, err)
	}
	st, err := os.Lstat(link)
	if err != nil || st.Mode().Type() != os.ModeSymlink || read(t, filepath.Join(dir, "AGENTS.md")) != "# A\n\n"+block {
		t.Errorf("%v, %v", st, err)
	}
	broken := filepath.Join(dir, "GEMINI.md")
	if err := os.Symlink("missing", broken); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteAgentRules(broken, block); err == nil {
		t.Error("a broken symlink was replaced")
	}
	if _, err := WriteAgentRules(dir, block); err == nil {
		t.Error("a directory was replaced")
	}
	if err := CheckAgentRules(filepath.Join(dir, "none"), block); err == nil {
		t.Error("a missing file passes the check")
	}
}
