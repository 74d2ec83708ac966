package main

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/setup"
)

type initCmd struct {
	Path string `arg:"" optional:"" help:"@init_path"`
}

// Run writes the starter bundle's rules for the topics that the repository contains.
func (c *initCmd) Run(std streams) error {
	place, err := run.Find(c.Path)
	if err != nil {
		return err
	}
	b, err := setup.WriteBundle(place.Root)
	var wrote strings.Builder
	for _, file := range b.Files {
		wrote.WriteString("wrote " + safe(filepath.ToSlash(file)) + "\n")
	}
	switch schema := safe(filepath.ToSlash(b.Schema)); {
	case b.KeptSchema:
		wrote.WriteString("kept the existing " + schema + "\n")
	case b.Schema != "":
		wrote.WriteString("wrote " + schema + ", the schema for editors\n")
	}
	if wrote.Len() > 0 {
		err = errors.Join(err, print(std.out, "%s", wrote.String()))
	}
	if err != nil {
		return err
	}
	ignored, failed := setup.IgnoreVerdict(place.Root)
	if ignored != "" {
		ignored = safe(ignored) + "\n"
	}
	found := "no Terraform, Kubernetes, Dockerfile or GitHub workflow was found,\n" +
		"so the bundle has the rules for all of them"
	if len(b.Topics) > 0 {
		found = "the bundle has the rules for " + strings.Join(b.Topics, ", ")
	}
	todo, command := "read them, change what does not fit", "policyscan"
	if c.Path != "" {
		command += " " + safe(c.Path)
	}
	if !b.Covered {
		found += "\nno file here is covered by a rule yet, so a scan cannot pass"
		todo = `edit the globs under "files:" until they select your files`
	}
	err = print(std.out, "%s%s\nnext: %s, then run: %s\n", ignored, found, todo, command)
	return errors.Join(failed, err)
}
