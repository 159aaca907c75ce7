#!/bin/sh
# Builds the program and runs its tests: ./test.sh [PRESET ...], by default release and asan. Installs the packages that it
# needs.
set -eu
cd "$(dirname "$0")"
. scripts/packages.sh
install_missing

[ $# -eq 0 ] && set -- release asan
for preset in "$@"; do
    echo "== $preset"
    quietly cmake --preset "$preset"
    quietly cmake --build --preset "$preset"
    ctest --preset "$preset" --parallel "$(nproc)"
done
