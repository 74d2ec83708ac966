package clash

import (
	"errors"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/rules/document"
)

func readLevels(texts ...string) (*callrules.Set, error) {
	var files []*document.Source
	for i, text := range texts {
		files = append(files, &document.Source{Name: []string{"user", "project", "session"}[i], Text: []byte(text)})
	}
	return Read("the levels", files, home())
}

// The most specific rule of all levels decides, of equal ones the highest level's; the default is the highest's.
func TestLevels(t *testing.T) {
	user := `(default ask "u") (policy "u" (allow (exec "git" *)) (deny (exec "git" "push" *)) (allow (fs read)))`
	for _, c := range []struct {
		levels []string
		want   map[string]callrules.Effect
	}{
		{[]string{user, `(policy "main" (deny (fs read "/etc/passwd")))`}, map[string]callrules.Effect{
			"Bash git status": "allow", "Bash git push": "deny", "Bash ls": "deny", "Read /a": "allow",
			"Read /etc/passwd": "deny", "Skill x": "deny", "Task x": "allow",
		}},
		{[]string{user, `(default deny "p") (policy "p" (include "q")) (policy "q" (ask (exec "git" "push" *)) (deny (fs)))`,
			`(default allow "s") (policy "s" (allow (exec "git" "push" *)) (deny (exec "git" *)))`},
			map[string]callrules.Effect{
				"Bash git push": "allow", "Bash git status": "deny", "Bash ls": "allow", "Read /a": "allow",
				"Write /a": "deny", "Skill x": "allow",
			}},
		{[]string{`(policy "main") (policy "__internal_claude__" (allow (tool "Skill")))`, `(policy "main" (ask (net)))`},
			map[string]callrules.Effect{"Task x": "deny", "Skill x": "allow", "WebSearch x": "ask"}},
	} {
		set, err := readLevels(c.levels...)
		if err != nil {
			t.Fatal(err)
		}
		for said, want := range c.want {
			if out := ask(t, set, said); out.Effect != want {
				t.Errorf("%q: %s: %s, want %s", c.levels, said, out.Effect, want)
			}
		}
	}
}

// Conflicts are looked for in each level by itself; where a higher level lets through what a lower one denies, a note
// says so at the lower rule.
func TestLevelsNotes(t *testing.T) {
	set, err := readLevels(`(policy "main" (deny (exec "git" "push" *)) (deny (exec "rm")) (ask (exec "x")))`,
		"(policy \"main\"\n(allow (exec \"git\" /push/ \"a\")) (allow (exec \"git\" \"push\" \"b\")) (allow (exec \"git\" \"push\" *)) (deny (exec \"x\")) (allow (exec \"a\")))")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, n := range set.Notes {
		if n.Origin.File == "user" && strings.Contains(n.Text, `(allow (exec "git" "push" "b")) of project:2 and 1 more`) {
			count += 10
		}
		if strings.Contains(n.Text, "higher level") {
			count++
			if n.Origin != (callrules.Origin{File: "user", Line: 1}) ||
				!strings.Contains(n.Text, `(allow (exec "git" "push" *)) of project:2 is of a higher level`) {
				t.Errorf("%+v", n)
			}
		}
	}
	if count != 11 || set.Name != "the levels" {
		t.Errorf("%d notes of %+v", count, set)
	}
	_, err = readLevels(`(policy "main" (deny (net)) (allow (net)))`, `(polcy) (policy "main")`, `(policy "main" (include "x"))`)
	var list document.Errors
	if !errors.As(err, &list) || len(list) != 3 || list[0].File != "user" || list[1].File != "project" ||
		list[2].File != "session" {
		t.Errorf("%v", err)
	}
}
