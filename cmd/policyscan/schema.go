package main

import (
	_ "embed"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/shard"
	"github.com/policyscan/policyscan/verdict/summary"
)

// explainSchema is the JSON Schema of [scanner.Explanation].
//
//go:embed explainschema.json
var explainSchema string

// schemaCmd prints a JSON Schema.
type schemaCmd struct {
	Document string `arg:"" enum:"policy,verdict,explain,fleet,shard,fleet-shard" help:"@schema_document"`
}

// Run prints the schema.
func (c *schemaCmd) Run(std streams) error {
	text := rules.Schema()
	switch c.Document {
	case "verdict":
		text = verdict.Schema()
	case "fleet":
		text = summary.Schema()
	case "shard":
		text = shard.Schema()
	case "fleet-shard":
		text = summary.PartSchema()
	case "explain":
		text = []byte(explainSchema)
	}
	_, err := std.out.Write(text)
	return err
}
