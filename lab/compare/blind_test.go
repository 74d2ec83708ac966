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
