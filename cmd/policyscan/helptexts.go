package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/verdict/report"
)

// helpFiles has what --help says of the program, what it says of a command below its flags, by the name of the
// command's type (hookInstallGit.txt), and in flags.txt what does not fit on the line of a flag.
//
//go:embed help
var helpFiles embed.FS

// expandHelps sets these texts. A flag with help:"@scan_allow" has the paragraph scan_allow of flags.txt. As variables
// of kong they would take twice as long as the rest of the model, at every start: kong expands each variable again for
// each flag.
func expandHelps(k *kong.Kong) error {
	var formats strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&formats, "  %-10s %s\n", f.Name, f.About)
	}
	lists := strings.NewReplacer(
		"{formats}\n", formats.String(),
		"{report formats}", report.Names(),
		"{fleet formats}", report.FleetNames(),
		"{dialects}", strings.Join(dialectNames(), ", "),
	)
	text := func(name string) string {
		content, _ := helpFiles.ReadFile("help/" + name + ".txt") // a command may have none
		return lists.Replace(strings.TrimSuffix(string(content), "\n"))
	}
	flags := map[string]string{}
	for paragraph := range strings.SplitSeq(text("flags"), "\n\n") {
		name, sentences, _ := strings.Cut(paragraph, "\n")
		flags[name] = strings.Join(strings.Fields(sentences), " ")
	}
	k.Model.Help = text("policyscan")
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		switch n := node.(type) {
		case *kong.Node:
			n.Detail = text(strings.TrimSuffix(n.Target.Type().Name(), "Cmd"))
		case *kong.Value:
			if name, named := strings.CutPrefix(n.Help, "@"); named {
				if n.Help = flags[name]; n.Help == "" {
					return fmt.Errorf("there is no text %q for the help of %s", name, n.Name)
				}
			}
		}
		return next(nil)
	})
}
