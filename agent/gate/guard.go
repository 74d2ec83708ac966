package gate

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/verdict"
)

// GuardRule is the id of the rule that asks the user before an edit of the rules themselves.
const GuardRule = "policyscan:guard"

// guardsAny reports whether anything is guarded.
func (g *Gate) guardsAny() bool {
	return len(g.Guarded)+len(g.GuardedNames)+len(g.GuardedRootNames) > 0 || g.GuardsCI || g.Around != nil
}

// guarded returns the first file of a call that is guarded, or is in a guarded directory, or "". Names also count as
// the call has them, since a guarded symlink can point elsewhere.
func (g *Gate) guarded(files []file, dir string) (string, error) {
	if len(files) == 0 || !g.guardsAny() {
		return "", nil
	}
	all := slices.Clone(g.Guarded)
	if g.Around != nil {
		all = append(all, g.Around.Guarded()...)
	}
	all = foldedWithLinks(all)
	for i := range files {
		f := &files[i]
		for _, p := range append(f.places(), filepath.Clean(absolute(f.edit.Path, dir))) {
			if guarded, err := g.guards(p, all, f.edit.Remove); err != nil || guarded {
				return f.named, err
			}
		}
		if f.from == "" {
			continue
		}
		for _, p := range []string{f.from, filepath.Clean(absolute(f.edit.From, dir))} {
			if guarded, err := g.guards(p, all, true); err != nil || guarded {
				return f.edit.From, err
			}
		}
	}
	return "", nil
}

// guards reports whether a place is in all (case-folded), or under one of them, or is guarded by its name. A place
// that is removed is also guarded if it contains one of them.
func (g *Gate) guards(p string, all []string, removed bool) (bool, error) {
	if g.GuardsCI && runsInCI(p) {
		return true, nil
	}
	places := []string{folded(p)}
	if g.Root != "" {
		trees, err := g.trees(p)
		if err != nil {
			return false, err
		}
		for _, t := range trees {
			if g.guardsName(t) {
				return true, nil
			}
			places = append(places, folded(filepath.Join(g.Root, filepath.FromSlash(t.path))))
		}
	}
	return slices.ContainsFunc(all, func(guarded string) bool {
		return slices.ContainsFunc(places, func(p string) bool {
			return isIn(guarded, p) || removed && isIn(p, guarded)
		})
	}), nil
}

// folded is a path in lower case, for disks that ignore case; on others the guard asks once too often.
func folded(p string) string { return strings.ToLower(filepath.Clean(p)) }

// isIn reports whether a path is a directory's, or in it. Both are clean.
func isIn(dir, p string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(dir[len(dir)-1]))
}

// foldedWithLinks returns paths and the targets of symlinks in them, all case-folded. Each directory is resolved once.
func foldedWithLinks(paths []string) []string {
	all := make([]string, 0, 2*len(paths))
	real := map[string]string{}
	for _, p := range paths {
		p = filepath.Clean(p)
		all = append(all, folded(p))
		dir := filepath.Dir(p)
		at, ok := real[dir]
		if !ok {
			var err error
			if at, err = follow(dir, 40); err != nil {
				at = dir // which cannot be searched
			}
			real[dir] = at
		}
		at = filepath.Join(at, filepath.Base(p))
		if st, err := os.Lstat(at); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			if end, err := follow(at, 40); err == nil {
				all = append(all, folded(end))
			}
		}
		if at != p {
			all = append(all, folded(at))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// guardsName reports whether a path has a guarded name in it, or a .git: a new one would make its directory the root
// of a repository, with other rules.
func (g *Gate) guardsName(t treePath) bool {
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

// runsInCI reports whether a place is a file of a CI system that runs policyscan now: one that has its name in it, in
// any case, or that cannot be read.
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

// isCI reports whether a path is one of the usual places of CI files, in any directory. A workflow, or a part that
// another one uses, may be in any of these.
func isCI(name string) bool {
	name = "/" + strings.ToLower(name)
	for _, dir := range []string{
		".github/workflows", ".github/actions", ".gitea/workflows", ".forgejo/workflows",
		".gitlab", ".circleci", ".buildkite",
		".woodpecker", ".azure-pipelines", ".azuredevops", ".semaphore", ".teamcity", ".tekton", ".prow",
	} {
		if strings.Contains(name, "/"+dir+"/") {
			return true
		}
	}
	switch base := path.Base(name); base {
	case "jenkinsfile":
		return true
	default:
		stem, isYAML := strings.CutSuffix(strings.Replace(base, ".yaml", ".yml", 1), ".yml")
		switch strings.TrimPrefix(stem, ".") {
		case "action", "gitlab-ci", "azure-pipelines", "bitbucket-pipelines", "travis", "drone", "woodpecker",
			"appveyor", "cirrus", "cloudbuild", "buildspec", "prow":
			return isYAML
		}
	}
	return false
}

func guardOutcome(named string) callrules.Outcome {
	return callrules.Outcome{
		Effect: callrules.Ask, Decision: string(callrules.Ask),
		Reason: fmt.Sprintf("%s is part of what checks this agent; a person must decide whether it changes",
			verdict.Visible(named)),
		Rule: &callrules.Rule{ID: GuardRule, Effect: callrules.Ask},
		Set: &callrules.Set{Name: "the guard of the rules", Dialect: "bundle",
			Strategy: callrules.AllViolations, Default: callrules.Allow},
	}
}
