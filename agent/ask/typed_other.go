//go:build !linux

package ask

import "os"

// forgetTyped does nothing here: what was typed before the question is read as the answer.
func forgetTyped(*os.File) {}
