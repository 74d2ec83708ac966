package run_test

import (
	"encoding/hex"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/policyscan/policyscan/scanner"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/reuse"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
)

// Rules of every kind, for the generator of TestRevIsCheckout.
const everyForm = `bundle: "0.2"
rules:
  - {id: F-1, title: T, enforcement: {mode: fail},
     match: {files: ["**/*"], forbidden_patterns: [word, {text: harmless, case: ignore}]}}
  - {id: F-2, title: T, enforcement: {mode: fail},
     match: {files: ["**/*.tf", "a/**"], forbidden_patterns: [{regex: 'w[o0]rd|é .*'}]}}
  - {id: F-3, title: T, enforcement: {mode: fail}, redact: true,
     match: {files: ["**/b c*"], forbidden_patterns: [bad, {regex: own.*}]}}
  - {id: F-4, title: T, enforcement: {mode: fail},
     match: {files: ["**/*.yml"], forbidden_patterns: [{key: key, is: bad}, bad], unparsable: text}}
  - {id: F-6, title: T, enforcement: {mode: fail},
     match: {files: ["**/main.yml"], forbidden_patterns: [{key: owner, is: me}]}}
`

const everyInvariant = `bundle: "0.2"
rules:
  - {id: F-5, title: T, enforcement: {mode: fail}, match: {files: ["**/*.txt"], required_patterns: [me, harmless]}}
  - {id: F-7, title: T, enforcement: {mode: fail},
     match: {files: ["**/*.yml"], required_patterns: [{key: owner}, me], unparsable: text}}
`

// TestReuse: the verdict on a commit is the same, byte for byte, whether its files are read or results of other
// commits are reused, also under other paths, bundles and options.
func TestReuse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("git makes other files there")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	var bundles []string
	for name, texts := range map[string][2]string{
		"forms": {everyForm, everyInvariant}, "named": {namedRules, "rules: []\n"},
	} {
		bundles = append(bundles, filepath.Join(dir, name))
		write(t, filepath.Join(dir, name, "rules/boundaries.yml"), texts[0])
		write(t, filepath.Join(dir, name, "rules/invariants.yml"), texts[1])
	}
	slices.Sort(bundles)
	generated := filepath.Join(dir, "generated")
	git(t, dir, "", "init", "-q", "-b", "main", generated)
	git(t, generated, stream(rand.New(rand.NewPCG(*seed, 7)), *commits), "fast-import", "--quiet")
	kept := filepath.Join(dir, "kept")
	var reused, again, found int64
	var read [2]int64 // bytes read by the first scan and by the second
	scan := func(hash string, bundles []string, o run.Options, keep *check.Reuse) *verdict.Verdict {
		t.Helper()
		o.Path, o.Rev, o.Policies, o.Now = generated, hash, bundles, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		r, err := run.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.Reuse = keep
		return scanner.Scan(t.Context(), r, nil)
	}
	withKept := func(program byte) (check.Reuse, func()) {
		store, err := reuse.Open(kept)
		if err != nil {
			t.Fatal(err)
		}
		return check.Reuse{Store: store, Program: [32]byte{program}}, func() { store.Close() }
	}
	hashes := strings.Fields(git(t, generated, "", "rev-list", "main"))
	for i, hash := range hashes {
		policies := [][]string{bundles[:1], bundles[1:], bundles}[i%3]
		options := []run.Options{{}, {MaxFileBytes: 9000}, {Allow: []string{check.AllowLFSPointer}}}[i%4%3]
		plain, err := scan(hash, policies, options, nil).Encode()
		if err != nil {
			t.Fatal(err)
		}
		for second := range 2 {
			r, end := withKept(0)
			v := scan(hash, policies, options, &r)
			end()
			if text, err := v.Encode(); err != nil || string(text) != string(plain) {
				t.Fatalf("%s %q (-seed %d -commits %d): %v\n%s", hash, policies, *seed, *commits, err,
					firstDifference(string(plain), string(text)))
			}
			n, m, bytes := r.Counts()
			reused, again, found = reused+n, again+m, found+int64(len(v.Violations))
			read[second] += bytes
		}
	}
	if reused < int64(len(hashes)) || again == 0 || again > reused/20 || found == 0 {
		t.Errorf("%d results were reused, %d checked again, %d violations", reused, again, found)
	}
	if read[0] == 0 || read[1] >= read[0] {
		t.Errorf("%d bytes were read, and %d when the same was scanned again", read[0], read[1])
	}
	// Another program uses only what this scan itself has cached: files with the same content.
	alone := func(at string, program byte) int64 {
		store, err := reuse.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		r := check.Reuse{Store: store, Program: [32]byte{program}}
		scan(hashes[0], bundles, run.Options{Workers: 1}, &r)
		n, _, _ := r.Counts()
		return n
	}
	if n, want := alone(kept, 1), alone(filepath.Join(dir, "empty"), 1); n != want {
		t.Errorf("another program uses %d results, with an empty dir %d", n, want)
	}
	entries := 0
	err := filepath.WalkDir(kept, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		entries++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), `"Matched":"own`) {
			t.Errorf("what a rule redacts is kept: %s", text)
		}
		return err
	})
	if err != nil || entries == 0 {
		t.Errorf("%d entries, %v", entries, err)
	}
	// Forged entries are eventually detected.
	r, end := withKept(0)
	defer end()
	forge(t, kept, r.Store)
	caught := 0
	for _, hash := range hashes {
		r, end := withKept(0)
		v := scan(hash, bundles[:1], run.Options{}, &r)
		end()
		if slices.ContainsFunc(v.Errors, func(e verdict.Error) bool { return e.Code == code.Reuse }) {
			caught++
		}
	}
	if caught == 0 || caught > len(hashes)/2 {
		t.Errorf("forged entries are found out in %d of %d commits", caught, len(hashes))
	}
}

// forge replaces all cached results with others.
func forge(t *testing.T, kept string, store *reuse.Store) {
	t.Helper()
	err := filepath.WalkDir(kept, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := hex.DecodeString(filepath.Base(filepath.Dir(path)) + filepath.Base(path))
		if err == nil {
			store.Put(reuse.Key(key), []byte(`{"Bytes":1234567}`))
		}
		return err
	})
	if err != nil || store.Failed() != nil {
		t.Fatal(err, store.Failed())
	}
}
