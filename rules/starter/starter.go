// Package starter embeds the starter bundle: rules for most repositories with infrastructure code.
//
// The rules come by [Topic] (Terraform, Kubernetes, Dockerfile, GitHub workflows). `policyscan init` writes those of
// the topics that a repository has, and `--policy builtin:infra` is all of them:
//
//	var names []string
//	for _, t := range starter.Topics() {
//		if t.Holds(path, head) { // for some file of the repository
//			names = append(names, t.Name)
//		}
//	}
//	files := starter.Files(names...)
//
// The directories boundaries and invariants next to this file have a header, 00-header.yml, and one fragment per
// topic, with the items of the list `rules:` and their comments. [Files] concatenates them. A new topic is two
// fragments and an entry in [Topics].
//
// Limits: [Topic.Holds] checks only a file's path and first bytes, and may be wrong in both directions (a chart whose
// templates all begin with a long comment; an OpenAPI document that happens to have a kind).
package starter

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The paths of the bundle's files in [Files].
const (
	boundariesFile = "rules/boundaries.yml"
	invariantsFile = "rules/invariants.yml"
)

// HeadBytes is how much of a file's beginning [Topic.Holds] needs, in bytes. A shorter head is fine.
const HeadBytes = 4096

//go:embed boundaries/*.yml invariants/*.yml
var fragments embed.FS

// A Topic is a kind of file that the starter bundle has rules for.
type Topic struct {
	Name  string // for Files, such as "terraform"
	Title string // for display, such as "Terraform"

	holds func(path string, head []byte) bool
}

// Topics returns all topics, in the order in which [Files] writes their rules.
func Topics() []Topic {
	return []Topic{
		{Name: "terraform", Title: "Terraform", holds: isTerraform},
		{Name: "kubernetes", Title: "Kubernetes", holds: isKubernetes},
		{Name: "dockerfile", Title: "Dockerfile", holds: isDockerfile},
		{Name: "github", Title: "GitHub workflows", holds: isWorkflow},
	}
}

// Holds reports whether a file shows that the topic is in use. The path is /-separated, from the tree's root. head is
// up to [HeadBytes] from the file's beginning, and may be nil: only Kubernetes manifests need it.
func (t Topic) Holds(path string, head []byte) bool {
	return t.holds(path, head)
}

// Files returns the files of the bundle with the rules of these topics, or of all topics if none is given:
// rules/boundaries.yml and rules/invariants.yml. Order and duplicates of the names do not matter. The same topics
// always give the same bytes; lines end in LF.
//
// Files panics if a name is not one of [Topics].
func Files(topics ...string) map[string][]byte {
	var names []string
	for _, t := range Topics() {
		if len(topics) == 0 || slices.Contains(topics, t.Name) {
			names = append(names, t.Name)
		}
	}
	for _, name := range topics {
		if !slices.Contains(names, name) {
			panic(fmt.Sprintf("starter: unknown topic %q", name))
		}
	}
	return map[string][]byte{
		boundariesFile: assemble("boundaries", names),
		invariantsFile: assemble("invariants", names),
	}
}

// assemble concatenates the fragments of a directory to a rule file: the header, then the rules of the topics, in
// order. A topic may have no fragment.
func assemble(dir string, topics []string) []byte {
	var list []byte
	for _, name := range topics {
		if fragment := read(dir, name); len(fragment) > 0 {
			list = append(list, '\n')
			list = append(list, fragment...)
		}
	}
	text := append(read(dir, "00-header"), '\n')
	if len(list) == 0 {
		return append(text, "rules: []\n"...)
	}
	text = append(text, "rules:"...)
	return append(text, list...)
}

// read returns a fragment of whole lines, or nil if it does not exist. It turns CRLF into LF, so that the bundle's
// hash does not depend on the checkout that the program was built from.
func read(dir, name string) []byte {
	text, err := fragments.ReadFile(dir + "/" + name + ".yml")
	if err != nil {
		return nil // the only error of embedded files: not found
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

func isTerraform(p string, _ []byte) bool {
	p = strings.ToLower(p)
	return hasSuffix(p, ".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json") ||
		path.Base(p) == "terragrunt.hcl"
}

func isDockerfile(p string, _ []byte) bool {
	base := strings.ToLower(path.Base(p))
	if hasSuffix(base, ".dockerfile", ".containerfile") {
		return true
	}
	for _, name := range []string{"dockerfile", "containerfile"} {
		if rest, ok := strings.CutPrefix(base, name); ok && (rest == "" || rest[0] == '.' || rest[0] == '-') {
			// dockerfile.go is about Dockerfiles.
			return !hasSuffix(rest, ".go", ".md", ".py", ".js", ".ts", ".rb", ".sh")
		}
	}
	return false
}

func isWorkflow(p string, _ []byte) bool {
	dir := "/" + path.Dir(p)
	return hasSuffix(p, ".yml", ".yaml") && strings.HasSuffix(dir, "/.github/workflows")
}

// isKubernetes recognizes charts and kustomizations by their names. Other files are manifests if they have apiVersion
// and kind, in YAML each at the beginning of a line.
func isKubernetes(p string, head []byte) bool {
	switch path.Base(p) {
	case "Chart.yaml", "kustomization.yaml", "kustomization.yml":
		return true
	}
	switch strings.ToLower(path.Ext(p)) {
	case ".yaml", ".yml":
		return hasKey(head, "apiVersion:") && hasKey(head, "kind:")
	case ".json":
		return bytes.Contains(head, []byte(`"apiVersion"`)) && bytes.Contains(head, []byte(`"kind"`))
	}
	return false
}

func hasKey(text []byte, key string) bool {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return bytes.HasPrefix(text, []byte(key)) || bytes.Contains(text, []byte("\n"+key))
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}
