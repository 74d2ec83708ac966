#!/bin/sh
# Real pushes, 35 of them, to servers of every format that policyscan reads, over file and a transport like ssh: each must
# be accepted or rejected as it should, and what the pushers see is lab/pushes/pushes.txt. Then a push of COMMITS commits
# (10,000), once to a server without the hook and once to one with it.
# GITS has the gits to use, such as "git git-2.55/bin/git"; those before 2.45 write no reftables. UPDATE=1 writes
# pushes.txt again.
set -eu
here=$(cd "$(dirname "$0")" && pwd) root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL="$work/gitconfig" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com POLICYSCAN="$work/policyscan"
printf '[maintenance]\n\tauto = false\n' >"$GIT_CONFIG_GLOBAL"
(cd "$root" && go build -trimpath -o "$POLICYSCAN" ./cmd/policyscan)
# As ssh does, it runs a command line in a shell.
printf '#!/bin/sh\nshift $(($# - 1))\nexec sh -c "$1"\n' >"$work/ssh"
chmod +x "$work/ssh"
failed=0

pushes() { # NAME: with the variables of pushes.sh
	rm -rf "$work/pushes" && mkdir "$work/pushes"
	sh "$root/cmd/policyscan/testdata/pushes.sh" "$work/pushes" all >"$work/seen" 2>&1 || echo "WRONG: it ended" >>"$work/seen"
	sed 's/\b[0-9a-f]\{7\}\b/#######/g' "$work/seen" >"$work/masked"
	if [ "${UPDATE:-}" ]; then cp "$work/masked" "$here/pushes.txt"; fi
	if grep -n WRONG "$work/masked" || ! diff "$here/pushes.txt" "$work/masked"; then
		failed=1
		echo "WRONG $1"
	else
		echo "same  $1, $(grep -c '^\$' "$work/masked") pushes"
	fi
}

for GIT in ${GITS:-git}; do
	export GIT
	version=$("$GIT" version)
	formats=--object-format=sha1,--object-format=sha256
	if "$GIT" init -q --bare --ref-format=reftable "$work/probe" 2>/dev/null; then
		formats=$formats,--ref-format=reftable,"--object-format=sha256 --ref-format=reftable"
	fi
	IFS=,
	for INIT in $formats; do
		IFS=' '
		export INIT
		pushes "$version, $INIT"
	done
	IFS=' '
	export INIT=
	AFTER='$GIT pack-refs --all; $GIT repack -q -a -d -b; $GIT multi-pack-index write 2>/dev/null; $GIT commit-graph write --reachable 2>/dev/null' \
		pushes "$version, refs, objects and commits packed after each push"
	AFTER='test -e ../old.git || mkdir ../old.git; cp -r objects/. ../old.git; rm -rf objects/pack/* objects/??; mkdir -p objects/info; echo "$PWD/../old.git" >objects/info/alternates' \
		pushes "$version, objects in an alternate"
	AFTER=: REMOTE=ssh://server GIT_SSH="$work/ssh" GIT_SSH_VARIANT=simple pushes "$version, ssh"
done

# A push of many commits.
cd "$work" && rm -rf many && mkdir many && cd many
git init -q --bare -b main plain.git && git init -q --bare -b main hooked.git && git init -q -b main work
cd work
mkdir -p .policyscan/rules
printf 'rules:\n  - {id: NET-001, title: no ingress, enforcement: {mode: fail}, match: {files: ["**/*.tf"], forbidden_patterns: ["0.0.0.0/0"]}}\n' \
	>.policyscan/rules/boundaries.yml
printf 'rules: []\n' >.policyscan/rules/invariants.yml
git add -A && git commit -q -m rules
git push -q ../plain.git main && git push -q ../hooked.git main
awk -v n="${COMMITS:-10000}" 'BEGIN {
	srand(1)
	for (k = 0; k < 200; k++) for (i = 0; i < 60; i++) line[k, i] = "x = " int(1e9 * rand())
	for (c = 0; c < n; c++) {
		k = int(200 * rand()); line[k, int(60 * rand())] = "y = " int(1e9 * rand())
		text = ""; for (i = 0; i < 60; i++) text = text line[k, i] "\n"
		printf "commit refs/heads/main\ncommitter a <a@example.com> %d +0000\ndata 1\nc\n", 1900000000 + 60 * c
		if (c == 0) print "from refs/heads/main^0"
		printf "M 100644 inline m%d/f%d.tf\ndata %d\n%s\n", k % 10, k, length(text), text
	}
}' | git fast-import --quiet
"$POLICYSCAN" hook install pre-receive ../hooked.git >/dev/null
if [ -x /usr/bin/time ]; then
	sed -i "s|^exec |exec /usr/bin/time -f 'the hook: %e s, %M KiB' |" ../hooked.git/hooks/pre-receive
fi
for server in plain hooked; do
	begin=$(date +%s%N)
	git push ../$server.git main 2>"$work/seen"
	echo "${COMMITS:-10000} commits, $server: $(($(($(date +%s%N) - begin)) / 1000000)) ms$(sed -n 's/^remote: the hook/; the hook/p' "$work/seen")"
done
exit $failed
