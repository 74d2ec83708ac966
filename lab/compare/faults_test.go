//go:build linux

package compare

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// faults are the ways in which a run cannot do its work. The text is in main.tf, or in what
// the row names.
func faults() []scenario {
	elsewhere := func(name string) func(*repository) {
		return func(r *repository) {
			r.write("main.tf", bucket("private"))
			r.write(name, bucket(text))
		}
	}
	return []scenario{
		{name: "nothing is wrong"},
		{name: "the base does not exist", edits: base("origin/nosuch")},
		{name: "the base is empty (an unset variable)", edits: base("")},
		{name: "a clone of depth 1, without the base", clone: []string{"--depth=1"}},
		{name: "the change has no history in common with the base", change: func(r *repository) {
			r.git("checkout", "--quiet", "--orphan", "other")
			r.write("main.tf", bucket(text))
			r.commit()
			r.git("branch", "--force", "change", "other")
		}},
		{name: "the change was merged before: HEAD is the base", after: func(r *repository) { r.git("update-ref", "refs/remotes/origin/main", "HEAD") }},
		{name: "a key too many, misspelt", edits: map[string]edit{
			"policyscan": swap("    title:", "    severitty: high\n    title:"),
			"gitleaks":   swap("description =", "descripton = \"x\"\ndescription ="),
			"secretlint": swap(`"name":`, `"nmae": "x", "name":`),
			"repolinter": swap(`"content":`, `"conntent": "x", "content":`),
			"ripgrep":    more(" --hiddn"), "git grep": swap("git grep", "git grep --recurse-submoduls"), "conftest": more(" --strictt"),
		}},
		{name: "the key of the text is misspelt", edits: map[string]edit{
			"policyscan": swap("forbidden_patterns:", "forbiden_patterns:"),
			"gitleaks":   swap("regex =", "regx ="),
			"secretlint": swap(`"patterns": ["`, `"pattrens": ["`),
			"repolinter": swap(`"content":`, `"contnet":`),
			"ripgrep":    swap("-nF -f", "-nF --fil"), "git grep": swap("-nF -f", "-nF --fil"),
		}},
		{name: "the name of the rules is misspelt", edits: map[string]edit{
			"policyscan": swap("rules:", "rulse:"),
			"gitleaks":   swap("[[rules]]", "[[rulse]]"),
			"conftest":   swap("deny contains", "dney contains"),
			"secretlint": swap(`"rules":`, `"rulse":`),
			"repolinter": swap(`"rules":`, `"rulse":`),
		}},
		{name: "the kind of the rule is misspelt", edits: map[string]edit{
			"policyscan": swap("mode: fail", "mode: fial"),
			"secretlint": swap("secretlint-rule-pattern", "secretlint-rule-patern"),
			"repolinter": swap("file-not-contents", "file-not-content"),
		}},
		{name: "a glob that can never match", edits: map[string]edit{
			"policyscan": swap(`["**"]`, `["./**/*.tf"]`),
			"gitleaks":   swap("regex =", "path = '''^\\./.*\\.tf$'''\nregex ="),
			"ripgrep":    swap("-g '!/.git'", "-g '!/.git' -g './**/*.tf'"),
			"git grep":   swap("-- .", "-- '**.tf/'"),
			"secretlint": swap(`"patterns": ["`, `"filePathGlobs": ["./**/*.tf"], "patterns": ["`),
			"repolinter": swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["/**/*.tf"]`),
		}},
		{name: "a glob that happens to select nothing", edits: map[string]edit{
			"policyscan": swap(`["**"]`, `["terraform/**"]`),
			"gitleaks":   swap("regex =", "path = '''^terraform/'''\nregex ="),
			"ripgrep":    swap("-g '!/.git'", "-g '!/.git' -g '/terraform/**'"),
			"git grep":   swap("-- .", "-- terraform"),
			"secretlint": swap(`"**/*"`, `"terraform/**"`),
			"repolinter": swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["terraform/**/*"]`),
		}},
		{name: "the policy file is empty", edits: policies(func(name, _ string) edit { return file(name, "") })},
		{name: "the policy holds no rule", edits: map[string]edit{
			"policyscan": file(".policyscan/rules/boundaries.yml", "rules: []\n"),
			"gitleaks":   file(".gitleaks.toml", "title = \"our rules\"\n"),
			"ripgrep":    file(".forbidden", ""), "git grep": file(".forbidden", ""),
			"conftest":   file("policy/s3.rego", "package main\n"),
			"secretlint": file(".secretlintrc.json", `{"rules": []}`),
			"repolinter": file("repolint.json", `{"version": 2, "axioms": {}, "rules": {}}`),
		}},
		{name: "the policy file is missing", edits: policies(func(name, _ string) edit { return gone(name) })},
		{name: "half of the policy file is missing", edits: policies(func(name, content string) edit {
			return file(name, content[:len(content)/2])
		})},
		{name: "a pattern that cannot be one", edits: map[string]edit{
			"policyscan": swap(`["public-read"]`, `[""]`),
			"gitleaks":   swap("public[-]read", "public[-read"), "conftest": swap("contains(text, ", "regex.match(\"public[-read\", "),
			"secretlint": swap("public[-]read", "public[-read"), "repolinter": swap("public[-]read", "public[-read"),
			"ripgrep": all(swap("-nF", "-n"), file(".forbidden", "public[-read\n")), "git grep": all(swap("-nF", "-n"), file(".forbidden", "public[-read\n")),
		}},
		{name: "a file that cannot be read", after: func(r *repository) { r.must(os.Chmod(r.path("main.tf"), 0)) }, nobody: true},
		{name: "a directory that cannot be read", change: elsewhere("logs/main.tf"), nobody: true, often: 8,
			after: func(r *repository) { r.must(os.Chmod(r.path("logs"), 0)) }},
		{name: "the path to scan does not exist", edits: map[string]edit{
			"policyscan, the change": more(" nosuch"), "policyscan, all files": swap("policyscan .", "policyscan nosuch"),
			"gitleaks git": swap("HEAD .", "HEAD nosuch"), "gitleaks dir": swap("color .", "color nosuch"),
			"ripgrep": swap(".forbidden .", ".forbidden nosuch"), "git grep": swap("-- .", "-- nosuch"),
			"conftest": swap("color .", "color nosuch"), "secretlint": swap(`"**/*"`, `"nosuch/**/*"`), "repolinter": swap("lint .", "lint nosuch"),
		}},
		{name: "an empty directory", edits: map[string]edit{
			"policyscan, all files": swap("policyscan .", "policyscan --policy .policyscan empty"),
			"gitleaks dir":          swap("color .", "color empty"), "ripgrep": swap(".forbidden .", ".forbidden empty"), "git grep": swap("-- .", "-- empty"),
			"conftest": swap("color .", "color empty"), "secretlint": swap(`"**/*"`, `"empty/**/*"`), "repolinter": swap("lint .", "lint --rulesetFile repolint.json empty"),
		}, after: func(r *repository) { r.must(os.Mkdir(r.path("empty"), 0o755)) }},
		{name: "no repository where one is needed", edits: map[string]edit{"policyscan, the change": plain, "gitleaks git": plain, "git grep": plain},
			after: func(r *repository) { r.must(os.RemoveAll(r.path(".git"))) }},
		{name: "a FIFO in the work tree; no text", change: in("main.tf", bucket("private")), edits: map[string]edit{
			"policyscan, all files": plain, "gitleaks dir": plain, "ripgrep": plain, "conftest": plain, "secretlint": plain, "repolinter": plain,
		}, after: func(r *repository) { r.must(syscall.Mkfifo(r.path("pipe.tf"), 0o644)) }},
		{name: "a tracked file is not in the work tree", after: func(r *repository) { r.must(os.Remove(r.path("main.tf"))) }},
		{name: "the file's object is torn", after: func(r *repository) { loose(r); r.truncate("HEAD:main.tf") }},
		{name: "a directory's object is torn", change: elsewhere("logs/main.tf"), after: func(r *repository) { loose(r); r.truncate("HEAD:logs") }},
		{name: "a directory's object is missing", change: elsewhere("logs/main.tf"), after: func(r *repository) {
			loose(r)
			id := r.git("rev-parse", "HEAD:logs")
			r.must(os.Remove(r.path(filepath.Join(".git", "objects", id[:2], id[2:]))))
		}},
		{name: "standard output is a full disk", edits: map[string]edit{"*": more(" >/dev/full")}},
		// Not /dev/full: gitleaks, run as root, replaces the device by a file.
		{name: "the report cannot be written; no text", change: in("main.tf", bucket("private")), nobody: true,
			after: func(r *repository) { r.must(os.Mkdir(r.path("../closed"), 0o555)) }, edits: map[string]edit{
				"policyscan": more(" --output ../closed/report"), "gitleaks": more(" --report-format json --report-path ../closed/report"),
				"secretlint": more(" --output ../closed/report"),
			}},
		{name: "SIGTERM in the middle", killed: true, large: true, change: func(r *repository) {
			r.write("main.tf", filler(30*megas)+bucket(text))
		}},
	}
}

// base has the commands name another one.
func base(ref string) map[string]edit {
	return map[string]edit{
		"policyscan, the change": swap("--diff-base origin/main", "--diff-base '"+ref+"'"),
		"gitleaks git":           swap("origin/main..HEAD", ref+"..HEAD"),
		"git grep":               swap("HEAD", "'"+ref+"'"),
	}
}

// policies are edits of each tool's one file of rules.
func policies(change func(name, content string) edit) map[string]edit {
	edits := map[string]edit{}
	for _, tool := range tools() {
		for name, content := range tool.files {
			if name != ".policyscan/rules/invariants.yml" {
				edits[tool.family] = change(name, content)
			}
		}
	}
	return edits
}

// loose unpacks all objects, so that one can be torn.
func loose(r *repository) {
	r.t.Helper()
	packs, err := filepath.Glob(r.path(".git/objects/pack/*.pack"))
	r.must(err)
	if len(packs) == 0 {
		r.t.Fatal("no pack")
	}
	for _, pack := range packs {
		moved := r.path(".git/" + filepath.Base(pack))
		r.must(os.Rename(pack, moved))
		objects, err := os.Open(moved)
		r.must(err)
		cmd := exec.Command("git", "-C", r.dir, "unpack-objects", "-q")
		cmd.Stdin = objects
		r.must(cmd.Run())
		r.must(objects.Close())
	}
}
