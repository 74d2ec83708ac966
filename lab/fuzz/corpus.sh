#!/usr/bin/env bash
# Inputs that fuzzing found are in lab/fuzz/corpus, an archive for each package. Seeds that a person wrote, and crashers
# with a name, are in the tests.
#
#	corpus.sh unpack           put the inputs where go test -fuzz finds them; make fuzz does this first
#	corpus.sh keep TARGET...   of Go's own store and of what is kept, keep each input up to 4 KiB that does what no
#	                           smaller one does; a TARGET is DIR:NAME, from the root, such as ./rules/glob:FuzzMatch
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
txtar=golang.org/x/exp/cmd/txtar@v0.0.0-20261113113407-e3970619a1a4
module=github.com/policyscan/policyscan
store=$(go env GOCACHE)/fuzz/$module
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
GOBIN=$scratch go install "$txtar"

unpack() {
  local archive dir
  for archive in "$PWD"/lab/fuzz/corpus/*.txtar; do
    dir=$(sed -n '1s/^Inputs that fuzzing found for the targets in \(.*\): see lab\/fuzz\.$/\1/p' "$archive")
    [[ -n $dir ]] || { echo "$archive does not begin with the name of its directory" >&2; exit 1; }
    mkdir -p "$store/$dir"
    (cd "$store/$dir" && "$scratch/txtar" --extract <"$archive" >/dev/null)
  done
}

# keep DIR NAME
keep() {
  local dir=$1 found=$store/$1/$2 seeds=$1/testdata/fuzz/$2 archive=$PWD/lab/fuzz/corpus/${1//\//_}.txtar in made=
  local kept=$scratch/kept seen=$scratch/seen
  (cd "$([[ $1 == lab/* ]] && echo lab || echo .)" && go test -c -covermode count -coverpkg "$module/$1/..." -o "$scratch/test" "$module/$1")
  rm -rf "$kept" && mkdir -p "$kept" && : >"$seen"
  [[ ! -f $archive ]] || (cd "$kept" && "$scratch/txtar" --extract <"$archive" >/dev/null)
  rm -rf "${kept:?}/$2" && mkdir -p "$kept/$2"
  [[ -d $seeds ]] || { mkdir -p "$seeds" && made=yes; }
  while read -r in; do
    cp "$found/$in" "$seeds/$in" # Go runs an input of testdata/fuzz by its name
    (cd "$1" && "$scratch/test" -test.run "^$2\$/^$in\$" -test.coverprofile "$scratch/profile" >"$scratch/said") || { cat "$scratch/said"; exit 1; }
    rm "$seeds/$in"
    # A statement that did not run before, or twice as often as before.
    if awk -v seen="$seen" 'BEGIN {while ((getline key <seen) > 0) had[key] = 1}
      FNR > 1 && $3 > 0 {key = $1 " " int(log($3) / log(2)); if (!(key in had)) {had[key] = 1; print key >>seen; news = 1}}
      END {exit !news}' "$scratch/profile"; then
      cp "$found/$in" "$kept/$2/$in"
    fi
  done < <(find "$found" -type f -size -9 -printf '%s %f\n' | sort -n | awk '$1 <= 4096 {print $2}')
  [[ -z $made ]] || rmdir -p --ignore-fail-on-non-empty "$seeds"
  # shellcheck disable=SC2046
  (cd "$kept" && echo "Inputs that fuzzing found for the targets in $dir: see lab/fuzz." |
    "$scratch/txtar" $(find . -type f -printf '%P\n' | sort)) >"$scratch/archive"
  mv "$scratch/archive" "$archive"
}

unpack
[[ ${1:-} == keep ]] || exit 0
for target in "${@:2}"; do
  target=${target#"$module/"}
  target=${target#./}
  keep "${target%:*}" "${target##*:}"
done
