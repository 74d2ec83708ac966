package main

import (
	_ "embed"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
)

// explainSchema is the JSON Schema of [explanation].
//
//go:embed explainschema.json
var explainSchema string

// schemaCmd prints a JSON Schema.
type schemaCmd struct {
	Document string `arg:"" enum:"policy,verdict,explain" help:"@schema_document"`
}

// Run prints the schema.
func (c *schemaCmd) Run(std streams) error {
	text := rules.Schema()
	switch c.Document {
	case "verdict":
		text = verdict.Schema()
	case "explain":
		text = []byte(explainSchema)
	}
	_, err := std.out.Write(text)
	return err
}
