//go:build !unix

package rules

import "os"

// openNoFollow opens a file to read; this system cannot refuse a link in the same step.
func openNoFollow(name string) (*os.File, error) { return os.Open(name) }
