#!/bin/sh
# A model's file that is cut short while the program works with it ends the program with one sentence and status 1, and
# leaves nothing half-written: test_cut_file.sh PROGRAM MODEL-FOLDER
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$2" "$work/model"
mkdir "$work/out"
mkfifo "$work/edits"

"$program" trace "$work/model" --edits "$work/edits" --out "$work/out/trace.safetensors" 2>"$work/said" &
running=$!
# This waits until the program opens the edits, which it does when the model is loaded.
exec 3>"$work/edits"
truncate --size 200 "$work/model/model.safetensors"
echo '[]' >&3
exec 3>&-
wait "$running"
status=$?

cat "$work/said"
fail() {
    echo "$1"
    exit 1
}
[ "$status" -eq 1 ] || fail "status $status, expected 1"
[ "$(wc -l <"$work/said")" -eq 1 ] || fail "expected one line"
grep -q "^decoderscope: $work/model/model.safetensors: was truncated" "$work/said" || fail "expected the file's name"
[ -z "$(ls "$work/out")" ] || fail "left behind: $(ls "$work/out")"
