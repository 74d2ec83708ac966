package repo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/policyscan/policyscan/internal/disk"

	"github.com/go-git/go-git/v5/plumbing"
)

// An objectDir is one directory of objects: loose objects and packs.
type objectDir struct {
	dir   string
	packs []*pack
	last  atomic.Int32 // the pack in which the last object was found
	// A pack without an index: an object that is not found could be in it.
	blind string
}

// open opens the objects directory dir, then the directories in its info/alternates, and in theirs. git goes six deep.
func (s *objects) open(dir string) ([]*objectDir, error) {
	var all []*objectDir
	seen := map[string]bool{}
	var open func(dir string, depth int) error
	open = func(dir string, depth int) error {
		dir = filepath.Clean(dir)
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		if depth > 0 {
			if err := s.sameFormat(dir); err != nil {
				return err
			}
		}
		f, err := s.openDir(dir)
		if err != nil {
			return err
		}
		all = append(all, f)
		text, err := readSmall(filepath.Join(dir, "info", "alternates"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if strings.HasPrefix(line, `"`) {
				if line, err = strconv.Unquote(line); err != nil {
					return fmt.Errorf("%s: an alternate in quotes that cannot be read",
						filepath.Join(dir, "info", "alternates"))
				}
			}
			line = disk.Under(dir, filepath.FromSlash(line))
			if depth == 6 {
				return fmt.Errorf("%s: alternates more than six deep", dir)
			}
			if err := open(line, depth+1); err != nil {
				return fmt.Errorf("%w: info/alternates names the objects of %s, which cannot be opened (%v); "+
					"fix or remove that line", ErrCorrupt, line, disk.Cause(err))
			}
		}
		return nil
	}
	return all, open(dir, 0)
}

// sameFormat fails if an alternate is of a repository with the other format. Without a config, its packs are refused.
func (s *objects) sameFormat(dir string) error {
	around := filepath.Dir(dir)
	if !LooksBare(around) {
		return nil
	}
	cfg, err := readSettings(filepath.Join(around, "config"))
	if f, _ := formatOf(cfg); err == nil && f != s.format {
		return fmt.Errorf("its objects are named by %s, this repository's by %s", f, s.format)
	}
	return nil
}

func (s *objects) openDir(dir string) (*objectDir, error) {
	f := &objectDir{dir: dir}
	st, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	packDir := filepath.Join(dir, "pack")
	entries, err := os.ReadDir(packDir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	byName := func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }
	add := func(stem string) *pack {
		p := &pack{stem: filepath.Join(packDir, stem), format: s.format, pool: &s.inflaters}
		f.packs = append(f.packs, p)
		return p
	}
	blind := map[string]bool{}
	for _, e := range entries {
		stem, isPack := strings.CutSuffix(e.Name(), ".pack")
		_, isIndexed := slices.BinarySearchFunc(entries, stem+".idx", byName)
		switch {
		case isPack && isIndexed:
			add(stem)
		case isPack:
			blind[stem] = true
		}
	}
	if len(blind) > 0 {
		s.format.openMultiIndexes(packDir, func(stem string, number uint32, m *multiIndex) {
			if blind[stem] {
				delete(blind, stem)
				p := add(stem)
				p.multi, p.number = m, number
			}
		})
	}
	for stem := range blind {
		f.blind = max(f.blind, stem+".pack")
	}
	return f, nil
}

// packed opens a packed object. The pack of the last found object is searched first.
func (d *objectDir) packed(h Hash, s *objects) (stored, error) {
	first := int(d.last.Load())
	for i := range d.packs {
		k := (first + i) % len(d.packs)
		p := d.packs[k]
		at, err := p.find(h)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return stored{}, err
		}
		d.last.Store(int32(k))
		return p.object(at, s)
	}
	return stored{}, fs.ErrNotExist
}

func (d *objectDir) loose(h Hash) (stored, error) {
	name := h.String()
	file, err := openRegular(filepath.Join(d.dir, name[:2], name[2:]))
	if err != nil {
		return stored{}, err
	}
	obj, err := looseReader(file)
	if err != nil {
		_ = file.Close()
		return stored{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return obj, nil
}

func looseReader(file *os.File) (stored, error) {
	z, err := zlib.NewReader(bufio.NewReaderSize(file, 8<<10))
	if err != nil {
		return stored{}, err
	}
	r := bufio.NewReaderSize(z, 4<<10)
	header, err := r.ReadSlice(0)
	if err != nil {
		return stored{}, fmt.Errorf("no header: %w", noEOF(err))
	}
	name, length, ok := bytes.Cut(header[:len(header)-1], []byte(" "))
	if !ok {
		return stored{}, errors.New("no header")
	}
	k, err := plumbing.ParseObjectType(string(name))
	if err != nil || k > plumbing.TagObject { // a delta
		return stored{}, fmt.Errorf("an unknown type %q", name)
	}
	size, err := strconv.ParseInt(string(length), 10, 64)
	if err != nil || size < 0 {
		return stored{}, fmt.Errorf("a size %q", length)
	}
	return stored{kind: k, size: size, stream: readCloser{r, file}}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// noEOF makes an early end of file an error like any other.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *objectDir) withPrefix(prefix string, f format) ([]Hash, error) {
	var found []Hash
	entries, err := os.ReadDir(filepath.Join(d.dir, prefix[:2]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		name := prefix[:2] + e.Name()
		if h, err := f.parse(name); err == nil && strings.HasPrefix(name, prefix) {
			found = append(found, h)
		}
	}
	for _, p := range d.packs {
		more, err := p.withPrefix(prefix)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// withPrefix returns the objects of the whole repository whose hash has a prefix, each once.
func (s *objects) withPrefix(prefix string) ([]Hash, error) {
	var all []Hash
	for _, f := range s.dirs {
		found, err := f.withPrefix(prefix, s.format)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(all), nil
}

// openRegular opens a regular file of the repository. It never blocks, and closes any other kind of file at once.
func openRegular(name string) (*os.File, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// mapped returns the bytes of a file that is only ever replaced as a whole, such as a pack's index. They stay until
// [unmap], or until the process ends.
func mapped(name string) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	content, err := mapFile(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return content, err
}

// Limits on files that are read whole, in bytes.
const (
	maxSmall = 64 << 20 // refs, config and the like
	maxIndex = 1 << 30  // six million files
)

func readSmall(name string) (string, error) { return readText(name, maxSmall) }

// readText returns the text of a file, whose parts can be kept without a copy. A file over the limit is an error.
func readText(name string, limit int64) (string, error) {
	f, err := openRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only: nothing to lose
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	size := st.Size()
	if size <= limit {
		text.Grow(int(size))
		size, err = io.Copy(&text, io.LimitReader(f, limit+1)) // it may have grown meanwhile
	}
	if err == nil && size > limit {
		err = fmt.Errorf("%s: %w of %d bytes", name, ErrLimit, limit)
	}
	return text.String(), err
}
