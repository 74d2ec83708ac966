package rules

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Files is a bundle in memory, by slash-separated path: a file system that Load reads.
// It must not be changed while it is read.
type Files map[string][]byte

// Open opens a file, or a folder with some file in it.
func (f Files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if content, ok := f[name]; ok {
		stat := memStat{path.Base(name), int64(len(content)), 0o444}
		return &memFile{stat: stat, Reader: bytes.NewReader(content)}, nil
	}
	entries := f.entries(name)
	if len(entries) == 0 && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &memDir{name: name, entries: entries}, nil
}

// entries returns what is directly in a folder, by name.
func (f Files) entries(dir string) []fs.DirEntry {
	found := map[string]memStat{}
	for name, content := range f {
		rest := name
		if dir != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(name, dir+"/"); !ok {
				continue
			}
		}
		if first, _, below := strings.Cut(rest, "/"); below {
			found[first] = memStat{first, 0, fs.ModeDir | 0o555}
		} else {
			found[first] = memStat{first, int64(len(content)), 0o444}
		}
	}
	entries := make([]fs.DirEntry, 0, len(found))
	for _, stat := range found {
		entries = append(entries, fs.FileInfoToDirEntry(stat))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// memStat describes a file or folder of Files.
type memStat struct {
	name string
	size int64
	mode fs.FileMode
}

func (s memStat) Name() string       { return s.name }
func (s memStat) Size() int64        { return s.size }
func (s memStat) Mode() fs.FileMode  { return s.mode }
func (s memStat) ModTime() time.Time { return time.Time{} }
func (s memStat) IsDir() bool        { return s.mode.IsDir() }
func (s memStat) Sys() any           { return nil }

type memFile struct {
	stat memStat
	*bytes.Reader
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f.stat, nil }
func (f *memFile) Close() error               { return nil }

type memDir struct {
	name    string
	entries []fs.DirEntry
	read    int
}

func (d *memDir) Stat() (fs.FileInfo, error) {
	return memStat{path.Base(d.name), 0, fs.ModeDir | 0o555}, nil
}
func (d *memDir) Close() error { return nil }

func (d *memDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

func (d *memDir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.entries[d.read:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 && len(rest) > n {
		rest = rest[:n]
	}
	d.read += len(rest)
	return slices.Clone(rest), nil
}
