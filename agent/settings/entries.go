package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
)

// An Entry is a hook in an agent's settings, for one of the events that policyscan is installed for.
type Entry struct {
	Event   string
	Matcher string // of the tools it is for; "" for all
	Command string // the line for a POSIX shell; what is in the settings, if there is none
	Written bool   // it is as [Target.Install] writes it
	Plain   bool   // it has no other members than what Install writes
}

// Events are the events that policyscan is installed for, that of calls first.
func (t *Target) Events() []string {
	var events []string
	for _, l := range t.lists {
		events = append(events, l.path[len(l.path)-1])
	}
	return events
}

// Files reads the settings that the agent takes hooks from, as far as they exist: those of the project in root, of the
// user and of the machine. prefix is how messages name the root. An error is of one file.
func (t *Target) Files(
	root, prefix string, getenv func(string) string, home func() (string, error),
) (files []*File, failed []error) {
	add := func(f *File, err error) {
		if err != nil {
			failed = append(failed, err)
		} else if f.Source != nil {
			files = append(files, f)
		}
	}
	add(t.OpenProject(root, prefix))
	add(t.OpenUser(getenv, home))
	user, err := t.UserDir(getenv, home)
	for _, name := range t.more {
		pattern := filepath.Join(root, filepath.FromSlash(name))
		if rest, is := strings.CutPrefix(name, "~/"); is {
			if err != nil { // as for OpenUser
				continue
			}
			pattern = filepath.Join(user, filepath.FromSlash(rest))
		} else if name[0] == '/' {
			pattern = name
		}
		matches := []string{pattern}
		if strings.Contains(name, "*") {
			matches, _ = filepath.Glob(filepath.FromSlash(pattern)) // the pattern is valid
		}
		for _, path := range matches {
			shown := filepath.ToSlash(path)
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				shown = prefix + filepath.ToSlash(rel)
			}
			f := &File{Target: t, path: path, Shown: shown, extra: true}
			if path != filepath.Join(root, filepath.FromSlash(t.Project)) &&
				path != filepath.Join(user, filepath.FromSlash(t.User)) {
				add(f, f.read())
			}
		}
	}
	return files, failed
}

// Entries returns the hooks of a file. It is an error if the agent would not run them.
func (f *File) Entries() ([]Entry, error) {
	root, err := parse(f.Source)
	switch {
	case err != nil:
	case f.extra: // of other settings
		err = f.Target.switches(f.Source, root)
	default:
		err = f.Target.runs(f.Source, root)
	}
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, l := range f.Target.lists {
		array, _, err := list(f.Source, root, l.path)
		if err != nil {
			return nil, err
		}
		if array == nil {
			continue
		}
		for _, it := range array.items {
			raw := f.Source.Text[it.value.start:it.value.end]
			group, written := hook{}, l.written(raw) != nil
			strict := json.NewDecoder(bytes.NewReader(raw))
			strict.DisallowUnknownFields()
			plain := strict.Decode(&group) == nil
			if !plain {
				_ = json.Unmarshal(raw, &group) // what is of another form is shown as it is
			}
			each := group.Hooks
			if len(each) == 0 {
				each = []hook{group}
			}
			for _, h := range each {
				all = append(all, Entry{
					l.path[len(l.path)-1], group.Matcher, cmp.Or(h.Bash, h.Command, string(raw)), written, plain,
				})
			}
		}
	}
	return all, nil
}
