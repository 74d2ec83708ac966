package manual

import (
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Page returns the manual page in mdoc, the language of manual pages that marks up what
// each word is; see mdoc(7) of mandoc or groff. A zero date is not shown.
func Page(app *kong.Application, version string, date time.Time) string {
	var p manPage
	day := "undated"
	if !date.IsZero() {
		day = date.Format("January 2, 2006")
	}
	p.line(`.\" Written by "policyscan man" from its own --help; do not edit.`)
	p.line(".Dd " + day)
	p.line(".Dt POLICYSCAN 1")
	p.line(".Os policyscan " + roff(version))

	p.line(".Sh NAME")
	p.line(".Nm policyscan")
	p.line(".Nd " + roff(strings.ToLower(headline[:1])+strings.TrimSuffix(headline[1:], ".")))

	p.line(".Sh SYNOPSIS")
	for _, cmd := range app.Children {
		p.line(".Nm policyscan")
		p.synopsis(cmd, cmd == app.DefaultCmd)
	}

	p.line(".Sh DESCRIPTION")
	p.text(promise)
	p.line(".Pp")
	p.text("Without a command, it scans. A bundle is a folder that holds rules/; " +
		"without --policy it is the .policyscan of the root that is scanned, or the root itself. " +
		"A verdict is PASS or FAIL; a run that could not decide is a FAIL.")

	p.line(".Sh COMMANDS")
	p.line(".Bl -tag -width Ds")
	for _, cmd := range app.Children {
		p.item(cmd)
		p.text(cmd.Help)
		if cmd == app.DefaultCmd {
			p.text("Its flags are under OPTIONS.")
		} else {
			p.about(cmd)
			if len(cmd.Flags) > 0 {
				p.flags(cmd.Flags)
			}
		}
	}
	p.line(".El")

	p.line(".Sh OPTIONS")
	p.text("These are the flags of a scan, except for the first two, which every command has:")
	p.flags(slices.Concat(app.Flags, app.DefaultCmd.Flags))

	p.line(".Sh ENVIRONMENT")
	p.text(environmentRule + " A variable that is set but empty counts as not set, " +
		"and a POLICYSCAN_ variable that no flag reads is an error. These are read, too:")
	p.list(".Ev", environmentRead())

	p.line(".Sh FILES")
	p.list(".Pa", [][2]string{
		{".policyscan/", "The bundle of a repository: the folder that holds rules/."},
		{"rules/boundaries.yml", "What must not appear, as boundaries."},
		{"rules/invariants.yml", "What must not appear, or must, as invariants. Optional in a bundle of version 0.2."},
		{"rules/deprecated.yml", "Rules that are no longer enforced. The file is optional."},
		{"rules/*.yml", "More rules, in a bundle of version 0.2."},
		{"verdict.json", "The verdict of the last run, in the root of the repository, or with PATH in the current " +
			"folder; --output names another place. It says FAIL from the start of a scan until its end."},
	})

	p.line(".Sh EXIT STATUS")
	p.text("These are the statuses of a scan; the other commands say what theirs mean:")
	var statuses [][2]string
	for _, m := range meanings() {
		statuses = append(statuses, [2]string{m[0], strings.ToUpper(m[1][:1]) + m[1][1:] + "."})
	}
	p.list(".It", statuses)

	p.line(".Sh EXAMPLES")
	for _, cmd := range app.Children {
		p.examples(cmd.Detail)
	}

	p.line(".Sh SEE ALSO")
	p.text("The manual, which describes bundles, matching, scopes and verdict.json:")
	p.line(".Lk https://github.com/policyscan/policyscan/tree/main/docs")
	return p.b.String()
}

// environmentRead returns the variables that are read and that do not set a flag.
func environmentRead() [][2]string {
	return [][2]string{
		{"GIT_DIR", "The repository; GIT_WORK_TREE is the folder of its files. Git sets them for its hooks."},
		{"GIT_INDEX_FILE", "With --staged: the index that git gave to a hook."},
		{"GIT_OBJECT_DIRECTORY", "With GIT_QUARANTINE_PATH and GIT_DIR: the folder in which git keeps what was " +
			"pushed while a pre-receive hook decides."},
		{"GIT_CONFIG_GLOBAL", "The user's settings of git, instead of those in the home folder and XDG_CONFIG_HOME: " +
			"hook install git looks in them for other hooks. " +
			"GIT_CONFIG_SYSTEM and GIT_CONFIG_NOSYSTEM do the same for the machine's."},
		{"GITHUB_ACTIONS",
			"Not empty: whatever a GitHub Actions runner would take for a command is printed so that it does not."},
		{"NO_COLOR", "Not empty: no colours. TERM=dumb does the same."},
		{"CI", "With --diff-base auto, what GitHub Actions, GitLab, pre-commit and Prow say about the change; " +
			"docs/scopes.md lists the names."},
	}
}
