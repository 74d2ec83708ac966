//go:build unix && !linux

package worktree

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// openBeneath says that there is no such call here: folders are opened one by one.
func openBeneath(int, string) (int, error) { return -1, unix.ENOSYS }

// list hands the names in a folder to visit, and returns the state the folder was in
// before.
func (r *Root) list(dir string, visit func(name string, kind Kind)) (state, error) {
	h, err := r.openDir(dir)
	if err != nil {
		return state{}, err
	}
	f := os.NewFile(uintptr(h.fd), dir)
	defer f.Close() // read only: nothing to lose
	before, err := h.state()
	if err != nil {
		return state{}, err
	}
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			st, err := h.stat(name)
			if err != nil {
				return before, err
			}
			visit(name, st.Kind)
		}
		if len(names) == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return before, err
		}
	}
}
