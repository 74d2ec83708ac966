package session

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestSendBack: an agent is sent back three times in a row for one set of violations, in any order, and eight times for
// any; another set, or none, begins again. Subagents count by themselves.
func TestSendBack(t *testing.T) {
	type step struct {
		agent string
		keys  string // each letter is one
		nth   int
		back  bool
	}
	for name, steps := range map[string][]step{
		"the same set": {{"", "ab", 1, true}, {"", "ba", 2, true}, {"", "ab", 3, true}, {"", "ab", 3, false}, {"", "ab", 3, false}},
		"another set":  {{"", "ab", 1, true}, {"", "ab", 2, true}, {"", "a", 1, true}, {"", "a", 2, true}, {"", "ab", 1, true}},
		"none between": {{"", "a", 1, true}, {"", "a", 2, true}, {"", "a", 3, true}, {"", "a", 3, false}, {"", "", 0, false}, {"", "a", 1, true}},
		"subagents":    {{"", "a", 1, true}, {"x", "a", 1, true}, {"y", "a", 1, true}, {"x", "a", 2, true}, {"", "a", 2, true}},
		"no end": {{"", "a", 1, true}, {"", "b", 1, true}, {"", "a", 1, true}, {"", "b", 1, true}, {"", "a", 1, true}, {"", "b", 1, true},
			{"", "a", 1, true}, {"", "b", 1, true}, {"", "a", 0, false}, {"", "b", 1, true}},
	} {
		var state Turns
		for i, s := range steps {
			nth, back := state.SendBack(s.agent, strings.Split(s.keys, "")[:len(s.keys)])
			if nth != s.nth || back != s.back {
				t.Errorf("%s, step %d: %d, %v, want %d, %v", name, i+1, nth, back, s.nth, s.back)
			}
		}
	}
	var many Turns
	for i := range maxAgents + 1 {
		if _, back := many.SendBack(fmt.Sprint(i), []string{"a"}); back != (i < maxAgents) {
			t.Errorf("subagent %d is sent back: %v", i, back)
		}
	}
	if _, back := many.SendBack("", []string{"a"}); !back {
		t.Error("many subagents let the main agent go")
	}
}

// TestSayUndecided: what cannot be decided is said once, until it changes.
func TestSayUndecided(t *testing.T) {
	var state Turns
	for i, s := range []struct {
		messages string
		says     bool
	}{{"", false}, {"a", true}, {"a", false}, {"b", true}, {"", false}, {"b", true}, {"b", false}} {
		if says := state.SayUndecided(strings.Fields(s.messages)); says != s.says {
			t.Errorf("step %d: %v", i+1, says)
		}
	}
}

// TestTurnsFile: the turns of a session are in a private file next to its state, without a text, and are removed as
// that is; a damaged file is an error that names it.
func TestTurnsFile(t *testing.T) {
	dir := sessions(t)
	f := open(t, dir)
	news := 0
	change := func(id string, what func(*Turns)) {
		t.Helper()
		if err := f.ChangeTurns(id, now, func(s *Turns, isNew bool) {
			if isNew {
				news++
			}
			what(s)
		}); err != nil {
			t.Fatal(err)
		}
	}
	change("one", func(s *Turns) { s.Start(map[string]int64{"NET-1\x00secret.tf": 2}) })
	change("one", func(s *Turns) {
		if s.Started("NET-1\x00secret.tf") != 2 || s.Started("other") != 0 {
			t.Errorf("%+v", s)
		}
		s.SendBack("a subagent", []string{"NET-1\x00secret.tf"})
	})
	file := only(t, dir)
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "subagent") {
		t.Errorf("%v: %s", err, text)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	change("two", func(s *Turns) {
		if s.Started("NET-1\x00secret.tf") != 0 {
			t.Error("sessions share a file")
		}
	})
	if news != 2 {
		t.Errorf("%d new sessions", news)
	}
	if err := f.ChangeTurns("", now, func(*Turns, bool) { t.Error("it is changed") }); err == nil {
		t.Error("a session without an id is accepted")
	}
	for _, bad := range []string{"", "{}", "null", string(text) + " ", strings.Replace(string(text), `"same":1`, `"same":1,"x":2`, 1),
		strings.Repeat("x", maxTurns+1)} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		err := f.ChangeTurns("one", now, func(*Turns, bool) { t.Errorf("%.20q is changed", bad) })
		if err == nil || !strings.Contains(err.Error(), file[len(file)-20:]) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}

	many := map[string]int64{}
	for i := range maxKeys {
		many[fmt.Sprint(i)] = 1
	}
	change("many", func(s *Turns) { s.Start(many) })
	change("many", func(s *Turns) {
		if len(s.Before) != maxKeys {
			t.Errorf("%d are remembered", len(s.Before))
		}
	})
	many["more"] = 1
	change("more", func(s *Turns) { s.Start(many) })
	change("more", func(s *Turns) {
		if s.Before != nil {
			t.Errorf("%d are remembered", len(s.Before))
		}
	})
}
