package run_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

var (
	commits = flag.Int("commits", 60, "how many generated commits TestRevIsCheckout compares, and of -history")
	history = flag.String("history", "", "a repository of which TestRevIsCheckout compares so many commits, too")
	seed    = flag.Uint64("seed", 1, "of what TestRevIsCheckout generates")
)

// TestRevIsCheckout: the verdict on a commit equals a full scan of a clean checkout, except for the scope and the
// bundle's source. Links outside the tree are left out: their targets depend on the checkout's path.
func TestRevIsCheckout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("git makes other files there")
	}
	dir := t.TempDir()
	t.Chdir(dir) // outside of any repository
	policy := filepath.Join(dir, "named")
	write(t, filepath.Join(policy, "rules/boundaries.yml"), namedRules)
	write(t, filepath.Join(policy, "rules/invariants.yml"), "rules: []\n")

	generated := filepath.Join(dir, "generated")
	git(t, dir, "", "init", "-q", "-b", "main", generated)
	git(t, generated, stream(rand.New(rand.NewPCG(*seed, 0)), *commits), "fast-import", "--quiet")
	comparer := revComparer{t, generated, filepath.Join(dir, "checkout"), map[string]int{}}
	hashes := strings.Fields(git(t, generated, "", "rev-list", "main"))
	comparer.each(hashes, []string{""}, []string{policy}, []string{"", policy})
	wanted := []string{"PASS", "FAIL", "E_LINK", "allowed", "invalid", "left out", "missing", "forbidden"}
	for _, what := range wanted {
		if comparer.counts[what] == 0 && *commits >= 60 {
			t.Errorf("of %d commits none has %q", *commits, what)
		}
	}
	if *history != "" {
		own := filepath.Join(dir, "own")
		git(t, dir, "", "clone", "-q", "--bare", *history, own)
		comparer.repository, comparer.checkout = own, filepath.Join(dir, "checkout2")
		all := strings.Fields(git(t, own, "", "rev-list", "HEAD"))
		var some []string
		for i := range min(*commits, len(all)) { // from the whole of it
			some = append(some, all[i*len(all)/min(*commits, len(all))])
		}
		comparer.each(some, []string{run.Builtin})
		comparer.checkout += "-own"
		comparer.each(withBundles(t, own, some), []string{""})
	}
	for _, what := range slices.Sorted(maps.Keys(comparer.counts)) {
		t.Logf("%6d %s", comparer.counts[what], what)
	}
}

// A revComparer compares scans of commits with those of checkouts.
type revComparer struct {
	t                    *testing.T
	repository, checkout string
	counts               map[string]int // of the commits and of the contents of their verdicts
}

// each compares the commits, each with bundles by their names.
func (c *revComparer) each(hashes []string, policies ...[]string) {
	c.t.Helper()
	git(c.t, c.repository, "", "worktree", "add", "-q", "--detach", "--no-checkout", c.checkout)
	for i, hash := range hashes {
		git(c.t, c.checkout, "", "checkout", "-q", "-f", "--detach", hash)
		c.counts["commits"]++
		c.one(hash, policies[i%len(policies)])
		if c.t.Failed() {
			return
		}
	}
}

// one compares one commit.
func (c *revComparer) one(hash string, policies []string) {
	c.t.Helper()
	full, ferr := scanned(c.t, run.Options{Path: c.checkout, Policies: policies})
	rev, rerr := scanned(c.t, run.Options{Path: c.repository, Rev: hash, Policies: policies})
	if ferr != nil || rerr != nil {
		c.counts["invalid"]++
		if testing.Verbose() && *commits <= 60 {
			c.t.Log(rerr)
		}
		if ferr == nil || rerr == nil {
			c.t.Errorf("%s %q: the dir %v, the commit %v", hash, policies, ferr, rerr)
		}
		return
	}
	if rev.Scope.HeadCommit != hash || rev.Scope.Strategy != "rev" || rev.Scope.Mode != "full" {
		c.t.Errorf("%s: the scope is %+v", hash, rev.Scope)
	}
	for i, p := range rev.Policy {
		from, commit := "commit", hash
		switch policies[i] {
		case "":
		case run.Builtin:
			from, commit = "builtin", ""
		default:
			from, commit = "disk", ""
		}
		if p.From != from || p.Commit != commit {
			c.t.Errorf("%s: the bundle %q is from %q %q", hash, policies[i], p.From, p.Commit)
		}
	}
	c.see(rev)
	a, b := withoutPlace(c.t, full), withoutPlace(c.t, rev)
	if a != b {
		c.t.Errorf("%s %q (-seed %d -commits %d):\n%s", hash, policies, *seed, *commits, firstDifference(a, b))
	}
}

// see counts the contents of a verdict.
func (c *revComparer) see(v *verdict.Verdict) {
	count := func(what string, has bool) {
		if has {
			c.counts[what]++
		}
	}
	count(string(v.Verdict), v.Complete)
	count("undecided", !v.Complete && len(v.Violations) == 0)
	count("allowed", len(v.AllowedViolations) > 0)
	count("left out", len(v.Coverage.LeftOut) > 0)
	count("E_LINK", slices.ContainsFunc(v.Errors, func(e verdict.Error) bool { return e.Code == code.Link }))
	for _, kind := range []string{verdict.KindMissing, verdict.KindFile} {
		count(map[string]string{verdict.KindMissing: "missing", verdict.KindFile: "forbidden"}[kind],
			slices.ContainsFunc(v.Violations, func(v verdict.Violation) bool { return v.Evidence.Kind == kind }))
	}
}

// scanned is the verdict of a run.
func scanned(t *testing.T, o run.Options) (*verdict.Verdict, error) {
	t.Helper()
	o.Now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	r, err := run.Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return scanner.Scan(t.Context(), r, nil), nil
}

// withoutPlace is a verdict as JSON, without the places of the files and the bundles: a checkout also has git's own
// directory or file.
func withoutPlace(t *testing.T, v *verdict.Verdict) string {
	t.Helper()
	v.Scope = verdict.Scope{}
	v.Coverage.LeftOut = slices.DeleteFunc(v.Coverage.LeftOut, func(o verdict.Omission) bool {
		return o == verdict.Omission{File: ".git", Reason: "git"}
	})
	v.Coverage.LeftOut = verdict.OrEmpty(v.Coverage.LeftOut)
	for i := range v.Policy {
		v.Policy[i].From, v.Policy[i].Commit = "", ""
	}
	for i := range v.Rules {
		v.Rules[i].From = ""
	}
	text, err := verdict.JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// firstDifference shows where two texts differ first.
func firstDifference(dir, commit string) string {
	a, b := strings.Split(dir, "\n"), strings.Split(commit, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	around := func(lines []string) string {
		return strings.Join(lines[max(0, i-8):min(len(lines), i+8)], "\n")
	}
	return fmt.Sprintf("the dir:\n%s\nthe commit:\n%s", around(a), around(b))
}

func git(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git builds the repositories")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	var wrong strings.Builder
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, wrong.String())
	}
	return string(out)
}

// withBundles returns commits with the same trees plus the bundle of examples/policy as .policyscan. It drops commits
// without such a directory, or with submodules.
func withBundles(t *testing.T, repository string, hashes []string) []string {
	t.Helper()
	var all []string
	for _, hash := range hashes {
		fields := strings.Fields(git(t, repository, "", "ls-tree", hash, "examples/policy"))
		if len(fields) != 4 || fields[1] != "tree" {
			continue
		}
		var entries strings.Builder
		entries.WriteString(git(t, repository, "", "ls-tree", hash))
		fmt.Fprintf(&entries, "040000 tree %s\t.policyscan\n", fields[2])
		tree := strings.TrimSpace(git(t, repository, entries.String(), "mktree"))
		all = append(all, strings.TrimSpace(git(t, repository, "", "commit-tree", "-m", "x", tree)))
	}
	return all
}

const namedRules = `rules:
  - id: NAMED-1
    title: No word
    enforcement: {mode: fail}
    match: {files: ["**/*.tf", "**/*.txt"], exclude: ["x/**"], forbidden_patterns: [word, "a\nb"]}
`

// stream is a history for git fast-import: each commit changes some files, and sometimes the bundle.
func stream(random *rand.Rand, commits int) string {
	var b strings.Builder
	g := generator{random, &b}
	for i := range commits {
		fmt.Fprintf(&b, "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 0\n", 1700000000+i)
		if i%12 == 0 {
			b.WriteString("deleteall\n")
			for range 6 {
				g.file()
			}
		}
		if i%4 == 0 {
			g.bundle()
		}
		for range 1 + random.IntN(4) {
			g.file()
		}
		if random.IntN(3) == 0 {
			fmt.Fprintf(&b, "D %s\n", quotedPath(g.path()))
		}
	}
	b.WriteString("done\n")
	return b.String()
}

// A generator writes commands of git fast-import.
type generator struct {
	*rand.Rand
	to *strings.Builder
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) put(mode, path, content string) {
	fmt.Fprintf(g.to, "M %s inline %s\ndata %d\n%s\n", mode, quotedPath(path), len(content), content)
}

// quotedPath is any path in the syntax of git fast-import.
func quotedPath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		fmt.Fprintf(&b, "\\%03o", c)
	}
	b.WriteByte('"')
	return b.String()
}

func (g *generator) path() string {
	return g.one("", "", "a/", "a/deep/", "x/", "lib/") +
		g.one("main", "b c", "new\nline", "back\\slash", "caf\xe9", "é", "-dash") +
		g.one(".tf", ".txt", ".yml", ".TF", "")
}

// file writes a file, a link or an executable.
func (g *generator) file() {
	switch g.IntN(20) {
	case 0:
		g.put("120000", g.path(), g.one("main.tf", "a", "x/main.tf", "./a/../main.txt", "nothing.tf", "new\nline.tf",
			"a/deep", "lib/é.tf"))
	case 1, 2:
		g.put("100755", g.path(), g.content())
	default:
		g.put("100644", g.path(), g.content())
	}
}

// content is a text, which may match rules.
func (g *generator) content() string {
	var b strings.Builder
	for range g.IntN(5) {
		b.WriteString(g.one("word\n", "harmless\n", "WORD\r\n", "a\r\nb\r\n", "key: bad\n", "owner: me\n", "x\x00y",
			"é word", "\xff\xfe", strings.Repeat("long ", 2000)))
	}
	text := b.String()
	switch g.IntN(8) {
	case 0:
		return "\xff\xfe" + wide(text, binary.LittleEndian)
	case 1:
		return "\xfe\xff" + wide(text, binary.BigEndian)
	case 2:
		return wide(text, binary.LittleEndian)
	}
	return text
}

// wide is a text in UTF-16.
func wide(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
}

// bundle writes a bundle to a place of discovery, or something invalid.
func (g *generator) bundle() {
	at := ".policyscan/rules/"
	fmt.Fprint(g.to, "D .policyscan\nD rules\n")
	switch g.IntN(8) {
	case 0:
		at = "rules/"
	case 1:
		broken := g.one(".policyscan/notes.txt", ".policyscan/rules/boundaries.yml", "rules/boundaries.yml")
		g.put("100644", broken, "rules: [\n")
		return
	}
	if g.IntN(3) == 0 {
		g.put("100644", at+"boundaries.yml", strings.ReplaceAll(namedRules, "NAMED-1", "OWN-1"))
		g.put("100644", at+"invariants.yml", "rules: []\n")
		return
	}
	n := 0
	rules := func(matches ...string) string {
		text := "bundle: \"0.2\"\n"
		if g.IntN(3) == 0 {
			text += "exclude: [\"lib/**\", \"**/-dash*\"]\n"
		}
		text += "rules:\n"
		for i, match := range matches {
			if i == 0 || g.IntN(2) == 0 {
				const rule = "  - {id: OWN-%d, title: A rule, enforcement: {mode: fail}, match: {%s}}\n"
				text += fmt.Sprintf(rule, n, match)
				n++
			}
		}
		return text
	}
	g.put("100644", at+"boundaries.yml", rules(
		`files: ["**/*.tf", "**/*.txt", "**/main"], forbidden_patterns: [word, {text: bad, case: ignore}]`,
		`files: ["**/*.yml"], forbidden_patterns: [{key: key, is: bad}, harm], unparsable: text`,
		`forbidden_files: ["x/**", "**/*.TF"], path_case: ignore`))
	g.put("100644", at+"invariants.yml", rules(
		`files: ["a/**/*.tf"], required_patterns: [harmless]`,
		`required_files: ["`+g.one("main.tf", "**/main.txt", "lib/**/*", "nowhere/*")+`"]`))
	if g.IntN(2) == 0 {
		text := "bundle: \"0.2\"\nallowances:\n"
		for _, dir := range []string{"", "a/", "a/deep/"} {
			for _, name := range []string{"main", "b c", "é", "-dash"} {
				text += fmt.Sprintf("  - {rule: OWN-0, file: %q, at_most: %d, owner: me, reason: later}\n",
					dir+name+g.one(".tf", ".txt"), 1+g.IntN(3))
			}
		}
		g.put("100644", at+"allowances.yml", text)
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}
