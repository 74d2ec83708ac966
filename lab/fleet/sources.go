//go:build linux

package main

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// states is how many commits of a real repository others are made from: they are spread over its history.
const states = 200

// depth is how many commits a generated repository with a history has at most.
const depth = 20

// A source is a real repository.
type source struct {
	dir, objects string
	commits      []string   // the oldest first
	dirs         [][]string // index i: with 2^i to 2^(i+1)-1 files
}

// A sample is a generated repository: a directory of a source at some of its commits.
type sample struct {
	source *source
	subdir string // "" is the root
	at     []int  // the newest first
}

// openSource reads which commits and directories a repository has.
func openSource(dir string, most int) (*source, error) {
	s := &source{dir: dir}
	objects, err := git(dir, "", "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, err
	}
	s.objects = objects[0]
	all, err := git(dir, "", "rev-list", "--first-parent", "--reverse", "HEAD")
	if err != nil {
		return nil, err
	}
	n := min(states, len(all))
	for i := range n {
		s.commits = append(s.commits, all[(i+1)*len(all)/n-1])
	}
	files, err := git(dir, "", "ls-tree", "-r", "-z", "--name-only", "HEAD")
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for name := range strings.SplitSeq(strings.Trim(files[0], "\x00"), "\x00") {
		for name != "" {
			name = strings.TrimSuffix(path.Dir(name), ".")
			counts[name]++
		}
	}
	for _, subdir := range slices.Sorted(maps.Keys(counts)) {
		size := bits.Len(uint(counts[subdir])) - 1
		if counts[subdir] > most || size < 2 { // few repositories have three files
			continue
		}
		for len(s.dirs) <= size {
			s.dirs = append(s.dirs, nil)
		}
		s.dirs[size] = append(s.dirs[size], subdir)
	}
	s.dirs = slices.DeleteFunc(s.dirs, func(of []string) bool { return len(of) == 0 })
	if len(s.dirs) == 0 {
		return nil, fmt.Errorf("%s has no directory with four files or more", dir)
	}
	return s, nil
}

// generate makes the repositories, and returns their names in order, without failed ones. As many are small as are large, by the
// power of two; a third are forks: the same directory as an earlier one, at another commit.
func (p *plan) generate() error {
	var all []sample
	var sources []*source
	for dir := range strings.SplitSeq(p.from, ",") {
		s, err := openSource(dir, p.files)
		if err != nil {
			return err
		}
		sources = append(sources, s)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range p.n {
		var x sample
		switch {
		case i > 10 && random.IntN(3) == 0:
			x = all[random.IntN(len(all))]
			x.at = []int{random.IntN(len(x.source.commits))}
		default:
			x.source = sources[random.IntN(len(sources))]
			of := x.source.dirs[random.IntN(len(x.source.dirs))]
			x.subdir, x.at = of[random.IntN(len(of))], []int{random.IntN(len(x.source.commits))}
		}
		if p.packs {
			for at := x.at[0] - 1; at >= 0 && len(x.at) < depth; at-- {
				x.at = append(x.at, at)
			}
		}
		all = append(all, x)
	}
	for _, s := range sources {
		if err := p.make(s, all); err != nil {
			return err
		}
	}
	slices.Sort(p.names)
	if n := p.n - len(p.names); n > 0 {
		fmt.Printf("%d were left out: the clone that they are from lacks some of their objects\n", n)
	}
	return nil
}

// make makes the repositories of a source.
func (p *plan) make(s *source, all []sample) error {
	var ask strings.Builder
	for _, x := range all {
		if x.source == s {
			for _, at := range x.at {
				fmt.Fprintf(&ask, "%s:%s\n", s.commits[at], x.subdir)
			}
			fmt.Fprintf(&ask, "%s:%s\n", s.commits[len(s.commits)-1], x.subdir)
		}
	}
	trees, err := git(s.dir, ask.String(), "cat-file", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return err
	}
	for i, x := range all {
		if x.source != s {
			continue
		}
		var history []string // the oldest first
		for k, answer := range trees[:len(x.at)+1] {
			tree, is := strings.CutPrefix(answer, "tree ")
			if is && !slices.Contains(history, tree) && (k < len(x.at) || history == nil) {
				history = append(history, tree) // a directory that did not exist yet is taken from the newest commit
			}
		}
		trees = trees[len(x.at)+1:]
		slices.Reverse(history)
		dir := filepath.Join(p.keep, nameOf(i))
		if err := bare(dir, s.objects, history, i); err != nil {
			return err
		}
		if !p.packs {
			p.names = append(p.names, nameOf(i))
			continue
		}
		if _, err := git(dir, "", "repack", "-a", "-d", "-q", "--window=4"); err != nil {
			if !strings.Contains(err.Error(), "unable to read") {
				return err
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			continue
		}
		p.names = append(p.names, nameOf(i))
		if err := os.Remove(filepath.Join(dir, "objects", "info", "alternates")); err != nil {
			return err
		}
	}
	return nil
}

// bare makes a bare repository of a commit for each tree, that has no other objects.
func bare(dir, alternate string, trees []string, i int) error {
	files := map[string]string{
		"HEAD":                    "ref: refs/heads/main\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"objects/info/alternates": alternate + "\n",
	}
	parent := ""
	for k, tree := range trees {
		body := fmt.Sprintf("tree %s\n%sauthor a <a@example.com> %d +0000\ncommitter a <a@example.com> %[3]d +0000\n\n"+
			"repository %[4]d\n", tree, parent, 1_700_000_000+60*k+i, i)
		object := fmt.Sprintf("commit %d\x00%s", len(body), body)
		sum := fmt.Sprintf("%x", sha1.Sum([]byte(object)))
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, err := z.Write([]byte(object))
		if err := cmp.Or(err, z.Close()); err != nil {
			return err
		}
		files["objects/"+sum[:2]+"/"+sum[2:]], files["refs/heads/main"] = packed.String(), sum+"\n"
		parent = "parent " + sum + "\n"
	}
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// likely are files that a bundle for infrastructure covers. They are changed where there are any, so that a night has
// no less to read than a real one.
var likely = regexp.MustCompile(`(?i)(\.(tf|tfvars|ya?ml|json|sh|env|toml)|(^|/)(Dockerfile|Makefile)[^/]*)$`)

// change commits to some of the repositories: up to three files get another line, in half of them one that is the same
// in all, as forks get the same change. The objects are loose, as those of a small fetch are.
func (p *plan) change() (n int, err error) {
	random := rand.New(rand.NewPCG(2, 2))
	for i, name := range p.names {
		if random.IntN(100) >= p.changed {
			continue
		}
		line := fmt.Sprintf("\n# changed in %d\n", i)
		if random.IntN(2) == 0 {
			line = "\n# changed in many\n"
		}
		if err := p.commit(filepath.Join(p.keep, name), line, random); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (p *plan) commit(dir, line string, random *rand.Rand) error {
	listed, err := git(dir, "", "ls-tree", "-r", "--format=%(objectmode) %(objectname) %(path)", "HEAD")
	if err != nil {
		return err
	}
	var files, some []string
	for _, f := range listed {
		name := f[len("100644 ")+41:]
		if f[:3] != "100" || strings.HasPrefix(name, `"`) {
			continue // a link, a submodule or a name that git quotes
		}
		files = append(files, f)
		if likely.MatchString(name) {
			some = append(some, f)
		}
	}
	if len(some) > 0 {
		files = some
	}
	index := "GIT_INDEX_FILE=" + filepath.Join(p.work, "index")
	do := func(input string, args ...string) (string, error) {
		as := []string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}
		cmd := exec.Command("git", append(as, args...)...)
		cmd.Stdin, cmd.Env = strings.NewReader(input), append(os.Environ(), index)
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %q in %s: %w", args, dir, err)
		}
		return string(out), nil
	}
	if _, err := do("", "read-tree", "HEAD"); err != nil {
		return err
	}
	var info strings.Builder
	for range min(3, len(files)) {
		f := files[random.IntN(len(files))]
		content, err := do("", "cat-file", "blob", f[7:47])
		if err != nil {
			return err
		}
		blob, err := do(content+line, "hash-object", "-w", "--stdin")
		if err != nil {
			return err
		}
		fmt.Fprintf(&info, "%s %s\t%s\n", f[:6], strings.TrimSpace(blob), f[48:])
	}
	if _, err := do(info.String(), "update-index", "--index-info"); err != nil {
		return err
	}
	tree, err := do("", "write-tree")
	if err != nil {
		return err
	}
	commit, err := do("", "commit-tree", "-p", "HEAD", "-m", "changed", strings.TrimSpace(tree))
	if err != nil {
		return err
	}
	_, err = do("", "update-ref", "HEAD", strings.TrimSpace(commit))
	return err
}
