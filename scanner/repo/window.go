package repo

import "io"

// A window is a part of a pack in memory, and a place in it from which bytes are read. The part stays when another
// object is read: a delta and its base are often near each other, and so are the trees of a commit.
type window struct {
	pack *pack // nil before the first use
	from int64 // where in the pack the part begins
	part []byte
	at   int // the place, counted from there
	room [windowSize]byte
}

const (
	windowSize = 8 << 10
	pageSize   = 4 << 10 // the system reads no less from a disk
)

func (w *window) move(p *pack, at int64) {
	if w.pack != p || at < w.from || at >= w.from+int64(len(w.part)) {
		w.pack, w.from, w.part = p, at&^(pageSize-1), nil
	}
	w.at = int(at - w.from)
}

// fill reads the part of the pack that has the byte at the place. The objects end where the pack's checksum begins.
func (w *window) fill() error {
	if len(w.part) > 0 { // it was read to its end
		w.from, w.at, w.part = w.from+int64(w.at), 0, nil
	}
	n := min(windowSize, w.pack.size-20-w.from)
	if n <= int64(w.at) {
		return io.EOF
	}
	k, err := w.pack.file.ReadAt(w.room[:n], w.from)
	if w.part = w.room[:k]; w.at < k {
		return nil // what comes after meets the error again
	}
	return err
}

// ReadByte returns the next byte.
func (w *window) ReadByte() (byte, error) {
	if w.at >= len(w.part) {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	c := w.part[w.at]
	w.at++
	return c, nil
}

// Read reads what is left of the part, or the next one.
func (w *window) Read(p []byte) (int, error) {
	if w.at >= len(w.part) {
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.part[w.at:])
	w.at += n
	return n, nil
}
