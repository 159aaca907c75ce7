#!/bin/sh
# What ends the program while it writes leaves nothing half-written behind: test_writing.sh PROGRAM
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "$1"
    failed=1
}

# A limit on the length of files, of 20 blocks.
(ulimit -f 20 && exec "$program" trace reverse --out "$work/long.safetensors") 2>"$work.said"
status=$?
said=$(cat "$work.said")
rm -f "$work.said"
[ "$status" -eq 1 ] || fail "beyond the limit on the length of files: status $status, expected 1"
[ "$said" = "decoderscope: $work/long.safetensors: cannot be written: File too large" ] || fail "it said: $said"
[ -z "$(ls -A "$work")" ] || fail "left behind: $(ls -A "$work")"

# A pipe that nobody reads any more: quiet, with the status that a shell gives for SIGPIPE. A training ends at the next
# step that it prints, and not after the last.
{ timeout 60 "$program" train reverse --task reverse --steps 100000000 --lr 0.001 --json --out "$work/model" 2>"$work/said"
    echo $? >"$work/status"; } | head -n 1 >/dev/null
[ "$(cat "$work/status")" -eq 141 ] || fail "with nobody reading: status $(cat "$work/status"), expected 141"
[ ! -s "$work/said" ] || fail "with nobody reading it said: $(cat "$work/said")"
rm "$work/said" "$work/status"
[ -z "$(ls -A "$work")" ] || fail "left behind: $(ls -A "$work")"

# What processes that were killed while writing have left is removed by the next that writes the same; not what one that
# runs is writing, nor what has another name.
sh -c 'exit 0' &
gone=$!
wait $gone
for left in "model.part-$gone-0" "model.part-$$-0" "model.part-other"; do
    mkdir "$work/$left"
    echo half >"$work/$left/model.safetensors"
done
echo half >"$work/trace.safetensors.part-$gone-3"
"$program" train reverse --task reverse --steps 1 --lr 0.001 --out "$work/model" >/dev/null || fail "not trained"
"$program" trace reverse --out "$work/trace.safetensors" >/dev/null || fail "no trace"
there=$(ls -A "$work" | sed "s/-$$-0/-RUNS/" | sort | tr '\n' ' ')
[ "$there" = "model model.part-RUNS model.part-other trace.safetensors " ] || fail "there is: $there"
exit $failed
