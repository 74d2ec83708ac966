//go:build !unix

package disk

// syncDir does nothing: folders cannot be synced here.
func syncDir(string) error { return nil }
