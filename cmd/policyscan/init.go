package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/policyscan/policyscan/rules"
	"github.com/policyscan/policyscan/scanner/run"
	"github.com/policyscan/policyscan/scanner/setup"
)

type initCmd struct {
	Path   string `arg:"" optional:"" help:"@init_path"`
	Update bool   `help:"@init_update"`
	Write  bool   `help:"With --update, write what it shows, except rules that were changed by hand."`
}

// Run writes a bundle with the packs that the repository has use for, or shows what newer packs change in it.
func (c *initCmd) Run(std streams) error {
	place, err := run.Find(c.Path)
	if err != nil {
		return err
	}
	switch {
	case c.Update:
		return c.update(std, place.Root)
	case c.Write:
		return errors.New("--write is for --update; add it, or leave --write out")
	}
	b, err := setup.WriteBundle(place.Root)
	var wrote strings.Builder
	for i, file := range b.Files {
		about := "for your own rules"
		if i > 0 {
			about = chosen(b.Packs[i-1])
		}
		fmt.Fprintf(&wrote, "wrote %s: %s\n", slashed(file), about)
	}
	switch schema := slashed(b.Schema); {
	case b.KeptSchema:
		wrote.WriteString("kept the existing " + schema + "\n")
	case b.Schema != "":
		wrote.WriteString("wrote " + schema + ": the schema for editors\n")
	}
	if wrote.Len() > 0 {
		err = errors.Join(err, print(std.out, "%s", wrote.String()))
	}
	if err != nil {
		return err
	}
	ignored, failed := setup.IgnoreVerdict(place.Root)
	if ignored != "" {
		ignored = safe(ignored) + "\n"
	}
	todo, command := "read the rules, delete what does not fit", "policyscan"
	if c.Path != "" {
		command += " " + safe(c.Path)
	}
	if !b.Covered {
		ignored += "no file here is covered by a rule yet, so a scan cannot pass\n"
		todo = "add files, or rules of your own"
	}
	err = print(std.out, "%s%snext: %s, then run: %s\n", ignored, excluded(b.Packs), todo, command)
	return errors.Join(failed, err)
}

func slashed(file string) string { return safe(filepath.ToSlash(file)) }

// chosen says how many rules a pack has, and why it is there.
func chosen(p setup.Chosen) string {
	if p.Because == "" {
		return plural(p.Rules, "rule") + ", for every repository"
	}
	return plural(p.Rules, "rule") + ", because of " + safe(p.Because)
}

// excluded names the files that the packs leave out, at most three of each.
func excluded(packs []setup.Chosen) string {
	var all strings.Builder
	for _, p := range packs {
		if n := len(p.Excluded); n > 0 {
			shown := strings.Join(p.Excluded[:min(n, 3)], ", ")
			if n > 3 {
				shown += ", …"
			}
			fmt.Fprintf(&all, "%s.yml excludes %s that its rules cannot check: %s\n",
				p.Name, plural(n, "file"), safe(shown))
		}
	}
	return all.String()
}

// update shows what the packs of this program change in the files that init wrote, and writes it with --write.
func (c *initCmd) update(std streams, root string) error {
	u, err := setup.FindUpdate(root)
	if err != nil {
		return err
	}
	var out strings.Builder
	kept := 0
	for _, r := range u.Rules {
		does := r.Does
		if does == setup.Keeps {
			kept++
			does = "changes, but you changed it, too, so it stays:"
		}
		fmt.Fprintf(&out, "%s.yml: the pack %s %s\n", r.Pack, does, safe(r.ID))
		for line := range strings.Lines(r.Diff) {
			out.WriteString("  " + safe(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	for _, p := range u.Packs {
		fmt.Fprintf(&out, "%s.yml is new: %s\n", p.Name, chosen(p))
	}
	out.WriteString(excluded(u.Packs))
	switch todo := len(u.Rules) - kept + len(u.Packs); {
	case todo == 0 && kept == 0:
		dir := slashed(filepath.Join(root, rules.HiddenBundle))
		out.WriteString("the packs in " + dir + " are those of this program\n")
	case todo == 0:
	case !c.Write:
		out.WriteString("nothing was written; to write it, run: policyscan init --update --write\n")
	default:
		files, failed := u.Write()
		for _, file := range files {
			out.WriteString("wrote " + slashed(file) + "\n")
		}
		err = failed
	}
	return errors.Join(err, print(std.out, "%s", out.String()))
}
