// Package starter embeds packs: files of rules for most repositories, each about one kind of file.
//
// `policyscan init` writes the packs that a repository has use for, `--policy builtin:terraform` is one of them, and
// `--policy builtin:infra` is all that are about infrastructure, with those for secrets:
//
//	for _, p := range starter.Packs() {
//		if p.Holds(path, head) { // for some file of the repository
//			names = append(names, p.Name)
//		}
//	}
//	files := starter.Files(names...)
//
// A new pack is a file in the directory packs and an entry in [Packs].
//
// Limits: [Pack.Holds] checks only a file's path and first bytes, and may be wrong in both directions (a chart whose
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

// HeadBytes is how much of a file's beginning [Pack.Holds] needs, in bytes. A shorter head is fine.
const HeadBytes = 4096

//go:embed packs/*.yml
var files embed.FS

// A Pack is a file of rules about one kind of file.
type Pack struct {
	Name  string // such as "terraform", of rules/terraform.yml and builtin:terraform
	About string // what its rules are about, in a few words

	holds func(path string, head []byte) bool // nil: the pack is for every repository
	infra bool                                // it belongs to builtin:infra
}

// Packs returns all packs, in the order in which they are shown.
func Packs() []Pack {
	return []Pack{
		{"terraform", "Terraform, OpenTofu and Terragrunt", isTerraform, true},
		{"kubernetes", "Kubernetes manifests, charts and Compose files", isKubernetes, true},
		{"docker", "Dockerfiles", isDockerfile, true},
		{"github-actions", "GitHub workflows and actions", isWorkflow, true},
		{"gitlab-ci", "GitLab pipelines", isPipeline, true},
		{"cloudformation", "CloudFormation and SAM templates", isCloudFormation, true},
		{"ansible", "Ansible playbooks, roles and variables", isAnsible, true},
		{"supply-chain", "registries, lock files, actions, base images, install scripts", isSupply, false},
		{"secrets", "credentials in any file", nil, true},
		{"hygiene", "conflict markers, files of editors, keystores, deceiving characters", nil, false},
	}
}

// Holds reports whether a file shows that the pack is of use. The path is /-separated, from the tree's root. head is
// up to [HeadBytes] from the file's beginning, and may be nil: only YAML and JSON files need it.
func (p Pack) Holds(path string, head []byte) bool {
	return p.holds == nil || p.holds(path, head)
}

// Everywhere reports whether the pack is for every repository, so that no file has to show it.
func (p Pack) Everywhere() bool { return p.holds == nil }

// Names returns the packs of builtin:NAME: those about infrastructure for "infra", else the pack of that name, or nil.
func Names(name string) []string {
	var names []string
	for _, p := range Packs() {
		if p.Name == name || name == "infra" && p.infra {
			names = append(names, p.Name)
		}
	}
	return names
}

// Files returns the files of a bundle with these packs: rules/boundaries.yml, without a rule, and rules/NAME.yml for
// each. Lines end in LF. Files panics if a name is not one of [Packs].
func Files(names ...string) map[string][]byte {
	all := map[string][]byte{}
	for _, name := range append([]string{"boundaries"}, names...) {
		text, err := files.ReadFile("packs/" + name + ".yml")
		if err != nil {
			panic(fmt.Sprintf("starter: unknown pack %q", name))
		}
		// The bundle's hash must not depend on the checkout that the program was built from.
		all["rules/"+name+".yml"] = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return all
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
			return !hasSuffix(rest, ".go", ".md", ".py", ".js", ".ts", ".rb", ".sh", ".yaml", ".yml", ".json")
		}
	}
	return false
}

func isWorkflow(p string, _ []byte) bool {
	dir := "/" + path.Dir(p)
	return isYAML(p) && strings.HasSuffix(dir, "/.github/workflows")
}

func isPipeline(p string, _ []byte) bool {
	return hasSuffix(p, ".gitlab-ci.yml", ".gitlab-ci.yaml")
}

// isKubernetes recognizes charts and kustomizations by their names. Other files are manifests if they have apiVersion
// and kind, in YAML each at the beginning of a line.
func isKubernetes(p string, head []byte) bool {
	switch path.Base(p) {
	case "Chart.yaml", "kustomization.yaml", "kustomization.yml", "docker-compose.yml", "docker-compose.yaml",
		"compose.yml", "compose.yaml":
		return true
	}
	switch {
	case isYAML(p):
		return hasKey(head, "apiVersion:") && hasKey(head, "kind:")
	case strings.EqualFold(path.Ext(p), ".json"):
		return bytes.Contains(head, []byte(`"apiVersion"`)) && bytes.Contains(head, []byte(`"kind"`))
	}
	return false
}

func isCloudFormation(p string, head []byte) bool {
	if !isYAML(p) && !strings.EqualFold(path.Ext(p), ".json") {
		return false
	}
	return bytes.Contains(head, []byte("AWSTemplateFormatVersion")) || bytes.Contains(head, []byte("AWS::"))
}

// isAnsible recognizes playbooks by their first lines, and the rest by where it is.
func isAnsible(p string, head []byte) bool {
	dir := "/" + path.Dir(p) + "/"
	switch {
	case path.Base(p) == "ansible.cfg":
		return true
	case !isYAML(p):
		return false
	}
	return strings.Contains(dir, "/roles/") && hasSuffix(dir, "/tasks/", "/handlers/") ||
		strings.Contains(dir, "/group_vars/") || strings.Contains(dir, "/host_vars/") ||
		hasKey(head, "- hosts:") || hasKey(head, "- import_playbook:")
}

func isSupply(p string, head []byte) bool {
	switch path.Base(p) {
	case "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Gemfile", "requirements.txt",
		"pyproject.toml", "Pipfile", "go.mod", "Cargo.toml", "composer.json", "build.gradle", "build.gradle.kts",
		"pom.xml", "Makefile", "action.yml", "action.yaml":
		return true
	}
	return isDockerfile(p, head) || isWorkflow(p, head) || isPipeline(p, head) || hasSuffix(p, ".sh")
}

func isYAML(p string) bool { return hasSuffix(strings.ToLower(p), ".yml", ".yaml") }

func hasKey(text []byte, key string) bool {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return bytes.HasPrefix(text, []byte(key)) || bytes.Contains(text, []byte("\n"+key))
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}
