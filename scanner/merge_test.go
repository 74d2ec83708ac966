//go:build unix

package scanner

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/glob"
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/repo"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/tree"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/report"
	"github.com/policyscan/policyscan/verdict/shard"
)

var (
	shardTrees  = flag.Int("shard-trees", 6, "generated trees that are scanned as shards")
	shardCounts = flag.Int("shard-counts", 3, "counts of shards of each tree; 16 is all from 1 to 16")
	oneScope    = flag.Bool("shard-one-scope", false, "scan each tree in one of the scopes, which take turns")
	damages     = flag.Int("damages", 300, "damaged sets of shard files")
	shardSeed   = flag.Uint64("shard-seed", 1, "seed of the generator")
)

// A shardTree is a generated tree on disk and in a repository, with a bundle and options.
type shardTree struct {
	dir     string
	repo    *repo.Repository
	head    repo.Hash
	by      []run.RuleSource
	options testOptions
	list    []string
}

const shardBoundaries = `bundle: "0.2"
exclude: ["skip/**"]
rules:
  - {id: TEXT, title: t, enforcement: {mode: fail},
     match: {files: ["**/*.tf", "**/x*"], forbidden_patterns: ["key", "two"]}}
  - {id: REGEX, title: t, enforcement: {mode: fail}, redact: true,
     match: {files: ["**"], exclude: ["b/**"], forbidden_patterns: [{regex: "k[a-z]y[0-9]"}],
      forbidden_files: ["**/*.pem", "/sub"]}}
`

const shardInvariants = `bundle: "0.2"
rules:
  - {id: MUST, title: t, enforcement: {mode: fail}, match: {files: ["a/**"], required_patterns: ["one"]}}
  - {id: FILES, title: t, enforcement: {mode: fail}, match: {required_files: ["/README", "a/*.md", "**/LICENSE"]}}
  - {id: KEYS, title: t, enforcement: {mode: fail},
     match: {files: ["**/*.yml", "**/*.json"], required_absent: [{key: "a.b", is: "x"}]}}
`

// drawShardTree writes a tree with most kinds of findings, errors and coverage.
func drawShardTree(t *testing.T, r *rand.Rand) *shardTree {
	t.Helper()
	s := &shardTree{dir: t.TempDir()}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	write := func(name, content string) {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o777))
		must(t, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o666))
	}
	var names []string
	clean := r.IntN(3) == 0
	for i := range r.IntN(40) * r.IntN(4) {
		name := fmt.Sprint(pick("", "a/", "a/b/", "b/", "skip/", "b/c d/"), pick("", "x", "\xff", `\`), i,
			pick(".tf", ".yml", ".json", ".md", ".pem", ""))
		if clean {
			write(name, pick("one\n", ""))
			names = append(names, name)
			continue
		}
		write(name, strings.Repeat(pick("key\n", "one two\n", "", "x\r\n", "key7", "a: {b: x}\n", "a: [\n",
			"\x00GITCRYPT\x00",
			"version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("0", 64)+"\nsize 3\n",
			"k\x00e\x00y\x00", `{"a": {"b": "x"}}`), 1+r.IntN(3)))
		names = append(names, name)
	}
	for _, name := range []string{"README", "a/1.md", "b/LICENSE"} {
		if r.IntN(2) == 0 {
			write(name, pick("", "text"))
			names = append(names, name)
		}
	}
	for i := range r.IntN(5) * r.IntN(2) {
		must(t, os.MkdirAll(s.dir+"/a", 0o777))
		name := fmt.Sprint(pick("", "a/"), "link", i, pick(".tf", ""))
		must(t, os.Symlink(pick("../b", "x.tf", "..", "README", "skip", "/etc", ".git", "link0.tf"),
			filepath.Join(s.dir, name)))
		names = append(names, name)
	}
	attributes := ""
	if r.IntN(3) == 0 {
		attributes = pick("*.tf working-tree-encoding=UTF-16\n", "*.tf working-tree-encoding=none\n", "*.yml text\n")
	}
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", s.dir, "-c", "user.name=a", "-c",
			"user.email=a@b"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	sub := r.IntN(3)
	if sub > 0 {
		write(".gitmodules", "[submodule \"s\"]\npath = sub\nurl = x\n")
		must(t, os.MkdirAll(s.dir+"/sub", 0o777))
	}
	git("-c", "core.autocrlf=false", "add", "-A", "-f")
	if attributes != "" { // only now, so that git does not encode
		write(".gitattributes", attributes)
		git("add", ".gitattributes")
	}
	if sub > 0 {
		git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(git("hash-object", "-t", "tree", os.DevNull))+",sub")
	}
	if sub > 1 {
		write("sub/.git", "gitdir: x\n")
		write("sub/y.tf", "key")
	}
	git("commit", "-q", "--allow-empty", "-m", "x")
	if r.IntN(4) == 0 {
		must(t, os.MkdirAll(s.dir+"/a", 0o777))
		must(t, syscall.Mkfifo(s.dir+"/a/fifo.tf", 0o666))
		names = append(names, "a/fifo.tf")
	}
	if r.IntN(4) == 0 && len(names) > 0 {
		must(t, os.RemoveAll(filepath.Join(s.dir, names[0])))
	}
	s.list = append(names, pick("", "nothing.tf", "/abs", "../out", "README", "a", "./README"))
	var err error
	s.repo, err = repo.Find(s.dir)
	must(t, err)
	s.head, err = s.repo.Commit("HEAD")
	must(t, err)

	files := map[string]string{"rules/boundaries.yml": shardBoundaries, "rules/invariants.yml": shardInvariants}
	if r.IntN(2) == 0 && len(names) > 2 {
		text := "bundle: \"0.2\"\nallowances:\n"
		for _, name := range names[:2] {
			text += fmt.Sprintf("  - {rule: %s, file: %q, at_most: %d, owner: o, reason: r%s}\n",
				pick("TEXT", "REGEX", "KEYS"),
				verdict.Path(name), 1+r.IntN(2), pick("", ", until: \"2027-01-20\"", ", until: \"2026-01-01\""))
		}
		files["rules/allowances.yml"] = text
	}
	b, err := rules.LoadDir(writeTree(t, files))
	must(t, err)
	s.by = one(b)
	var ids []string
	for _, id := range []string{"TEXT", "REGEX", "MUST", "FILES", "KEYS"} {
		if r.IntN(3) > 0 {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		s.by[0].Bundle = b.Only(func(r *rules.Rule) bool { return slices.Contains(ids, r.ID) })
	}

	o := testOptions{Version: "1", Day: "2027-01-01", RequireGoverned: r.IntN(3) == 0}
	var allow []string
	for _, reason := range []string{
		check.AllowLFSPointer, check.AllowSpecialFile, check.AllowEmpty, check.AllowSubmodule, check.AllowPartial,
		check.AllowEncoding, check.AllowEncrypted, check.AllowSymlink,
	} {
		if r.IntN(3) == 0 || clean {
			allow = append(allow, reason)
		}
	}
	o.Allow, o.AllowLink, err = run.ParseAllow(allow)
	must(t, err)
	if r.IntN(4) == 0 {
		o.Excluded = []string{"b/**"}
		o.Exclude = glob.Compile(o.Excluded).Match
	}
	o.Earlier = r.IntN(5) == 0
	if r.IntN(4) == 0 {
		o.MaxFileBytes = 8
	}
	if r.IntN(3) == 0 && len(names) > 1 {
		o.LeaveOut = map[string]string{names[1]: "rules"}
	}
	s.options = o
	return s
}

// trees returns the tree in each scope that has shards, and a function that closes them.
func (s *shardTree) trees(t *testing.T) map[string]tree.Tree {
	t.Helper()
	idx, err := s.repo.Index()
	must(t, err)
	all := map[string]tree.Tree{"rev": tree.Whole(s.repo, s.head, "rev")}
	var done func()
	all["full"], done, err = tree.OpenDir(s.dir, nil)
	must(t, err)
	t.Cleanup(done)
	all["tracked"], done, err = tree.OpenTracked(s.dir, idx)
	must(t, err)
	t.Cleanup(done)
	all["files"], done, err = tree.OpenListed(s.dir, s.list)
	must(t, err)
	t.Cleanup(done)
	return all
}

// shards returns the shard files of a scan, as bytes.
func (s *shardTree) shards(t *testing.T, input tree.Tree, n int) [][]byte {
	t.Helper()
	var all [][]byte
	for i := range n {
		text, err := Shard(t.Context(), s.options.run(s.by, input), shard.Split{Index: i, Count: n},
			&Progress{}).Encode()
		must(t, err)
		all = append(all, text)
	}
	return all
}

func shardFiles(texts [][]byte) []ShardFile {
	var all []ShardFile
	for i, text := range texts {
		d, err := shard.Decode(text)
		all = append(all, ShardFile{Name: fmt.Sprintf("file%d", i), Document: d, Err: err})
	}
	return all
}

// reports returns the bytes of the verdict and of reports that show all of it.
func reports(t *testing.T, v *verdict.Verdict) []byte {
	t.Helper()
	b := *bytes.NewBuffer(encoded(t, v))
	for _, name := range []string{"text", "sarif", "html", "junit"} {
		f := report.Named(name)
		must(t, f.Write(&b, v))
	}
	return b.Bytes()
}

// TestShardsOfListWithOutputs: a list that names the shards' own files has the same files in each shard.
func TestShardsOfListWithOutputs(t *testing.T) {
	dir := writeTree(t, map[string]string{"a": "x", "b": "x", "s0": "x", "s1": "x"})
	var files []ShardFile
	for i := range 2 {
		out := fmt.Sprint("s", i)
		input := tree.List(openRoot(t, dir), []string{"a", "b", "s0", "s1"})
		o := testOptions{Version: "1", LeaveOut: map[string]string{out: tree.Output}}
		d := Shard(t.Context(), o.run(one(testBundle("key")), input), shard.Split{Index: i, Count: 2}, &Progress{})
		files = append(files, ShardFile{Name: out, Document: d})
	}
	if v, wrong := Merge("1", files); len(wrong) > 0 || v.Verdict != verdict.Pass {
		t.Errorf("%v, %+v", wrong, v)
	}
}

// TestShards: merged shards equal one scan, byte for byte, in every scope and for any number of shards.
func TestShards(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	outcomes := map[string]int{}
	for k := range *shardTrees {
		r := rand.New(rand.NewPCG(*shardSeed, uint64(k)))
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			s := drawShardTree(t, r)
			trees := s.trees(t)
			for i, scope := range slices.Sorted(maps.Keys(trees)) {
				input := trees[scope]
				if *oneScope && i != k%len(trees) {
					continue
				}
				single := Scan(t.Context(), s.options.run(s.by, input), nil)
				want := reports(t, single)
				outcomes[outcome(single)]++
				for _, n := range r.Perm(16)[:*shardCounts] {
					files := shardFiles(s.shards(t, input, n+1))
					r.Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
					v, wrong := Merge("1", files)
					if len(wrong) > 0 {
						t.Fatalf("%s, %d shards: %v", scope, n+1, wrong)
					}
					if got := reports(t, v); !bytes.Equal(got, want) {
						t.Fatalf("%s, %d shards: -one run +shards:\n%s", scope, n+1, firstLine(want, got))
					}
				}
			}
		})
	}
	t.Log(outcomes)
}

// firstLine returns the first line in which two texts differ, from each.
func firstLine(a, b []byte) string {
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n-%s\n+%s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// TestDamagedShards: damaged shard files never become a verdict, and each is named.
func TestDamagedShards(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	const n = 4
	r := rand.New(rand.NewPCG(*shardSeed, 0))
	s := drawShardTree(t, r)
	for s.list = nil; len(s.list) == 0; s = drawShardTree(t, r) {
	}
	trees := s.trees(t)
	good := s.shards(t, trees["rev"], n)
	if v, wrong := Merge("1", shardFiles(good)); len(wrong) > 0 {
		t.Fatal(v, wrong)
	}
	others := map[string][][]byte{"another scope": s.shards(t, trees["tracked"], n),
		"another count": s.shards(t, trees["rev"], n+1)}
	changed := *s
	changed.options.Version = "2"
	others["another version"] = changed.shards(t, trees["rev"], n)
	changed = *s
	changed.options.RequireGoverned = !s.options.RequireGoverned
	others["other flags"] = changed.shards(t, trees["rev"], n)
	changed = *s
	changed.by = one(newBundle(testRule("T-1", "key")))
	changed.by[0].Bundle.SHA256 = strings.Repeat("0", 64)
	others["another bundle"] = changed.shards(t, trees["rev"], n)
	other := drawShardTree(t, r)
	other.by, other.options = s.by, s.options
	others["another commit"] = other.shards(t, other.trees(t)["rev"], n)

	type damage struct {
		name string
		do   func(all [][]byte, at int) [][]byte
	}
	kinds := []damage{
		{"cut", func(all [][]byte, at int) [][]byte { all[at] = all[at][:r.IntN(len(all[at]))]; return all }},
		{"a bit", func(all [][]byte, at int) [][]byte { all[at][r.IntN(len(all[at]))] ^= 1 << r.IntN(8); return all }},
		{"the end of another", func(all [][]byte, at int) [][]byte {
			b := all[(at+1)%n]
			i := r.IntN(min(len(b), len(all[at])))
			all[at] = append(slices.Clone(all[at][:i]), b[i:]...)
			return all
		}},
		{"missing", func(all [][]byte, at int) [][]byte { return slices.Delete(all, at, at+1) }},
		{"twice", func(all [][]byte, at int) [][]byte { return append(all, slices.Clone(all[at])) }},
		{"instead of another", func(all [][]byte, at int) [][]byte { all[at] = all[(at+1)%n]; return all }},
	}
	for name, texts := range others {
		kinds = append(kinds, damage{name, func(all [][]byte, at int) [][]byte { all[at] = texts[at]; return all }})
	}
	slices.SortFunc(kinds, func(a, b damage) int { return strings.Compare(a.name, b.name) })
	done := map[string]int{}
	for i := range *damages {
		kind := kinds[i%len(kinds)]
		var all [][]byte
		for _, text := range good {
			all = append(all, slices.Clone(text))
		}
		at := r.IntN(n)
		all = kind.do(all, at)
		if len(all) == n && bytes.Equal(all[at], good[at]) {
			continue // two equal bytes were swapped
		}
		v, wrong := Merge("1", shardFiles(all))
		if v != nil || len(wrong) == 0 {
			t.Fatalf("%s, trial %d: a verdict, %+v", kind.name, i, v)
		}
		text := fmt.Sprint(wrong)
		if name := fmt.Sprintf("file%d", at); kind.name != "missing" && !strings.Contains(text, name) ||
			kind.name == "missing" && !strings.Contains(text, fmt.Sprintf("shard %d/%d is missing", at, n)) {
			t.Fatalf("%s of %s, trial %d: %s", kind.name, name, i, text)
		}
		done[kind.name]++
	}
	t.Logf("%v", done)
	for _, kind := range kinds {
		if done[kind.name] < *damages/len(kinds)/2 {
			t.Errorf("%s: %d", kind.name, done[kind.name])
		}
	}
}

// TestProblemsOfShards: all problems of shards are named, up to the limit.
func TestProblemsOfShards(t *testing.T) {
	dir := writeTree(t, map[string]string{"a.tf": "x", "b.tf": "x"})
	part := func(i, n int, state string) ShardFile {
		d := Shard(t.Context(), testOptions{Version: "1"}.run(one(testBundle("key")), tree.Dir(openRoot(t, dir))),
			shard.Split{Index: i, Count: n}, &Progress{})
		if d.State != shard.Done {
			t.Fatal(d.State)
		}
		if d.State = state; state != shard.Done {
			d.Findings.TreeErrors = []verdict.Error{{Code: "E_X", Message: "the cause"}}
		}
		return ShardFile{Name: fmt.Sprint("file", i), Document: d}
	}
	days := part(1, 2, shard.Done)
	days.Document.Run.AsOf = "2027-01-01"
	lost := part(1, 2, shard.Done)
	lost.Document.Tree.Own--
	cases := []struct {
		files []ShardFile
		want  []string
	}{
		{nil, []string{"there is no shard file; name those of all shards"}},
		{[]ShardFile{part(0, 2, shard.Done), part(1, 2, shard.InProgress)},
			[]string{"file1, shard 1/2, is not complete (in progress): the cause; run it again"}},
		{[]ShardFile{part(0, 2, shard.InProgress), part(1, 2, shard.Interrupted)}, []string{
			"file0, shard 0/2, is not complete (in progress): the cause; run it again",
			"file1, shard 1/2, is not complete (interrupted): the cause; run it again",
		}},
		{[]ShardFile{part(0, 2, shard.Stopped), part(1, 2, shard.InProgress)},
			[]string{"file1, shard 1/2, is not complete (in progress): the cause; run it again"}},
		{[]ShardFile{part(0, 2, shard.Done), days}, []string{
			`file1, shard 1/2, is of another run than file0: the days differ ("2027-01-01", and ""); ` +
				"give all shards the same --as-of"}},
		{[]ShardFile{part(0, 2, shard.Done), lost},
			[]string{"the shards together looked at 1 files, and the tree has 2; run all shards again"}},
		{[]ShardFile{part(0, 2, shard.Done)}, []string{"shard 1/2 is missing; run it, or name its file"}},
	}
	for _, c := range cases {
		v, wrong := Merge("1", c.files)
		var got []string
		for _, err := range wrong {
			got = append(got, err.Error())
		}
		if v != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
	_, wrong := Merge("1", []ShardFile{part(0, 100, shard.Done)})
	if n := len(wrong); n != maxProblems+1 || wrong[n-1].Error() != "and 59 more" {
		t.Errorf("%v", wrong)
	}
}
