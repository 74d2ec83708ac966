//go:build (amd64 || arm64) && !purego

package needle

import (
	"runtime"

	"golang.org/x/sys/cpu"
)

// vectors says whether this processor has what scanBlocks is made of: AVX2, or NEON, without which Go runs on no
// arm64.
func vectors() bool { return runtime.GOARCH == "arm64" || cpu.X86.HasAVX2 }

// scanBlocks is the loop of a teddy: it looks at blocks of 32 places of the n bytes at content, one after another,
// until one may hold a gram. It returns where that block begins, and in found, for each place in it, the buckets of
// the grams that may occur there. Without one it returns where a block of which not all grams are within the n bytes
// begins. It reads no byte behind those.
//
//go:noescape
func scanBlocks(t *masks, content *byte, n int, found *[32]byte) (at int, ok bool)
