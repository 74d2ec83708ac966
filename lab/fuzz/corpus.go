package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// corpus is the directory of the archives, from the root.
const corpus = "lab/fuzz/corpus"

// archive is the file of the inputs of all targets of a directory.
func archive(dir string) string {
	return filepath.Join(corpus, strings.ReplaceAll(dir, "/", "_")+".txtar")
}

// readArchive returns the kept inputs of a directory's targets, each named TARGET/INPUT; there may be none.
func readArchive(dir string) ([]txtar.File, error) {
	text, err := os.ReadFile(archive(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return txtar.Parse(text).Files, nil
}

// readCorpus returns the kept inputs of a target, of which there may be none.
func readCorpus(target string) ([]input, error) {
	dir, name, _ := strings.Cut(target, ":")
	files, err := readArchive(dir)
	if err != nil {
		return nil, err
	}
	var inputs []input
	for _, f := range files {
		if of, own, _ := strings.Cut(f.Name, "/"); of == name {
			inputs = append(inputs, input{own, f.Data})
		}
	}
	return inputs, nil
}

// writeCorpus replaces the kept inputs of a target.
func writeCorpus(target string, inputs []input) error {
	dir, name, _ := strings.Cut(target, ":")
	files, err := readArchive(dir)
	if err != nil {
		return err
	}
	a := &txtar.Archive{Comment: []byte("Inputs that fuzzing found for the targets in " + dir + ": see lab/fuzz.\n")}
	for _, f := range files {
		if of, _, _ := strings.Cut(f.Name, "/"); of != name {
			a.Files = append(a.Files, f)
		}
	}
	for _, in := range inputs {
		a.Files = append(a.Files, txtar.File{Name: name + "/" + in.name, Data: in.text})
	}
	slices.SortStableFunc(a.Files, func(x, y txtar.File) int { return cmp.Compare(path.Dir(x.Name), path.Dir(y.Name)) })
	text := txtar.Format(a)
	if n := len(txtar.Parse(text).Files); n != len(a.Files) {
		return fmt.Errorf("%s: %d inputs would be read as %d", archive(dir), len(a.Files), n)
	}
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		return err
	}
	return os.WriteFile(archive(dir), text, 0o666)
}

// unpack puts the kept inputs of these targets, or of all, into Go's store.
func unpack(targets []string) error {
	if len(targets) == 0 {
		all, err := kept()
		if err != nil {
			return err
		}
		targets = all
	}
	for _, target := range targets {
		target = strings.TrimPrefix(strings.TrimPrefix(target, module+"/"), "./")
		inputs, err := readCorpus(target)
		if err != nil {
			return err
		}
		dir, name, _ := strings.Cut(target, ":")
		seeds, err := store(dir, name)
		if err == nil {
			err = os.MkdirAll(seeds, 0o777)
		}
		if err != nil {
			return err
		}
		for _, in := range inputs {
			if err := os.WriteFile(filepath.Join(seeds, in.name), in.text, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept returns the targets that have inputs. The first line of an archive names their directory.
func kept() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(corpus, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var targets []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var dir string
		_, err = fmt.Sscanf(string(text), "Inputs that fuzzing found for the targets in %s see", &dir)
		if dir = strings.TrimSuffix(dir, ":"); err != nil || archive(dir) != name {
			return nil, fmt.Errorf("%s does not begin with the name of its directory", name)
		}
		for _, f := range txtar.Parse(text).Files {
			targets = append(targets, dir+":"+path.Dir(f.Name))
		}
	}
	return slices.Compact(targets), nil
}
