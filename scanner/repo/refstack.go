package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/policyscan/policyscan/internal/disk"
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

// tablesList is the file of a stack that names its tables, the oldest first, each in the characters of tableName, as in
// 0x000000000001-0x00000000000a-49ad84e5.ref.
const (
	tablesList = "tables.list"
	tableName  = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-"
)

// Git adds and replaces tables while they are read. Then the list is read again, this often and with this pause.
const (
	maxListings  = 50
	listingPause = 10 * time.Millisecond
)

// ref returns a ref's hash, or the target of a symbolic ref. All lookups read the tables of one list.
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

// all returns the names of all refs, also of deleted ones.
func (s *refStack) all(hashSize int) (map[string]bool, error) {
	s.once.Do(func() { s.err = s.open(hashSize) })
	found := map[string]bool{}
	for i, t := range s.tables {
		if err := t.each(func(rec tableRecord) { found[rec.name] = true }); err != nil {
			return nil, s.failed(s.names[i], err)
		}
	}
	return found, s.err
}

func (s *refStack) failed(file string, err error) error {
	return fmt.Errorf("%s: %w", filepath.Join(s.dir, file), err)
}

// open maps the tables that tables.list names.
func (s *refStack) open(hashSize int) error {
	before, unlisted := "", ""
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
		if err == nil {
			unlisted, err = s.unlisted(hashSize)
		}
		if err == nil && unlisted == "" || err != nil && missing == "" {
			return err
		}
		s.close()
		if missing != "" && text == before {
			return s.failed(missing, errors.New("it does not exist, and tables.list names it"))
		}
		before = text
		time.Sleep(listingPause)
	}
	if unlisted != "" {
		return s.failed(unlisted, errors.New("tables.list does not name it, and it is newer than those listed; "+
			"if git show-ref is right, remove it"))
	}
	return s.failed(tablesList, fmt.Errorf("it has changed %d times while it was read; try again", maxListings))
}

// unlisted returns a table of the directory that is newer than those listed: git is adding it, or the list has lost
// its end.
func (s *refStack) unlisted(hashSize int) (name string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return "", s.failed("", disk.Cause(err))
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".ref" || slices.Contains(s.names, e.Name()) {
			continue
		}
		file, err := mapped(filepath.Join(s.dir, e.Name()))
		if err != nil { // it was removed, or is no table
			continue
		}
		t, err := newRefTable(file, hashSize)
		n := len(s.tables)
		isNewer := err == nil && (n == 0 || t.oldest > s.tables[n-1].newest)
		unmap(file)
		if isNewer {
			return e.Name(), nil
		}
	}
	return "", nil
}

// openAll maps the tables of a list. On an error, missing is the table that does not exist, if that is the cause.
func (s *refStack) openAll(list string, hashSize int) (missing string, err error) {
	for line := range strings.Lines(list) {
		name := strings.TrimSuffix(line, "\n")
		if name == "" || name[0] == '.' || strings.Trim(name, tableName) != "" {
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
