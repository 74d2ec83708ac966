package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A refStack is a directory of reftables. A newer table overrides an older one.
type refStack struct {
	dir    string
	once   sync.Once
	tables []*refTable // oldest first
	files  [][]byte    // their bytes, mapped
	names  []string    // of the files
	err    error
}

// tablesList is the file of a stack that names its tables, the oldest first.
const tablesList = "tables.list"

// Git replaces tables while they are read. Then the list is read again, this often and with this pause.
const (
	maxListings  = 100
	listingPause = 10 * time.Millisecond
)

// ref returns a ref's hash, or the target of a symbolic ref. All refs are those of one moment.
func (s *refStack) ref(name string, hashSize int) (tableRef, error) {
	s.once.Do(func() { s.err = s.open(hashSize) })
	if s.err != nil {
		return tableRef{}, s.err
	}
	for i := len(s.tables) - 1; i >= 0; i-- {
		ref, found, err := s.tables[i].find(name)
		switch {
		case err != nil:
			return tableRef{}, s.failed(s.names[i], err)
		case found && ref.hash == nil && ref.target == "":
			return tableRef{}, errNoRef
		case found:
			return ref, nil
		}
	}
	return tableRef{}, errNoRef
}

func (s *refStack) failed(file string, err error) error {
	return fmt.Errorf("the refs cannot be read: %s: %w", filepath.Join(s.dir, file), err)
}

// open maps the tables that tables.list names.
func (s *refStack) open(hashSize int) error {
	before := ""
	for range maxListings {
		text, err := readSmall(filepath.Join(s.dir, tablesList))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return s.failed(tablesList, errors.New("it does not exist; if git refs migrate was interrupted, "+
				"finish it as its message says"))
		case err != nil:
			return s.failed(tablesList, err)
		case text != "" && !strings.HasSuffix(text, "\n"):
			return s.failed(tablesList, fmt.Errorf("%w: it ends within a line", errTable))
		}
		missing, err := s.openAll(text, hashSize)
		if err == nil || missing == "" {
			return err
		}
		s.close()
		if text == before {
			return s.failed(missing, errors.New("it does not exist, and tables.list names it"))
		}
		before = text
		time.Sleep(listingPause)
	}
	return s.failed(tablesList, fmt.Errorf("it has changed %d times while it was read; try again", maxListings))
}

// openAll maps the tables of a list. On an error, missing is the table that does not exist, if that is the cause.
func (s *refStack) openAll(list string, hashSize int) (missing string, err error) {
	for line := range strings.Lines(list) {
		name := strings.TrimSuffix(line, "\n")
		if name == "" || strings.ContainsAny(name, "/\\\x00") || name[0] == '.' {
			return "", s.failed(tablesList, fmt.Errorf("%w: it names %q", errTable, clip(name)))
		}
		file, err := mapped(filepath.Join(s.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			return name, err
		}
		if err != nil {
			return "", s.failed(name, err)
		}
		s.files = append(s.files, file)
		t, err := newRefTable(file, hashSize)
		if n := len(s.tables); err == nil && n > 0 && t.oldest <= s.tables[n-1].newest {
			err = fmt.Errorf("%w: its updates are not after those of %s", errTable, s.names[n-1])
		}
		if err != nil {
			return "", s.failed(name, err)
		}
		s.tables, s.names = append(s.tables, t), append(s.names, name)
	}
	return "", nil
}

// close unmaps the tables.
func (s *refStack) close() {
	for _, file := range s.files {
		unmap(file)
	}
	s.files, s.tables, s.names = nil, nil, nil
}
