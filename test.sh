#!/bin/sh
# Builds the program and runs its tests: ./test.sh [PRESET ...], by default release, asan, tsan and fuzz. `browser` builds
# and tests the page, which takes as long again. Installs the packages that it needs; without clang nothing is fuzzed.
set -eu
root=$(cd "$(dirname "$0")" && pwd)
cd "$root"
. scripts/packages.sh
install_missing
if command -v dpkg-query >/dev/null; then
    # shellcheck disable=SC2154 # packages.sh sets it
    wish "$format_packages" "the layout of the sources is not checked"
fi

build() {
    echo "== $1"
    quietly cmake --preset "$1"
    quietly cmake --build --preset "$1"
}

# Every fuzzer for this many seconds, as many at once as there are cores.
run_fuzzers() {
    ls tests/fuzz/corpus | xargs -n 1 -P "$(nproc)" tests/fuzz/run.sh "$1"
}

fuzz() {
    build fuzz
    quietly run_fuzzers "$1"
}

if [ $# -eq 0 ]; then
    set -- release asan tsan
    # shellcheck disable=SC2086 # the list is words
    if install $fuzz_packages; then
        set -- "$@" fuzz
    else
        echo "Nothing is fuzzed." >&2
    fi
fi
for preset in "$@"; do
    case $preset in
    fuzz) fuzz 20 ;;
    browser) tests/browser/run.sh ;;
    *)
        build "$preset"
        ctest --preset "$preset" --parallel "$(nproc)"
        ;;
    esac
done
