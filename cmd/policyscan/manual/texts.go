// Package manual is what the program says of itself: the texts of --help that are also in the
// manual page, the page, and the completion scripts of the shells.
//
// The page and the scripts are made from kong's model of the command line, so that no flag or
// command is missing from them. They depend on nothing else: no variable of the environment
// and no clock. A hidden command is in the page, and in no script.
package manual

import "strings"

const (
	headline = `Check a repository's files against a team's rules.`

	promise = `A rule says what files must not contain, or must, and which files must not be
there, or must. policyscan reads every file that a rule selects, to its last
byte, and writes verdict.json. It passes only if it did all of this: what it
could not read or decide is never a pass.`

	environmentRule = `A flag can be set by an environment variable, such as --max-file-bytes by
POLICYSCAN_MAX_FILE_BYTES, except --help, --version and, of an agent's hook,
--serve and --timeout. A flag on the command line wins.`
)

// Description is what --help says of the program.
const Description = headline + `

  policyscan [PATH] [flags]             scan (policyscan scan --help has the flags)
  policyscan                            the repository around this folder
  policyscan --diff-base origin/main    what this branch changes
  policyscan init                       write a first bundle of rules

` + promise + "\n\n" + environmentRule + `

Exit status: 0 PASS; 1 a violation was found; 2 could not decide, or bad usage.`

// meanings are the exit statuses of a scan, and what each of them says.
func meanings() [][2]string {
	return [][2]string{
		{"0", "PASS"},
		{"1", "a violation was found, whatever else went wrong"},
		{"2", "could not decide, bad usage, or an output that could not be written"},
		{"128+n", "ended by the signal n"},
	}
}

// Statuses returns them as one sentence, without the signals, which the shell defines.
func Statuses() string {
	var parts []string
	for _, m := range meanings()[:3] {
		parts = append(parts, m[0]+" "+m[1])
	}
	return "Exit status: " + strings.Join(parts, "; ") + "."
}
