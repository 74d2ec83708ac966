package report

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/policyscan/policyscan/verdict"
)

// TestDiffGoldens: the changes of two fixtures as a comparison of two bundles, in each format.
func TestDiffGoldens(t *testing.T) {
	const golden = "testdata/policydiff/golden.txtar"
	var got []txtar.File
	for _, name := range []string{"change", "hostile"} {
		d := &verdict.PolicyDiff{SchemaVersion: "1", Tool: verdict.New("1.0.0").Tool, Changes: fixtureOf(t, name).PolicyChanges}
		add := func(kind string, write func(*bytes.Buffer) error) string {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			wantSafe(t, b.String(), false)
			got = append(got, txtar.File{Name: name + kind, Data: b.Bytes()})
			return b.String()
		}
		for _, width := range []int{60, 80} {
			add(fmt.Sprintf(".%d.txt", width), func(b *bytes.Buffer) error {
				return WriteDiffText(b, d, TextOptions{Width: width})
			})
		}
		for _, f := range DiffFormats(d) {
			text := add("."+f.Name, func(b *bytes.Buffer) error { return f.Write(b, nil) })
			wantNoCommand(t, text)
			if !f.Wrote(text) || f.Wrote("x"+text) {
				t.Errorf("%s: it does not recognise its own reports alone", f.Name)
			}
		}
	}
	text := txtar.Format(&txtar.Archive{Files: got})
	if *update {
		if err := os.WriteFile(golden, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(text)); d != "" {
		t.Error(d)
	}
}

// TestEffectWords: an effect is said with what shows it.
func TestEffectWords(t *testing.T) {
	rule := func(effect verdict.Effect, witness ...verdict.Witness) *verdict.PolicyChange {
		return &verdict.PolicyChange{Kind: verdict.ChangedRule, Change: verdict.Altered, Effect: effect, Witness: witness}
	}
	passes := verdict.Witness{Effect: verdict.Weaker, File: "main.tf", Content: "::/0"}
	for want, c := range map[string]*verdict.PolicyChange{
		"same":                               rule(verdict.Same),
		"stronger":                           rule(verdict.Stronger),
		`weaker: passes main.tf with "::/0"`: rule(verdict.Weaker, passes),
		"weaker: allowances can permit what breaks it":                                                   rule(verdict.Weaker),
		"weaker: passes a tree without files":                                                            rule(verdict.Weaker, verdict.Witness{Effect: verdict.Weaker}),
		`stronger: refuses a tree of only "a", "b"`:                                                      rule(verdict.Stronger, verdict.Witness{Effect: verdict.Stronger, Tree: []string{"a", "b"}}),
		"unknown: something that was refused may pass, and no file was found that shows it":              rule(verdict.Unknown),
		"unknown: something that was refused may pass, and no file was found that shows it; refuses a x": rule(verdict.Unknown, verdict.Witness{Effect: verdict.Stronger, File: "a", Content: ""}),
	} {
		want = strings.Replace(want, " a x", " a without content", 1)
		if got := effectWords(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
