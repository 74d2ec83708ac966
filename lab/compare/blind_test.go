//go:build linux

package compare

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"os"
	"strings"
)

// blind are the things that others see, and policyscan does not, or not so well.
func blind() []scenario {
	open := bucket(text)
	presence := `package main

import rego.v1

deny contains "S3-001: no encryption" if not input.encryption
`
	// Put together here, so that no scanner takes this file for what it looks for.
	token := "gh" + "p_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
	secret := "client_" + "secret = \"8dyfuiRyq=vVc3RRr_edRk-fK__JItpZ\"\n"
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
		{name: "a file's name in another case: a rule for `**/*.tf`, and `MAIN.TF`", change: in("MAIN.TF", open), edits: map[string]edit{
			"policyscan": all(swap("rules:\n  -", bundle02), swap(`["**"]`, "[\"**/*.tf\"]\n      path_case: ignore")), "gitleaks": swap("regex =", "path = '''(?i)\\.tf$'''\nregex ="),
			"ripgrep": swap("-g '!/.git' -g '!/.forbidden'", "--iglob '*.tf'"), "git grep": swap("-- .", "-- ':(icase)*.tf'"),
			"conftest": plain, "secretlint": swap(`"patterns": ["`, `"filePathGlobs": ["**/*.{tf,TF}"], "patterns": ["`),
			"repolinter": swap(`"globsAll": ["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `"nocase": true, "globsAll": ["**/*.tf"]`),
		}},
		{name: "a rule for `terraform/**`, and the text in `infra/main.tf`", base: in("terraform/main.tf", bucket("private")), change: in("infra/main.tf", open), edits: map[string]edit{
			"policyscan": swap(`["**"]`, `["terraform/**"]`), "gitleaks": swap("regex =", "path = '''^terraform/'''\nregex ="),
			"ripgrep": swap("-g '!/.git'", "-g '!/.git' -g '/terraform/**'"), "git grep": swap("-- .", "-- terraform"),
			"conftest": swap("color .", "color terraform"), "secretlint": swap(`"**/*"`, `"terraform/**"`),
			"repolinter": swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["terraform/**/*"]`),
		}},
		{name: "base64", change: in("main.tf", "acl = base64decode(\""+base64.StdEncoding.EncodeToString([]byte("the acl is public-read, of course"))+"\")\n")},
		{name: "hexadecimal", change: in("main.tf", "acl = \""+hex.EncodeToString([]byte("the acl is public-read, of course"))+"\"\n")},
		{name: "percent-encoded", change: in("main.tf", "acl = urldecode(\"%70%75%62%6c%69%63%2d%72%65%61%64\")\n")},
		{name: "an escape of the language: `\\u002d` in JSON", change: in("main.json", `{"acl": "public\u002dread"}`+"\n"), edits: map[string]edit{"policyscan": key("**/*.json", "acl"), "*": plain}},
		{name: "a text folded over lines in YAML", change: in("main.yaml", "acl: \"public-\\\n  read\"\n"), edits: map[string]edit{"policyscan": key("**/*.yaml", "acl"), "*": plain}},
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
		{name: "something is missing: a file must say `encryption`", change: in("main.json", `{"acl": "private"}`+"\n"), edits: map[string]edit{
			"policyscan": all(swap("rules:\n  -", bundle02), file(".policyscan/rules/invariants.yml", required)),
			"ripgrep":    script("rg --no-config --no-ignore --hidden -n --files-without-match -F encryption main.json | sed 's/$/:1:/'; test -z \"$(rg --files-without-match -F encryption main.json)\""),
			"git grep":   script("git grep -L -F encryption HEAD -- main.json | sed 's/$/:1:/'; test -z \"$(git grep -L -F encryption HEAD -- main.json)\""),
			"conftest":   file("policy/s3.rego", presence),
			"repolinter": all(swap("file-not-contents", "file-contents"), swap("public[-]read", "encryption"), swap(`["**/*", "**/.*", "**/.*/**/*", "**/.*/**/.*"]`, `["main.json"]`)),
		}},
		{name: "structure: an attribute of one kind of resource, and not a comment", change: in("main.json", `{"resource": {"bucket": {"logs": {"acl": "public-read"}}}}`+"\n"), edits: map[string]edit{
			"policyscan": key("**/*.json", "resource.bucket.*.acl"),
			"conftest": file("policy/s3.rego", `package main

import rego.v1

deny contains "S3-001: no public bucket" if {
	some bucket in input.resource.bucket
	bucket.acl == "public-read"
}
`)}},
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

// required is a rule for what must be in a file.
const required = bundle02 + ` id: S3-002
    title: Each bucket is encrypted
    enforcement: {mode: fail}
    match: {files: ["main.json"], required_patterns: [encryption]}
`

// defaults are the rules that gitleaks brings.
func defaults(s *setup) bool {
	s.files[".gitleaks.toml"] = "[extend]\nuseDefault = true\n"
	return true
}

// recommended are those that secretlint brings.
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
