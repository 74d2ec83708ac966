//go:build linux

package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// writeManifests writes 10,000 files of YAML, as Kubernetes has them: a Deployment with one to three containers, and a
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

// keyRules returns 100 rules with a key each, of every condition.
func keyRules() (rules []string) {
	for i := range 100 {
		item := []string{
			`key: spec.template.spec.hostNetwork, is: true`,
			`key: "**.securityContext.privileged", is: true`,
			fmt.Sprintf(`key: "**.containers.image", matches: "^docker%d"`, i),
			fmt.Sprintf(`key: spec.template.spec.containers.securityContext.capability%d`, i),
			fmt.Sprintf(`key: "**.limits.cpu", is: [%d, "x%d"], where: {kind: [Deployment, StatefulSet]}`, i+50, i),
			fmt.Sprintf(`key: spec.replicas, is_not: [0, 1, 2, 3, 4, %d]`, i+7),
		}[i%6]
		rules = append(rules, itemRule(i, item))
	}
	return rules
}
