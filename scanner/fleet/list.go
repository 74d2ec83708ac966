package fleet

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/policyscan/policyscan/scanner/checkout"
	"github.com/policyscan/policyscan/verdict"
	"github.com/policyscan/policyscan/verdict/code"
	"github.com/policyscan/policyscan/verdict/summary"
)

// An Entry is one repository of a list.
type Entry struct {
	Name     string // unique in the list: a relative path with slashes, not below another name
	Path     string // as in the list
	Revision string // "HEAD", if the list names none
	Dir      string // for the system
}

// Limits of a list.
const (
	maxLine     = 16 << 10 // bytes
	maxName     = 1024     // bytes
	maxPart     = 200      // bytes of a name between two slashes; most file systems have 255
	maxMistakes = 100      // number shown
)

type mistakes []verdict.Error

// Error returns the first mistake. [Mistakes] returns all.
func (m mistakes) Error() string { return m[0].Message }

// Mistakes returns all mistakes of a list, as errors of the run; nil for other errors.
func Mistakes(err error) []verdict.Error {
	var m mistakes
	if !errors.As(err, &m) {
		return nil
	}
	if n := len(m) - maxMistakes; n > 0 {
		return append(slices.Clone(m[:maxMistakes]), verdict.Error{
			Code: code.List, Message: fmt.Sprintf("the list has %d more mistakes", n),
		})
	}
	return m
}

type reader struct {
	entries []Entry
	lines   []int // of the entries, from 1
	wrong   mistakes
}

// Parse reads a list of repositories, one on each line:
//
//	PATH [TAB REVISION [TAB NAME]]
//
// It skips lines that are empty or begin with "#", a byte order mark at the beginning, and a carriage return at a
// line's end. A relative path counts from dir; "" is the current directory. An empty revision is HEAD. An empty name
// is the path below the deepest directory that all paths without a name share, as [reader.nameByPath] writes it. All
// mistakes are reported at once. The entries are in the order of their names.
func Parse(text []byte, dir string) ([]Entry, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	r := &reader{}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line == "" || line[0] == '#' {
			continue
		}
		if e, err := parseLine(line, dir); err != nil {
			r.add(fmt.Sprintf("line %d of the list: ", i+1), "%v", err)
		} else {
			r.entries, r.lines = append(r.entries, e), append(r.lines, i+1)
		}
	}
	line := func(i int) string { return fmt.Sprintf("line %d of the list", r.lines[i]) }
	r.nameByPath(r.belowShared(), line)
	return r.checked(line)
}

func parseLine(line, dir string) (e Entry, err error) {
	switch {
	case len(line) > maxLine:
		return e, fmt.Errorf("it has %d bytes, and at most %d are read; put one repository on a line",
			len(line), maxLine)
	case strings.IndexByte(line, 0) >= 0:
		return e, errors.New("it has a NUL byte; write the list as text, one repository on a line")
	}
	fields := strings.Split(line, "\t")
	if len(fields) > 3 {
		return e, fmt.Errorf("%d fields; write at most 3: path, revision and name, separated by tabs", len(fields))
	}
	for _, field := range fields {
		if strings.TrimSpace(field) != field {
			return e, fmt.Errorf(`the field "%s" begins or ends with a space; fields are separated by one tab and `+
				`nothing else`, verdict.Visible(field))
		}
	}
	fields = append(fields, "", "")
	e = Entry{Name: fields[2], Path: fields[0], Revision: cmp.Or(fields[1], "HEAD"), Dir: fields[0]}
	if e.Path == "" {
		return e, errors.New("its path is empty; the first field is the path of a repository")
	}
	if !filepath.IsAbs(e.Path) {
		e.Dir = filepath.Join(dir, e.Path)
	}
	if e.Name == "" {
		return e, nil // [reader.nameByPath] gives it one
	}
	if clean := path.Clean(e.Name); e.Name != clean {
		return e, fmt.Errorf(`the name "%s" is not written simply; write "%s"`, verdict.Visible(e.Name),
			verdict.Visible(clean))
	}
	if wrong := badName(e.Name); wrong != "" {
		return e, fmt.Errorf(`the name "%s" %s`, verdict.Visible(e.Name), wrong)
	}
	return e, nil
}

// badName describes a mistake in a name, and what to do; "" without one. A name must be a valid directory below
// the results on every system, and look the same in every report.
func badName(name string) string {
	const third = "; give another one as the third field of the line"
	switch {
	case !utf8.ValidString(name):
		return "is not UTF-8" + third
	case name == "." || name == ".." || strings.HasPrefix(name, "../") || strings.HasPrefix(name, "/") ||
		!filepath.IsLocal(filepath.FromSlash(name)):
		return "is not a directory below the results: it is absolute, . or leads out with .." + third
	case strings.ContainsAny(name, `\:`):
		return "has a backslash or a colon, which not every system allows in a name" + third
	case verdict.Visible(name) != name:
		return "has a character that is not shown as itself" + third
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes, over %d", len(name), maxName) + third
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case len(part) > maxPart:
			return fmt.Sprintf("has a part of %d bytes, over %d", len(part), maxPart) + third
		case strings.HasSuffix(part, ".tmp") && strings.HasPrefix(part, "."):
			return "has a part like that of a temporary file" + third
		}
	}
	first, _, _ := strings.Cut(strings.ToLower(name), "/")
	if first == "fleet.json" || first == "shard.json" {
		return "is reserved for the summary" + third
	}
	return ""
}

// belowShared returns the paths of the entries without a name below the deepest directory that has all of them, with
// slashes.
func (r *reader) belowShared() []string {
	below := make([]string, len(r.entries))
	shared := "unknown"
	for i, e := range r.entries {
		if e.Name != "" {
			continue
		}
		abs, err := filepath.Abs(e.Dir)
		if err != nil {
			abs = e.Dir // the current directory is unknown
		}
		// repo/.git is the repository repo
		below[i] = strings.TrimSuffix(filepath.ToSlash(abs), "/.git")
		dir := below[i][:strings.LastIndexByte(below[i], '/')+1]
		if shared == "unknown" {
			shared = dir
		}
		for !strings.HasPrefix(dir, shared) {
			shared = shared[:strings.LastIndexByte(strings.TrimSuffix(shared, "/"), '/')+1]
		}
	}
	for i := range below {
		below[i] = strings.TrimLeft(strings.TrimPrefix(below[i], shared), "/")
	}
	return below
}

// nameByPath names the entries that have no name yet after their paths: without a final .git, unless another path is
// the same without it or lies below it. place describes an entry's place in the list.
func (r *reader) nameByPath(paths []string, place func(i int) string) {
	bare := func(p string) string { return checkout.FoldName(strings.TrimSuffix(p, ".git")) }
	users := map[string]int{} // number of paths and given names that are, or are below, a path without .git
	for i, p := range paths {
		at := bare(p)
		if name := r.entries[i].Name; name != "" {
			at = checkout.FoldName(name)
		}
		for ; at != "."; at = path.Dir(at) {
			users[at]++
		}
	}
	for i, p := range paths {
		e := &r.entries[i]
		if e.Name != "" {
			continue
		}
		if users[bare(p)] == 1 {
			p = strings.TrimSuffix(p, ".git")
		}
		e.Name = escapeName(p)
		if wrong := badName(e.Name); wrong != "" {
			r.add(place(i)+": ", `the name "%s" %s`, verdict.Visible(e.Name), wrong)
		}
	}
}

// escapeName writes a path as a name that every system allows and every report shows as it is: other bytes, and %, as
// % and two hexadecimal digits. No two paths have the same name.
func escapeName(p string) string {
	var b strings.Builder
	for p != "" {
		c, size := utf8.DecodeRuneInString(p)
		text, rest := p[:size], p[size:]
		ends := rest == "" || rest[0] == '/' // Windows drops a dot or a space there
		if c == utf8.RuneError || strings.ContainsRune(`%\:*?"<>|`, c) || ends && (c == '.' || c == ' ') ||
			verdict.Visible(text) != text {
			for _, c := range []byte(text) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(text)
		}
		p = rest
	}
	return b.String()
}

// checked checks that the names can be directories next to each other, and returns the entries by name, or all
// mistakes. place describes an entry's place in the list.
func (r *reader) checked(place func(i int) string) ([]Entry, error) {
	byName := map[string]int{} // folded: some systems ignore case and normal form
	for i, e := range r.entries {
		if k, taken := byName[checkout.FoldName(e.Name)]; taken {
			r.add(place(i)+": ", `the name "%s" is, except for case, also used by %s; give each its own name, `+
				`as the third field`, e.Name, place(k))
			continue
		}
		byName[checkout.FoldName(e.Name)] = i
	}
	for i, e := range r.entries {
		for at := path.Dir(checkout.FoldName(e.Name)); at != "."; at = path.Dir(at) {
			if k, taken := byName[at]; taken {
				r.add(place(i)+": ", `the name "%s" is inside of "%s", of %s; give another one as the third field`,
					e.Name, r.entries[k].Name, place(k))
				break
			}
		}
	}
	slices.SortFunc(r.entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	if r.wrong != nil {
		return nil, r.wrong
	}
	return r.entries, nil
}

func (r *reader) add(place, format string, args ...any) {
	r.wrong = append(r.wrong, verdict.Error{Code: code.List, Message: place + fmt.Sprintf(format, args...)})
}

// Hash is the [summary.ListHash] of sorted entries.
func Hash(entries []Entry) string {
	rows := make([]summary.Repository, len(entries))
	for i, e := range entries {
		rows[i].Name, rows[i].Path, rows[i].Revision = e.Name, verdict.Path(e.Path), e.Revision
	}
	return summary.ListHash(rows)
}
