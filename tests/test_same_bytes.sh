#!/bin/sh
# Fails where the same export is not the same bytes from another process: test_same_bytes.sh PROGRAM
program=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

export_all() {
    mkdir "$folder/$1" || exit 1
    for ending in png svg pdf csv json npy npz safetensors; do
        "$program" export reverse --tensor blocks.1.cross_attn.pattern --head 3 --out "$folder/$1/one.$ending" &&
            "$program" export causal-lm --tensor blocks.0.attn.masked_scores --all-heads --all-layers \
                --out "$folder/$1/all.$ending" || exit 1
    done
    for ending in png svg pdf csv json npz safetensors; do
        "$program" export reverse --norm-curves --out "$folder/$1/curves.$ending" || exit 1
    done
    "$program" report reverse --out "$folder/$1/report.html" || exit 1
}

# Nothing of the process, the day or the place may show.
(export TZ=UTC LC_ALL=C && export_all first) || exit 1
(export TZ=Asia/Tokyo LC_ALL=C.UTF-8 && umask 077 && export_all second) || exit 1
for file in "$folder"/first/*; do
    cmp "$file" "$folder/second/$(basename "$file")" || failed=1
done
exit $failed
