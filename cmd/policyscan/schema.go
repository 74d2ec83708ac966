package main

import (
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// schemaCmd prints a JSON Schema.
type schemaCmd struct {
	Document string `arg:"" enum:"policy,verdict" help:"policy: a bundle's rule files; verdict: verdict.json."`
}

// Run prints the schema.
func (c *schemaCmd) Run(std streams) error {
	text := rules.Schema()
	if c.Document == "verdict" {
		text = verdict.Schema()
	}
	_, err := std.out.Write(text)
	return err
}
