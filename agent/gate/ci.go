package gate

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"
)

// runsInCI reports whether a place is a file of a CI system that runs policyscan now: one that has its name in it, in any
// case, or that cannot be read.
func runsInCI(place string) bool {
	if !isCI(filepath.ToSlash(place)) {
		return false
	}
	real, err := follow(place, 40)
	if err != nil {
		return true
	}
	content, there, err := read(real)
	return err != nil || there && bytes.Contains(bytes.ToLower(content), []byte("policyscan"))
}

// isCI reports whether a path is one where CI systems have their files, in any folder. A workflow, or a part of one that
// another uses, may be in any of these.
func isCI(name string) bool {
	name = "/" + strings.ToLower(name)
	for _, folder := range []string{
		".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows", ".gitlab", ".circleci", ".buildkite",
		".woodpecker", ".azure-pipelines", ".azuredevops", ".semaphore", ".teamcity", ".tekton", ".prow",
	} {
		if strings.Contains(name, "/"+folder+"/") {
			return true
		}
	}
	switch base := path.Base(name); base {
	case "jenkinsfile":
		return true
	default:
		stem, isYAML := strings.CutSuffix(strings.Replace(base, ".yaml", ".yml", 1), ".yml")
		switch strings.TrimPrefix(stem, ".") {
		case "action", "gitlab-ci", "azure-pipelines", "bitbucket-pipelines", "travis", "drone", "woodpecker", "appveyor", "cirrus", "cloudbuild", "buildspec", "prow":
			return isYAML
		}
	}
	return false
}
