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
	"github.com/policyscan/policyscan/scanner/check"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// A Chosen is a pack for a tree.
type Chosen struct {
	Name     string
	Rules    int
	Because  string   // the first file that shows that the pack is of use; "" if it is for every repository
	Excluded []string // files that its rules select and cannot judge: broken YAML, links to what they do not select

	selects bool // a rule selects a file
	checker *check.ContentChecker
}

// choose returns the packs for a tree, in their order.
func choose(root *worktree.Root) ([]Chosen, error) {
	packs := starter.Packs()
	because := make([]string, len(packs))
	head := make([]byte, starter.HeadBytes)
	err := eachFile(root, func(e worktree.Entry, rd *worktree.Reader) error {
		if e.Kind != worktree.Regular {
			return nil
		}
		name := e.Path
		var start []byte
		if slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(name))) {
			n, err := readFile(rd, name, func(f io.Reader) (int, error) { return io.ReadFull(f, head) })
			if err != nil {
				return err
			}
			start = head[:n]
		}
		for i, p := range packs {
			if !p.Everywhere() && (because[i] == "" || name < because[i]) && p.Holds(name, start) {
				because[i] = name
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var chosen []Chosen
	for i, p := range packs {
		if because[i] == "" && !p.Everywhere() {
			continue
		}
		bundle, err := rules.Load(rules.Files(starter.Files(p.Name)))
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, Chosen{
			Name: p.Name, Rules: len(bundle.Rules), Because: because[i], checker: check.NewContentChecker(bundle),
		})
	}
	return chosen, excludeUnreadable(root, chosen)
}

// longestExclude is the length in bytes of a path up to which it can be excluded: a glob has at most 1,024.
const longestExclude = 1000

// mostRead is the size of a file in bytes up to which it is tried. A larger one is over the limit of keys.
const mostRead = 64 << 20

// excludeUnreadable finds the files and links that the packs' rules select and cannot judge.
func excludeUnreadable(root *worktree.Root, chosen []Chosen) error {
	return eachFile(root, func(e worktree.Entry, rd *worktree.Reader) error {
		name, target := e.Path, ""
		if e.Kind == worktree.Symlink {
			to, err := rd.Readlink(name)
			if err != nil {
				return nil // a scan will say so
			}
			target = path.Join(path.Dir(name), to)
		}
		var content []byte
		for i := range chosen {
			c := &chosen[i]
			selected := c.checker.Selects(name)
			c.selects = c.selects || selected
			if !selected || c.Because == "" { // a pack for every repository has no keys
				continue
			}
			if len(name) > longestExclude {
				continue // a glob has a limit; the scan will report the file
			}
			if target != "" { // a rule that selects the link must select its target
				if !c.checker.Selects(target) {
					c.Excluded = append(c.Excluded, name)
				}
				continue
			}
			if content == nil {
				_, err := readFile(rd, name, func(f io.Reader) (n int, err error) {
					content, err = io.ReadAll(io.LimitReader(f, mostRead+1))
					return len(content), err
				})
				if err != nil {
					return err
				}
			}
			_, err := c.checker.Check(context.Background(), name, content)
			var undecided *check.UndecidedError
			if errors.As(err, &undecided) {
				c.Excluded = append(c.Excluded, name)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
}

// eachFile calls f for each file and link of a tree until it fails.
func eachFile(root *worktree.Root, f func(worktree.Entry, *worktree.Reader) error) error {
	var failed error
	root.Walkers(1)[0].Walk(context.Background(), worktree.Visitor{
		Skip:    func(path string) bool { return path == ".git" },
		Passing: func(string) bool { return false },
		Failed:  func(path string, err error) { failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err)) },
		File: func(e worktree.Entry, rd *worktree.Reader) {
			if failed == nil && (e.Kind == worktree.Regular || e.Kind == worktree.Symlink) {
				failed = f(e, rd)
			}
		},
	})
	if failed != nil {
		return fmt.Errorf("the tree cannot be read: %w", failed)
	}
	return nil
}

// readFile reads a file; one without permission, or that was just changed, counts as empty: init only makes a proposal.
func readFile(rd *worktree.Reader, path string, read func(io.Reader) (int, error)) (int, error) {
	f, err := rd.Open(path, true)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, worktree.ErrChanged) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n, err := read(f)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}
