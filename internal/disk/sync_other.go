//go:build !unix

package disk

// syncDir does nothing: directories cannot be synced here.
func syncDir(string) error { return nil }
