#!/bin/sh
# Makes a release of the last commit, tries each part of it on machines that have nothing, and says what it consists of.
#   scripts/release.sh [PART ...]    of: linux windows page wheel; all of them unless given
# Leaves in build/decoderscope-VERSION: the source archive, the Debian package and the portable archive for Linux (part linux),
# the installer and the zip for Windows, the page, the wheel, SHA256SUMS, and decoderscope-VERSION.spdx.json, which lists what
# is inside with its version and licence. The part linux has the same bytes whenever and wherever it is made: it is compiled by
# the packages of a bare Debian, in a folder of one name, and all times are the commit's.
# Needs root, as scripts/bare.sh does.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
. scripts/steps.sh
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
release=$root/build/decoderscope-$version
SOURCE_DATE_EPOCH=$(git -c safe.directory="$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
[ $# -gt 0 ] || set -- linux windows page wheel
rm -rf "$release"
mkdir -p "$release"

# Tries what is made in a bare Debian: try_in SUITE WHAT...
try_in() {
    suite=$1
    shift
    step "Trying in a bare $suite: $*"
    scripts/bare.sh --suite "$suite" --in "$release" packaging/release/try.sh "$@"
}

for part in "$@"; do
    case $part in
    linux)
        step "Linux: sources, Debian package, portable archive"
        scripts/bare.sh --out "$release" packaging/release/build.sh
        try_in bookworm sources package portable
        try_in trixie portable
        ;;
    windows)
        scripts/windows.sh
        cp build/windows/decoderscope-"$version"-windows.* "$release/"
        ;;
    page)
        scripts/browser.sh
        tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C build/browser \
            --transform "s,^site,decoderscope-$version-page," -cf - site | gzip -9 --no-name >"$release/decoderscope-$version-page.tar.gz"
        ;;
    wheel)
        scripts/wheel.sh "$release"
        ;;
    *) echo "scripts/release.sh [PART ...]: \"$part\" is none of linux, windows, page, wheel" >&2 && exit 2 ;;
    esac
done
(cd "$release" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
step "$release:"
cat "$release/SHA256SUMS"
