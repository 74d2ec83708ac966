// Package formats makes documents of the text of a file: YAML, JSON, HCL and TOML.
package formats
