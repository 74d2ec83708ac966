#!/usr/bin/env bash
# Makes reftable.tar.gz with a git of 2.45 or later, which GIT names: a repository of each hash with a stack of tables,
# small blocks, so that the index has levels, a deleted ref and a linked work tree; and its refs, as git lists them.
set -eu
git=${GIT:-git} out=$(cd "$(dirname "$0")" && pwd)/reftable.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_NOSYSTEM=1 HOME=$work GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a
export GIT_COMMITTER_EMAIL=a@example.com GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'

list() { # the refs of a work tree
	echo "$("$git" symbolic-ref -q HEAD || "$git" rev-parse HEAD) HEAD"
	"$git" for-each-ref --format='%(if)%(symref)%(then)%(symref)%(else)%(objectname)%(end) %(refname)'
}

make() {
	"$git" init -q -b main --template= --object-format="$1" --ref-format=reftable "$work/$1"
	cd "$work/$1"
	"$git" config reftable.blockSize 256
	"$git" config gc.auto 0
	mkdir -p .policyscan/rules d
	printf 'rules:\n  - id: NET\n    title: no open ranges\n    enforcement: {mode: fail}\n    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}\n' >.policyscan/rules/boundaries.yml
	printf 'rules: []\n' >.policyscan/rules/invariants.yml
	echo 'a = 1' >a.tf && echo 'c = 1' >d/c.tf
	"$git" add -A && "$git" commit -qm one
	echo 'a = 2' >a.tf
	"$git" commit -qam two
	"$git" tag -a -m v1 v1
	"$git" update-ref refs/remotes/origin/main HEAD
	"$git" symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
	"$git" switch -qc work
	echo 'b = "0.0.0.0/0"' >b.tf
	"$git" add -A && "$git" commit -qm three
	for i in $(seq 900); do echo "create refs/tags/many/$i HEAD"; done | "$git" update-ref --stdin
	"$git" pack-refs --all
	"$git" update-ref refs/heads/later HEAD~1
	"$git" update-ref -d refs/tags/many/7
	"$git" worktree add -q linked main 2>/dev/null
	for dir in . linked; do
		for name in worktree/here bisect/bad rewritten/onto; do "$git" -C $dir update-ref refs/$name HEAD; done
	done
	(list >../list && cd linked && list >../../linked)
	mv ../list .git/listed && mv ../linked .git/worktrees/linked/listed
	echo 'gitdir: ../.git/worktrees/linked' >linked/.git
	rm -f .git/COMMIT_EDITMSG
}

make sha1
make sha256
cd "$work"
tar --sort=name --mtime=2026-01-01 --owner=0 --group=0 -c sha1 sha256 | gzip -9n >"$out"
