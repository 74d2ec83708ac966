package verdict

import _ "embed"

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (draft 2020-12) of verdict.json. It holds for every
// document of this [SchemaVersion], the git scopes to come included.
func Schema() []byte { return []byte(schema) }
