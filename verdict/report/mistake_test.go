package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

func mistakes(t *testing.T, o TextOptions, list ...Mistake) string {
	t.Helper()
	var b strings.Builder
	if err := WriteMistakes(&b, list, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestMistake: a mistake has its place first, as terminals link it, and the caret under what it is about.
func TestMistake(t *testing.T) {
	plain := Mistake{Place: "p/rules/b.yml:4:7", What: `unknown key "titel"`, Line: 4, Source: "\t- é: titel: x",
		Caret: len("\t- é: ")}
	coded, bare, placeless := plain, plain, Mistake{What: "no bundle", Code: "E_POLICY_MISSING",
		Help: []string{"run: policyscan init"}}
	coded.Code = "E_POLICY_KEY"
	bare.Caret = -1
	const (
		place  = "p/rules/b.yml:4:7: unknown key \"titel\""
		source = "\n    4 |     - é: titel: x\n"
		caret  = "      |          ^\n"
	)
	for _, c := range []struct {
		m    Mistake
		o    TextOptions
		want string
	}{
		{plain, TextOptions{}, place + source + caret},
		{coded, TextOptions{}, place + " [E_POLICY_KEY]" + source + caret},
		{bare, TextOptions{}, place + source},
		{coded, TextOptions{Color: true},
			"\x1b[1mp/rules/b.yml:4:7:\x1b[0m unknown key \"titel\" \x1b[1;31m[E_POLICY_KEY]\x1b[0m\n" +
				"\x1b[1;34m    4\x1b[0m \x1b[1;34m|\x1b[0m     - é: titel: x\n" +
				"      \x1b[1;34m|\x1b[0m          \x1b[1;31m^\x1b[0m\n"},
		{placeless, TextOptions{}, "error: no bundle [E_POLICY_MISSING]\n      = help: run: policyscan init\n"},
	} {
		if got := mistakes(t, c.o, c.m); got != c.want {
			t.Errorf("%+v\ngot  %q\nwant %q", c.m, got, c.want)
		}
	}
}

// TestMistakeWidth: on a terminal the line is cut around the caret, which stays under what it is about.
func TestMistakeWidth(t *testing.T) {
	for _, before := range []int{0, 1, 30, 80, 200} {
		source := strings.Repeat("a", before) + "HERE" + strings.Repeat("b", 100)
		lines := strings.Split(mistakes(t, TextOptions{Width: 60}, Mistake{Place: "f:1:1", What: "x", Line: 1,
			Source: source, Caret: before}), "\n")
		at := strings.IndexByte(lines[2], '^')
		if shown := []rune(lines[1]); len(shown) > 60 || at < 0 || !strings.HasPrefix(string(shown[min(at,
			len(shown)):]), "HERE") {
			t.Errorf("%d before it: %d columns:\n%s\n%s", before, len(shown), lines[1], lines[2])
		}
	}
}

// TestMistakeInert: nothing of a rule file is obeyed by what shows it.
func TestMistakeInert(t *testing.T) {
	const evil = "\x1b[2J\u202e##[error]\n::error::x"
	m := Mistake{Place: evil, What: evil, Line: 1, Source: evil + "HERE", Caret: len(evil), Help: []string{evil}}
	got := mistakes(t, TextOptions{Commands: true}, m)
	if strings.ContainsAny(got, "\x1b\u202e") || strings.Contains(got, "##[") || strings.Contains(got, "\n::") {
		t.Errorf("%q", got)
	}
	lines := strings.Split(got, "\n")
	if at := strings.IndexByte(lines[2], '^'); at < 0 || !strings.HasPrefix(string([]rune(lines[1])[at:]), "HERE") {
		t.Errorf("the caret is not under it:\n%s\n%s", lines[1], lines[2])
	}
}

// TestTextMistakes: the text report says of an error what is known beyond the verdict, and of no other.
func TestTextMistakes(t *testing.T) {
	known, other := verdict.Error{Code: "E_POLICY_KEY",
		Message: "rules/b.yml:4:7: found"}, verdict.Error{Code: "E_POLICY_KEY", Message: "rules/b.yml:5:7: found"}
	v := verdict.Incomplete("devel", verdict.Scope{Mode: "full"}, known, other)
	v.Decide()
	got := textOf(t, v, TextOptions{Mistakes: map[verdict.Error]Mistake{known: {Place: "p/rules/b.yml:4:7",
		What: "found", Code: "E_POLICY_KEY", Line: 4, Source: "titel", Caret: 0}}})
	want := "p/rules/b.yml:4:7: found [E_POLICY_KEY]\n    4 | titel\n      | ^\n" +
		"error: rules/b.yml:5:7: found [E_POLICY_KEY]\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestMistakesAreWritten(t *testing.T) {
	if err := WriteMistakes(failing{}, []Mistake{{What: "x"}}, TextOptions{}); err == nil {
		t.Error("a failed write is no error")
	}
}
