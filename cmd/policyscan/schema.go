package main

import (
	_ "embed"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/past"
	"github.com/policyscan/policyscan/verdict/shard"
	"github.com/policyscan/policyscan/verdict/summary"
	"github.com/policyscan/policyscan/verdict/trend"
)

// explainSchema is the JSON Schema of [scanner.Explanation].
//
//go:embed explainschema.json
var explainSchema string

type schemaCmd struct {
	Document string `arg:"" enum:"policy,verdict,explain,fleet,history,trend,diff,shard,fleet-shard" help:"@schema"`
}

func (c *schemaCmd) Run(std streams) error {
	text := map[string][]byte{
		"policy": rules.Schema(), "verdict": verdict.Schema(), "explain": []byte(explainSchema),
		"fleet": summary.Schema(), "history": past.Schema(), "trend": trend.Schema(), "diff": verdict.DiffSchema(),
		"shard": shard.Schema(), "fleet-shard": summary.PartSchema(),
	}[c.Document]
	_, err := std.out.Write(text)
	return err
}
