package main

import (
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
