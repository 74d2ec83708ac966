//go:build !unix

package rules

import "os"

// openNoFollow opens a file for reading; this system cannot refuse a symlink in the same step.
func openNoFollow(name string) (*os.File, error) { return os.Open(name) }
