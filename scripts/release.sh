#!/bin/sh
# Makes a release of the last commit, tries each part of it on machines that have nothing, and says what it consists of.
#   scripts/release.sh [PART ...]    of: linux page wheel windows; all of them unless given
# Leaves in build/decoderscope-VERSION: the source archive, the Debian package and the portable archive for Linux (part linux),
# the installer and the zip for Windows, the page, the wheel, SHA256SUMS, and decoderscope-VERSION.spdx.json, which lists what
# is inside with its version and licence. A commit's release has the same bytes whenever and wherever it is made: it is compiled
# by the packages of a bare Debian, in a folder of one name, and all times are the commit's.
# Needs root, as scripts/bare.sh does.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/steps.sh
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
release=$root/build/decoderscope-$version
[ $# -gt 0 ] || set -- linux page wheel windows

# Tries what is made in a bare Debian: try_in SUITE WHAT...
try_in() {
    suite=$1
    shift
    step "Trying in a bare $suite: $*"
    "$clone/scripts/bare.sh" --suite "$suite" --in "$release" packaging/release/try.sh "$@"
}

for part in "$@"; do
    case $part in
    linux | windows | page | wheel) ;;
    *) echo "scripts/release.sh [PART ...]: \"$part\" is none of linux, windows, page, wheel" >&2 && exit 2 ;;
    esac
done
rm -rf "$release"
mkdir -p "$release"
# All parts are of one commit, whatever is committed meanwhile.
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git -c safe.directory="$root" clone --quiet --no-hardlinks "$root" "$clone"
"$clone/scripts/bare.sh" --out "$release" packaging/release/build.sh "$@"
for part in "$@"; do
    case $part in
    linux)
        try_in bookworm sources package portable
        try_in trixie portable
        ;;
    *) try_in bookworm "$part" ;;
    esac
done
(cd "$release" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
step "$release:"
cat "$release/SHA256SUMS"
