#!/bin/sh
# Runs the fuzzers that are built, one after the other: run.sh SECONDS [FUZZER ...], by default all. Each starts from its
# seeds and from its earlier finds, which are kept in build/asan/found. An input that stops a fuzzer is written there as
# crash-*, timeout-* or oom-*; `build/asan/tests/fuzz/fuzz_NAME FILE` reproduces it.
set -eu
cd "$(dirname "$0")/../.."
seconds=$1
shift
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)

# A reader uses at most a few hundred times the memory of its input, and never takes long.
limits="-max_len=16384 -timeout=240 -rss_limit_mb=2048 -malloc_limit_mb=256"
for name in "$@"; do
    found=build/asan/found/$name
    mkdir -p "$found"
    echo "== $name, $seconds s"
    # shellcheck disable=SC2086 # the limits are words
    if ! build/asan/tests/fuzz/fuzz_$name $limits -max_total_time="$seconds" -print_final_stats=1 \
        -artifact_prefix="build/asan/found/$name-" "$found" "tests/fuzz/corpus/$name" >"$found.log" 2>&1; then
        tail -n 60 "$found.log"
        exit 1
    fi
    grep -E 'stat::number_of_executed_units|stat::peak_rss_mb' "$found.log"
done
