package grant

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/scope"
	"github.com/policyscan/policyscan/verdict"
)

// A history is a repository whose files change at random.
type history struct {
	*testing.T
	*rand.Rand
	dir   string
	files map[string][]string // lines, by path
	line  int                 // of them all, so that no two are the same
	fair  bool                // until now nothing was added or copied
}

func (h *history) git(args ...string) {
	h.Helper()
	cmd := exec.Command("git", append([]string{"-C", h.dir, "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// lines draws lines, some of which break a rule.
func (h *history) lines(n int) []string {
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

func (h *history) any() string {
	names := slices.Sorted(maps.Keys(h.files))
	return names[h.IntN(len(names))]
}

// free draws a path that is not taken.
func (h *history) free() string {
	for {
		name := fmt.Sprintf("%s/%c%d.tf", []string{"a", "b", "c"}[h.IntN(3)], 'p'+h.IntN(5), h.IntN(3))
		if _, taken := h.files[name]; !taken {
			return name
		}
	}
}

// step changes files once.
func (h *history) step() {
	name := h.any()
	lines := h.files[name]
	switch h.IntN(8) {
	case 0, 1: // rename, perhaps with an edit of less than half
		delete(h.files, name)
		to := h.free()
		if h.IntN(2) == 0 && len(lines) > 4 {
			lines = lines[:len(lines)-1]
		}
		h.files[to] = lines
	case 2: // remove
		if len(h.files) > 1 {
			delete(h.files, name)
		}
	case 3: // fix
		h.files[name] = slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			return strings.Contains(l, "ax") && h.IntN(2) == 0
		})
	case 4: // format and sort
		for i, l := range lines {
			lines[i] = strings.Replace(l, " = ", "\t=  ", 1)
		}
		slices.Reverse(lines)
	case 5: // change places
		other := h.any()
		h.files[name], h.files[other] = h.files[other], lines
	case 6: // split
		if n := len(lines) / 2; n > 0 {
			h.files[name], h.files[h.free()] = slices.Clone(lines[:n]), slices.Clone(lines[n:])
		}
	case 7: // add, or copy
		if h.IntN(2) == 0 {
			h.files[name] = append(h.files[name], "more ax")
		} else {
			h.files[h.free()] = slices.Clone(lines)
		}
		h.fair = false
	}
}

// write makes the files of the tree those of the history.
func (h *history) write() {
	for _, folder := range []string{"a", "b", "c"} {
		if err := os.RemoveAll(filepath.Join(h.dir, folder)); err != nil {
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

// counts are what is there, counted without the program.
func (h *history) counts() map[pair]int {
	n := map[pair]int{}
	for name, lines := range h.files {
		for rule, text := range map[string]string{"A": "ax", "B": "bx"} {
			if k := strings.Count(strings.Join(lines, "\n"), text); k > 0 {
				n[pair{rule, name}] = k
			}
		}
	}
	return n
}

func (h *history) bundle() string { return filepath.Join(h.dir, ".policyscan") }

func (h *history) entries() []rules.Allowance { return opened(h, h.bundle()).entries() }

func (h *history) scan(base string) *verdict.Verdict {
	q := scope.Request{Path: h.dir, Policies: []string{""}, Base: base, Getenv: func(string) string { return "" }}
	s, err := q.Subject(context.Background())
	if err != nil {
		h.Fatal(err)
	}
	defer s.Close()
	return scanner.Scan(context.Background(), s.Judges, s.Tree, scanner.Options{
		LeaveOut: s.LeaveOut, InUse: s.InUse, Starts: s.Starts, Errors: s.Errors, Day: today,
		Allow: []string{check.AllowEmpty},
	})
}

func (h *history) tighten() Outcome {
	t := Tightening{
		Request: scope.Request{Path: h.dir, Policies: []string{""}, Git: repo.Environment{}},
		Options: scanner.Options{Day: today, Allow: []string{check.AllowEmpty}},
	}
	_, o, err := t.Run(context.Background())
	if err != nil {
		h.Fatal(err)
	}
	return o
}

// sums are the numbers of each rule together.
func sums(all []rules.Allowance) map[string]int {
	n := map[string]int{}
	for p, m := range meansOf(all) {
		n[p.rule] += m.atMost
	}
	return n
}

// TestHistories: what tightening writes lets no rule have more than before, and no file without a new "from"; each
// number is there; a second time nothing changes; and if occurrences were only moved or removed, the change passes with
// it, as does the tree. It is tightened after each step, and steps and what it writes are committed or not.
func TestHistories(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git builds the repositories")
	}
	fair, moved, again := 0, 0, 0
	for seed := range uint64(20) {
		h := &history{
			T: t, Rand: rand.New(rand.NewPCG(seed, 32)), dir: filepath.Join(t.TempDir(), "r"),
			files: map[string][]string{}, fair: true,
		}
		for range 4 + h.IntN(3) {
			h.files[h.free()] = h.lines(4 + h.IntN(9))
		}
		h.write()
		l := written(h, h.bundle(), nil)
		n := h.counts()
		if _, err := l.Add(l.of(n), Grant{Owner: "o", Reason: "r", Day: today}); err != nil {
			t.Fatal(err)
		}
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
				t.Errorf("seed %d, base %q: %s %+v\n%+v\n%+v", seed, base, v.Verdict, v.Errors, h.entries(), violated(v))
			}
		}
	}
	if fair < 8 || moved < 8 || again < 8 {
		t.Errorf("only %d histories moved or removed occurrences alone; %d entries got a from, in %d rounds", fair, moved, again)
	}
}

// round changes files, tightens, and checks what that wrote. It returns how many entries got a "from".
func (h *history) round(seed uint64) (moved int) {
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
	before := map[pair]rules.Allowance{}
	for _, a := range was {
		before[pairOf(&a)] = a
	}
	for _, a := range is {
		b := before[pairOf(&a)]
		if a.AtMost > n[pairOf(&a)] || a.AtMost > b.AtMost && len(a.From) == len(b.From) {
			h.Errorf("seed %d: %+v, of %d; before: %+v", seed, a, n[pairOf(&a)], b)
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
func (h *history) commit() {
	h.git("add", ".")
	if h.IntN(2) == 0 {
		h.git("commit", "-q", "--allow-empty", "-m", "step")
	}
}

func violated(v *verdict.Verdict) []string {
	var all []string
	for i := range v.Violations {
		o := &v.Violations[i]
		all = append(all, fmt.Sprintf("%s@%s: %d: %s", o.RuleID, o.File, o.Evidence.Occurrences, o.Note))
	}
	return all
}
