//go:build linux

package compare

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// in is a change that writes one file.
func in(name, content string) func(*repository) {
	return func(r *repository) { r.write(name, content) }
}

// with is a change that writes two.
func with(name, content, other, text string) func(*repository) {
	return func(r *repository) { r.write(name, content); r.write(other, text) }
}

func wide(s string, order binary.AppendByteOrder, size int, mark bool) string {
	var b []byte
	add := func(c rune) {
		if size == 4 {
			b = order.AppendUint32(b, uint32(c))
			return
		}
		for _, u := range utf16.Encode([]rune{c}) {
			b = order.AppendUint16(b, u)
		}
	}
	if mark {
		add(0xfeff)
	}
	for _, c := range s {
		add(c)
	}
	return string(b)
}

const (
	png   = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00"
	megas = 1 << 20
)

// filler is lines of n bytes in all.
func filler(n int) string {
	line := "# nothing to see in this line, nor in the next, nor in any other of this file\n"
	return strings.Repeat(line, n/len(line)+1)[:n/len(line)*len(line)]
}

// evasions are the ways in which a change can hide the text.
func evasions() []scenario {
	open := bucket(text)
	le, be := binary.LittleEndian, binary.BigEndian
	inLine := func(comment string) string { return strings.Replace(open, "\"\n", "\" # "+comment+"\n", 2) }
	rows := []scenario{
		{name: "nothing is hidden: the text is in `main.tf`", change: in("main.tf", open)},
		{name: "UTF-16LE with a byte order mark", change: in("main.tf", wide(open, le, 2, true))},
		{name: "UTF-16LE without", change: in("main.tf", wide(open, le, 2, false))},
		{name: "UTF-16BE with a byte order mark", change: in("main.tf", wide(open, be, 2, true))},
		{name: "UTF-16BE without", change: in("main.tf", wide(open, be, 2, false))},
		{name: "UTF-32LE with a byte order mark", change: in("main.tf", wide(open, le, 4, true))},
		{name: "UTF-32BE without", change: in("main.tf", wide(open, be, 4, false))},
		{name: "a NUL byte at the beginning", change: in("main.tf", "\x00"+open)},
		{name: "a NUL byte in a comment before the text", change: in("main.tf", "# \x00\n"+open)},
		{name: "bytes next to it that are not UTF-8", change: in("main.tf", "# caf\xe9\n"+open)},
		{name: "a PNG's first bytes", change: in("main.tf", png+"\n"+open)},
		{name: "a ZIP's first bytes", change: in("main.tf", "PK\x03\x04\n"+open)},
		{name: "lines that end with CRLF", change: in("main.tf", strings.ReplaceAll(open, "\n", "\r\n"))},
		{name: "lines that end with CR", change: in("main.tf", strings.ReplaceAll(open, "\n", "\r"))},
		{name: "`.gitignore` names the file", change: with("main.tf", open, ".gitignore", "*.tf\n")},
		{name: "`.ignore` and `.rgignore` name it", change: func(r *repository) {
			r.write("main.tf", open)
			r.write(".ignore", "*\n")
			r.write(".rgignore", "*\n")
		}},
		{name: "`.gitleaksignore` names the finding", change: with("main.tf", open, ".gitleaksignore", "main.tf:S3-001:2\n")},
		{name: "`.secretlintignore` names the file", change: with("main.tf", open, ".secretlintignore", "**/*.tf\n")},
		{name: "`conftest.toml` ignores the file, and fails nothing", change: with("main.tf", open, "conftest.toml", "ignore = \"tf$\"\nno-fail = true\n")},
		{name: "a comment `gitleaks:allow`", change: in("main.tf", inLine("gitleaks:allow"))},
		{name: "a comment `secretlint-disable`", change: in("main.tf", "# secretlint-disable\n"+open)},
		{name: "`.gitattributes`: `binary`", change: with("main.tf", open, ".gitattributes", "* binary\n")},
		{name: "`.gitattributes`: `-diff`", change: with("main.tf", open, ".gitattributes", "* -diff\n")},
		{name: "`.gitattributes`: `export-ignore`", change: with("main.tf", open, ".gitattributes", "* export-ignore\n")},
		{name: "`.gitattributes`: `working-tree-encoding=UTF-32BE`", change: func(r *repository) {
			r.write(".gitattributes", "main.tf working-tree-encoding=UTF-32BE\n")
			r.write("main.tf", wide(open, be, 4, false))
		}},
		{name: "`.gitattributes`: `working-tree-encoding=UTF-16LE`, which makes the text of other characters", change: func(r *repository) {
			r.write(".gitattributes", "main.tf working-tree-encoding=UTF-16LE\n")
			r.write("main.tf", even(open)) // which git takes for UTF-16LE
		}},
		{name: "that line of `.gitattributes` alone; the other characters are in the base", base: func(r *repository) {
			r.write("main.tf", decoded(even(open)))
		}, change: func(r *repository) {
			r.write(".gitattributes", "main.tf working-tree-encoding=UTF-16LE\n")
			r.write("main.tf", even(open)) // the blob stays the same
		}},
		{name: "a Git LFS pointer; the text is in the storage", change: with("main.tf",
			"version https://git-lfs.github.com/spec/v1\noid sha256:"+strings.Repeat("4d7a", 16)+"\nsize 66\n", ".gitattributes", "*.tf filter=lfs diff=lfs merge=lfs -text\n")},
		{name: "a hidden file", change: in(".main.tf", open)},
		{name: "a hidden directory", change: in(".deploy/main.tf", open)},
		{name: "the directory `node_modules`", change: in("node_modules/logs/main.tf", open)},
		{name: "the directory `vendor`", change: in("vendor/logs/main.tf", open)},
		{name: "a name in capitals: `MAIN.TF`", change: in("MAIN.TF", open)},
		{name: "an unusual extension: `main.xyz`", change: in("main.xyz", open)},
		{name: "no extension", change: in("main", open)},
		{name: "the name of an image: `logo.png`", change: in("logo.png", open)},
		{name: "the name of an archive: `notes.zip`", change: in("notes.zip", open)},
		{name: "a generated file: `package-lock.json`", change: in("package-lock.json", `{"name": "logs", "acl": "public-read"}`+"\n")},
		{name: "a file name that is not UTF-8", change: in("ma\xffin.tf", open)},
		{name: "a file name with a line end", change: in("ma\nin.tf", open)},
		{name: "a line of 10 MB", change: in("main.tf", "# "+strings.Repeat("x", 10*megas)+"\n"+open)},
		{name: "one line of 1 MB, minified", change: in("app.min.js", strings.Repeat("function a(b){return b*2};", megas/26)+`var acl="public-read";`)},
		{name: "one line, the text across its byte 125,000", change: in("app.min.js", strings.Repeat("x", 125_000-5)+text+strings.Repeat("y", 125_000))},
		{name: "a file of 99 MB, the text at its end", change: func(r *repository) { r.write("main.tf", filler(99*megas)+open) }, large: true},
		{name: "a symbolic link's target is the text", change: func(r *repository) { r.must(os.Symlink(text, r.path("acl"))) }},
		{name: "a rule for `**/*.tf`: `main.tf` is a link to `notes.txt`", change: func(r *repository) {
			r.write("notes.txt", open)
			r.must(os.Symlink("notes.txt", r.path("main.tf")))
		}, edits: confined("tf", "**/*.tf", "*.tf")},
		{name: "a rule for `modules/**`: `modules` is a link to `other`", change: func(r *repository) {
			r.write("other/main.tf", open)
			r.must(os.Symlink("other", r.path("modules")))
		}, edits: confined("modules", "modules/**", "modules")},
		{name: "a repository in the repository, as a link to its commit", change: func(r *repository) { nested(r, "logs", open) }},
		{name: "a submodule that CI does not check out", change: func(r *repository) { submodule(r, open) }},
		{name: "a submodule that CI checks out", change: func(r *repository) { submodule(r, open) }, clone: []string{"--recurse-submodules"}},
		{name: "the commit of a merge brings the text", change: func(r *repository) {
			r.write("main.tf", bucket("private"))
			r.commit()
			r.git("checkout", "--quiet", "-b", "side", "HEAD~1")
			r.write("side.tf", bucket("private"))
			r.commit()
			r.git("checkout", "--quiet", "change")
			r.git("merge", "--quiet", "--no-ff", "--no-commit", "side")
			r.write("main.tf", open)
		}},
		{name: "a directory of the base, turned into a file", base: in("logs/main.tf", bucket("private")), change: func(r *repository) {
			r.must(os.RemoveAll(r.path("logs")))
			r.write("logs", open)
		}},
		{name: "the change takes the text out of the rule", change: func(r *repository) {
			r.loosen()
			r.write("main.tf", open)
		}},
		{name: "the change adds a second bundle, which lets all pass, next to the first", edits: map[string]edit{"policyscan": plain}, change: func(r *repository) {
			r.write("rules/boundaries.yml", strings.ReplaceAll(bundle, text, "never"))
			r.write("rules/invariants.yml", "rules: []\n")
			r.write("main.tf", open)
		}},
		{name: "the change deletes the tool's configuration", change: func(r *repository) {
			for name := range r.tool.files {
				r.must(os.Remove(r.path(name)))
			}
			r.write("main.tf", open)
		}},
		{name: "the branch begins before the rule was there", base: before, change: func(r *repository) {
			r.git("reset", "--quiet", "--hard", "HEAD~1")
			r.write("main.tf", open)
		}},
		{name: "staged, and fixed in the work tree (a hook)", change: in("main.tf", bucket("private")), hook: true, after: func(r *repository) {
			r.write("main.tf", open)
			r.git("add", "main.tf")
			r.write("main.tf", bucket("private"))
		}},
		{name: "the text split over two lines", change: in("main.tf", bucket("public-\nread"))},
	}
	return append(rows, meant()...)
}

// meant are the rows in which a rule means more than one text. Each tool is configured for its row.
func meant() []scenario {
	open := bucket(text)
	return []scenario{
		{name: "another case: `PUBLIC-READ`", change: in("main.tf", bucket("PUBLIC-READ")), edits: map[string]edit{
			"policyscan": item(`{text: public-read, case: ignore}`), "gitleaks": swap("public[-]read", "(?i)public[-]read"), "ripgrep": swap("-nF", "-niF"), "git grep": swap("-nF", "-niF"),
			"conftest": swap("contains(text,", "contains(lower(text),"), "secretlint": swap("public[-]read/", "public[-]read/i"),
			"repolinter": swap(`"content"`, `"flags": "i", "content"`),
		}},
		{name: "a regular expression: `acl\\s*=\\s*\"public-`, one pattern for all spaces", change: in("main.tf", "acl    =\t\"public-write\"\n"), edits: map[string]edit{
			"policyscan": item(`{regex: 'acl\s*=\s*"public-'}`), "gitleaks": swap("'''public[-]read'''", `'''acl\s*=\s*"public-'''`), "secretlint": swap("/public[-]read/", `/acl\\s*=\\s*\"public-/`),
			"repolinter": swap("public[-]read", `acl\\s*=\\s*\"public-`),
			"ripgrep":    all(swap("-nF", "-n"), file(".forbidden", "acl\\s*=\\s*\"public-\n")), "git grep": all(swap("-nF", "-nP"), file(".forbidden", "acl\\s*=\\s*\"public-\n")),
			"conftest": swap(`"public-read"`, `"public-"`),
		}},
		{name: "file name in another case: a rule for `**/*.tf`, and `MAIN.TF`", change: in("MAIN.TF", open), edits: map[string]edit{
			"policyscan": all(swap("rules:\n  -", bundle02), swap(`["**"]`, "[\"**/*.tf\"]\n      path_case: ignore")), "gitleaks": swap("regex =", "path = '''(?i)\\.tf$'''\nregex ="),
			"ripgrep": swap("-g '!/.git' -g '!/.forbidden'", "--iglob '*.tf'"), "git grep": swap("-- .", "-- ':(icase)*.tf'"),
			"conftest": plain, "secretlint": swap(`"patterns": ["`, `"filePathGlobs": ["**/*.{tf,TF}"], "patterns": ["`),
			"repolinter": swap(`"globsAll": ["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `"nocase": true, "globsAll": ["**/*.tf"]`),
		}},
		{name: "something is missing: a file must say `encryption`", change: in("main.json", `{"acl": "private"}`+"\n"), edits: map[string]edit{
			"policyscan": required("encryption"),
			"ripgrep":    script("rg --no-config --no-ignore --hidden -n --files-without-match -F encryption main.json | sed 's/$/:1:/'; test -z \"$(rg --files-without-match -F encryption main.json)\""),
			"git grep":   script("git grep -L -F encryption HEAD -- main.json | sed 's/$/:1:/'; test -z \"$(git grep -L -F encryption HEAD -- main.json)\""),
			"conftest":   file("policy/s3.rego", "package main\n\nimport rego.v1\n\ndeny contains \"S3-001: no encryption\" if not input.encryption\n"),
			"repolinter": all(swap("file-not-contents", "file-contents"), swap("public[-]read", "encryption"), swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["main.json"]`)),
		}},
		{name: "something is missing: each bucket must have `encryption`", change: in("main.json", `{"resource": {"bucket": {"logs": {"acl": "private"}, "web": {"encryption": true}}}}`+"\n"), edits: map[string]edit{
			"policyscan": required(`{each: "resource.bucket.*", key: encryption}`),
			"conftest": file("policy/s3.rego", `package main

import rego.v1

deny contains "S3-001: no encryption" if {
	some bucket in input.resource.bucket
	not bucket.encryption
}
`)}},
		{name: "structure: an attribute of one kind of resource, and not a comment", change: in("main.json", `{"resource": {"bucket": {"logs": {"acl": "public-read"}}}}`+"\n"), edits: map[string]edit{
			"policyscan": key("**/*.json", "resource.bucket.*.acl"),
			"conftest": file("policy/s3.rego", `package main

import rego.v1

deny contains "S3-001: no public bucket" if {
	some bucket in input.resource.bucket
	bucket.acl == "public-read"
}
`)}},
		{name: "an escape of the language: `\\u002d` in JSON", change: in("main.json", `{"acl": "public\u002dread"}`+"\n"), edits: map[string]edit{"policyscan": key("**/*.json", "acl"), "*": plain}},
		{name: "a text folded over lines in YAML", change: in("main.yaml", "acl: \"public-\\\n  read\"\n"), edits: map[string]edit{"policyscan": key("**/*.yaml", "acl"), "*": plain}},
	}
}

// bundle02 is how the rule file of a 0.2 bundle begins.
const bundle02 = "bundle: \"0.2\"\nrules:\n  -"

// item has policyscan look for another pattern, in a 0.2 bundle.
func item(pattern string) edit {
	return all(swap("rules:\n  -", bundle02), swap(`["public-read"]`, "["+pattern+"]"))
}

// key has policyscan look for the text as the value of a key, in the files that the glob selects.
func key(glob, path string) edit {
	return all(item(`{key: "`+path+`", is: public-read}`), swap(`["**"]`, `["`+glob+`"]`))
}

// required has policyscan look for what must be in a file, in a 0.2 bundle.
func required(pattern string) edit {
	return all(swap("rules:\n  -", bundle02), file(".policyscan/rules/invariants.yml", bundle02+` id: S3-002
    title: Each bucket is encrypted
    enforcement: {mode: fail}
    match: {files: ["/main.json"], required_patterns: [`+pattern+`]}
`))
}

// before commits a main whose rule does not name the text, and puts the rule back for the next commit.
func before(r *repository) {
	r.loosen()
	r.commit()
	for name, content := range r.tool.files {
		r.write(name, content)
	}
}

// even is a text with a space at its end if it has an odd number of bytes.
func even(text string) string { return text + strings.Repeat(" ", len(text)%2) }

// decoded is what the bytes of a text are as UTF-16LE.
func decoded(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i += 2 {
		out.WriteRune(rune(text[i]) | rune(text[i+1])<<8)
	}
	return out.String()
}

// confined has each tool judge some files alone, and follow links if it can: those with an extension or in a directory,
// of that name, which a glob and a pathspec mean as well.
func confined(name, glob, pathspec string) map[string]edit {
	regexp, conftest := `\.`+name+"$", plain
	if strings.HasPrefix(glob, name) {
		regexp, conftest = "^"+name+"/", swap("color .", "color "+name)
	}
	return map[string]edit{
		"policyscan": swap(`["**"]`, `["`+glob+`"]`), "gitleaks git": swap("regex =", "path = '''"+regexp+"'''\nregex ="),
		"gitleaks dir": all(swap("regex =", "path = '''"+regexp+"'''\nregex ="), more(" --follow-symlinks")),
		"ripgrep":      swap("--hidden --binary -g '!/.git' -g '!/.forbidden'", "--hidden --binary --follow -g '"+glob+"'"),
		"git grep":     swap("-- . ':!.forbidden'", "-- '"+pathspec+"'"), "conftest": conftest, "secretlint": swap(`"**/*"`, `"`+glob+`"`),
		"repolinter": swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["`+glob+`"]`),
	}
}

// nested commits a repository as what git makes of one that is added: a link to its commit.
func nested(r *repository, name, content string) {
	inner := &repository{t: r.t, tool: r.tool, dir: filepath.Join(r.dir, name)}
	inner.write("main.tf", content)
	inner.git("init", "--quiet", "--initial-branch=main")
	inner.commit()
}

// submodule adds one that is next to the repository.
func submodule(r *repository, content string) {
	beside := &repository{t: r.t, tool: r.tool, dir: filepath.Join(filepath.Dir(r.dir), "beside")}
	beside.write("main.tf", content)
	beside.git("init", "--quiet", "--initial-branch=main")
	beside.commit()
	r.git("submodule", "--quiet", "add", "file://"+beside.dir, "logs")
}

// blind are the things that others see, and policyscan does not, or not so well. Each tool is configured for its row.
func blind() []scenario {
	open := bucket(text)
	// Put together here, so that no scanner takes this file for what it looks for.
	token := "gh" + "p_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	secret := "client_" + "secret = \"8dyfuiRyq=vVc3RRr_edRk-fK__JItpZ\"\n"
	return []scenario{
		{name: "a rule for `terraform/**`, and the text in `infra/main.tf`", base: in("terraform/main.tf", bucket("private")), change: in("infra/main.tf", open), edits: map[string]edit{
			"policyscan": swap(`["**"]`, `["terraform/**"]`), "gitleaks": swap("regex =", "path = '''^terraform/'''\nregex ="),
			"ripgrep": swap("-g '!/.git'", "-g '!/.git' -g '/terraform/**'"), "git grep": swap("-- .", "-- terraform"),
			"conftest": swap("color .", "color terraform"), "secretlint": swap(`"**/*"`, `"terraform/**"`),
			"repolinter": swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["terraform/**/*"]`),
		}},
		{name: "base64", change: in("main.tf", "acl = base64decode(\""+base64.StdEncoding.EncodeToString([]byte("the acl is public-read, of course"))+"\")\n")},
		{name: "hexadecimal", change: in("main.tf", "acl = \""+hex.EncodeToString([]byte("the acl is public-read, of course"))+"\"\n")},
		{name: "percent-encoded", change: in("main.tf", "acl = urldecode(\"%70%75%62%6c%69%63%2d%72%65%61%64\")\n")},
		{name: "put together at run time", change: in("main.tf", "acl = join(\"-\", [\"public\", \"read\"])\n")},
		{name: "a letter that looks alike", change: in("main.tf", bucket("publi\u0441-read"))},
		{name: "in a ZIP archive", change: func(r *repository) { r.write("logs.zip", zipped(r, open)) }, edits: archives()},
		{name: "in a gzip file", change: func(r *repository) { r.write("main.tf.gz", gzipped(r, open)) }, edits: archives()},
		{name: "encrypted", change: func(r *repository) { r.write("main.tf.enc", encrypted(r, open)) }},
		{name: "a text that is not ASCII, in Latin-1: `größe`", change: in("main.tf", "name = \"gr\xf6\xdfe\"\n"), edits: map[string]edit{
			"policyscan": swap("public-read", "größe"), "gitleaks": swap("public[-]read", `gr(ö|\xf6)(ß|\xdf)e`),
			"ripgrep": all(file(".forbidden", "größe\n"), swap("-nF", "--encoding latin1 -nF")), "git grep": file(".forbidden", "größe\n"),
			"conftest": swap("public-read", "größe"), "secretlint": swap("public[-]read", "gr..?e"), "repolinter": swap("public[-]read", `gr\\u00f6\\u00dfe`),
		}},
		{name: "added by one commit, removed by the next", change: func(r *repository) {
			r.write("main.tf", open)
			r.commit()
			r.must(os.Remove(r.path("main.tf")))
		}},
		{name: "in main since before there was a rule; the change does not touch it", base: in("main.tf", open), change: in("README.md", "# The logs\n")},
		{name: "in the message of a commit", change: func(r *repository) { r.git("commit", "--quiet", "--allow-empty", "--message", "acl = public-read") }},
		{name: "in the work tree alone, neither staged nor committed", change: in("main.tf", bucket("private")), after: in("main.tf", open)},
		{name: "behind a symbolic link that leads out of the repository", change: func(r *repository) { r.must(os.Symlink("../beside.tf", r.path("main.tf"))) },
			after: func(r *repository) { r.write("../beside.tf", open) }, edits: map[string]edit{
				"gitleaks dir": more(" --follow-symlinks"), "ripgrep": swap("--hidden", "--hidden --follow"), "*": plain,
			}},
		{name: "a token of GitHub's, without a rule of one's own", change: in("main.tf", "token = \""+token+"\"\n"), edits: map[string]edit{
			"policyscan, the change": script("policyscan --policy builtin:infra --diff-base origin/main"),
			"policyscan, all files":  script("policyscan --policy builtin:infra ."),
			"gitleaks":               defaults,
			"secretlint":             recommended,
		}},
		{name: "a secret of no known form, by its name and entropy", change: in("main.tf", secret), edits: map[string]edit{
			"policyscan, the change": script("policyscan --policy builtin:infra --diff-base origin/main"),
			"policyscan, all files":  script("policyscan --policy builtin:infra ."),
			"gitleaks":               defaults,
			"secretlint":             recommended,
		}},
	}
}

// defaults are the rules that gitleaks brings.
func defaults(s *setup) bool {
	s.files[".gitleaks.toml"] = "[extend]\nuseDefault = true\n"
	return true
}

// recommended are the rules that secretlint brings.
func recommended(s *setup) bool {
	s.files[".secretlintrc.json"] = `{"rules": [{"id": "@secretlint/secretlint-rule-preset-recommend"}]}`
	return true
}

// archives has those look into them who can.
func archives() map[string]edit {
	return map[string]edit{"gitleaks": more(" --max-archive-depth=3"), "ripgrep": swap("--hidden", "--hidden --search-zip"), "*": plain}
}

func zipped(r *repository, content string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("main.tf")
	r.must(err)
	_, err = w.Write([]byte(strings.Repeat(content, 20)))
	r.must(err)
	r.must(z.Close())
	return b.String()
}

func gzipped(r *repository, content string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(strings.Repeat(content, 20)))
	r.must(err)
	r.must(z.Close())
	return b.String()
}

func encrypted(r *repository, content string) string {
	block, err := aes.NewCipher(make([]byte, 32))
	r.must(err)
	out := make([]byte, len(content))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(out, []byte(content))
	return string(out)
}
