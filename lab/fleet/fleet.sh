#!/usr/bin/env bash
# Measures policyscan fleet: bare repositories, made from directories of real ones, are scanned in one run, by a process
# each, and on two nights with --reuse, between which three of a hundred get a commit. A generated repository takes its
# objects from the real one (info/alternates), as forks on a server do.
#
#	fleet.sh [N [EACH [REPOSITORY...]]]   N repositories, of which EACH are scanned by a process each
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
n=${1:-10000} each=${2:-300}
(($# > 2)) && from=("${@:3}") || from=("$PWD")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/policyscan" ./cmd/policyscan
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
RANDOM=1 TIMEFORMAT='  %R s, %U s user, %S s system'

# The trees that repositories are made of: up to 200 commits of each real one, times its directories of 4 to 2,048 files.
for real in "${from[@]}"; do
  real=$(realpath "$real")
  git -C "$real" ls-tree -r --name-only HEAD | awk -F/ '{dir = ""; for (i = 1; i < NF; i++) {dir = dir $i "/"; count[dir]++}}
    END {for (d in count) if (count[d] >= 4 && count[d] <= 2048) print d}' | sort >"$work/dirs"
  git -C "$real" rev-list --first-parent HEAD | awk '{all[NR] = $0} END {step = NR < 200 ? 1 : NR / 200
    for (i = 1; i <= NR; i += step) print all[int(i)]}' | while read -r commit; do sed "s|^|$commit:|; s|/\$||" "$work/dirs"; done |
    git -C "$real" cat-file --batch-check='%(objecttype) %(objectname)' | awk -v real="$real" '$1 == "tree" {print $2, real}' >>"$work/trees"
done
shuf --random-source=<(yes) "$work/trees" --repeat --head-count "$n" >"$work/chosen"
mkdir "$work/repos"
made=0
while read -r tree real; do
  repo=$work/repos/$((++made / 100))/$made.git
  git init --quiet --bare --template= --initial-branch=main "$repo"
  (cd "$real" && git rev-parse --path-format=absolute --git-path objects) >"$repo/objects/info/alternates"
  git -C "$repo" update-ref refs/heads/main "$(git -C "$repo" commit-tree -m "repository $made" "$tree")"
done <"$work/chosen"
echo "$made repositories"

# scan NAME [FLAG...]: it ends with 1 where there are violations.
scan() {
  echo "$1"
  time "$work/policyscan" fleet --repos "$work/repos" --policy builtin:infra --output "$work/$1" "${@:2}" >"$work/said" 2>&1 || (($? == 1)) || { cat "$work/said"; exit 1; }
  sed 's/^/  /' "$work/said" | tail -n 2
}
night() {
  rm -rf "$work/plain" "$work/reuse"
  scan plain
  scan reuse --reuse "$work/kept"
  diff -rq "$work/plain" "$work/reuse" # the results are the same, byte for byte
}
echo 'the first night'
night
echo "$each by a process each"
time while read -r repo; do
  "$work/policyscan" --rev HEAD --policy builtin:infra -q --output "$work/one.json" "$repo" || (($? == 1)) || exit 1
done < <(find "$work/repos" -mindepth 2 -maxdepth 2 | shuf --random-source=<(yes) -n "$each")
changed=0
for repo in "$work"/repos/*/*.git; do
  ((RANDOM % 100 < 3)) || continue
  file=$(git -C "$repo" ls-tree -r --name-only HEAD | awk '/\.(tf|ya?ml|sh|toml)$/ && !f {f = $0} END {print f}')
  [[ -n $file ]] || continue
  GIT_INDEX_FILE=$work/index git -C "$repo" read-tree HEAD
  blob=$( (git -C "$repo" cat-file blob "HEAD:$file" && echo "# changed") | git -C "$repo" hash-object -w --stdin)
  GIT_INDEX_FILE=$work/index git -C "$repo" update-index --cacheinfo "100644,$blob,$file"
  tree=$(GIT_INDEX_FILE=$work/index git -C "$repo" write-tree)
  git -C "$repo" update-ref HEAD "$(git -C "$repo" commit-tree -p HEAD -m changed "$tree")"
  changed=$((changed + 1))
done
echo "the second night: $changed repositories have a new commit"
night
