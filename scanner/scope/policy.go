package scope

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/internal/disk"
	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/rules/document"
	"github.com/policyscan/policyscan/rules/starter"
	"github.com/policyscan/policyscan/scanner/judges"
)

// Builtin is the name of the starter bundle, which is embedded in the program.
const Builtin = "builtin:infra"

// A Policy is a bundle and where it is from.
type Policy struct {
	judges.Judge        // without a bundle until it is loaded
	Name         string // as a person would name it
	Dir          string // "" for the builtin
}

// FindPolicy returns where the bundle is that --policy names; "" is the one that root contains.
func FindPolicy(name, root string) (Policy, error) {
	dir := ""
	switch {
	case name == Builtin:
		return Policy{Name: Builtin, Judge: judges.Judge{From: "builtin"}}, nil
	case name == "":
		var err error
		if dir, err = rules.Discover(root); err != nil {
			return Policy{}, err
		}
	case strings.HasPrefix(name, "builtin:"):
		return Policy{}, fmt.Errorf("--policy is %q; choose one of %s", name, Builtin)
	default:
		dir = disk.Physical(name)
	}
	return Policy{Name: filepath.ToSlash(filepath.Clean(dir)), Dir: dir, Judge: judges.Judge{From: "disk"}}, nil
}

// Load loads the bundle. Its mistakes say where a person finds them.
func (p *Policy) Load() (err error) {
	if p.Dir == "" {
		p.Bundle, err = rules.Load(rules.Files(starter.Files()))
		return err
	}
	p.Bundle, err = rules.LoadDir(p.Dir)
	var mistakes document.Errors
	if errors.As(err, &mistakes) {
		err = mistakes.In(p.Lead())
	}
	return err
}

// loadPolicy finds and loads a bundle.
func loadPolicy(name, root string) (Policy, error) {
	p, err := FindPolicy(name, root)
	if err == nil {
		err = p.Load()
	}
	return p, err
}

// Policies are the bundles that are enforced together.
type Policies []Policy

// LoadPolicies finds and loads bundles, which can be enforced together. If one cannot be loaded, it returns those
// up to that one, with the error.
func LoadPolicies(names []string, root string) (Policies, error) {
	var all Policies
	for _, name := range names {
		p, err := loadPolicy(name, root)
		all = append(all, p)
		if err != nil {
			return all, err
		}
	}
	return all, all.Together()
}

// Together is an error if the bundles cannot be enforced together. The mistakes of one alone say where a person finds
// them.
func (ps Policies) Together() error {
	err := rules.Together(ps.Bundles())
	var mistakes document.Errors
	if len(ps) == 1 && errors.As(err, &mistakes) {
		return mistakes.In(ps[0].Lead())
	}
	return err
}

// Bundles returns the bundles, which are loaded.
func (ps Policies) Bundles() []*rules.Bundle {
	var all []*rules.Bundle
	for i := range ps {
		all = append(all, ps[i].Bundle)
	}
	return all
}

// String names the bundles for a person.
func (ps Policies) String() string {
	var names []string
	for i := range ps {
		names = append(names, ps[i].Name)
	}
	return strings.Join(names, " and ")
}

// Lead returns the path from the current folder to the bundle's files.
func (p *Policy) Lead() string {
	if p.Dir == "" || p.Name == "." {
		return ""
	}
	return strings.TrimSuffix(p.Name, "/") + "/"
}
