package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
)

// An Entry is a hook in an agent's settings, for one of the events that policyscan is installed for.
type Entry struct {
	Event   string
	Matcher string // of the tools it is for; "" for all
	Command string // the line for a POSIX shell; without one, the whole entry
	Written bool   // it is as [Target.Install] writes it
	Plain   bool   // it has no other members than what Install writes, and is of that form
}

// Events are the events that policyscan is installed for, that of calls first.
func (t *Target) Events() []string {
	var events []string
	for _, l := range t.lists {
		events = append(events, l.path[len(l.path)-1])
	}
	return events
}

// Files reads the existing settings that the agent takes hooks from: of the project in root, of the user and of the
// machine. prefix is how messages name the root. An error is of one file.
func (t *Target) Files(
	root, prefix string, getenv func(string) string, home func() (string, error),
) (files []*File, failed []error) {
	user, err := t.UserDir(getenv, home)
	if err != nil {
		failed = append(failed, err)
	}
	seen := map[string]bool{}
	for i, name := range append([]string{t.Project, "~/" + t.User}, t.more...) {
		dir, shown := root, prefix
		if rest, is := strings.CutPrefix(name, "~/"); is {
			dir, name, shown = user, rest, filepath.ToSlash(user)+"/"
		} else if rest, is := strings.CutPrefix(name, "/"); is {
			dir, name, shown = "/", rest, "/"
		}
		matches, _ := fs.Glob(os.DirFS(dir), name) // the pattern is valid
		for _, match := range matches {
			f := &File{Target: t, path: filepath.Join(dir, match), Shown: shown + match, extra: i > 1}
			if seen[f.path] || dir == "" {
				continue
			}
			seen[f.path] = true
			text, err := os.ReadFile(f.path)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s cannot be read: %w", f.Shown, disk.Cause(err)))
				continue
			}
			f.Source = &document.Source{Name: f.Shown, Text: text}
			files = append(files, f)
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
			var group hook
			_ = json.Unmarshal(raw, &group) // what is of another form is shown as it is
			known, err := encode(group)
			if err != nil {
				return nil, err
			}
			want := l.entry(byName, "")
			sameForm := sameJSON(raw, []byte(known)) && len(group.Hooks) == len(want.Hooks)
			for _, h := range each(group) {
				all = append(all, Entry{
					Event: l.path[len(l.path)-1], Matcher: group.Matcher,
					Command: cmp.Or(h.Bash, h.Command, string(raw)), Written: l.written(raw) != nil,
					Plain: sameForm && h.Type == each(want)[0].Type,
				})
			}
		}
	}
	return all, nil
}

// each returns the hooks of a group, as Claude Code, Codex and Gemini CLI have them, or the hook itself.
func each(group hook) []hook {
	if len(group.Hooks) == 0 {
		return []hook{group}
	}
	return group.Hooks
}
