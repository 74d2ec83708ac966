package main

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
)

// builtin is the name of the starter bundle that is embedded in the program.
const builtin = "builtin:infra"

// A policy is a bundle and where it is from.
type policy struct {
	bundle *rules.Bundle
	name   string // as a person would name it
	dir    string // "" for the builtin
	from   string // for the verdict
}

// findPolicy returns where the bundle is that --policy names, or that root holds.
func findPolicy(flag, root string) (policy, error) {
	switch flag {
	case builtin:
		return policy{name: builtin, from: "builtin"}, nil
	case "":
		dir, err := rules.Discover(root)
		return policy{name: filepath.ToSlash(filepath.Clean(dir)), dir: dir, from: "disk"}, err
	}
	if strings.HasPrefix(flag, "builtin:") {
		return policy{}, oneOf("--policy", flag, []string{builtin})
	}
	dir := physical(flag)
	return policy{name: filepath.ToSlash(filepath.Clean(dir)), dir: dir, from: "disk"}, nil
}

// load loads the bundle.
func (p *policy) load() (err error) {
	if p.dir == "" {
		p.bundle, err = rules.Load(rules.Files(starter.Files()))
		return err
	}
	p.bundle, err = rules.LoadDir(p.dir)
	return err
}

// loadPolicy finds and loads a bundle.
func loadPolicy(flag, root string) (policy, error) {
	p, err := findPolicy(flag, root)
	if err == nil {
		err = p.load()
	}
	return p, err
}

// bundleArg is how the commands about a bundle are told which.
type bundleArg struct {
	Dir    string `arg:"" optional:"" help:"Folder that holds rules/, or builtin:infra. Default: the bundle that a scan would use."`
	Policy string `placeholder:"DIR" help:"The same as the argument."`
}

// find returns where the bundle is.
func (b *bundleArg) find() (policy, error) {
	name := b.Policy
	if b.Dir != "" {
		if name != "" && name != b.Dir {
			return policy{}, fmt.Errorf("the bundle is %s by the argument and %s by --policy (or POLICYSCAN_POLICY); leave one of them out", quoted(b.Dir), quoted(name))
		}
		name = b.Dir
	}
	root := ""
	if name == "" {
		place, err := findPlace("")
		if err != nil {
			return policy{}, err
		}
		root = place.root
	}
	return findPolicy(name, root)
}

// load returns the bundle; an error names it.
func (b *bundleArg) load() (policy, error) {
	p, err := b.find()
	if err == nil {
		err = p.load()
	}
	if err != nil && p.name != "" {
		err = fmt.Errorf("%s: %w", p.name, err)
	}
	return p, err
}

// locate returns a rule file's path so that it opens from the current folder.
func (p *policy) locate(file string) string {
	if p.dir == "" || file == "" {
		return file
	}
	return path.Join(p.name, file)
}

// located returns the mistakes of a bundle with paths that open likewise.
func (p *policy) located(list rules.Errors) rules.Errors {
	out := make(rules.Errors, len(list))
	for i, e := range list {
		c := *e
		c.File = p.locate(c.File)
		out[i] = &c
	}
	return out
}
