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

	"golang.org/x/tools/txtar"
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
	treeDirs   = strings.Fields("drivers/net drivers/gpu arch/x86 arch/arm64 fs kernel net sound tools Documentation include lib mm security internal/services website vendor examples .github scripts")
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
		ext, dir := g.one(extensions), g.one(treeDirs)
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

// texts returns the lines of a part of testdata/texts.txtar.
func texts(t *testing.T, part string) []string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/texts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == part })
	return strings.Split(strings.TrimSpace(string(archive.Files[i].Data)), "\n")
}

// textRules returns 200 rules with a text each, without options and with the options that fit it.
func textRules(t *testing.T) (plain, options []string) {
	t.Helper()
	add := func(text, option string) {
		i, quoted := len(plain), "'"+text+"'"
		plain = append(plain, ruleText(i, []string{"**"}, []string{text}))
		options = append(options, itemRule(i, "text: "+quoted+", "+option))
	}
	for _, text := range texts(t, "attributes") {
		add(strings.Replace(text, "=", " = ", 1), "spaces: any")
	}
	for _, text := range texts(t, "keys") {
		add(strings.Replace(text, ":", ": ", 1), "spaces: any, words: true")
	}
	for _, text := range texts(t, "names") {
		add(text, "words: true")
	}
	for _, text := range texts(t, "caseless") {
		add(text, "case: ignore")
	}
	return plain, options
}

// expressionRules returns a rule for each expression.
func expressionRules(sources []string) (rules []string) {
	for i, source := range sources {
		rules = append(rules, itemRule(i, "regex: '"+strings.ReplaceAll(source, "'", "''")+"'"))
	}
	return rules
}

// itemRule returns the text of a rule of 0.2 with one item.
func itemRule(i int, item string) string {
	rule, _, _ := strings.Cut(ruleText(i, []string{"**"}, nil), "[]\n")
	return rule + "[{" + item + "}]\n"
}

// A policy is a bundle, and its patterns as a file for ripgrep.
type policy struct {
	bundle, patterns string
	items            bool // it is of version 0.2
}

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
	p := policy{bundle: filepath.Join(dir, name), patterns: filepath.Join(dir, name+".txt")}
	version := ""
	if p.items = strings.Contains(strings.Join(rules, ""), "forbidden_patterns: [{"); p.items {
		version = "bundle: \"0.2\"\n"
	}
	write(t, filepath.Join(p.bundle, "rules", "boundaries.yml"), version+"rules:\n"+strings.Join(rules, ""))
	write(t, filepath.Join(p.bundle, "rules", "invariants.yml"), "rules: []\n")
	write(t, p.patterns, strings.Join(patterns, "\n")+"\n")
	return p
}

// policies writes all bundles below dir.
func policies(t *testing.T, dir string) map[string]policy {
	t.Helper()
	all := map[string]policy{}
	add := func(name string, patterns []string, rules ...string) {
		all[name] = writePolicy(t, dir, name, patterns, rules...)
	}
	g := newGenerator()
	add("W1", realPatterns, ruleText(0, []string{"**"}, realPatterns))
	var each []string
	for i, text := range realPatterns {
		each = append(each, ruleText(i, []string{"**"}, []string{text}))
	}
	add("W1-20", realPatterns, each...)
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
		if n == 100 { // short ones among them, as in bundles
			mixed := slices.Concat(realPatterns, patterns[len(realPatterns):])
			add("P100-W1", mixed, ruleText(0, []string{"**"}, mixed))
		}
	}
	var same, all200 []string
	for i := range 200 {
		patterns := g.patterns(5)
		same, all200 = append(same, ruleText(i, []string{"**"}, patterns)), append(all200, patterns...)
	}
	add("hook", all200, same...)
	plain, withOptions := textRules(t)
	expressions := texts(t, "expressions")
	add("texts", nil, plain...)
	add("options", nil, withOptions...)
	add("expressions", expressions, expressionRules(expressions)...)
	var functions []string
	for i := range 50 {
		functions = append(functions, fmt.Sprintf(`func\s+[a-z]\w{%d}\(\)`, 20+i))
	}
	add("func", functions, expressionRules(functions)...)
	add("keys", nil, keyRules(false)...)
	add("keys-if", nil, keyRules(true)...)
	write(t, filepath.Join(dir, "keys-rego", "main.rego"), regoRules())
	add("parsing", nil, itemRule(0, "key: no.such.key"))                 // it has each file parsed, and asks next to nothing
	add("tenth", nil, ruleText(0, []string{"**"}, []string{"password"})) // which many files contain
	add("allowed", nil, itemRule(0, "text: password"))                   // only 0.2 has allowances
	add("many", nil, manyRules("forbidden")...)
	add("none", nil, manyRules("not-there")...)
	common := []string{"return", "require", "the "} // nearly all files have one
	add("common", common, ruleText(0, []string{"**"}, common))
	add("nothing", realPatterns, ruleText(0, []string{"no/such/directory/**"}, realPatterns))
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

// writeManifests writes 10,000 Kubernetes manifests in YAML: a Deployment with one to three containers, and a
// Service.
func writeManifests(t *testing.T, dir string) {
	t.Helper()
	g := newGenerator()
	for i := range 10_000 {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s-%d\n  labels: {app: %s, tier: web}\n",
			g.one(words), i, g.one(words))
		fmt.Fprintf(&b, "spec:\n  replicas: %d\n  template:\n    spec:\n      hostNetwork: false\n      containers:\n", i%5)
		for range 1 + i%3 {
			fmt.Fprintf(&b, "      - name: %s\n        image: registry.example.com/%s:1.%d\n", g.one(words), g.one(words), i)
			b.WriteString("        ports: [{containerPort: 8080}]\n")
			b.WriteString("        securityContext:\n          privileged: false\n          runAsNonRoot: true\n")
			b.WriteString("        resources:\n          limits: {cpu: \"1\", memory: 256Mi}\n")
			fmt.Fprintf(&b, "        env:\n        - name: A\n          value: %q\n", g.one(words))
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Service\nmetadata: {name: s-%d}\nspec:\n  ports: [{port: 80}]\n", i)
		write(t, filepath.Join(dir, fmt.Sprint(i/100), fmt.Sprintf("%d.yaml", i)), b.String())
	}
}

// keyRules returns 100 rules with a key each, of every condition. With conditions, half of them refuse values that are
// there, except for their if, which no object meets.
func keyRules(conditions bool) (rules []string) {
	for i := range 100 {
		item := []string{
			`key: spec.template.spec.hostNetwork, is: true`,
			`key: "**.securityContext.privileged", is: true`,
			fmt.Sprintf(`key: "**.containers.image", matches: "^docker%d"`, i),
			fmt.Sprintf(`key: spec.template.spec.containers.securityContext.capability%d`, i),
			fmt.Sprintf(`key: "**.limits.cpu", is: [%d, "x%d"], where: {kind: [Deployment, StatefulSet]}`, i+50, i),
			fmt.Sprintf(`key: spec.replicas, is_not: [0, 1, 2, 3, 4, %d]`, i+7),
		}[i%6]
		if conditions && i/6%2 == 0 {
			item = []string{
				`key: spec.template.spec.hostNetwork, is: false, if: {hostPID: true}`,
				`key: "**.securityContext.privileged", is: false, if: {runAsNonRoot: false}`,
				fmt.Sprintf(`key: "**.containers.image", matches: "^registry", if: {name: {matches: "^docker%d"}}`, i),
				fmt.Sprintf(`key: spec.template.spec.containers.securityContext, if: {capability%d: {present: true}}`, i),
				`key: "**.limits.cpu", is: "1", if: {memory: {matches: "Gi$"}}, where: {kind: [Deployment, StatefulSet]}`,
				fmt.Sprintf(`key: spec.replicas, is_not: %d, if: {paused: true}`, i+7),
			}[i%6]
		}
		rules = append(rules, itemRule(i, item))
	}
	return rules
}

// regoRules are those of keyRules for conftest. They name the path of the manifests where a key has "**", which is a
// walk over all values in Rego and takes five times as long.
func regoRules() string {
	var b strings.Builder
	b.WriteString("package main\n\nimport rego.v1\n")
	const containers = "input.spec.template.spec.containers[_]"
	for i := range 100 {
		fmt.Fprintf(&b, "\ndeny contains \"BENCH-%03d\" if {\n\t%s\n}\n", i, []string{
			"input.spec.template.spec.hostNetwork == true",
			containers + ".securityContext.privileged == true",
			fmt.Sprintf("regex.match(`^docker%d`, %s.image)", i, containers),
			fmt.Sprintf("%s.securityContext.capability%d", containers, i),
			fmt.Sprintf("input.kind in [\"Deployment\", \"StatefulSet\"]\n\t%s.resources.limits.cpu in [%d, \"x%d\"]",
				containers, i+50, i),
			fmt.Sprintf("not input.spec.replicas in [0, 1, 2, 3, 4, %d]\n\tinput.spec.replicas", i+7),
		}[i%6])
	}
	return b.String()
}
