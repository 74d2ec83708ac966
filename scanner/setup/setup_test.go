package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/repo"
)

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWriteBundle: the bundle has the packs for what is there, and says why; it loads, and a second one is not written
// over it.
func TestWriteBundle(t *testing.T) {
	for _, c := range []struct {
		files   map[string]string
		packs   string // before those for every repository
		covered bool
	}{
		{nil, "", false},
		{map[string]string{"notes.txt": ""}, "", true},
		{map[string]string{"a/main.tf": "", "b/main.tf": "", ".git/x.dockerfile": ""}, "terraform:a/main.tf", true},
		{map[string]string{"k.yaml": "apiVersion: v1\nkind: Pod\n"}, "kubernetes:k.yaml", true},
		{map[string]string{"k.yaml": "a: b\n", "a/package.json": "{}"}, "supply-chain:a/package.json", true},
		{map[string]string{"t.json": `{"Resources": {"A": {"Type": "AWS::S3::Bucket"}}}`}, "cloudformation:t.json", true},
		{map[string]string{"site.yml": "---\n- hosts: all\n"}, "ansible:site.yml", true},
		{map[string]string{"roles/a/tasks/main.yml": ""}, "ansible:roles/a/tasks/main.yml", true},
		{map[string]string{".gitlab-ci.yml": ""}, "gitlab-ci:.gitlab-ci.yml supply-chain:.gitlab-ci.yml", true},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			write(t, dir, name, text)
		}
		b, err := WriteBundle(dir)
		var packs []string
		for _, p := range b.Packs {
			if p.Because != "" {
				packs = append(packs, p.Name+":"+p.Because)
			}
		}
		if got := strings.Join(packs, " "); err != nil || got != c.packs || b.Covered != c.covered ||
			len(b.Files) != len(packs)+3 || b.KeptSchema {
			t.Errorf("%v: %v, %q, %+v", c.files, err, got, b)
			continue
		}
		if text := read(t, b.Files[0]); !strings.HasPrefix(text, schemaComment) {
			t.Errorf("%s begins with %.80q", b.Files[0], text)
		}
		if read(t, b.Schema) != string(rules.Schema()) {
			t.Errorf("%s is not the schema", b.Schema)
		}
		if _, err := rules.LoadDir(filepath.Join(dir, rules.HiddenBundle)); err != nil {
			t.Error(err)
		}
		again, err := WriteBundle(dir)
		if err == nil || !strings.Contains(err.Error(), "already has the rules") ||
			len(again.Files) != 0 || again.Schema != "" {
			t.Errorf("the second time: %v, %+v", err, again)
		}
	}
}

// TestExcluded: what the rules cannot judge is excluded, so that the bundle can be used as it is.
func TestExcluded(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "k8s/a.yaml", "apiVersion: v1\nkind: Pod\n")
	write(t, dir, "it's/[b]*.yaml", "a: [")
	long := strings.Repeat(strings.Repeat("d", 200)+"/", 4) + "x.yaml"
	tooLong := strings.Repeat(strings.Repeat("e", 200)+"/", 5) + "x.yaml"
	odd := []string{"\"q\" 'q'.yaml", "!a.yaml", "#a.yaml", "a\nb.yaml", "a\u2028b.yaml", "a\xffb.yaml", "é.yaml"}
	for _, name := range append(odd, long, tooLong) {
		write(t, dir, name, "a: [")
	}
	write(t, dir, "chart/templates/a.yaml", "{{ if .x }}\na: 1\n{{ end }}\n")
	write(t, dir, "notes.txt", "")
	for name, target := range map[string]string{"k8s/notes.yaml": "../notes.txt", "k8s/b.yaml": "a.yaml"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	b, err := WriteBundle(dir)
	if err != nil || b.Packs[0].Name != "kubernetes" {
		t.Fatalf("%v, %+v", err, b)
	}
	want := slices.Sorted(slices.Values(append(odd, long, "it's/[b]*.yaml", "k8s/notes.yaml")))
	if got := slices.Sorted(slices.Values(b.Packs[0].Excluded)); !slices.Equal(got, want) {
		t.Errorf("excluded %q, want %q", got, want)
	}
	bundle, err := rules.LoadDir(filepath.Join(dir, rules.HiddenBundle))
	if err != nil {
		t.Fatal(err)
	}
	for i := range bundle.Rules {
		if r := &bundle.Rules[i]; r.ID == "K8S-POD-001" &&
			(slices.ContainsFunc(want, r.Selects) || !r.Selects("k8s/a.yaml") || !r.Selects(tooLong)) {
			t.Errorf("excludes %q", r.FileExclude)
		}
	}
}

// TestUpdate: a rule as init wrote it follows its pack; one that a person changed or removed stays so.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "Dockerfile", "FROM scratch\n")
	b, err := WriteBundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(dir, rules.HiddenBundle)
	file := filepath.Join(bundle, "rules/docker.yml")
	text := read(t, file)
	show := func() string {
		t.Helper()
		u, err := FindUpdate(dir)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, r := range u.Rules {
			all = append(all, r.Does+" "+r.ID)
		}
		for _, p := range u.Packs {
			all = append(all, "pack "+p.Name)
		}
		return strings.Join(all, ", ")
	}
	if got := show(); got != "" {
		t.Errorf("just written: %s", got)
	}
	// An older pack: a rule that is gone, one that was other, and a rule that is new.
	_, list := splitRules(text)
	old := map[string]string{}
	for _, r := range list {
		old[r.id] = r.hash()
	}
	gone := ruleText{"DOCKER-OLD-001", strings.ReplaceAll(list[1].text, list[1].id, "DOCKER-OLD-001")}
	other := ruleText{list[0].id, strings.Replace(list[0].text, "severity: high", "severity: low", 1)}
	delete(old, list[4].id)
	old[gone.id], old[other.id] = gone.hash(), other.hash()
	// A person has changed rule 2, which the pack changed as well, and rule 3, which it did not; and removed rule 5.
	mine := strings.Replace(list[2].text, "severity: medium", "severity: low", 1)
	old[list[2].id] = "another"
	own := strings.Replace(list[3].text, "severity: critical", "severity: low", 1)
	edited := text
	edited = strings.Replace(edited, list[0].text, other.text+gone.text, 1)
	edited = strings.Replace(edited, list[2].text, mine, 1)
	edited = strings.Replace(edited, list[3].text, own, 1)
	edited = strings.Replace(edited, list[4].text, "", 1)
	edited = strings.Replace(edited, list[5].text, "", 1)
	write(t, bundle, "rules/docker.yml", edited)
	r := record{"docker": old}
	if err := r.write(bundle); err != nil {
		t.Fatal(err)
	}
	want := "changes DOCKER-RUN-001, removes DOCKER-OLD-001, keeps DOCKER-ADD-001, adds DOCKER-USER-001"
	if got := show(); got != want { // a file that init did not write is the user's
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, name := range []string{"supply-chain", "secrets", "hygiene"} {
		if err := os.Remove(filepath.Join(bundle, "rules", name+".yml")); err != nil {
			t.Fatal(err)
		}
	}
	want += ", pack supply-chain, pack secrets, pack hygiene"
	if got := show(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	u, err := FindUpdate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range u.Rules {
		if r.Does == Changes && (!strings.Contains(r.Diff, "-    severity: low\n+    severity: high\n") ||
			!strings.Contains(r.Diff, "\n     title:")) {
			t.Errorf("the difference is\n%s", r.Diff)
		}
	}
	write(t, bundle, "rules/docker.yml", edited+"# changed meanwhile\n")
	if files, err := u.Write(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") || files != nil {
		t.Error(files, err)
	}
	write(t, bundle, "rules/docker.yml", edited)
	if u, err = FindUpdate(dir); err != nil {
		t.Fatal(err)
	}
	if files, err := u.Write(); err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	if _, err := rules.LoadDir(bundle); err != nil {
		t.Error(err)
	}
	after := read(t, file)
	if strings.Contains(after, gone.id) || strings.Contains(after, list[5].id) || !strings.Contains(after, mine) ||
		!strings.Contains(after, own) || !strings.Contains(after, list[0].text) || !strings.Contains(after, list[4].id) {
		t.Errorf("written:\n%s", after)
	}
	if got := show(); got != "keeps DOCKER-ADD-001" {
		t.Errorf("after the update: %s", got)
	}
	// A record without hashes: each rule in the file is the user's.
	write(t, bundle, recordFile, `{"docker": null}`)
	if u, err := FindUpdate(dir); err != nil {
		t.Error(err)
	} else if _, err := u.Write(); err != nil {
		t.Error(err)
	}
	// A pack that a person removed is left alone; without the record it is unknown what was changed.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := show(); got != "" {
		t.Errorf("without the file: %s", got)
	}
	if err := os.Remove(filepath.Join(bundle, recordFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := FindUpdate(dir); err == nil || !strings.Contains(err.Error(), "packs.json, which policyscan init writes") {
		t.Error(err)
	}
	if len(b.Files) != 5 {
		t.Errorf("init wrote %q", b.Files)
	}
}

// TestWriteBundleOverwritesNothing: what looks like a part of a bundle stays, and so does a schema that is there.
func TestWriteBundleOverwritesNothing(t *testing.T) {
	for _, name := range []string{".policyscan/Boundaries.YAML", "rules/invariants.yaml"} {
		dir := t.TempDir()
		write(t, dir, name, "mine")
		b, err := WriteBundle(dir)
		if err == nil || !strings.Contains(err.Error(), "looks like a part of a bundle") || b.Files != nil {
			t.Errorf("%s: %v, %+v", name, err, b)
		}
	}
	dir := t.TempDir()
	schema := write(t, dir, ".policyscan/"+rules.SchemaFile, "mine")
	if b, err := WriteBundle(dir); err != nil || !b.KeptSchema || b.Schema != schema || read(t, schema) != "mine" {
		t.Errorf("%v, %+v", err, b)
	}
}

// TestWriteNew: a file that is there stays, and one that cannot be written leaves none.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "there", "mine")
	if err := writeNew(file, []byte("other"), 0o666); !os.IsExist(err) || read(t, file) != "mine" {
		t.Errorf("%v: %s", err, read(t, file))
	}
	file = filepath.Join(dir, "new")
	if err := writeNew(file, []byte("text"), 0o666); err != nil || read(t, file) != "text" {
		t.Error(err)
	}
}

// TestIgnoreVerdict: the line is added once, with the line ends of the file, and never through a link.
func TestIgnoreVerdict(t *testing.T) {
	for _, c := range []struct{ before, after, did string }{
		{"", "/verdict.json\n", "wrote "},
		{"a\n", "a\n/verdict.json\n", "added "},
		{"a", "a\n/verdict.json\n", "added "},
		{"a\r\nb", "a\r\nb\r\n/verdict.json\r\n", "added "},
		{"*.json\nverdict.json\r\n*.log\n", "*.json\nverdict.json\r\n*.log\n", ""},
		{"*.json\n", "*.json\n", ""},
		{"*.json\n!verdict.json\n", "*.json\n!verdict.json\n/verdict.json\n", "added "},
	} {
		dir := t.TempDir()
		if did, err := IgnoreVerdict(dir); err != nil || !strings.Contains(did, "there is no git repository here") {
			t.Errorf("without a repository: %q, %v", did, err)
		}
		write(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
		if c.before != "" {
			write(t, dir, ".gitignore", c.before)
		}
		did, err := IgnoreVerdict(dir)
		if err != nil || !strings.HasPrefix(did, c.did) || c.did == "" && did != "" {
			t.Errorf("%q: %q, %v", c.before, did, err)
		}
		if got := read(t, filepath.Join(dir, ".gitignore")); got != c.after {
			t.Errorf("%q becomes %q, not %q", c.before, got, c.after)
		}
		if did, err := IgnoreVerdict(dir); did != "" || err != nil {
			t.Errorf("the second time: %q, %v", did, err)
		}
	}
	dir := t.TempDir()
	write(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	target := write(t, t.TempDir(), "target", "mine\n")
	if err := os.Symlink(target, filepath.Join(dir, ".gitignore")); err != nil {
		t.Skipf("SKIPPED: no links here: %v", err)
	}
	did, err := IgnoreVerdict(dir)
	if err != nil || !strings.Contains(did, "is not a regular file") || read(t, target) != "mine\n" {
		t.Errorf("%q, %v: %s", did, err, read(t, target))
	}
}

// TestIgnoreHint: whether git ignores a file by the lines of an ignore file. git check-ignore gives the same answers.
func TestIgnoreHint(t *testing.T) {
	dir := t.TempDir()
	if err := exec.Command("git", "init", "-q", dir).Run(); err != nil {
		t.Skipf("SKIPPED: git: %v", err)
	}
	write(t, dir, ".git/info/exclude", "")
	var input, want strings.Builder
	for i, c := range []struct {
		lines string
		is    bool
	}{
		{"verdict.json", true}, {"/verdict.json", false}, {"sub/verdict.json", true}, {"/sub/verdict.json  ", true},
		{"verdict.json/", false}, {"sub/", true}, {"/sub", true}, {"b/", false}, {"*.json", true}, {"*.js", false},
		{"**/verdict.json", true}, {"a/**/verdict.json", false}, {"sub/**", true}, {"sub/**/verdict.json", true},
		{"*\n!*.json", true},
		{"/sub/*\n!*.json", false}, {"!verdict.json\n*.json", true}, {"# verdict.json\n", false}, {"[!a]erdict.json", true},
		{"verdict.jso?\r\n", true}, {"*/*.json", true}, {"/*.json", false}, {"verdict.json x", false}, {"", false},
	} {
		name := strings.Repeat("r", i+1)
		write(t, dir, name+"/.gitignore", c.lines)
		fmt.Fprintf(&input, "%s/sub/verdict.json\n", name)
		if c.is {
			fmt.Fprintf(&want, "%s/sub/verdict.json\n", name)
		}
		hint := map[bool]string{false: "/" + name + "/sub/verdict.json"}[c.is]
		if got := IgnoreHint(write(t, dir, name+"/sub/verdict.json", "")); got != hint {
			t.Errorf("%q: %q", c.lines, got)
		}
	}
	check := exec.Command("git", "-C", dir, "check-ignore", "--stdin")
	check.Stdin = strings.NewReader(input.String())
	if out, _ := check.Output(); string(out) != want.String() {
		t.Errorf("git says\n%s\nwant\n%s", out, want.String())
	}
}

// TestHook: the hook is written once and removed only as it was written. Others' hooks stay.
func TestHook(t *testing.T) {
	h := preCommit(filepath.Join(t.TempDir(), "hooks"), "")
	if was, err := h.Remove(); was || err != nil {
		t.Errorf("nothing to remove: %t, %v", was, err)
	}
	for _, want := range []bool{false, true} {
		if already, err := h.Install(); already != want || err != nil || read(t, h.File) != HookText {
			t.Errorf("%t, %v", already, err)
		}
		if st, err := os.Stat(h.File); err != nil || runtime.GOOS != "windows" && st.Mode()&0o100 == 0 {
			t.Errorf("%v: git skips the hook", err)
		}
		if err := os.Chmod(h.File, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if was, err := h.Remove(); !was || err != nil {
		t.Errorf("%t, %v", was, err)
	}
	for _, text := range []string{"#!/bin/sh\n", strings.Replace(HookText, "exec", "ex", 1)} {
		write(t, filepath.Dir(h.File), "pre-commit", text)
		if _, err := h.Install(); err == nil || !strings.Contains(err.Error(), "|| exit $?") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := h.Remove(); err == nil || !strings.Contains(err.Error(), "is not as policyscan wrote it") {
			t.Errorf("%q: %v", text, err)
		}
		if read(t, h.File) != text {
			t.Errorf("%q is now %q", text, read(t, h.File))
		}
	}
}

// TestPreReceive: the hook of a server is written where its git looks for it, is one command for the shell, and is never
// written over another one.
func TestPreReceive(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	git("init", "-q", "--bare", "bare.git")
	git("init", "-q", "work")
	git("init", "-q", "--bare", "moved.git")
	git("-C", "moved.git", "config", "core.hooksPath", "my hooks")
	words := []string{"/a/it's", "hook", "pre-receive", "--policy", "/p q/$(x)\n"}
	for repository, want := range map[string]string{
		"bare.git": "bare.git/hooks", "work": "work/.git/hooks", "moved.git": "moved.git/my hooks",
	} {
		for _, exists := range []bool{false, true} {
			h, err := PreReceive(words).In(repo.Environment{}, filepath.Join(dir, repository))
			if err != nil || h.File != filepath.Join(dir, want, "pre-receive") {
				t.Fatalf("%s: %s, %v", repository, h.File, err)
			}
			if already, err := h.Install(); already != exists || err != nil || read(t, h.File) != h.Text {
				t.Errorf("%s: %t, %v", repository, already, err)
			}
		}
	}
	h, _ := PreReceive(words).In(repo.Environment{}, filepath.Join(dir, "bare.git"))
	show := strings.Replace(h.Text, "exec", "printf '%s\\0'", 1)
	if out, err := exec.Command("sh", "-c", show).Output(); string(out) != strings.Join(words, "\x00")+"\x00" || err != nil {
		t.Errorf("the shell reads %q, %v", out, err)
	}
	h.Text = strings.Replace(h.Text, "'hook'", "'hooks'", 1)
	if _, err := h.Install(); err == nil || !strings.Contains(err.Error(), "with other arguments; remove it") {
		t.Errorf("other arguments: %v", err)
	}
	write(t, dir, "bare.git/hooks/pre-receive", "#!/bin/sh\nexit 0\n")
	if _, err := h.Install(); err == nil || !strings.Contains(err.Error(), "pre-receive.d") ||
		read(t, h.File) != "#!/bin/sh\nexit 0\n" {
		t.Errorf("another hook: %v", err)
	}
	if _, err := PreReceive(words).In(repo.Environment{}, dir); err == nil {
		t.Error("no repository: no error")
	}
}
