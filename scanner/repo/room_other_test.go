//go:build !linux

package repo

func hasRoom(string, uint64) bool { return false }
