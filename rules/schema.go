package rules

import _ "embed"

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a bundle's rule files, for editors. Whatever it
// refuses Load refuses too; the opposite does not hold. Its $defs "boundaries", "invariants"
// and "deprecated" are about one file each, the schema itself is about any of them.
func Schema() []byte { return []byte(schema) }
