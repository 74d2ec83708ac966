// Command agreement holds the starter packs to other linters, rule by rule.
//
//	go run -C lab ./agreement draw MIRRORS DIR   # 3,000 files of the repositories in repositories.txt
//	lab/agreement/run.sh DIR                     # the tools, each as it comes
//	go run -C lab ./agreement compare DIR [ours|theirs]
//
// MIRRORS has a bare repository OWNER+NAME/repo for each line. Compare prints a row for each pair of pairs.txt; with a
// second argument, the files that only one side found.
package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	//go:embed repositories.txt
	repositories string
	//go:embed pairs.txt
	pairs string
)

// kinds of files: how many are drawn, where from, and what the text must have.
var kinds = []struct {
	name       string
	count      int
	path, text *regexp.Regexp
	not        *regexp.Regexp
}{
	{"kubernetes", 900, regexp.MustCompile(`\.ya?ml$`), regexp.MustCompile(`(?m)^apiVersion:(?s:.*)^kind:|^kind:(?s:.*)^apiVersion:`), regexp.MustCompile(`\{\{`)},
	{"docker", 700, regexp.MustCompile(`(?:^|/)(?:Dockerfile|Containerfile)(?:[.-][^/]*)?$`), regexp.MustCompile(`(?mi)^FROM\s`), regexp.MustCompile(`\{\{`)},
	{"workflows", 700, regexp.MustCompile(`^\.github/workflows/[^/]*\.ya?ml$`), regexp.MustCompile(`(?m)^jobs:`), nil},
	{"terraform", 440, regexp.MustCompile(`\.tf$`), regexp.MustCompile(`(?m)^(?:resource|data)\s`), nil},
	{"cloudformation", 260, regexp.MustCompile(`\.(?:ya?ml|json|template)$`), regexp.MustCompile(`\bType"?: *["']?AWS::`), regexp.MustCompile(`\{\{`)},
}

// fromEach is how many files of a kind one repository may give.
const fromEach = 60

func main() {
	err := fmt.Errorf("usage: agreement draw MIRRORS DIR | compare DIR [ours|theirs]")
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "draw":
		err = draw(args[1], args[2])
	case len(args) >= 2 && args[0] == "compare":
		err = compare(args[1], strings.Join(args[2:], ""))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func git(dir string, args ...string) ([]byte, error) {
	return exec.Command("git", append([]string{"--git-dir=" + dir}, args...)...).Output()
}

// candidate is a file that may be drawn.
type candidate struct{ key, repo, dir, commit, path, blob string }

func draw(mirrors, out string) error {
	var all []candidate
	for line := range strings.Lines(repositories) {
		repo, commit, _ := strings.Cut(strings.TrimSpace(line), " ")
		dir := filepath.Join(mirrors, strings.Replace(repo, "/", "+", 1), "repo")
		list, err := git(dir, "ls-tree", "-r", "-z", commit)
		if err != nil {
			return fmt.Errorf("%s: %w", repo, err)
		}
		for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
			meta, path, _ := strings.Cut(entry, "\t")
			fields := strings.Fields(meta)
			if len(fields) == 3 && strings.HasPrefix(fields[0], "100") {
				key := fmt.Sprintf("%x", sha256.Sum256([]byte(repo+"\t"+path)))
				all = append(all, candidate{key, repo, dir, commit, path, fields[2]})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.key, b.key) })
	seen := map[string]bool{} // the same content counts once
	var index bytes.Buffer
	for _, k := range kinds {
		given, n := map[string]int{}, 0
		for _, c := range all {
			if n == k.count || given[c.repo] == fromEach || seen[c.blob] || !k.path.MatchString(c.path) {
				continue
			}
			text, err := git(c.dir, "cat-file", "blob", c.blob)
			if err != nil || len(text) > 200_000 || !k.text.Match(text) || k.not != nil && k.not.Match(text) {
				continue
			}
			seen[c.blob] = true
			given[c.repo]++
			n++
			name := filepath.Join(k.name, fmt.Sprintf("%04d", n), filepath.Base(c.path))
			if k.name == "workflows" {
				name = filepath.Join(".github/workflows", fmt.Sprintf("%04d-%s", n, filepath.Base(c.path)))
			}
			if filepath.Ext(name) == ".template" {
				name += ".yaml" // JSON is YAML
			}
			fmt.Fprintf(&index, "%s\t%s\t%s\n", filepath.ToSlash(name), c.repo, c.path)
			full := filepath.Join(out, "files", name)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(full, text, 0o644); err != nil {
				return err
			}
		}
		fmt.Println(k.name, n, "files of", len(given), "repositories")
	}
	return os.WriteFile(filepath.Join(out, "index.txt"), index.Bytes(), 0o644)
}

// lines are first and last; 0: the tool names none.
type lines struct{ first, last int }

// findings are the places by tool and rule, and by file.
type findings map[string]map[string][]lines

func (f findings) add(rule, file string, at lines) {
	if f[rule] == nil {
		f[rule] = map[string][]lines{}
	}
	f[rule][file] = append(f[rule][file], at)
}

// values returns the maps in v that have the key, the outer ones first.
func values(v any, key string) []map[string]any {
	var all []map[string]any
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v[key]; ok {
			all = append(all, v)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			all = append(all, values(v[k], key)...)
		}
	case []any:
		for _, e := range v {
			all = append(all, values(e, key)...)
		}
	}
	return all
}

// at returns the value at keys in v; nil if unset.
func at(v any, keys ...string) any {
	for _, k := range keys {
		m, _ := v.(map[string]any)
		v = m[k]
	}
	return v
}

func text(v any) string { s, _ := v.(string); return s }
func number(v any) int  { n, _ := v.(float64); return int(n) }

// read returns what the outputs in dir say.
func read(dir string) (findings, error) {
	all := findings{}
	for _, tool := range []string{"policyscan", "trivy", "kube-linter", "actionlint", "poutine", "dockerfilelint", "cfn-lint"} {
		data, err := os.ReadFile(filepath.Join(dir, tool+".json"))
		if err != nil || len(data) == 0 {
			fmt.Fprintln(os.Stderr, "no output of", tool)
			continue
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, fmt.Errorf("%s: %w", tool, err)
		}
		root, _ := filepath.Abs(filepath.Join(dir, "files"))
		add := func(rule, file any, first, last int) {
			name := strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(text(file)), filepath.ToSlash(root)), "/")
			all.add(tool+" "+text(rule), name, lines{first, last})
		}
		switch tool {
		case "policyscan":
			for _, m := range values(at(v, "violations"), "rule_id") {
				for _, p := range values(at(m, "evidence", "places"), "line") {
					add(m["rule_id"], m["file"], number(p["line"]), number(p["line"]))
				}
				if len(values(at(m, "evidence", "places"), "line")) == 0 {
					add(m["rule_id"], m["file"], 0, 0)
				}
			}
		case "trivy":
			for _, r := range values(v, "Misconfigurations") {
				for _, m := range values(r["Misconfigurations"], "CauseMetadata") {
					add(m["ID"], r["Target"], number(at(m, "CauseMetadata", "StartLine")), number(at(m, "CauseMetadata", "EndLine")))
				}
			}
		case "kube-linter":
			for _, m := range values(v, "Check") {
				add(m["Check"], at(m, "Object", "Metadata", "FilePath"), 0, 0)
			}
		case "actionlint":
			for _, m := range values(v, "kind") {
				if strings.Contains(text(m["message"]), "potentially untrusted") {
					add("untrusted", m["filepath"], number(m["line"]), number(m["line"]))
				}
			}
		case "poutine":
			for _, m := range values(v, "rule_id") {
				add(m["rule_id"], at(m, "meta", "path"), number(at(m, "meta", "line")), number(at(m, "meta", "line")))
			}
		case "dockerfilelint":
			for _, f := range values(v, "file") {
				for _, m := range values(f["issues"], "title") {
					add(m["title"], f["file"], number(m["line"]), number(m["line"]))
				}
			}
		case "cfn-lint":
			for _, m := range values(v, "Filename") {
				add(at(m, "Rule", "Id"), m["Filename"], number(at(m, "Location", "Start", "LineNumber")), number(at(m, "Location", "End", "LineNumber")))
			}
		}
	}
	return all, nil
}

// compare prints for each pair how many files both, only ours and only theirs have, and in how many of both a line of
// ours is in the lines of theirs.
func compare(dir, only string) error {
	all, err := read(dir)
	if err != nil {
		return err
	}
	fmt.Println("| theirs | ours | both | same lines | only ours | only theirs |\n|---|---|---|---|---|---|")
	for pair := range strings.Lines(pairs) {
		theirs, ours, ok := strings.Cut(strings.TrimSpace(pair), " = ")
		if !ok {
			continue
		}
		a, b := all.join("policyscan", ours), all.join("", theirs)
		kind := kindOf(theirs)
		both, same := 0, 0
		var onlyOurs, onlyTheirs []string
		for _, file := range slices.Sorted(maps.Keys(a)) {
			switch {
			case b[file] != nil:
				both++
				if overlap(a[file], b[file]) {
					same++
				}
			case kind.MatchString(file):
				onlyOurs = append(onlyOurs, file)
			}
		}
		for _, file := range slices.Sorted(maps.Keys(b)) {
			if a[file] == nil {
				onlyTheirs = append(onlyTheirs, file)
			}
		}
		lines := fmt.Sprint(same)
		if !slices.ContainsFunc(slices.Collect(maps.Values(b)), hasLines) {
			lines = "–"
		}
		fmt.Printf("| %s | %s | %d | %s | %d | %d |\n", theirs, ours, both, lines, len(onlyOurs), len(onlyTheirs))
		for _, file := range map[string][]string{"ours": onlyOurs, "theirs": onlyTheirs}[only] {
			fmt.Println("   ", file, a[file], b[file])
		}
	}
	return nil
}

// kindOf returns which files a tool's rule is about.
func kindOf(rule string) *regexp.Regexp {
	for _, k := range [][2]string{{"trivy KSV", "kubernetes/"}, {"kube-linter", "kubernetes/"}, {"trivy DS", "docker/"},
		{"dockerfilelint", "docker/"}, {"actionlint", `\.github/`}, {"poutine", `\.github/`}, {"cfn-lint", "cloudformation/"}} {
		if strings.HasPrefix(rule, k[0]) {
			return regexp.MustCompile("^" + k[1])
		}
	}
	return regexp.MustCompile("^(?:terraform|cloudformation)/")
}

// join returns the places of several rules, separated by commas, by file.
func (f findings) join(tool, rules string) map[string][]lines {
	all := map[string][]lines{}
	for rule := range strings.SplitSeq(rules, ", ") {
		for file, places := range f[strings.TrimSpace(tool+" "+rule)] {
			all[file] = append(all[file], places...)
		}
	}
	return all
}

func hasLines(all []lines) bool {
	return slices.ContainsFunc(all, func(l lines) bool { return l.first > 0 })
}

func overlap(a, b []lines) bool {
	return slices.ContainsFunc(a, func(x lines) bool {
		return slices.ContainsFunc(b, func(y lines) bool { return x.first <= y.last && y.first <= x.last })
	})
}
