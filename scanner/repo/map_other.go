//go:build !unix

package repo

import (
	"io"
	"os"
)

const nonblock = 0

func mapFile(f *os.File) ([]byte, error) { return io.ReadAll(f) }

func unmap([]byte) {}
