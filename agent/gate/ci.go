package gate

import (
	"bytes"
	"path"
	"strings"
)

// runsInCI reports whether a place, a path of the tree, is a file of a CI system that runs policyscan now: one that has
// its name in it, in any case, or that cannot be read.
func runsInCI(place, tree string) bool {
	if !isCI(tree) {
		return false
	}
	real, err := follow(place, 40)
	if err != nil {
		return true
	}
	content, there, err := read(real)
	return err != nil || there && bytes.Contains(bytes.ToLower(content), []byte("policyscan"))
}

// isCI reports whether a path of the tree is one where CI systems have their files. A workflow, or a part of one that another
// uses, may be in any of these.
func isCI(tree string) bool {
	tree = "/" + strings.ToLower(tree)
	for _, folder := range []string{
		".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows", ".gitlab", ".circleci", ".buildkite",
		".woodpecker", ".azure-pipelines", ".azuredevops", ".semaphore", ".teamcity", ".tekton", ".prow",
	} {
		if strings.Contains(tree, "/"+folder+"/") {
			return true
		}
	}
	switch base := path.Base(tree); base {
	case "jenkinsfile":
		return true
	default:
		name, isYAML := strings.CutSuffix(strings.Replace(base, ".yaml", ".yml", 1), ".yml")
		switch strings.TrimPrefix(name, ".") {
		case "action", "gitlab-ci", "azure-pipelines", "bitbucket-pipelines", "travis", "drone", "woodpecker", "appveyor", "cirrus", "cloudbuild", "buildspec", "prow":
			return isYAML
		}
	}
	return false
}
