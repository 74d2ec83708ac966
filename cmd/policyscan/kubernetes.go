package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/policyscan/policyscan/cmd/policyscan/manifest"
	"github.com/policyscan/policyscan/scanner/fleet"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/verdict/summary"
)

// kubernetesFlags are those of fleet that print Kubernetes objects. --shards has no variable of its own:
// POLICYSCAN_SHARDS is what --shard auto reads.
type kubernetesFlags struct {
	Kubernetes  string `placeholder:"NAME" env:"-" help:"@kubernetes"`
	Shards      int64  `placeholder:"N" env:"-" help:"@kubernetes_shards"`
	Parallelism int64  `placeholder:"N" env:"-" help:"@kubernetes_parallelism"`
	Mirrors     string `placeholder:"CLAIM" env:"-" help:"@kubernetes_mirrors"`
	Results     string `placeholder:"CLAIM" env:"-" help:"@kubernetes_results"`
	Image       string `placeholder:"IMAGE" env:"-" help:"@kubernetes_image"`
	Namespace   string `placeholder:"NAME" env:"-" help:"@kubernetes_namespace"`
	Schedule    string `placeholder:"CRON" env:"-" help:"@kubernetes_schedule"`
}

// What the objects say unless a flag says otherwise.
const (
	perShard         = 100 // repositories: a pod costs about a second
	parallelShards   = 8
	releasedImage    = "ghcr.io/policyscan/policyscan"
	mirrorsByDefault = "mirrors"
	resultsByDefault = "results"
)

// check returns an error for a flag that says something about objects that are not printed.
func (k *kubernetesFlags) check() error {
	if k.Kubernetes != "" {
		return nil
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"shards", k.Shards != 0}, {"parallelism", k.Parallelism != 0}, {"mirrors", k.Mirrors != ""},
		{"results", k.Results != ""}, {"image", k.Image != ""}, {"namespace", k.Namespace != ""},
		{"schedule", k.Schedule != ""},
	} {
		if flag.given {
			return fmt.Errorf("--%s is for --kubernetes; add --kubernetes NAME, or remove --%s", flag.name, flag.name)
		}
	}
	return nil
}

// kubernetes prints the objects of --kubernetes, if it is given. It reports whether it was.
func (c *fleetCmd) kubernetes(std streams) (bool, error) {
	k := &c.kubernetesFlags
	if err := k.check(); err != nil || k.Kubernetes == "" {
		return false, err
	}
	switch {
	case len(c.Report) > 0:
		return true, errors.New("--kubernetes and --report are both given; the merge in the cluster writes the summary")
	case c.Output != fleetOutput:
		return true, errors.New("--kubernetes and --output are both given; " +
			"the results are on the volume of --results")
	}
	here := *c
	here.Reuse = "" // the folder is one in the cluster
	r := &fleetRun{fleetCmd: &here, std: std, summary: summary.New(version())}
	f := &fleet.Run{}
	wrong, err := r.prepare(context.Background(), f)
	for i := range wrong {
		err = errors.Join(err, &wrong[i])
	}
	if err != nil {
		return true, err
	}
	return true, k.print(std, f.Entries, eachLine(c.Policy), c.scanFlags())
}

// fleetOutput is what --output is when it is not given.
const fleetOutput = "policyscan-fleet"

// scanFlags returns the flags of the command line that say how each repository is scanned, but for the bundles.
func (c *fleetCmd) scanFlags() []string {
	var flags []string
	for _, pin := range eachLine(c.SHA256) {
		flags = append(flags, "--policy-sha256", pin)
	}
	if c.OwnPolicy {
		flags = append(flags, "--own-policy")
	}
	for _, reason := range c.Allow {
		flags = append(flags, "--allow", reason)
	}
	if c.Expect > 0 {
		flags = append(flags, "--expect", fmt.Sprint(c.Expect))
	}
	if c.RequireGoverned {
		flags = append(flags, "--require-governed")
	}
	if c.MaxFileBytes > 0 {
		flags = append(flags, "--max-file-bytes", fmt.Sprint(c.MaxFileBytes))
	}
	if c.Timeout > 0 {
		flags = append(flags, "--timeout", c.Timeout.String())
	}
	if c.AsOf != "" {
		flags = append(flags, "--as-of", c.AsOf)
	}
	if c.Reuse != "" { // a folder that the pods can write
		at := filepath.ToSlash(c.Reuse)
		if !path.IsAbs(at) {
			at = path.Join(manifest.ResultsDir, at)
		}
		flags = append(flags, "--reuse", at)
	}
	if c.Workers > 0 {
		flags = append(flags, "--workers", fmt.Sprint(c.Workers))
	}
	return flags
}

// listOf writes a list in which relative paths begin in the mirrors' volume. The names stay what they are.
func listOf(entries []fleet.Entry) []byte {
	var list bytes.Buffer
	for _, e := range entries {
		at, revision := filepath.ToSlash(e.Path), e.Revision
		if !path.IsAbs(at) {
			at = path.Join(manifest.MirrorsDir, at)
		}
		if revision == "HEAD" {
			revision = ""
		}
		fmt.Fprintf(&list, "%s\t%s\t%s\n", at, revision, e.Name)
	}
	return list.Bytes()
}

// print prints the objects that scan these repositories with these bundles and further flags of fleet.
func (k *kubernetesFlags) print(std streams, entries []fleet.Entry, bundles, flags []string) error {
	image := k.Image
	switch {
	case image == "" && release == "":
		return errors.New("this build is not a release, so it has no image; name one with --image")
	case image == "":
		image = releasedImage + ":" + release
	}
	v := manifest.Values{
		Name: k.Kubernetes, Namespace: k.Namespace, Image: image,
		Shards: cmp.Or(int(k.Shards), (len(entries)+perShard-1)/perShard), Mirrors: cmp.Or(k.Mirrors, mirrorsByDefault),
		Results: cmp.Or(k.Results, resultsByDefault), Schedule: k.Schedule, List: listOf(entries), Flags: flags,
	}
	v.Parallelism = cmp.Or(int(k.Parallelism), min(v.Shards, parallelShards))
	for _, name := range bundles {
		p, err := policyOf(name)
		if err != nil {
			return err
		}
		v.Policies = append(v.Policies, p)
	}
	text, err := v.YAML()
	if err != nil {
		return err
	}
	for _, note := range v.OnVolume() {
		err = errors.Join(err, print(std.err, "policyscan: %s\n", note))
	}
	_, failed := std.out.Write(text)
	return errors.Join(err, failed)
}

// policyOf returns the rule files of a valid bundle, as they were when it was read.
func policyOf(name string) (manifest.Policy, error) {
	found, err := run.FindRules(name, "")
	if err == nil {
		err = found.Load()
	}
	if err != nil {
		return manifest.Policy{}, err
	}
	if found.Dir == "" {
		return manifest.Policy{Builtin: name}, nil
	}
	var p manifest.Policy
	for _, name := range slices.Sorted(maps.Keys(found.Bundle.Files)) {
		file := filepath.Join(found.Dir, filepath.FromSlash(name))
		content, err := os.ReadFile(file)
		if err != nil {
			return manifest.Policy{}, err
		}
		if sha256.Sum256(content) != found.Bundle.Files[name] {
			return manifest.Policy{}, fmt.Errorf("%s changed while it was read; run it again", quoted(file))
		}
		p.Files = append(p.Files, manifest.File{Path: name, Content: content})
	}
	return p, nil
}
