package scanner

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/allowance"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
)

// A shuffledRepository is a repository whose files change at random.
type shuffledRepository struct {
	*testing.T
	*rand.Rand
	dir   string
	files map[string][]string // lines, by path
	line  int                 // number of all lines, so that no two are equal
	names int                 // number of all drawn names
	fair  bool                // so far files were only renamed, sorted, fixed and removed
}

func (h *shuffledRepository) git(args ...string) {
	h.Helper()
	cmd := exec.Command("git", append([]string{"-C", h.dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// lines draws lines, some of which break a rule.
func (h *shuffledRepository) lines(n int) []string {
	var all []string
	for range n {
		h.line++
		text := fmt.Sprintf("line %d = %x", h.line, h.Uint64())
		switch h.IntN(4) {
		case 0:
			text += " ax"
		case 1:
			text += " bx  bx"
		}
		all = append(all, text)
	}
	return all
}

func (h *shuffledRepository) any() string {
	names := slices.Sorted(maps.Keys(h.files))
	return names[h.IntN(len(names))]
}

// free draws an unused path.
func (h *shuffledRepository) free() string {
	h.names++
	return fmt.Sprintf("%s/%c%d.tf", []string{"a", "b", "c"}[h.IntN(3)], 'p'+h.IntN(5), h.names)
}

// step changes files once.
func (h *shuffledRepository) step() {
	name := h.any()
	lines := h.files[name]
	switch h.IntN(13) {
	case 0, 1, 2, 3, 4: // rename, perhaps with an edit of less than half
		delete(h.files, name)
		to := h.free()
		if h.IntN(2) == 0 && len(lines) > 4 {
			lines = lines[:len(lines)-1]
		}
		h.files[to] = lines
	case 5: // remove
		if len(h.files) > 1 {
			delete(h.files, name)
		}
	case 6, 7: // fix
		fixed := 0
		h.files[name] = slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			if !strings.Contains(l, "ax") || fixed > len(lines)/8 {
				return false
			}
			fixed++
			return true
		})
	case 8, 9: // sort
		slices.Reverse(lines)
	case 10: // change places
		other := h.any()
		h.files[name], h.files[other] = h.files[other], lines
		h.fair = false
	case 11: // split
		if n := len(lines) / 2; n > 0 {
			h.files[name], h.files[h.free()] = slices.Clone(lines[:n]), slices.Clone(lines[n:])
		}
		h.fair = false
	case 12: // add, or copy
		if h.IntN(2) == 0 {
			h.files[name] = append(h.files[name], "more ax")
		} else {
			h.files[h.free()] = slices.Clone(lines)
		}
		h.fair = false
	}
}

// write makes the tree's files those of the history.
func (h *shuffledRepository) write() {
	for _, dir := range []string{"a", "b", "c"} {
		if err := os.RemoveAll(filepath.Join(h.dir, dir)); err != nil {
			h.Fatal(err)
		}
	}
	for name, lines := range h.files {
		file := filepath.Join(h.dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o777)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666)
		}
		if err != nil {
			h.Fatal(err)
		}
	}
}

// counts returns the occurrences, counted without the program.
func (h *shuffledRepository) counts() map[[2]string]int {
	n := map[[2]string]int{}
	for name, lines := range h.files {
		for rule, text := range map[string]string{"A": "ax", "B": "bx"} {
			if k := strings.Count(strings.Join(lines, "\n"), text); k > 0 {
				n[[2]string{rule, name}] = k
			}
		}
	}
	return n
}

// writeBundle writes a bundle without allowances.
func (h *shuffledRepository) writeBundle() {
	text := "bundle: \"0.2\"\nrules:\n"
	for _, rule := range []string{"A", "B"} {
		text += "  - {id: " + rule + ", title: t, enforcement: {mode: fail}, " +
			"match: {files: [\"**/*.tf\"], forbidden_patterns: [" +
			strings.ToLower(rule) + "x]}}\n"
	}
	must(h, os.MkdirAll(filepath.Join(h.bundle(), "rules"), 0o777))
	must(h, os.WriteFile(filepath.Join(h.bundle(), "rules/boundaries.yml"), []byte(text), 0o666))
	must(h, os.WriteFile(filepath.Join(h.bundle(), "rules/invariants.yml"), []byte("rules: []\n"), 0o666))
}

func (h *shuffledRepository) bundle() string { return filepath.Join(h.dir, ".policyscan") }

// file opens the allowances of the bundle.
func (h *shuffledRepository) file() *allowance.File {
	h.Helper()
	all, err := run.LoadRules([]string{h.bundle()}, h.dir)
	must(h, err)
	f, err := allowance.Open(all, h.dir, h.bundle())
	must(h, err)
	return f
}

func (h *shuffledRepository) entries() []rules.Allowance { return h.file().Entries() }

const tightenDay = "2027-01-01"

func (h *shuffledRepository) options() run.Options {
	return run.Options{
		Path: h.dir, Policies: []string{""}, Now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
		Allow:  []string{check.AllowEmpty},
		Getenv: func(string) string { return "" },
	}
}

func (h *shuffledRepository) scan(base string) *verdict.Verdict {
	o := h.options()
	o.Base = base
	r, err := run.Open(h.Context(), o)
	must(h, err)
	defer r.Close()
	return Scan(h.Context(), r, nil)
}

func (h *shuffledRepository) tighten() allowance.EditResult {
	_, result, err := Tighten(h.Context(), h.options(), "", "")
	must(h, err)
	return result
}

// sums returns the sum of the numbers of each rule.
func sums(all []rules.Allowance) map[string]int {
	n := map[string]int{}
	for i := range all {
		n[all[i].Rule] += all[i].AtMost
	}
	return n
}

// TestHistories: tightening raises no rule's sum, and no file's number without a new "from"; each number equals the
// occurrences; a second run changes nothing; and if occurrences were only moved or removed, the change passes with it,
// as does the tree. It runs after each step, and steps and results are committed or not.
func TestHistories(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git builds the repositories")
	}
	fair, moved, again := 0, 0, 0
	for seed := range uint64(20) {
		h := &shuffledRepository{
			T: t, Rand: rand.New(rand.NewPCG(seed, 32)), dir: filepath.Join(t.TempDir(), "r"),
			files: map[string][]string{}, fair: true,
		}
		for range 4 + h.IntN(3) {
			h.files[h.free()] = h.lines(4 + h.IntN(9))
		}
		h.write()
		h.writeBundle()
		_, err := h.file().Add(h.scan(""), allowance.AddOptions{Owner: "o", Reason: "r", Day: tightenDay})
		must(t, err)
		h.git("init", "-q", "-b", "main")
		h.git("add", ".")
		h.git("commit", "-q", "-m", "base")
		h.git("switch", "-q", "-c", "work")
		for range 1 + h.IntN(3) {
			moves := h.round(seed)
			if moved += moves; moves > 0 {
				again++
			}
		}
		h.git("add", ".")
		h.git("commit", "-q", "--allow-empty", "-m", "tight")
		if !h.fair {
			continue
		}
		fair++
		for _, base := range []string{"", "main"} {
			if v := h.scan(base); v.Verdict != verdict.Pass {
				t.Errorf("seed %d, base %q: %s %+v\n%+v\n%+v", seed, base, v.Verdict, v.Errors, h.entries(),
					v.Violations)
			}
		}
	}
	if fair < 8 || moved < 8 || again < 8 {
		t.Errorf("only %d histories moved or removed occurrences alone; %d entries got a from, in %d rounds", fair,
			moved, again)
	}
}

// round changes files, tightens, and checks the result. It returns the number of entries with a new "from".
func (h *shuffledRepository) round(seed uint64) (moved int) {
	h.Helper()
	for range 1 + h.IntN(2) {
		h.step()
	}
	h.write()
	h.commit()
	was := h.entries()
	h.tighten()
	is, n := h.entries(), h.counts()
	for rule, sum := range sums(is) {
		if sum > sums(was)[rule] {
			h.Errorf("seed %d: rule %s may have %d, and had %d", seed, rule, sum, sums(was)[rule])
		}
	}
	before := map[[2]string]rules.Allowance{}
	for _, a := range was {
		before[[2]string{a.Rule, a.File}] = a
	}
	for _, a := range is {
		b := before[[2]string{a.Rule, a.File}]
		if a.AtMost > n[[2]string{a.Rule, a.File}] || a.AtMost > b.AtMost && len(a.From) == len(b.From) {
			h.Errorf("seed %d: %+v, of %d; before: %+v", seed, a, n[[2]string{a.Rule, a.File}], b)
		}
		if len(a.From) > len(b.From) {
			moved++
		}
	}
	text, err := os.ReadFile(filepath.Join(h.bundle(), filepath.FromSlash(rules.AllowancesFile)))
	if again := h.tighten(); len(again.Changes) > 0 {
		h.Errorf("seed %d: a second time: %+v", seed, again.Changes)
	}
	if now, nerr := os.ReadFile(filepath.Join(h.bundle(), filepath.FromSlash(rules.AllowancesFile))); err == nil &&
		(nerr != nil || !bytes.Equal(text, now)) {
		h.Errorf("seed %d: a second time the file changed: %v", seed, nerr)
	}
	h.commit()
	return moved
}

// commit commits everything, or nothing.
func (h *shuffledRepository) commit() {
	h.git("add", ".")
	if h.IntN(2) == 0 {
		h.git("commit", "-q", "--allow-empty", "-m", "step")
	}
}

// TestTightenBackdated: a day before today only says which entries have ended; the run is not partial.
func TestTightenBackdated(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git builds the repository")
	}
	h := &shuffledRepository{T: t, dir: t.TempDir(), files: map[string][]string{"a/x.tf": {"nothing"}}}
	h.write()
	h.writeBundle()
	const entry = "bundle: \"0.2\"\nallowances:\n" +
		"  - {rule: A, file: a/x.tf, at_most: 2, owner: o, reason: r, until: \"2030-01-01\"}\n"
	must(t, os.WriteFile(filepath.Join(h.bundle(), filepath.FromSlash(rules.AllowancesFile)), []byte(entry), 0o666))
	h.git("init", "-q", "-b", "main")
	h.git("add", ".")
	h.git("commit", "-q", "-m", "base")
	o := h.options()
	o.AsOf = "2020-01-01"
	_, result, err := Tighten(t.Context(), o, "", "")
	if err != nil || len(result.Changes) != 1 || result.Changes[0].Word != allowance.Removed {
		t.Errorf("%+v, %v", result, err)
	}
}
