package rules

import (
	"bytes"
	_ "embed"
	"path/filepath"
)

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a bundle's rule files, for editors. Load refuses whatever it refuses,
// but not the other way round. Its $defs "boundaries", "invariants", "deprecated" and "allowances" describe one file
// each, the schema itself any of them.
func Schema() []byte { return []byte(schema) }

// SchemaFile is the name of the schema that `policyscan init` writes into a bundle's directory. Only editors read it,
// by a comment in the rule files.
const SchemaFile = "policy.schema.json"

// HasOldSchema reports whether a bundle's directory has a SchemaFile of another version. CRLF line ends do not count:
// git writes them on some systems.
func HasOldSchema(dir string) bool {
	text, err := readDisk(filepath.Join(dir, SchemaFile))
	return err == nil && !bytes.Equal(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), Schema())
}
