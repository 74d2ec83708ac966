package rules

import (
	"bytes"
	_ "embed"
	"path/filepath"
)

//go:embed schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a bundle's rule files, for editors. Whatever it
// refuses Load refuses too; the opposite does not hold. Its $defs "boundaries", "invariants",
// "deprecated" and "allowances" are about one file each, the schema itself is about any of them.
func Schema() []byte { return []byte(schema) }

// SchemaFile is where `policyscan init` puts the schema, in the folder of a bundle. No scan reads it: it is for
// editors, which take it from a comment in the rule files.
const SchemaFile = "policy.schema.json"

// HasOldSchema reports whether the folder of a bundle has a SchemaFile that is not the one of this version. One
// with CRLF is: git writes it so on some systems.
func HasOldSchema(dir string) bool {
	text, err := readDisk(filepath.Join(dir, SchemaFile))
	return err == nil && !bytes.Equal(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), Schema())
}
