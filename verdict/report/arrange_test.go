package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/verdict"
)

func arranged(t *testing.T, v *verdict.Verdict, a Arrangement, format string) string {
	t.Helper()
	for _, f := range a.Formats() {
		if f.Name == format {
			var b strings.Builder
			if err := f.Write(&b, v); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
	}
	t.Fatalf("no format %s", format)
	return ""
}

// TestArranged: with any arrangement the report has the same outcome; grouped by directory it has the same places, and
// by an owner as many as it says.
func TestArranged(t *testing.T) {
	place := regexp.MustCompile(`(?m)^(\S.*:\d+:\d+|the tree): `)
	last := func(s string) string { return s[strings.LastIndexByte(strings.TrimRight(s, "\n"), '\n')+1:] }
	narrowed := 0
	for name := range fixtures(t) {
		v := fixtureOf(t, name)
		plain := arranged(t, v, Arrangement{By: "rule"}, "text")
		for _, a := range []Arrangement{{By: "owner"}, {By: "folder"}, {By: "folder", Owner: "nobody"}, {Owner: "NETWORK-TEAM"}} {
			text := arranged(t, v, a, "text")
			if last(text) != last(plain) {
				t.Errorf("%s: %q, not %q", name, last(text), last(plain))
			}
			here, all := len(place.FindAllString(text, -1)), len(place.FindAllString(plain, -1))
			if a.Owner == "" && here != all || here > all {
				t.Errorf("%s, %v: %d places of %d in\n%s", name, a, here, all, text)
			}
			if a.Owner != "" && !strings.Contains(text, "only what "+a.Owner+" owns is shown: ") {
				t.Errorf("%s, %v: not said in\n%s", name, a, text)
			}
			if a.Owner != "" && here > 0 {
				narrowed++
			}
			for _, format := range []string{"markdown", "html"} {
				want := strings.SplitN(arranged(t, v, Arrangement{}, format), "\n", 2)[0]
				if got := strings.SplitN(arranged(t, v, a, format), "\n", 2)[0]; got != want {
					t.Errorf("%s, %v: %q, not %q", name, a, got, want)
				}
			}
		}
	}
	if narrowed == 0 {
		t.Error("nothing is of network-team")
	}
}

// TestArrangedLimit: the page keeps its limit with many owners of many files, and no two places have one id.
func TestArrangedLimit(t *testing.T) {
	v := newFixture()
	v.Rules = []verdict.Rule{{ID: "R", Type: "boundary", Title: "No x", Owner: verdict.CodeOwners, Files: 3000}}
	one := found(v.Rules[0], "", "the BAD word\n", "BAD")
	for i := range 3000 {
		one.File = fmt.Sprintf("dir-%d/file.tf", i)
		one.Fingerprint = verdict.Fingerprint("R", one.File, "BAD", nil)
		one.Owners = []string{"@all", fmt.Sprintf("@owner-%d", i)}
		v.Violations = append(v.Violations, one)
	}
	v.Decide()
	page := arranged(t, v, Arrangement{By: "owner"}, "markdown")
	if len(page) > markdownLimit || len(page) < markdownLimit/3 || !strings.Contains(page, "### `@all` (3,000 places in 3,000 files)") {
		t.Errorf("%d bytes", len(page))
	}
	omitted := regexp.MustCompile(`([\d,]+) of 6,000 places`).FindString(page)
	shown := strings.Count(page, "/file.tf:")
	if want := fmt.Sprintf("%s of 6,000 places", number(6000-shown)); omitted != want {
		t.Errorf("%q, not %q", omitted, want)
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="[^"]*"`).FindAllString(arranged(t, v, Arrangement{By: "owner"}, "html"), -1) {
		if ids[id] {
			t.Fatalf("%s is there twice", id)
		}
		ids[id] = true
	}
	if len(ids) < 6000 {
		t.Errorf("%d ids", len(ids))
	}
}
