package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestParseFetched: the format of FETCH_HEAD, and texts that do not have it.
func TestParseFetched(t *testing.T) {
	const a, b = "1111111111111111111111111111111111111111", "abcdefabcdefabcdefabcdefabcdefabcdefabcd"
	for _, c := range []struct {
		text string
		want []Fetched // except the commit, which is a
		err  string
	}{
		{text: ""},
		{text: a + "\t\tbranch 'main' of https://git.example/x\n",
			want: []Fetched{{Ref: "refs/heads/main", URL: "https://git.example/x"}}},
		{text: a + "\tnot-for-merge\tbranch 'it's-of' of ../a b' of c\n",
			want: []Fetched{{Ref: "refs/heads/it's-of", URL: "../a b' of c"}}},
		{text: a + "\t\t'refs/pipelines/7' of u\n" + a + "\tnot-for-merge\ttag 'v1' of u\n",
			want: []Fetched{{Ref: "refs/pipelines/7", URL: "u"}, {Ref: "refs/tags/v1", URL: "u"}}},
		{text: a + "\t\tremote-tracking branch 'origin/main' of u\n",
			want: []Fetched{{Ref: "refs/remotes/origin/main", URL: "u"}}},
		{text: a + "\t\t'" + b + "' of u\n", want: []Fetched{{Ref: b, URL: "u"}}},
		{text: a + "\t\thttps://git.example/branch\n", want: []Fetched{{Ref: "HEAD",
			URL: "https://git.example/branch"}}},
		{text: a + "\t\tbranch 'main' of u", err: "no end"},
		{text: a + "\t\tbranch 'main' of u\n\n", err: "line 2 is"},
		{text: a + "\tbranch 'main' of u\n", err: "not a fetched ref"},
		{text: a + " \t\tbranch 'main' of u\n", err: "not a hash"},
		{text: a + "\tfor-merge\tbranch 'main' of u\n", err: "not a fetched ref"},
		{text: a[:39] + "\t\tbranch 'main' of u\n", err: "not a hash"},
		{text: a + a[:24] + "\t\tbranch 'main' of u\n", err: "64 digits, but the repository's hashes are SHA-1"},
		{text: a[:39] + "g\t\tbranch 'main' of u\n", err: "not a hash"},
		{text: a + "\t\tbranch 'main of u\n", err: "without an end"},
		{text: a + "\t\tbranch 'main' of \n", err: "does not name"},
		{text: a + "\t\tbranch '' of u\n", err: "does not name"},
		{text: a + "\t\tbranch '../x' of u\n", err: "does not name"},
		{text: a + "\t\tbranch 'a b' of u\n", err: "does not name"},
		{text: a + "\t\t\n", err: "does not name"},
		{text: "\x00", err: "no end"},
	} {
		for i := range c.want {
			c.want[i].Commit = mustHash(t, a)
		}
		got, err := formatSHA1.parseFetched(c.text)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || err == nil &&
			!slices.Equal(got, c.want) {
			t.Errorf("%q: %+v, %v; want %+v, %q", c.text, got, err, c.want, c.err)
		}
	}
}

// fetchedLine is a line of FETCH_HEAD by a regular expression: a second reader for FuzzFetched.
var fetchedLine = regexp.MustCompile(`^([0-9a-fA-F]{40})\t(?:not-for-merge)?\t` +
	`(?:(branch |tag |remote-tracking branch |)'([^ ]+?)' of (.+)|(.+))$`)

// FuzzFetched: the parser and a regular expression accept the same FETCH_HEADs and read the same from them.
func FuzzFetched(f *testing.F) {
	const a = "1111111111111111111111111111111111111111"
	f.Add(a + "\t\tbranch 'main' of https://git.example/x\n" + a + "\tnot-for-merge\ttag 'v1' of u\n")
	f.Add(a + "\t\t'refs/pipelines/7' of u\n" + a + "\t\tu\n")
	f.Add(a + "\t\tbranch 'a' of b' of c\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := formatSHA1.parseFetched(text)
		if err != nil {
			return
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if text == "" {
			lines = nil
		}
		if len(lines) != len(all) {
			t.Fatalf("%d lines, %d refs: %q", len(lines), len(all), text)
		}
		for i, got := range all {
			m := fetchedLine.FindStringSubmatch(lines[i])
			if m == nil {
				t.Fatalf("%q was taken: %+v", lines[i], got)
			}
			ref, url := "HEAD", m[5]
			if m[3] != "" {
				ref, url = map[string]string{"branch ": "refs/heads/", "tag ": "refs/tags/",
					"remote-tracking branch ": "refs/remotes/"}[m[2]]+m[3], m[4]
			}
			if got.Commit.String() != strings.ToLower(m[1]) || got.Ref != ref || got.URL != url {
				t.Errorf("%q: %+v, want %s %q %q", lines[i], got, m[1], ref, url)
			}
		}
	})
}

// TestFetchedByGit: FETCH_HEAD is read right for each way to fetch, and each work tree has its own.
func TestFetchedByGit(t *testing.T) { inFormats(t, testFetchedByGit) }

func testFetchedByGit(t *testing.T) {
	up := newGit(t)
	first := up.commit("one")
	up.git("tag", "-a", "-m", "tag", "v1")
	up.git("update-ref", "refs/pipelines/1", first)
	up.git("config", "uploadpack.allowAnySHA1InWant", "true")
	up.git("branch", "it's-of")
	last := up.commit("two")
	tag := up.git("rev-parse", "v1")
	url := "file://" + up.dir

	g := newGit(t)
	if got, err := g.open().Fetched(); got != nil || err != nil {
		t.Errorf("before a fetch: %v, %v", got, err)
	}
	g.git("remote", "add", "origin", url+"/")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"origin"}, last + " refs/heads/main, " + first + " refs/heads/it's-of, " + tag + " refs/tags/v1"},
		{[]string{"origin", "+refs/pipelines/1:refs/pipelines/1", "--no-tags"}, first + " refs/pipelines/1"},
		{[]string{"origin", "main", "--no-tags"}, last + " refs/heads/main"},
		{[]string{"origin", "HEAD", "--no-tags"}, last + " HEAD"},
		{[]string{"origin", first, "--no-tags"}, first + " " + first},
		{[]string{"origin", "tag", "v1"}, tag + " refs/tags/v1"},
		{[]string{"--append", "origin", "+refs/heads/main:refs/remotes/origin/main"},
			tag + " refs/tags/v1, " + last + " refs/heads/main"},
	} {
		g.git(append([]string{"fetch", "-q"}, c.args...)...)
		got, err := g.open().Fetched()
		var texts []string
		for _, f := range got {
			texts = append(texts, f.Commit.String()+" "+f.Ref)
			if f.URL != url && f.URL != url+"/" {
				t.Errorf("%q: from %q", c.args, f.URL)
			}
		}
		want := strings.Split(c.want, ", ")
		slices.Sort(texts)
		slices.Sort(want)
		if err != nil || !slices.Equal(texts, want) {
			t.Errorf("%q: %q, %v; want %q", c.args, texts, err, want)
		}
	}
	// A failed fetch leaves nothing of the previous one.
	if _, err := g.try("fetch", "-q", "origin", "nosuch"); err == nil {
		t.Fatal("nosuch was fetched")
	}
	if got, err := g.open().Fetched(); len(got) != 0 || err != nil {
		t.Errorf("after a fetch that failed: %v, %v", got, err)
	}

	linked := &gitRepo{TB: t, dir: filepath.Join(t.TempDir(), "linked"), clock: g.clock}
	g.git("worktree", "add", "-q", "--detach", linked.dir, last)
	linked.git("fetch", "-q", "origin", "main", "--no-tags")
	if got, err := linked.open().Fetched(); len(got) != 1 || err != nil {
		t.Errorf("in a linked work tree: %v, %v", got, err)
	}
	if got, err := g.open().Fetched(); len(got) != 0 || err != nil {
		t.Errorf("next to a linked work tree: %v, %v", got, err)
	}

	// Only a regular file is read.
	name := filepath.Join(g.dir, ".git/FETCH_HEAD")
	must(t, os.Remove(name))
	must(t, os.Mkdir(name, 0o777))
	if got, err := g.open().Fetched(); err == nil {
		t.Errorf("a directory: %v", got)
	}
}
