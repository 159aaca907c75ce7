#!/bin/sh
# Where the system makes no threads, or fewer than the machine has cores, the program does the same without them, and no
# number has other bits: test_few_threads.sh PROGRAM LIBRARY, the library being that of few_threads.cpp.
set -u
program=$1
library=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# train.json: losses; the folder: trained weights. Both by work that is shared out, and by jobs.
for most in 1000 0 1 2 4; do
    THREADS_AT_MOST=$most LD_PRELOAD=$library timeout 120 "$program" train reverse --task reverse --steps 3 --lr 0.001 --json \
        --out "$work/model-$most" >"$work/losses-$most" 2>"$work/said-$most"
    status=$?
    [ "$status" -eq 0 ] || { echo "with $most threads: status $status"; cat "$work/said-$most"; failed=1; }
    cmp "$work/losses-1000" "$work/losses-$most" || failed=1
    cmp "$work/model-1000/model.safetensors" "$work/model-$most/model.safetensors" || failed=1
done
exit $failed
