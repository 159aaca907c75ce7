#!/bin/sh
# Plants faults, one at a time, and says which tests notice each: tests/faults/run.sh [FAULT ...]
# A fault is a file beside this one: what is wrong, the source it is planted in, and a script of sed that plants it. All
# happens in a copy of the sources, build/faults/; the tests that are run are those of the fault's room, then, if none of
# them notices, those of the rooms that use it. Ends with 1 if no test notices a fault. Takes some minutes a fault.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$root/build/faults
mkdir -p "$scratch/source"

# The sources as they are now. A file keeps its time if it is the same, so that nothing is built twice.
copy() {
    (cd "$root" && git ls-files --cached --others --exclude-standard) | while IFS= read -r file; do
        cmp -s "$root/$file" "$scratch/source/$file" && continue
        mkdir -p "$(dirname "$scratch/source/$file")"
        cp -p "$root/$file" "$scratch/source/$file" 2>/dev/null || true # one that is deleted, but not in git yet
    done
}

build() {
    cmake --build "$scratch/build" --target "$@" >"$scratch/log" 2>&1 || {
        tail -n 30 "$scratch/log" >&2
        return 1
    }
}

# The tests of an executable that fail.
failing() {
    (cd "$scratch/build" && ctest --tests-regex "^$1\\." --parallel "$(nproc)" --timeout 600 2>&1) |
        sed -n 's/^.*Test *#[0-9]*: \([a-z_.0-9]*\) .*\*\*\*.*$/    \1/p' | sort -u
}

copy
[ -f "$scratch/build/build.ninja" ] ||
    cmake -S "$scratch/source" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DDECODERSCOPE_UNITE=ON \
        "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -D_GLIBCXX_ASSERTIONS" >/dev/null
echo "Building without a fault ..."
build test_engine test_app_core

[ $# -gt 0 ] || set -- "$here"/*.fault
unnoticed=0
for fault in "$@"; do
    [ -f "$fault" ] || fault=$here/$fault.fault
    source=$(sed -n 2p "$fault")
    echo "$(basename "$fault" .fault): $(sed -n '1s/^# //p' "$fault")"
    sed 1,2d "$fault" >"$scratch/script"
    sed --in-place --file="$scratch/script" "$scratch/source/$source"
    if cmp -s "$root/$source" "$scratch/source/$source"; then
        echo "    not planted: $source has changed" >&2
        unnoticed=1
        continue
    fi
    case $source in
    engine/*) programs="test_engine test_app_core" ;;
    *) programs="test_app_core" ;;
    esac
    noticed=
    for program in $programs; do
        build "$program"
        noticed=$(failing "$program")
        [ -z "$noticed" ] || break
    done
    if [ -n "$noticed" ]; then
        echo "$noticed"
    else
        echo "    NOT NOTICED"
        unnoticed=1
    fi
    cp "$root/$source" "$scratch/source/$source"
done
exit $unnoticed
