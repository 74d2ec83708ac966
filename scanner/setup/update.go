package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/worktree"
)

// recordFile is where init remembers which rules it wrote. A scan does not read it.
const recordFile = "packs.json"

// A record has the hash of each rule's text as it was written, by pack and id.
type record map[string]map[string]string

func (r record) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, recordFile)
	before, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return writeNew(name, append(text, '\n'), 0o666)
	} else if err != nil {
		return err
	}
	return replace(name, append(text, '\n'), before)
}

// replace replaces a file that is still as it was.
func replace(name string, text []byte, before fs.FileInfo) error {
	return disk.ReplaceIf(name, text, before, func() error {
		now, err := os.Lstat(name)
		if err == nil && os.SameFile(now, before) && now.ModTime().Equal(before.ModTime()) &&
			now.Size() == before.Size() {
			return nil
		}
		return errors.Join(fmt.Errorf("%s changed meanwhile; run the command again", disk.Shown(name)), err)
	})
}

func readRecord(dir string) (record, error) {
	name := filepath.Join(dir, recordFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s, which policyscan init writes, is missing: "+
			"without it, it is unknown which rules were changed by hand", disk.Shown(name))
	}
	var r record
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", disk.Shown(name), disk.Cause(err))
	}
	if r == nil {
		r = record{}
	}
	for pack, rules := range r {
		if rules == nil {
			r[pack] = map[string]string{}
		}
	}
	return r, nil
}

// A ruleText is the lines of a rule in a file of a pack.
type ruleText struct{ id, text string }

const ruleStart = "  - id: "

// splitRules splits the text of a pack's file into what stands before its rules, and the rules, each with the comments
// and empty lines that follow it.
func splitRules(text string) (head string, all []ruleText) {
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, ruleStart); ok {
			all = append(all, ruleText{id: strings.TrimSpace(id)})
		}
		if len(all) == 0 {
			head += line
		} else {
			all[len(all)-1].text += line
		}
	}
	return head, all
}

// hash returns the hash of a rule's text, without the empty lines at its end and with LF.
func (r ruleText) hash() string {
	sum := sha256.Sum256([]byte(strings.TrimRight(strings.ReplaceAll(r.text, "\r\n", "\n"), "\n")))
	return hex.EncodeToString(sum[:8])
}

func hashes(text []byte) map[string]string {
	all := map[string]string{}
	_, list := splitRules(string(text))
	for _, r := range list {
		all[r.id] = r.hash()
	}
	return all
}

// What an update does to a rule.
const (
	Adds    = "adds"
	Changes = "changes"
	Removes = "removes"
	Keeps   = "keeps" // it was changed by hand, and the pack has changed, too
)

// A RuleUpdate is what an update does to one rule of a pack.
type RuleUpdate struct {
	Pack, ID string
	Does     string // Adds, Changes, Removes or Keeps
	Diff     string // lines from the file's rule to the pack's, each with "+", "-" or " " in front
}

// An Update is what the packs of this program would change in the files that init wrote.
type Update struct {
	Rules []RuleUpdate
	Packs []Chosen // packs that init would write today and has not written

	dir    string
	record record
	files  map[string]changedFile // by pack
}

type changedFile struct {
	before fs.FileInfo // when it was read
	text   string      // the new one
}

// FindUpdate compares the packs in the bundle of root with those of this program, rule by rule. A rule that a person
// changed, and one that a person removed, stay so.
func FindUpdate(root string) (*Update, error) {
	u := &Update{dir: filepath.Join(root, rules.HiddenBundle), files: map[string]changedFile{}}
	var err error
	if u.record, err = readRecord(u.dir); err != nil {
		return nil, err
	}
	for _, pack := range slices.Sorted(maps.Keys(u.record)) {
		if len(starter.Names(pack)) != 1 {
			return nil, fmt.Errorf("%s has the pack %q, which this program does not know; use the one that wrote it",
				disk.Shown(filepath.Join(u.dir, recordFile)), pack)
		}
		name := u.file(pack)
		before, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a person removed the pack
		}
		if err == nil && !before.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file; replace it with one", disk.Shown(name))
		}
		var text []byte
		if err == nil {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, err
		}
		if after := u.compare(pack, string(text)); after != string(text) {
			u.files[pack] = changedFile{before, after}
		}
	}
	tree, err := worktree.Open(root)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	chosen, err := choose(tree)
	for _, c := range chosen {
		_, written := u.record[c.Name]
		if _, err := os.Lstat(u.file(c.Name)); !written && errors.Is(err, fs.ErrNotExist) { // else it is the user's
			u.Packs = append(u.Packs, c)
		}
	}
	return u, err
}

func (u *Update) file(pack string) string {
	return filepath.Join(u.dir, filepath.FromSlash(packFile(pack)))
}

// compare finds what a pack changes in the text of its file, and returns the new text.
func (u *Update) compare(pack, text string) string {
	written := u.record[pack]
	head, list := splitRules(text)
	_, newest := splitRules(string(starter.Files(pack)[packFile(pack)]))
	add := func(id, does, from, to string) {
		u.Rules = append(u.Rules, RuleUpdate{pack, id, does, lineDiff(from, to)})
	}
	find := func(all []ruleText, id string) int {
		return slices.IndexFunc(all, func(r ruleText) bool { return r.id == id })
	}
	for _, now := range slices.Clone(list) {
		i, at := find(newest, now.id), find(list, now.id)
		switch untouched := written[now.id] == now.hash(); {
		case written[now.id] == "": // a person's rule
		case i < 0 && untouched:
			add(now.id, Removes, now.text, "")
			list = slices.Delete(list, at, at+1)
		case i < 0, newest[i].hash() == now.hash(), newest[i].hash() == written[now.id]:
		case untouched:
			add(now.id, Changes, now.text, newest[i].text)
			list[at].text = newest[i].text
		default:
			add(now.id, Keeps, now.text, newest[i].text)
		}
	}
	for _, r := range newest {
		if written[r.id] == "" && find(list, r.id) < 0 {
			add(r.id, Adds, "", r.text)
			if n := len(list); n > 0 {
				list[n-1].text = strings.TrimRight(list[n-1].text, "\r\n") + "\n\n"
			}
			list = append(list, r)
		}
	}
	text = head
	for _, r := range list {
		text += r.text
	}
	return strings.TrimRight(text, "\n") + "\n"
}

// Write writes what the update changes, except rules that it keeps, and returns the files.
func (u *Update) Write() (files []string, err error) {
	for _, pack := range slices.Sorted(maps.Keys(u.files)) {
		name, changed := u.file(pack), u.files[pack]
		if err := replace(name, []byte(changed.text), changed.before); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	for _, r := range u.Rules {
		switch r.Does {
		case Removes:
			delete(u.record[r.Pack], r.ID)
		case Adds, Changes:
			u.record[r.Pack][r.ID] = hashes(starter.Files(r.Pack)[packFile(r.Pack)])[r.ID]
		}
	}
	for _, c := range u.Packs {
		name := u.file(c.Name)
		text := starter.Files(c.Name)[packFile(c.Name)]
		if err := writeNew(name, append([]byte(schemaComment), withExcludes(text, c.Excluded)...), 0o666); err != nil {
			return files, err
		}
		u.record[c.Name], files = hashes(text), append(files, name)
	}
	return files, u.record.write(u.dir)
}

// lineDiff compares two texts line by line, by their longest common subsequence.
func lineDiff(from, to string) string {
	a := strings.SplitAfter(strings.TrimRight(from, "\r\n"), "\n")
	b := strings.SplitAfter(strings.TrimRight(to, "\n"), "\n")
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	line := func(mark, text string) {
		if text != "" {
			out.WriteString(mark + strings.TrimRight(text, "\r\n") + "\n")
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			line(" ", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			line("-", a[i])
			i++
		default:
			line("+", b[j])
			j++
		}
	}
	return out.String()
}
