#!/usr/bin/env bash
# Finds or makes the policyscan that the next step of action.yml runs, and names it in the
# output "program", and in the output "rules" where the next checks out INPUT_POLICY_REPOSITORY, which is empty
# without it. It reads INPUT_INSTALL, INPUT_VERSION, INPUT_POLICY_REF and what GitHub's runner sets.
set -euo pipefail

# Print nothing from an input before it is checked.
fail() {
  printf '::error title=policyscan::%s\n' "$1"
  exit 2
}

pattern='^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$'
version=${INPUT_VERSION#v}
[[ -z $version || $version =~ $pattern ]] || fail 'the input version is not a version, such as 1.2.3'
[[ -z $INPUT_POLICY_REPOSITORY || $INPUT_POLICY_REF =~ ^[0-9a-f]{40}$ ]] ||
  fail 'with policy-repository the input policy-ref must be the full hash of a commit, 40 lowercase digits: anything else could be moved; policyscan pin prints it'
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d "$RUNNER_TEMP/policyscan.XXXXXX")
exe=
: "${RUNNER_OS:=}" "${RUNNER_ARCH:=}"
[[ $RUNNER_OS != Windows ]] || exe=.exe
program=$folder/policyscan$exe

sum_of() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

case $INPUT_INSTALL in
build)
  [[ -z $version ]] || fail 'the input version is given, but install: build builds the source of the action itself; choose it by the commit of the action'
  command -v go >/dev/null || fail 'install: build needs Go, and there is none in the PATH'
  # With its own caches: Go does not look again at modules that were unpacked before, and on
  # a runner that stays another job could have changed them. And for this machine, whatever the
  # job builds for.
  (cd "$here/../.." && env -u GOOS -u GOARCH GOMODCACHE="$folder/modules" GOCACHE="$folder/cache" CGO_ENABLED=0 GOFLAGS='-mod=readonly -modcacherw' GOWORK=off \
    go build -trimpath -buildvcs=false -o "$program" ./cmd/policyscan) ||
    fail 'policyscan could not be built'
  rm -rf "$folder/modules" "$folder/cache"
  ;;
release)
  [[ -n $version ]] || fail 'install: release needs the input version, such as 1.2.3'
  case $RUNNER_OS in
  Linux) system=linux ;;
  macOS) system=darwin ;;
  Windows) system=windows ;;
  *) fail 'there is no release for this operating system; use install: build' ;;
  esac
  case $RUNNER_ARCH in
  X64) machine=amd64 ;;
  ARM64) machine=arm64 ;;
  *) fail 'there is no release for this processor; use install: build' ;;
  esac
  want='' archive=''
  while read -r sum name; do
    case $name in
    "policyscan_${version}_${system}_$machine.tar.gz" | "policyscan_${version}_${system}_$machine.zip") want=$sum archive=$name ;;
    esac
  done <"$here/releases.sha256"
  [[ $want =~ ^[0-9a-f]{64}$ ]] || fail "this action has no sum of policyscan $version for $system and $machine, and takes nothing without; use install: build, or a newer commit of the action"
  curl --fail --silent --show-error --location --proto '=https' --proto-redir '=https' --tlsv1.2 --retry 3 --max-time 300 \
    --output "$folder/$archive" "https://github.com/policyscan/policyscan/releases/download/v$version/$archive" ||
    fail "policyscan $version could not be downloaded"
  got=$(sum_of "$folder/$archive")
  [[ $got == "$want" ]] || fail "the download of policyscan $version has the SHA-256 $got, and not $want: it is not what was released, and was not run"
  case $archive in
  *.zip) unzip -p "$folder/$archive" "policyscan$exe" >"$program" ;;
  *) tar -xzOf "$folder/$archive" "policyscan$exe" >"$program" ;;
  esac || fail "policyscan $version could not be unpacked"
  chmod +x "$program"
  ;;
path)
  program=$(type -P policyscan) || fail 'install: path finds no policyscan in the PATH'
  [[ $program == /* || $program =~ ^[A-Za-z]:[/\\] ]] || fail 'the PATH has a relative folder before the one of policyscan: a change could bring the program that checks it'
  says=$("$program" --version) || fail 'the policyscan in the PATH does not run'
  [[ -z $version || $says == "policyscan $version" || $says == "policyscan v$version" ]] ||
    fail "the policyscan in the PATH is not version $version"
  ;;
*) fail 'the input install is none of build, release and path' ;;
esac

printf 'program=%s\n' "$program" >>"$GITHUB_OUTPUT"
# Nobody can guess this name, and have a file there.
[[ -z $INPUT_POLICY_REPOSITORY ]] || printf 'rules=%s\n' "$(basename "$folder")" >>"$GITHUB_OUTPUT"
