package rules

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules/document"
)

// The rule files with fixed names, in the order in which errors are listed. Other files come after them.
const (
	BoundariesFile = "rules/boundaries.yml" // required
	InvariantsFile = "rules/invariants.yml" // required in a 0.1 bundle
	DeprecatedFile = "rules/deprecated.yml" // optional
	AllowancesFile = "rules/allowances.yml" // optional; holds [Allowance] entries, needs a 0.2 bundle
)

// MaxBundleBytes is the limit for all rule files of a bundle together.
const MaxBundleBytes = 4 * document.MaxFileBytes

// maxExpansions is the limit for the brace expansions of all distinct globs of a bundle.
const maxExpansions = 100_000

// Files is a bundle in memory, by slash-separated path from its directory.
type Files map[string][]byte

// Load reads a bundle. If the bundle has mistakes it returns all of them, as [document.Errors], and no bundle.
func Load(files Files) (*Bundle, error) { return load(files.read, files.strays()) }

func (f Files) read(name string) ([]byte, error) {
	if content, ok := f[name]; ok {
		return content[:min(len(content), document.MaxFileBytes+1)], nil
	}
	for other := range f {
		if strings.HasPrefix(other, name+"/") {
			return nil, errNotRegular{"a directory"}
		}
	}
	return nil, fs.ErrNotExist
}

// strays returns the strays by name, directory by directory.
func (f Files) strays() []stray {
	var all []stray
	for name := range f {
		if s, ok := strayOf(name, 0); ok && strings.HasPrefix(name, path.Dir(BoundariesFile)+"/") {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b stray) int {
		return slices.Compare(strings.Split(a.name, "/"), strings.Split(b.name, "/"))
	})
	return all
}

type errNotRegular struct{ what string }

func (e errNotRegular) Error() string { return e.what }

// readRegular reads a regular file, up to one byte over the limit.
func readRegular(f fs.File) ([]byte, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, errNotRegular{kindOf(stat.Mode())}
	}
	var text bytes.Buffer
	text.Grow(int(min(stat.Size(), document.MaxFileBytes)) + bytes.MinRead) // io.ReadAll would grow in many steps
	_, err = text.ReadFrom(io.LimitReader(f, document.MaxFileBytes+1))
	return text.Bytes(), err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}

type loader struct {
	batch      document.Batch
	globs      map[globOf]*document.Error // each distinct glob, with its mistake if it has one
	expansions int
	count      int // rules so far

	// Each distinct regex, with its mistake if it has one, and their totals.
	regexes                              map[regexSource]compiledRegex
	regexSource, regexBytes, regexFolded int

	open     func(name string) ([]byte, error)
	contents map[string][]byte
	size     int         // of all contents
	files    []*ruleFile // the files that were read, in the order in which errors are listed

	bundles    []string // of the boundaries' file
	allowances []Allowance
	spots      []allowanceSpots // one per allowance
	unknown    bool             // a file that could have enforced rules was not read
}

func newLoader(open func(name string) ([]byte, error)) *loader {
	return &loader{
		open: open, contents: map[string][]byte{},
		globs: map[globOf]*document.Error{}, regexes: map[regexSource]compiledRegex{},
	}
}

// load reads the rule files, once each. listed are the files in their directory that look like rule files.
func load(open func(name string) ([]byte, error), listed []stray) (*Bundle, error) {
	l := newLoader(open)
	absent := l.named()
	strays := l.others(listed)
	l.absent(absent, listed, &strays)
	l.checkBoundaries()
	if !l.unknown && !l.has02() && !slices.ContainsFunc(l.files, (*ruleFile).enforces) {
		l.batch.Errors = append(l.batch.Errors, noRules("the bundle has no enforced rule",
			"write one in "+BoundariesFile+" or "+InvariantsFile))
	}
	for _, s := range strays {
		l.batch.Errors = append(l.batch.Errors, s.mistake(l.has02()))
	}
	if len(l.batch.Errors) > 0 {
		SortMistakes(l.batch.Errors)
		return nil, l.batch.Errors
	}
	return l.bundle(), nil
}

// file parses a file as YAML and determines its version.
func (l *loader) file(name string) (*ruleFile, error) {
	if l.size > MaxBundleBytes {
		return nil, errTooLarge
	}
	content, err := l.open(name)
	if err != nil {
		return nil, err
	}
	if l.size += len(content); l.size > MaxBundleBytes {
		return nil, errTooLarge
	}
	l.contents[name] = content
	return l.parse(name, content), nil
}

// named reads the files with fixed names, and returns the names of the missing ones.
func (l *loader) named() (absent []string) {
	for _, name := range namedFiles() {
		f, err := l.file(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			absent = append(absent, name)
		case err != nil:
			l.refuse(unreadable(name, err), mayEnforce(name))
		default:
			l.read(f)
		}
	}
	return absent
}

func (l *loader) read(f *ruleFile) {
	f.list()
	l.batch.Add(f.doc)
	l.files = append(l.files, f)
	l.unknown = l.unknown || mayEnforce(f.name) && f.holds != deprecated && f.items < 0
}

// refuse adds the error of an unreadable file. enforced: the file could have enforced rules.
func (l *loader) refuse(e *document.Error, enforced bool) {
	l.batch.Errors = append(l.batch.Errors, e)
	l.unknown = l.unknown || enforced
}

// enforces reports whether the file has enforced rules. A 0.2 bundle needs no rules if another bundle of the
// run has some: see [Together].
func (f *ruleFile) enforces() bool { return f.holds != deprecated && f.items > 0 }

func noRules(found, fix string) *document.Error {
	return newError(document.CodeNoRules, path.Dir(BoundariesFile), found, fix)
}

// newError returns an error without a place in the file, or about the bundle if file is "".
func newError(code, file, found, fix string) *document.Error {
	return &document.Error{Code: code, File: file, Found: found, Fix: fix}
}

// has02 reports whether a file, and so the bundle, is version 0.2, or must be.
func (l *loader) has02() bool {
	return slices.ContainsFunc(l.files, func(f *ruleFile) bool { return f.is02 || f.holds == allowances })
}

// others reads the files with other names, and returns the strays: in a 0.1 bundle, all of them.
func (l *loader) others(listed []stray) (strays []stray) {
	files, errs := map[string]*ruleFile{}, map[string]error{}
	is02 := l.has02()
	for _, s := range listed {
		if s.isOther() {
			files[s.name], errs[s.name] = l.file(s.name)
			is02 = is02 || errs[s.name] == nil && files[s.name].is02
		}
	}
	for _, s := range listed {
		switch f, err := files[s.name], errs[s.name]; {
		case s.isNamed():
		case !s.isOther(), !is02:
			strays = append(strays, s)
		case err != nil:
			l.refuse(unreadable(s.name, err), true)
		case f.is02:
			l.read(f)
		case f.doc.Root != nil && document.IsMapping(f.doc.Root) && f.doc.Has(f.doc.Root, document.Level{}, "rules"):
			f.read02(`the file does not say bundle: "0.2"`)
			l.read(f)
		default:
			l.batch.Add(f.doc)
			const found = `the file does not say bundle: "0.2" and which rules it holds`
			l.refuse(newError(document.CodeValue, s.name, found,
				`begin it with the lines bundle: "0.2" and "type: boundary" (or invariant, or deprecated)`), true)
		}
	}
	return strays
}

// absent reports missing files. listed is the earlier listing. A stray that is likely a misspelt rule file is removed
// from the strays.
func (l *loader) absent(names []string, listed []stray, strays *[]stray) {
	for _, name := range names {
		switch {
		case name == BoundariesFile, name == InvariantsFile && !l.has02():
			l.refuse(l.missing(name, strays), true)
		case slices.ContainsFunc(listed, func(s stray) bool { return s.isNamed() && s.name == name }):
			e := newError(document.CodeRead, name, "appeared after the bundle was read", "run it again")
			l.refuse(e, mayEnforce(name))
		}
	}
}

func (l *loader) bundle() *Bundle {
	lists := map[Type][]Rule{}
	var excludes []string
	for _, t := range []Type{Boundary, Invariant, deprecated} {
		for _, f := range l.files {
			if f.holds != t {
				continue
			}
			lists[t] = slices.Concat(lists[t], f.rules)
			if len(f.exclude) > 0 {
				excludes = append(excludes, f.name)
			}
		}
	}
	for _, list := range lists {
		for i := range list {
			list[i].Owner = cmp.Or(list[i].Owner, l.files[0].owner) // boundaries.yml is the first
		}
	}
	b := New(append(lists[Boundary], lists[Invariant]...), lists[deprecated])
	b.FileExcludes, b.Is02, b.Bundles = excludes, l.has02(), l.bundles
	b.SHA256, b.Files = identity(l.contents), map[string][sha256.Size]byte{}
	for name, content := range l.contents {
		b.Files[name] = sha256.Sum256(content)
	}
	b.Allowances, b.spots = l.allowances, l.spots
	b.notes = l.batch.Notes
	return b
}

// missing returns the error about a missing rule file, and removes the stray that looks like a misspelling of it.
func (l *loader) missing(name string, strays *[]stray) *document.Error {
	e := newError(document.CodeMissing, name, "no such file", `create it, with "rules: []" if it has no rule`)
	if l.has02() {
		e.Fix = `create it, with bundle: "0.2" and, if it has no rule, "rules: []"`
	}
	stem := strings.TrimSuffix(name, ".yml")
	*strays = slices.DeleteFunc(*strays, func(s stray) bool {
		if !strings.EqualFold(strings.TrimSuffix(s.name, path.Ext(s.name)), stem) {
			return false
		}
		e.Found = fmt.Sprintf("no such file, but %q", path.Base(s.name))
		e.Fix = fmt.Sprintf("name it %q", path.Base(name))
		return true
	})
	return e
}

var errTooLarge = errors.New("too large")

func unreadable(name string, err error) *document.Error {
	e := newError(document.CodeRead, name, "cannot be read: "+disk.Cause(err).Error(), "make it a readable file")
	var not errNotRegular
	switch {
	case errors.As(err, &not):
		e.Found = "is " + not.what
		e.Fix = "put a regular file there"
	case errors.Is(err, errTooLarge):
		e.Code, e.Fix = document.CodeLimit, "write fewer or shorter rules"
		e.Found = fmt.Sprintf("with it, the rule files are larger than %d bytes together", MaxBundleBytes)
	}
	return e
}

// identity returns the SHA256 of a bundle; see [Bundle.SHA256].
func identity(contents map[string][]byte) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		// Writing to a hash never fails.
		h.Write([]byte(name + "\n"))
		content := contents[name]
		if bytes.Contains(content, []byte("\r\n")) { // otherwise no copy is needed
			content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
		}
		h.Write(content)
		h.Write([]byte("\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}
