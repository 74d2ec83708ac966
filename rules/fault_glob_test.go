package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/internal/cputime"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/glob"
)

func TestFault_092_InvalidGlobs(t *testing.T) {
	for _, g := range []string{"[a", "{a", `a\`, "a}", "[]", "[!]", "a/[", "{a,[}"} {
		_, errs := loadBoundaries(ruleWith("["+yamlDouble(g)+"]", "[x]"))
		wantCode(t, errs, document.CodeGlob, "rules/boundaries.yml:6:15: rule \"R-1\": ")
	}
}

func TestFault_093_NeverMatches(t *testing.T) {
	for g, fix := range map[string]string{
		"!a": `write "a" under "exclude"`, "/a": `write "a"`, "./a": "remove it", "../a": "root of the tree",
		"a/": `write "a/**"`, "a//b": `a single "/"`,
		"a ": `write "a"`, "@(a)": "{a,b}", "!(a)": `"exclude"`, "+(a)": "{a,b}", "[[:digit:]]": "[0-9]",
		"[a/b]": "{a,b/c}", "[9-0]": `write "0-9"`,
		"**.tf": `write "**/*.tf"`, strings.Repeat("{a,b}", 9): "several globs", strings.Repeat("a",
			1025): "several globs", "{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b,c,d}{a,b}": "several globs",
	} {
		for _, content := range []string{
			ruleWith("["+yamlDouble(g)+"]", "[x]"),
			ruleWith(`["**"]`, "[x]\n      exclude: ["+yamlDouble(g)+"]"),
		} {
			_, errs := loadBoundaries(content)
			wantCode(t, errs, document.CodeGlob, fix)
			if len(errs) != 1 {
				t.Errorf("%q: %v", g, errs)
			}
		}
	}
}

// TestFault_094_CatastrophicBraces: the time for one glob is held in package glob; here for
// a bundle full of the worst that passes.
func TestFault_094_CatastrophicBraces(t *testing.T) {
	took := cputime.Of(func() {
		for range 20 {
			_, errs := loadBoundaries(ruleWith(`["`+strings.Repeat("{a,aa}", 26)+`"]`, "[x]"))
			wantCode(t, errs, document.CodeGlob, "26 brace groups")
		}
	})
	if took > 200*time.Millisecond && !cputime.RaceDetector {
		t.Errorf("took %v twenty times", took)
	}
}

// TestFault_095_Globs: rules select by the semantics that package glob tests in full.
func TestFault_095_Globs(t *testing.T) {
	b, errs := loadBoundaries(ruleWith(`["**/*.tf", "k8s/**"]`,
		"[x]\n      exclude: [\"**/testdata/**\", \"k8s/[!a]*\"]"))
	if errs != nil {
		t.Fatal(errs)
	}
	for path, want := range map[string]bool{"a.tf": true, ".a/.b.tf": true, "a.TF": false, "a/testdata/b.tf": false,
		"testdata.tf": true, "k8s/a": true, "k8s/b": false, "k8s": false, "k8s/z/a": true, "\xff.tf": true} {
		if b.Rules[0].Selects(path) != want || (len(b.Selecting(path, nil)) == 1) != want {
			t.Errorf("%q: want %v", path, want)
		}
	}
}

func TestFault_097_WindowsSeparators(t *testing.T) {
	for g, fix := range map[string]string{`modules\main.tf`: `write "modules/main.tf"`, `**\*.tf`: `write "**/*.tf"`,
		`a\**\*.tf`: `write "a/**/*.tf"`, `.\a`: `"/" between folders`, `C:\a\b`: `write "C:/a/b"`} {
		_, errs := loadBoundaries(ruleWith("['"+g+"']", "[x]"))
		wantCode(t, errs, document.CodeGlob, fix)
		if glob.Check(g) == nil {
			t.Errorf("glob.Check accepts %q", g)
		}
	}
	// One that could be meant is noted.
	b, errs := loadBoundaries(ruleWith(`['modules/\*.tf']`, "[x]"))
	if errs != nil || len(Notes(b)) != 1 {
		t.Errorf("%v", errs)
	}
}
