package gate

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/verdict"
)

// GuardRule is the id of what asks a person about an edit of the rules themselves.
const GuardRule = "policyscan:guard"

// guarded returns the first file of a call that is guarded, or lies in a folder that is; "" if none does. Names count as
// the call has them, too, since a link can lead from a guarded one elsewhere.
func (g *Gate) guarded(files []file, dir string) (string, error) {
	if len(files) == 0 || len(g.Guarded) == 0 && len(g.GuardedNames) == 0 && len(g.GuardedRootNames) == 0 && !g.GuardsCI {
		return "", nil
	}
	all := slices.Clone(g.Guarded)
	for _, p := range g.Guarded { // a folder on the way may be a link
		if real, err := follow(p, 40); err == nil && real != p {
			all = append(all, real)
		}
	}
	for _, f := range files {
		for _, p := range append(f.places(), filepath.Clean(absolute(f.Path, dir))) {
			if guarded, err := g.guards(p, all); err != nil || guarded {
				return f.named, err
			}
		}
		if f.from == "" {
			continue
		}
		for _, p := range []string{f.from, filepath.Clean(absolute(f.From, dir))} {
			if guarded, err := g.guards(p, all); err != nil || guarded {
				return f.From, err
			}
		}
	}
	return "", nil
}

// guards reports whether a place is one of all, or lies in one, or is guarded by its name.
func (g *Gate) guards(p string, all []string) (bool, error) {
	if g.GuardsCI && runsInCI(p) {
		return true, nil
	}
	places := []string{p}
	if g.Root != "" {
		trees, err := g.trees(p)
		if err != nil {
			return false, err
		}
		for _, t := range trees {
			if g.guardsName(t) {
				return true, nil
			}
			places = append(places, filepath.Join(g.Root, filepath.FromSlash(t.path)))
		}
	}
	return slices.ContainsFunc(all, func(guarded string) bool {
		return slices.ContainsFunc(places, func(p string) bool {
			// In one case, since for some disks another is the same name; elsewhere it asks once too often.
			rel, err := filepath.Rel(strings.ToLower(guarded), strings.ToLower(p))
			return err == nil && filepath.IsLocal(rel)
		})
	}), nil
}

// guardsName reports whether a path leads through a guarded name, or a .git: one that is made in a folder would make
// it the root of a repository, in which other rules judge.
func (g *Gate) guardsName(t inTree) bool {
	parts := strings.Split(t.path, "/")
	for i := range parts {
		leads := func(name string) bool {
			n := strings.Count(name, "/") + 1
			return i+n <= len(parts) && strings.EqualFold(strings.Join(parts[i:i+n], "/"), name)
		}
		if leads(".git") || slices.ContainsFunc(g.GuardedNames, leads) {
			return true
		}
		if slices.ContainsFunc(g.GuardedRootNames, leads) {
			if _, err := os.Lstat(filepath.Join(t.root, filepath.Join(parts[:i]...), ".git")); err == nil || i == 0 {
				return true
			}
		}
	}
	return false
}

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

func ofGuard(named string) call.Outcome {
	return call.Outcome{
		Effect: call.Ask, Decision: string(call.Ask),
		Reason: fmt.Sprintf("%s is part of what judges this agent; a person decides whether it changes", verdict.Visible(named)),
		Rule:   &call.Rule{ID: GuardRule, Effect: call.Ask},
		Set:    &call.Set{Name: "the guard of the rules", Dialect: "bundle", Strategy: call.AllViolations, Default: call.Allow},
	}
}
