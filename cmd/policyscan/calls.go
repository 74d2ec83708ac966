package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/policyscan/policyscan/agent/call"
	"github.com/policyscan/policyscan/agent/callrules"
	"github.com/policyscan/policyscan/agent/dialect"
	"github.com/policyscan/policyscan/agent/gate"
	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
)

// callsFlag has the flags that name call rules.
type callsFlag struct {
	Calls   []string          `placeholder:"FILE" sep:"none" help:"Call rules: a file, or a folder of .rules files. Repeatable; the strictest wins."`
	Dialect string            `placeholder:"NAME" help:"Dialect of the call rules, if their file names do not show it: ${dialects}."`
	Define  map[string]string `placeholder:"NAME=VALUE" mapsep:"none" help:"Value of (env NAME) in clash. A relative PWD counts from the current folder, in a hook from the project's root. Repeatable."`
}

// load reads the call rules, whose names count from dir; "" is the current folder. The error has the mistakes in all
// files.
func (c *callsFlag) load(dir string) ([]*callrules.Set, error) {
	if c.Dialect != "" {
		if err := oneOf("--dialect", c.Dialect, dialect.Names()); err != nil {
			return nil, err
		}
	}
	define, err := c.defined(dir)
	if err != nil {
		return nil, err
	}
	var sets []*callrules.Set
	var mistakes rules.Errors
	for _, name := range c.Calls {
		s, err := dialect.Load(dir, filepath.ToSlash(filepath.Clean(name)), c.Dialect, define)
		var list rules.Errors
		if errors.As(err, &list) {
			mistakes = append(mistakes, list...)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the call rules cannot be read: %w", err)
		}
		sets = append(sets, s)
	}
	if mistakes != nil {
		return nil, mistakes
	}
	if dir == "" {
		shell, err := os.Getwd() // as it is spelled there
		if err != nil {
			return nil, fmt.Errorf("the current folder cannot be found: %w", err)
		}
		sets = c.respell(sets, "", spellings("", []string{shell}))
	}
	return sets, nil
}

// defined returns the definitions, with a relative PWD resolved from dir, without links.
func (c *callsFlag) defined(dir string) (map[string]string, error) {
	if !c.relativePWD() {
		return c.Define, nil
	}
	real, err := disk.Real(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find the folder from which --define PWD=%s counts: %w",
			c.Define["PWD"], disk.Cause(err))
	}
	define := maps.Clone(c.Define)
	define["PWD"] = filepath.Join(real, c.Define["PWD"])
	return define, nil
}

// relativePWD reports whether PWD is defined as a relative path, so that it is the same folder under each of its names.
func (c *callsFlag) relativePWD() bool {
	pwd := c.Define["PWD"]
	_, absolute := call.Resolve("", pwd)
	return pwd != "" && !absolute
}

// respell makes rules about files in a folder also judge calls that use other names of the folder, if PWD counts from
// it.
func (c *callsFlag) respell(sets []*callrules.Set, folder string, names []string) []*callrules.Set {
	real, err := disk.Real(folder)
	if err != nil || !c.relativePWD() || len(names) == 0 {
		return sets
	}
	again := make([]*callrules.Set, len(sets))
	for i, s := range sets {
		again[i] = s.Respelled(real, names)
	}
	return again
}

// spellings returns names of a folder other than the one without links, taken from the names of folders in it: if
// /home/me/app/src leads to its src, /home/me/app is the folder.
func spellings(folder string, dirs []string) []string {
	folder, err := disk.Real(folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, dir := range dirs {
		real, err := disk.Real(dir)
		if dir == "" || err != nil {
			continue
		}
		rel, err := filepath.Rel(folder, real)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		name := filepath.Clean(dir)
		if inner := string(filepath.Separator) + rel; strings.HasSuffix(name, inner) {
			name = strings.TrimSuffix(name, inner)
		} else if rel != "." { // a link in the folder
			continue
		}
		if name != folder && filepath.IsAbs(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// guard adds the files that the sets were read from to those that the gate guards.
func (c *callsFlag) guard(g *gate.Gate, dir string) error {
	for _, name := range c.Calls {
		name = under(dir, name)
		real, err := disk.Real(name)
		if err != nil {
			return fmt.Errorf("cannot determine where %s is: %w", name, disk.Cause(err))
		}
		g.Guarded = append(g.Guarded, real)
	}
	return nil
}

// under returns the path to open for a name that counts from a folder.
func under(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// takes adds a file as the first of the call rules.
func (c *callsFlag) takes(name string) bool {
	c.Calls = append([]string{name}, c.Calls...)
	return true
}

// given reports whether the flags name call rules.
func (c *callsFlag) given() bool { return len(c.Calls) > 0 }

// validate prints the mistakes in each file of call rules, or a summary of its rules.
func (c *callsFlag) validate(std streams) (failed error) {
	configured := false
	for _, name := range c.Calls {
		asks, err := c.validateOne(std, name)
		configured = configured || asks
		failed = errors.Join(failed, err)
	}
	if configured {
		failed = errors.Join(failed, validateSigmashake(std))
	}
	return failed
}

// validateOne checks a file of call rules, or a folder of them, and reports whether sigmashake's settings apply to
// them.
func (c *callsFlag) validateOne(std streams, name string) (configured bool, err error) {
	one := callsFlag{Calls: []string{name}, Dialect: c.Dialect, Define: c.Define}
	sets, err := one.load("")
	var list rules.Errors
	if errors.As(err, &list) {
		st, err := os.Stat(name)
		folder := err == nil && st.IsDir() // which only sigmashake's rules are
		named := c.Dialect == "" && strings.EqualFold(filepath.Ext(name), ".rules")
		return folder || c.Dialect == "sigmashake" || named, mistaken(std, name, list)
	}
	if err != nil {
		return false, err
	}
	s := sets[0]
	for _, n := range s.Notes {
		if err := print(std.out, "%s:%d: note: %s\n", safe(n.Origin.File), n.Origin.Line, safe(n.Text)); err != nil {
			return false, err
		}
	}
	return isSigmashake(s), print(std.out, "%s: valid: %s, %s; %s\n",
		safe(s.Name), s.Dialect, s.Strategy, safe(defaulted(s)))
}

// defaulted returns a summary of a set, and what happens to a call that none of its rules matches.
func defaulted(s *callrules.Set) string {
	e := s.Default
	if s.Strategy == callrules.DenyOverrides {
		e = callrules.Deny // without a policy
		if len(s.Policies) > 0 {
			e = s.Policies[0].Default
		}
	}
	return fmt.Sprintf("%s; else %s", s.Summary(), s.Word(e))
}
