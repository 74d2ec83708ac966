package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// A seen topic is a topic of the starter bundle with its traces in a tree.
type seen struct {
	topic   starter.Topic
	bundle  *rules.Bundle
	held    bool // a file shows that it is in use
	covered bool // one of its rules selects a file
}

// detect returns the topics of a tree, in their order, and whether their rules cover any of its files; without
// topics, whether the rules of all topics do.
func detect(dir string) (found []starter.Topic, covered bool, err error) {
	root, err := worktree.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	var all []seen
	for _, t := range starter.Topics() {
		bundle, err := rules.Load(rules.Files(starter.Files(t.Name)))
		if err != nil {
			return nil, false, err
		}
		all = append(all, seen{topic: t, bundle: bundle})
	}
	var failed error
	head := make([]byte, starter.HeadBytes)
	root.Walkers(1)[0].Walk(context.Background(), worktree.Visitor{
		Skip:    func(path string) bool { return path == ".git" },
		Passing: func(string) bool { return false },
		Failed:  func(path string, err error) { failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err)) },
		File: func(e worktree.Entry, rd *worktree.Reader) {
			if e.Kind != worktree.Regular || failed != nil {
				return
			}
			var start []byte
			missing := slices.ContainsFunc(all, func(t seen) bool { return !t.held })
			if missing && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(e.Path))) {
				start, failed = readHead(rd, e.Path, head)
			}
			for i := range all {
				t := &all[i]
				t.covered = t.covered || len(t.bundle.Selecting(e.Path, nil)) > 0
				t.held = t.held || t.topic.Holds(e.Path, start)
			}
		},
	})
	if failed != nil {
		return nil, false, fmt.Errorf("the tree cannot be read: %w", failed)
	}
	anyCovered := false
	for _, t := range all {
		anyCovered = anyCovered || t.covered
		if t.held {
			found = append(found, t.topic)
			covered = covered || t.covered
		}
	}
	return found, covered || len(found) == 0 && anyCovered, nil
}

func readHead(rd *worktree.Reader, path string, buf []byte) ([]byte, error) {
	f, err := rd.Open(path, true)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, worktree.ErrChanged) {
		return nil, nil // no hint; init only makes a proposal
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}
