package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/policyscan/policyscan/rules/document"
)

func source(text string) *document.Source {
	return &document.Source{Name: "s.json", Text: []byte(text)}
}

// install returns text after Install, or a new file if text is "".
func install(t *testing.T, of *Target, text string, args ...string) string {
	t.Helper()
	var src *document.Source
	if text != "" {
		src = source(text)
	}
	out, err := of.Install(src, "", args)
	if err != nil {
		t.Fatalf("%s: %v\n%s", of.Agent, err, text)
	}
	return string(out)
}

// TestInstall: for every agent the hook is put in once, is found again whatever its arguments and the
// layout, and goes without a trace.
func TestInstall(t *testing.T) {
	for _, of := range Targets() {
		t.Run(of.Agent, func(t *testing.T) {
			fresh := install(t, of, "")
			if again := install(t, of, fresh); again != fresh {
				t.Errorf("installed twice:\n%s", again)
			}
			if out, err := of.Uninstall(source(fresh)); err != nil || out != nil {
				t.Errorf("of a file that Install began %q is left: %v", out, err)
			}

			had := "{\n  \"hooks\": {\n    \"Other\": [1]\n  }\n}\n"
			if of.version {
				had = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"Other\": [1]\n  }\n}\n"
			}
			args := []string{"--calls", "my rules/calls.yml"}
			out := install(t, of, had, args...)
			if !strings.HasPrefix(out, had[:strings.Index(had, "[1]")+3]) {
				t.Errorf("what was there did not stay:\n%s", out)
			}
			var compact strings.Builder
			e := json.NewEncoder(&compact)
			if err := e.Encode(decode(t, out)); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{out, compact.String()} {
				if again := install(t, of, text, args...); again != text {
					t.Errorf("installed twice:\n%s", again)
				}
				want := `with other arguments: --calls "my rules/calls.yml"; to change them, first run: ` +
					"policyscan hook uninstall " + of.Agent
				_, err := of.Install(source(text), "", nil)
				if err == nil || !strings.HasPrefix(err.Error(), "s.json:") || !strings.Contains(err.Error(), want) {
					t.Errorf("other arguments: %v", err)
				}
				back, err := of.Uninstall(source(text))
				if err != nil || bytes.Contains(back, []byte("policyscan")) || !strings.Contains(text, "policyscan") {
					t.Errorf("uninstalled: %v\n%s", err, back)
				}
			}
			if back, err := of.Uninstall(source(out)); err != nil || string(back) != had {
				t.Errorf("uninstalled: %v\n%s", err, back)
			}
			if none, err := of.Uninstall(source(had)); err != nil || string(none) != had {
				t.Errorf("of a file without the hook: %v\n%s", err, none)
			}
		})
	}
}

// TestInstallTurns: an earlier version's hook stays, and the ones for turns are added, except without a bundle; all are
// removed, whichever there are.
func TestInstallTurns(t *testing.T) {
	for _, of := range Targets() {
		earlier, err := of.begin(byName, " --calls x")
		if err != nil {
			t.Fatal(err)
		}
		text := install(t, of, string(earlier), "--calls", "x")
		if text != install(t, of, "", "--calls", "x") || strings.Count(text, "hook stop") < len(of.lists)-1 {
			t.Errorf("%s: an earlier hook became\n%s", of.Agent, text)
		}
		for _, had := range []string{text, string(earlier)} {
			if out, err := of.Uninstall(source(had)); err != nil || out != nil {
				t.Errorf("%s: %v: %s is left", of.Agent, err, out)
			}
		}
		for _, args := range [][]string{{"--policy", "none", "--calls", "x"}, {"--calls", "x", "--policy=none"}} {
			if text := install(t, of, "", args...); strings.Contains(text, "hook stop") {
				t.Errorf("%s %q: without a bundle there is\n%s", of.Agent, args, text)
			}
		}
	}
}

// TestFresh: the files that Install begins, as the agents document them.
func TestFresh(t *testing.T) {
	all := rows(t, "fresh")
	for _, r := range all {
		if diff := cmp.Diff(r.Want, install(t, Named(r.Agent), "", "--calls", "x")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Agent, diff)
		}
	}
	if len(all) != 5 || len(Targets()) != 5 || Named("claude") != nil {
		t.Errorf("%d agents", len(all))
	}
}

// TestInstallRefused: settings in which the hook would not run, or is not as it was written.
func TestInstallRefused(t *testing.T) {
	for _, r := range rows(t, "install") {
		_, err := Named(r.Agent).Install(source(r.Before), "", nil)
		if err == nil || err.Error() != r.Want {
			t.Errorf("%s: %s:\n got %v\nwant %s", r.Agent, r.Before, err, r.Want)
		}
	}

	for _, of := range Targets() {
		const want = `s.json:1:15: a comment, which not every agent reads; remove it`
		for _, text := range []string{"{\"version\": 1 // mine\n}", `{"version": 1 /* mine */}`} {
			if _, err := of.Install(source(text), "", nil); err == nil || err.Error() != want {
				t.Errorf("%s, %s: %v", of.Agent, text, err)
			}
			if _, err := of.Uninstall(source(text)); err == nil || err.Error() != want {
				t.Errorf("%s, %s, uninstalled: %v", of.Agent, text, err)
			}
		}
	}

	// Switches that are off change nothing.
	install(t, Named("claude-code"), `{"disableAllHooks": false}`)
	install(t, Named("gemini"), `{"hooksConfig": {"enabled": true, "disabled": ["x"]}}`)
	install(t, Named("codex"), `{"description": "x"}`)
}

// TestChangedByHand: a hook that differs from the one that is written in anything but its arguments is
// neither there nor removed.
func TestChangedByHand(t *testing.T) {
	for _, change := range []struct{ from, to string }{
		{`"timeout": 75`, `"timeout": 1`},
		{`exit 2`, `exit 1`},
		{`claude-code ||`, `claude-code; true ||`},
		{`$(policyscan`, `$(true policyscan`},
		{`$(policyscan`, `$(bin/policyscan`},
		{`$(policyscan`, `$(\"/usr/bin/true\" policyscan`},
		{`claude-code ||`, `claude-code \"a ||`},
		{`"matcher": "*"`, `"matcher": "Bash"`},
		{`"matcher": "*"`, `"matcher": "*", "x": 1`},
		{`"type": "command"`, `"type": "command", "async": true`},
		{`"matcher"`, `"Matcher"`},
	} {
		of := Named("claude-code")
		text := install(t, of, "")
		changed := strings.Replace(text, change.from, change.to, 1)
		if changed == text {
			t.Fatalf("%q is missing", change.from)
		}
		_, inErr := of.Install(source(changed), "", nil)
		_, outErr := of.Uninstall(source(changed))
		for _, err := range []error{inErr, outErr} {
			if err == nil || !strings.Contains(err.Error(), "not as policyscan wrote it") {
				t.Errorf("%q for %q: %v", change.to, change.from, err)
			}
		}
	}

	of := Named("cursor")
	text := install(t, of, "", "--policy", "none") // one list: without a bundle a turn is not checked
	if strings.Contains(text, "/policyscan") {
		t.Error("settings that a team shares name the program by its path")
	}
	begin, end := strings.Index(text, "["), strings.LastIndex(text, "]")
	twice := text[:end] + "," + text[begin+1:]
	if _, err := of.Uninstall(source(twice)); err == nil || !strings.Contains(err.Error(), "the hook occurs twice") {
		t.Errorf("twice: %v", err)
	}
}

// TestInstallByPath: the program of a user's own settings is named by its path, is known again, and is replaced by
// another.
func TestInstallByPath(t *testing.T) {
	for _, of := range Targets() {
		args := []string{"--calls", "x y"}
		for _, path := range []string{"/usr/local/bin/policyscan", "/opt/my tools/é/policyscan-2",
			"C:/Program Files/policyscan/policyscan.exe"} {
			out, err := of.Install(nil, path, args)
			text := string(out)
			if err != nil || !strings.Contains(text, path) || strings.Contains(text, "(policyscan hook") {
				t.Fatalf("%s: %v\n%s", of.Agent, err, text)
			}
			if again, err := of.Install(source(text), path, args); err != nil || string(again) != text {
				t.Errorf("%s: installed twice: %v\n%s", of.Agent, err, again)
			}
			if out, err := of.Uninstall(source(text)); err != nil || out != nil {
				t.Errorf("%s: %v: %q is left", of.Agent, err, out)
			}
			if got, want := install(t, of, text, args...), install(t, of, "", args...); got != want {
				t.Errorf("%s: by its name:\n%s\nwant\n%s", of.Agent, got, want)
			}
		}
		_, err := of.Install(nil, "/home/a$b/policyscan", nil)
		if err == nil || !strings.Contains(err.Error(), "the path of the program") {
			t.Errorf("%s: %v", of.Agent, err)
		}
	}
}

// TestProgram: the path by which the PATH finds the program, if it is the same.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for _, name := range []string{"cellar/1.2", "bin", "other", "tmp/x", "go-build1/exe", "plain"} {
		if err := os.MkdirAll(at(name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"cellar/1.2", "other", "tmp/x", "go-build1/exe"} {
		if err := os.WriteFile(at(name, byName), nil, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("plain", byName), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("cellar/1.2", byName), at("bin", byName)); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	running := at("cellar/1.2", byName)
	for _, test := range []struct{ running, path, want string }{
		{running, list(at("none"), at("bin"), at("other")), at("bin", byName)},
		{running, list(at("plain"), at("bin")), at("bin", byName)}, // which cannot be run
		{running, list(at("other"), at("bin")), running},           // another is found first
		{running, list("bin", at("bin")), running},                 // what that is depends on the directory
		{running, "", running},
		{at("tmp/x", byName), at("bin"), ""},
		{at("go-build1/exe", byName), at("bin"), ""},
		{at("none", byName), at("bin"), ""},
	} {
		got, err := Program(test.running, test.path)
		if got != filepath.ToSlash(test.want) || (err == nil) != (test.want != "") {
			t.Errorf("%s with %s: %q, %v; want %q", test.running, test.path, got, err, test.want)
		}
	}
}

// TestQuote: arguments that all shells read in the same way, and refused ones.
func TestQuote(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--calls", ".policyscan/calls.yml"}, " --calls .policyscan/calls.yml"},
		{[]string{"--calls=.policyscan/calls.yml"}, ` "--calls=.policyscan/calls.yml"`},
		{[]string{"-x.y", "-x"}, ` "-x.y" -x`}, // PowerShell parts it at its dot
		{[]string{"azAZ09-_/"}, " azAZ09-_/"},
		{[]string{"my rules/é.yml"}, ` "my rules/é.yml"`},
		{[]string{"a,b", "@x", " "}, ` "a,b" "@x" " "`},
	} {
		got, err := quoteAll(test.args)
		if err != nil || got != test.want {
			t.Errorf("%q: %q, %v; want %q", test.args, got, err, test.want)
		}
		if !arguments().MatchString(got) {
			t.Errorf("%q is not known again", got)
		}
	}
	const refused = "$HOME|`a`|a\"b|a'b|a;b|a&b|a\\b|a*|a?|~|a!|%A%|a^|(a)|{a}|<a|>a|#a|a\nb|a\x00b|\xff|"
	for _, arg := range strings.Split(refused, "|") {
		if got, err := quoteAll([]string{arg}); err == nil {
			t.Errorf("%q is quoted as %q", arg, got)
		}
	}
	for _, text := range []string{"a", " a  b", ` "a b`, " a;b", `  `} {
		if arguments().MatchString(text) {
			t.Errorf("%q is not ours", text)
		}
	}
	_, err := Named("codex").Install(nil, "", []string{"$HOME"})
	if err == nil || errors.As(err, new(*document.Error)) {
		t.Errorf("an argument that is refused: %v", err)
	}
}

// FuzzInstall: whatever a file holds, what Install writes holds it still and the hook once, and
// Uninstall gives back the bytes that were there.
func FuzzInstall(f *testing.F) {
	for i := range Targets() {
		for _, text := range []string{`{"version":1}`, "{\n  \"version\": 1,\n  \"hooks\": {}\n}",
			`{"hooks":{"PreToolUse":[ ],"BeforeTool":[{}]}}`} {
			f.Add(i, text, "--calls", "my calls.yml")
		}
	}
	f.Fuzz(func(t *testing.T, agent int, text, first, second string) {
		if agent < 0 || agent >= len(Targets()) {
			return
		}
		of, args := Targets()[agent], []string{first, second}
		out, err := of.Install(source(text), "", args)
		if err != nil || string(out) == text {
			return
		}
		root, err := parse(source(string(out)))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
		quoted, err := quoteAll(args)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range of.listsFor(quoted) {
			array, _, err := list(source(string(out)), root, l.path)
			if err != nil {
				t.Fatal(err)
			}
			ours := slices.DeleteFunc(slices.Clone(array.items), func(it item) bool {
				return l.written(out[it.value.start:it.value.end]) == nil
			})
			if len(ours) != 1 {
				t.Errorf("%q became %q", text, out)
			}
		}
		back, err := of.Uninstall(source(string(out)))
		if whole, _ := of.Install(nil, "", args); err != nil || string(back) != text && string(out) != string(whole) {
			t.Errorf("%q became %q, and then %q: %v", text, out, back, err)
		}
	})
}

// TestFileChanged: settings that somebody else writes between reading and writing stay as they are, whether the file
// was there or not.
func TestFileChanged(t *testing.T) {
	for _, before := range []string{"", "{}\n"} {
		root := t.TempDir()
		name := filepath.Join(root, ".claude", "settings.json")
		write := func(text string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if before != "" {
			write(before)
		}
		f, err := Named("claude-code").OpenProject(root, "")
		if err != nil {
			t.Fatal(err)
		}
		write(`{"theirs": true}`)
		for _, text := range [][]byte{[]byte(`{"ours": true}`), nil} {
			changed, err := f.Put(text)
			if !changed && before == "" && text == nil {
				continue // there was nothing to remove
			}
			if err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
				t.Errorf("%q becomes %q: %v", before, text, err)
			}
		}
		if text, err := os.ReadFile(name); err != nil || string(text) != `{"theirs": true}` {
			t.Errorf("it is %q: %v", text, err)
		}
		if f, err = Named("claude-code").OpenProject(root, ""); err != nil {
			t.Fatal(err)
		}
		if changed, err := f.Put(f.Source.Text); changed || err != nil {
			t.Errorf("the same text is a change: %v", err)
		}
		if changed, err := f.Put([]byte(`{"ours": true}`)); !changed || err != nil {
			t.Errorf("another text is no change: %v", err)
		}
		if st, err := os.Stat(name); err != nil || st.Mode() != f.was.Mode() {
			t.Errorf("the permissions are %v: %v", st.Mode(), err)
		}
	}
}
