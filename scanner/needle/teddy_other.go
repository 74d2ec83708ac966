//go:build !(amd64 || arm64) || purego

package needle

func vectors() bool { return false }

func scanBlocks(*masks, *byte, int, *[32]byte) (at int, ok bool) {
	panic("needle: no vectors here") // Compile makes no teddy
}
