//go:build linux

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realPatterns are what such rules look for; two are of three bytes and one of two.
var realPatterns = []string{
	"0.0.0.0/0", "::/0", "*:*", "AKIA", "~> 0", "privileged: true", "hostNetwork: true", "-----BEGIN RSA PRIVATE KEY-----",
	"cluster-admin", "allowPrivilegeEscalation: true", "publicly_accessible = true", "storage_encrypted = false",
	"force_destroy = true", `acl = "public-read"`, "runAsUser: 0", "hostPID: true", "skip_final_snapshot = true", "xoxb-", "ghp_", "!!!",
}

var (
	words = strings.Fields(`acl bucket public read write admin policy role network ingress egress cidr block encrypt key kms rotate
		user group access token secret password host port image latest pull always privileged capability mount volume path root owner
		tag region zone cluster node pool version backup snapshot retention log audit trail flow alarm metric rule filter domain record
		cert tls ssl cipher legacy debug test`)
	extensions = strings.Fields("c h S rst txt yaml yml json py sh go tf md html dts dtsi")
	folders    = strings.Fields("drivers/net drivers/gpu arch/x86 arch/arm64 fs kernel net sound tools Documentation include lib mm security internal/services website vendor examples .github scripts")
)

// A generator makes the same patterns and rules for the same seed.
type generator struct{ *rand.Rand }

func newGenerator() generator { return generator{rand.New(rand.NewPCG(4, 2026))} }

func (g generator) one(of []string) string { return of[g.IntN(len(of))] }

// patterns returns n different ones of 7 bytes and more, of the kind that a config file holds.
func (g generator) patterns(n int) []string {
	var list []string
	seen := map[string]bool{}
	for len(list) < n {
		sep := g.one([]string{"_", "-", ".", ": ", " = "})
		p := g.one(words) + sep + g.one(words)
		if g.IntN(2) == 0 {
			p += sep + g.one(words)
		}
		p += g.one([]string{"_", "-", "=", ": "}) + fmt.Sprint(100+g.IntN(99900))
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	return list
}

// globs returns one to three of the shapes that rules have.
func (g generator) globs() []string {
	var list []string
	for range 1 + g.IntN(3) {
		ext, dir := g.one(extensions), g.one(folders)
		list = append(list, []string{
			"**/*." + ext,
			dir + "/**",
			dir + "/**/*." + ext,
			"**/" + g.one(words) + "*." + ext,
			g.one([]string{"**/Makefile", "**/Kconfig", "**/Dockerfile"}),
			dir + "/*/**/*.{" + ext + "," + g.one(extensions) + "}",
		}[g.IntN(6)])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A policy is a bundle, and its patterns as a file for ripgrep.
type policy struct{ bundle, patterns string }

// A ruleText is the text of a rule.
func ruleText(i int, globs, patterns []string) string {
	quoted := func(list []string) string {
		var out []string
		for _, s := range list {
			out = append(out, "'"+strings.ReplaceAll(s, "'", "''")+"'")
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	return fmt.Sprintf("  - id: BENCH-%03d\n    title: Rule %d\n    enforcement: {mode: fail}\n    match:\n      files: %s\n      forbidden_patterns: %s\n",
		i, i, quoted(globs), quoted(patterns))
}

func writePolicy(t *testing.T, dir, name string, patterns []string, rules ...string) policy {
	t.Helper()
	p := policy{filepath.Join(dir, name), filepath.Join(dir, name+".txt")}
	write(t, filepath.Join(p.bundle, "rules", "boundaries.yml"), "rules:\n"+strings.Join(rules, ""))
	write(t, filepath.Join(p.bundle, "rules", "invariants.yml"), "rules: []\n")
	write(t, p.patterns, strings.Join(patterns, "\n")+"\n")
	return p
}

// policies writes all bundles beneath dir.
func policies(t *testing.T, dir string) map[string]policy {
	t.Helper()
	all := map[string]policy{}
	add := func(name string, patterns []string, rules ...string) {
		all[name] = writePolicy(t, dir, name, patterns, rules...)
	}
	g := newGenerator()
	add("W1", realPatterns, ruleText(0, []string{"**"}, realPatterns))
	long := g.patterns(20)
	add("W1-7", long, ruleText(0, []string{"**"}, long))
	var rules, union []string
	for i := range 200 {
		patterns := g.patterns(5)
		if i < 4 { // of which some are found
			patterns = realPatterns[5*i : 5*i+5]
		}
		rules, union = append(rules, ruleText(i, g.globs(), patterns)), append(union, patterns...)
	}
	add("W2", union, rules...)
	add("W3", realPatterns, ruleText(0, []string{"**/*.tf", "**/*.yaml"}, realPatterns))
	for _, n := range []int{1, 100, 1000, 10000} {
		patterns := g.patterns(n)
		add(fmt.Sprint("P", n), patterns, ruleText(0, []string{"**"}, patterns))
	}
	var same, all200 []string
	for i := range 200 {
		patterns := g.patterns(5)
		same, all200 = append(same, ruleText(i, []string{"**"}, patterns)), append(all200, patterns...)
	}
	add("hook", all200, same...)
	add("nothing", realPatterns, ruleText(0, []string{"no/such/folder/**"}, realPatterns))
	return all
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
