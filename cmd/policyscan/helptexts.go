package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/policyscan/policyscan/verdict/report"
)

// helpTexts are the helps of flags and arguments that do not fit on their line: of help:"@scan_allow", scan_allow.
// The part before the _ is the command, or the group of flags that several commands have.
func helpTexts() map[string]string {
	return map[string]string{
		"scan_path": "Folder to scan; paths and globs count from it. " +
			"Default: the root of the repository around the current folder, or the current folder.",
		"scan_policy": "Folder that holds rules/, or builtin:infra. Repeatable: the rules of all are enforced. " +
			"Default: .policyscan in the root, or the root.",
		"scan_rev": "Scan every file of this commit, as committed, in a bare repository, too. " +
			"REV is HEAD, a branch, a tag or a hash.",
		"scan_diff_base": "Scan only what HEAD changes since its merge base with REF, as committed. " +
			"auto: the base that the CI system names.",
		"scan_files_from": "Scan only the files that FILE lists (-: standard input), by lines or NUL-separated.",
		"scan_output": "Where the verdict goes: a file, - for standard output, or none. " +
			"Default: verdict.json in the root of the repository; with PATH, in the current folder.",
		"scan_allow": "Accept what would otherwise be undecided: submodule, lfs-pointer, special-file, " +
			"symlink or symlink=GLOB, encoding, encrypted, empty, partial. Repeatable.",
		"scan_as_of": "Day that counts for allowances with an end, such as 2027-03-01. Default: today in UTC. " +
			"With an earlier one the run is partial.",
		"scan_require_merged": "With --diff-base: do not pass if the head does not contain all commits of the base.",
		"scan_shard": "Look at one part of the tree only, and write a shard file for policyscan merge. " +
			"I is from 0 to N-1; auto: as the CI system says.",
		"scan_rule":    "Enforce only this rule, for debugging: the run is partial. Repeatable.",
		"scan_exclude": "Exclude these paths from every rule, for debugging: the run is partial. Repeatable.",

		"merge_files": "The shard files, each shard once; of a fleet, the folders of its shards, or one around them.",
		"merge_output": "Where the verdict goes: a file, - for standard output, or none. " +
			"Default: verdict.json in the root of the repository around the current folder, or in the current folder.",

		"fleet_repos": "The repositories: a list, one on each line (-: standard input), or a folder that has them, " +
			"at any depth.",
		"fleet_policy": "Folder that holds rules/, or builtin:infra, for all repositories. " +
			"Repeatable: the rules of all are enforced.",
		"fleet_own_policy": "Check each repository with the bundle in it, too, as it is in the commit.",
		"fleet_output": "Folder for the results: fleet.json, and a folder with a verdict.json for each repository. " +
			"none: none are written. Default: policyscan-fleet.",
		"fleet_report": "Write a report of the summary: FORMAT to standard output, or FORMAT=FILE. " +
			"Formats: " + report.FleetNames() + ". Repeatable.",
		"fleet_shard": "Scan only part I of N, from 0 to N-1, of the repositories; merge makes the summary of all. " +
			"auto: the part that the CI system names.",
		"fleet_allow": "Accept what would otherwise be undecided, as of a scan, in every repository. Repeatable.",

		"merge_wait": "Wait until every shard has been written, but no longer than this, such as 2h. " +
			"What is missing then is named, as without the flag.",

		"pin": "The hash that the bundle must have, as validate prints it; of a change, that of the base. " +
			"Once for each --policy, in order; any: that one is not pinned.",
		"reuse": "Of commits: keep the results of files in this folder, and read only content that it has none of.",
		"report": "Write a report: FORMAT to standard output, or FORMAT=FILE. " +
			"Formats: " + report.Names() + ". Repeatable.",
		"bundle_dir": "Folder that holds rules/, or builtin:infra. Default: the bundle that a scan would use.",
		"validate_alive": "Try the rules on their examples and on the tree that the argument names: " +
			"exit status 1 if something in them is dead.",
		"validate_examples_only": "With --alive: try the rules on their examples alone. " +
			"The argument is the bundle's folder.",
		"validate_allow": "With --alive: accept what would otherwise be undecided, as of a scan. Repeatable.",
		"list_for": "Print the rules that look at the file of this path from the root, and the globs that say so. " +
			"What an exclude takes from a rule is printed with the glob that does.",
		"schema_document": "policy: a bundle's rule files; verdict: verdict.json; " +
			"explain: what policyscan explain --json prints; fleet: fleet.json; " +
			"shard: a tree's shard file; fleet-shard: a fleet's.",
		"explain_path":  "The file, named from the current folder; with --stdin, from the root.",
		"explain_as_of": "Day that counts for allowances with an end. Default: today in UTC.",
		"explain_stdin": "Explain standard input, as if it were the content of the file.",
		"explain_rev":   "Explain the file of this commit, with the bundle of the commit.",
		"explain_root": "Folder from which globs count. " +
			"Default: the root of the repository around the current folder, or the current folder.",
		"allow_path": "The folder that the verdict is of, or that is scanned. Default: as of a scan.",
		"allow_from": "Add entries for the violations of this verdict.json (-: standard input), " +
			"of a complete scan of the whole tree.",
		"allow_tighten": "Scan, lower each entry to what is there, remove the empty ones, " +
			"and write from which file occurrences came.",
		"allow_base": "With --tighten: the commit since which files were renamed. " +
			"Default: where HEAD left the default branch, else HEAD.",
		"allow_rev":   "With --tighten: count in the files of this commit, not in those on disk.",
		"allow_allow": "With --tighten: accept what would otherwise be undecided, as of a scan. Repeatable.",
		"allow_due": "List the entries that end within this time, such as 30d, or have ended: " +
			"exit status 1 if any do.",
		"allow_into": "The one of several bundles to write to. Default: the one in this repository.",

		"help_command": "The command, such as scan or hook install git. Default: an overview of all commands.",
		"init_path": "Root of the repository. " +
			"Default: that of the repository around the current folder, or the current folder.",
		"man_date": "Date that the page shows, such as a release's. " +
			"Default: that of the commit, if the build recorded it.",

		"calls": "Call rules: a file, or a folder of .rules files. Repeatable; the strictest wins.",
		"calls_dialect": "Dialect of the call rules, if their file names do not show it: " +
			strings.Join(dialectNames(), ", ") + ".",
		"calls_define": "Value of (env NAME) in clash. A relative PWD counts from the current folder, " +
			"in a hook from the project's root. Repeatable.",

		"eval_policy": "Also check what the calls would write, with the bundle in this folder, or builtin:infra. " +
			"Repeatable.",
		"eval_root": "Folder from which the bundle's globs count. " +
			"Default: for each call the root of the repository around its cwd.",
		"eval_ask_mode": "With tty: ask a person at the terminal about each call that needs one. " +
			"Default: only report that the call needs a person.",
		"test_scenarios": "Calls, and what is expected of them: a line of JSON for each. Repeatable.",
		"test_root": "Folder from which the bundle's globs count for the scenarios. " +
			"Default: for each the root of the repository around its cwd.",

		"hook_policy": "Folder that holds rules/, or builtin:infra, or none. Repeatable. " +
			"Default: the bundle in the root.",
		"hook_root": "Folder from which the bundle's globs count. " +
			"Default: the root of the repository around the agent's project.",
		"hook_send_allow": "Answer allow if a rule allows the call, or a person at the terminal approves it, " +
			"so that the agent does not ask. Default: leave it to the agent.",
		"hook_allow_rule_edits": "Do not ask a person about edits of the rules, of the agent's hooks, " +
			"or of anything else that they depend on.",
		"hook_ask_mode": "How a person is asked: agent, or tty, the terminal. " +
			"Default: agent, but tty where sigmashake's rules ask.",
		"hook_state": "Private folder for what sigmashake's loop guard remembers. " +
			"Default: policyscan/sessions in the user's state folder.",
		"hook_timeout": "Deny the call if it cannot be checked in this time. Default: 8s.",
		"hook_log": "Append each decision to this file, as a line of JSON. " +
			"A call whose decision cannot be written is denied.",
		"hook_log_input": "Also write the texts of the calls, up to 4 KiB of each. " +
			"Default: their lengths and hashes.",
		"hook_serve": "Keep running: a call on each line of standard input, " +
			"an answer on each line of standard output. Rules are reloaded when they change.",
	}
}

// expandHelps puts these texts in the place of their names. As variables of kong they would take twice as long as the
// rest of the model, at every start: kong expands each variable again for each flag.
func expandHelps(k *kong.Kong) error {
	texts := helpTexts()
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if v, ok := node.(*kong.Value); ok {
			if name, named := strings.CutPrefix(v.Help, "@"); named {
				if v.Help = texts[name]; v.Help == "" {
					return fmt.Errorf("there is no text %q for the help of %s", name, v.Name)
				}
			}
		}
		return next(nil)
	})
}
