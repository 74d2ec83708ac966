package output

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/policyscan/policyscan/internal/disk"
)

// Tracks reports whether git tracks a file.
type Tracks func(file string) (bool, error)

// resolved is the path of an output whose folder is named without links. A temporary file
// is written next to it.
func resolved(file string) string {
	dir, name := filepath.Split(file)
	if dir = disk.Physical(dir); dir != "" { // "" stays the current folder
		dir = filepath.Clean(dir) + string(filepath.Separator)
	}
	return dir + name
}

// sameFile reports whether two outputs are one file, which may not be there yet.
func sameFile(a, b string) bool {
	dirA, nameA := filepath.Split(a)
	dirB, nameB := filepath.Split(b)
	realA, errA := disk.Real(dirA)
	realB, errB := disk.Real(dirB)
	if errA != nil || errB != nil { // a folder that is not there
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return realA == realB && nameA == nameB
}

// throughLink is an error if a folder of an output's path is a link that git tracks: a
// change could bring it, and choose where the program writes.
func (tracks Tracks) throughLink(file string) error {
	for i, c := range file {
		if !os.IsPathSeparator(uint8(c)) || i == 0 {
			continue
		}
		st, err := os.Lstat(file[:i])
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		switch tracked, err := tracks(file[:i]); {
		case err != nil:
			return fmt.Errorf("whether git tracks %s, on the way to the output %s, cannot be told: %w", file[:i], file, err)
		case tracked:
			return fmt.Errorf("the output %s leads through %s, a link that git tracks, "+
				"so that a change could choose where it goes; write to another path", file, file[:i])
		}
	}
	return nil
}

// untracked is an error if git tracks a file that is to be written.
func (tracks Tracks) untracked(file string) error {
	tracked, err := tracks(file)
	switch {
	case err != nil:
		return fmt.Errorf("whether git tracks the output %s cannot be told: %w", file, err)
	case tracked:
		return fmt.Errorf("the output %s is tracked by git, so that a change could bring its own; "+
			"remove it from git (git rm --cached) and add it to .gitignore, or write to another path", file)
	}
	return nil
}
