#!/bin/sh
# Pushes to a server with the hook that policyscan hook install pre-receive writes, and what the pusher sees of each.
# pushes.sh DIR does a dozen in the directory DIR, pushes.sh DIR all does all of them. POLICYSCAN names the program, GIT
# git, and INIT has arguments of git init, such as --object-format=sha256. REMOTE is the transport, file:// unless given,
# and AFTER is run in the server's repository after each push. A push that should be accepted and is not, or the other
# way round, is a line that begins with WRONG.
set -eu
cd "$1"
all=${2:-} date=1800000000
git() { command "${GIT:-git}" "$@"; }
policyscan() { command "${POLICYSCAN:-policyscan}" "$@"; }

# commit adds everything and commits it, each commit a minute after the last.
commit() {
	date=$((date + 60))
	export GIT_AUTHOR_DATE="$date +0000" GIT_COMMITTER_DATE="$date +0000"
	git add -A
	git commit -q --allow-empty -m "$1"
}

# push says what a push is about, whether the server should accept it, and what the pusher sees.
push() {
	should=$1 about=$2
	shift 2
	printf '\n# %s\n$ git push %s\n' "$about" "$*"
	status=0
	git push origin "$@" >../seen 2>&1 || status=$?
	sed 's/ *$//; /^To /d; /^error: failed to push/d' ../seen
	if [ $should$status != yes0 ] && [ $should$status != no1 ]; then
		echo "WRONG: should be accepted: $should; status $status"
	fi
	(cd ../server.git && eval "${AFTER:-}")
}
bad='cidr = "0.0.0.0/0"' good='cidr = "10.0.0.0/8"'

git init -q --bare -b main ${INIT:-} server.git
policyscan hook install pre-receive server.git >/dev/null
git init -q -b main ${INIT:-} work
cd work
git remote add origin "${REMOTE:-file://}$PWD/../server.git"

mkdir -p .policyscan/rules
cat >.policyscan/rules/boundaries.yml <<'.'
rules:
  - id: NET-001
    title: No ingress from anywhere
    remediation: Name the networks that may connect, in the list that the owner of the service keeps.
    enforcement: {mode: fail}
    match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}
.
printf 'rules: []\n' >.policyscan/rules/invariants.yml
echo "$good" >main.tf
commit 'rules and a file'
push yes 'the first push, to an empty repository: it brings its rules' main

echo "$bad" >main.tf
commit 'open it'
push no 'a violation in the tip' main

echo "$good" >main.tf
commit 'close it'
push no 'a violation that a later commit removes again' main

git reset -q --hard HEAD~2
echo "$good" >b.tf
commit 'b'
push yes 'a good commit' main

git checkout -q -b topic
echo "$good" >c.tf
commit 'c'
push yes 'a new branch' topic

push yes 'a new branch that brings no commit' main:refs/heads/release

git tag -a -m v1 v1
push yes 'an annotated tag of a commit that is there' v1

echo "$bad" >d.tf
commit 'd'
git tag -a -m bad bad
git -c advice.nestedTag=false tag -a -m nested nested bad
push no 'a tag that brings a violation' nested
git reset -q --hard HEAD~1

git checkout -q -b other main
echo "$bad" >e.tf
commit 'e'
push no 'several refs, one of them with a violation: none is updated' main:refs/heads/fine other topic:refs/tags/t

git checkout -q topic
echo "$good " >c.tf
git add -A
git commit -q --amend -m 'c again'
push yes 'a forced push' --force topic

git checkout -q -b merging main
echo "$good" >f.tf
commit 'f'
git merge -q --no-ff --no-commit topic 2>/dev/null
echo "$bad" >f.tf
commit 'a merge that none of its parents has'
push no 'a merge with a violation of its own' merging

sed 's/"0.0.0.0.0"/"no such text"/' .policyscan/rules/boundaries.yml >../rules
git checkout -q main
cp ../rules .policyscan/rules/boundaries.yml
echo "$bad" >main.tf
commit 'loosen the rule and break it'
push no 'a violation that comes with a looser rule' main
git reset -q --hard HEAD~1

push yes 'a deletion' :release
[ "$all" ] || exit 0

git checkout -q --orphan alone
git rm -q -r --cached . && rm -f ./*.tf
echo "$bad" >alone.tf
commit 'alone'
push no 'an orphan branch with a violation' alone
echo "$good" >alone.tf
git add -A
git commit -q --amend -m 'alone'
push yes 'an orphan branch' alone

git checkout -q -f main
git tag blob main:main.tf
push no 'a tag of a blob' blob
git tag -a -m tree tree 'main^{tree}'
push no 'a tag of a tree' tree
git -c advice.nestedTag=false tag -a -m 'v1 again' v1again v1
push yes 'a tag of a tag' v1again

git checkout -q -b back main
echo "$good" >g.tf
commit 'g'
push yes 'a branch' back
push yes 'a forced push back to an older commit' --force main:back
git checkout -q back
git merge -q --no-ff -m 'merge topic' topic
push yes 'a merge of what is there' back

git checkout -q -b hidden main
echo "$bad" >h.tf
commit 'h'
git rm -q h.tf
commit 'without h'
git checkout -q main
git merge -q --no-ff -m 'merge hidden' hidden
push no 'a merge of a branch with a violation that it removed again' main
git reset -q --hard HEAD~1

git notes add -m "$bad" main
push yes 'notes, whose paths no rule selects' refs/notes/commits
push no 'a ref that is no branch and no tag' other:refs/for/main
push no 'a deletion and a violation' :topic other

# A commit that came to the server before the hook.
git checkout -q -b old main
echo "$bad" >old.tf
commit 'before the hook'
git push -q --receive-pack='git -c core.hooksPath=/nowhere receive-pack' origin old
echo "$bad
$good" >old.tf
commit 'touch the line below'
push no 'a change of a file that was violated before' old
git reset -q --hard HEAD~1
echo "$good" >new.tf
commit 'touch another file'
push yes 'a change of another file' old
git checkout -q main
git merge -q --no-ff -m 'merge old' old
push no 'a merge of that into the default branch' main
git reset -q --hard HEAD~1

git checkout -q -b hostile main
name=$(printf 'a\033[31m\342\200\256b.tf')
printf 'x = "0.0.0.0/0" # \033[2J\033]0;title\007\n' >"$name"
long=$(printf 'long%.0s' 1 2 3 4 5 6 7 8 9)
mkdir -p "$long/$long"
echo "$bad" >"$long/$long/x.tf"
commit 'hostile'
push no 'escape sequences in a path and in a content, and a long path' hostile

git checkout -q -b wide main
printf '\377\376c\000=\0000\000.\0000\000.\0000\000.\0000\000/\0000\000\n\000' >wide.tf
commit 'UTF-16'
push no 'a violation in UTF-16' wide

git checkout -q main
echo 'rules: nonsense' >.policyscan/rules/boundaries.yml
commit 'break the rules'
push no 'a broken bundle on the default branch' main
git reset -q --hard HEAD~1
git rm -q -r .policyscan
commit 'remove the rules'
push no 'a default branch without its bundle' main
git reset -q --hard HEAD~1

# Deltas to objects that only the server's packs have.
i=0
while [ $i -lt 3000 ]; do i=$((i + 1)); echo "line $i of many"; done >large.tf
commit 'large'
push yes 'a large file' main
git -C ../server.git repack -q -a -d
sed 's/line 1500 of many/line 1500 of many, changed/' large.tf >../large && cp ../large large.tf
commit 'change a line'
push yes 'a pack with a delta to an old object' main
sed 's,line 1700 of many,0.0.0.0/0,' large.tf >../large && cp ../large large.tf
commit 'break a line'
push no 'a violation in a delta to an old object' main
git reset -q --hard HEAD~1
