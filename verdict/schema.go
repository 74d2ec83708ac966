package verdict

import _ "embed"

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of verdict.json, for every document of this [SchemaVersion].
func Schema() []byte { return []byte(schema) }

//go:embed diffschema.json
var diffSchema string

// DiffSchema returns the JSON Schema of [PolicyDiff].
func DiffSchema() []byte { return []byte(diffSchema) }
