package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// corpus is the folder of the archives, from the root.
const corpus = "lab/fuzz/corpus"

// archive is the file of a target's inputs.
func archive(target string) string {
	dir, name, _ := strings.Cut(target, ":")
	return filepath.Join(corpus, strings.ReplaceAll(dir, "/", "_")+"_"+name+".txtar")
}

// readCorpus returns the kept inputs of a target, of which there may be none.
func readCorpus(target string) ([]input, error) {
	text, err := os.ReadFile(archive(target))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var inputs []input
	for _, f := range txtar.Parse(text).Files {
		inputs = append(inputs, input{f.Name, f.Data})
	}
	return inputs, nil
}

// writeCorpus replaces the kept inputs of a target.
func writeCorpus(target string, inputs []input) error {
	a := &txtar.Archive{Comment: []byte("Inputs of " + target + " that fuzzing found: see lab/fuzz.\n")}
	for _, in := range inputs {
		a.Files = append(a.Files, txtar.File{Name: in.name, Data: in.text})
	}
	text := txtar.Format(a)
	if n := len(txtar.Parse(text).Files); n != len(inputs) {
		return fmt.Errorf("%s: %d inputs would be read as %d", archive(target), len(inputs), n)
	}
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		return err
	}
	return os.WriteFile(archive(target), text, 0o666)
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
		folder, err := store(dir, name)
		if err == nil {
			err = os.MkdirAll(folder, 0o777)
		}
		if err != nil {
			return err
		}
		for _, in := range inputs {
			if err := os.WriteFile(filepath.Join(folder, in.name), in.text, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept returns the targets that have an archive, whose first line names them.
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
		var target string
		if _, err := fmt.Sscanf(string(text), "Inputs of %s that", &target); err != nil || archive(target) != name {
			return nil, fmt.Errorf("%s does not begin with the name of its target", name)
		}
		targets = append(targets, target)
	}
	return targets, nil
}
