#!/bin/sh
# Fails if two builds of the program write different bytes: scripts/same_output.sh OLD NEW, two programs.
# For changes that must not affect what is computed or exported. Compares traces, exports in every format and reports of
# all bundled models, plain, edited, with dropout and with less recorded. Shows the differing lines of text files.
set -u
old=$(realpath "$1") new=$(realpath "$2")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# Some steps of every kind that the model has, by their names in the trace's header.
tensors() {
    head -c 200000 "$1" | tr -d '\0' | grep -aoE '"[a-z_0-9.]+":\{"dtype"' | cut -d'"' -f2 |
        grep -E '^(embed|pos_embed|logits|probs|encoder_out)$|(^|\.)blocks\.0\.(resid_pre|resid_post|ln1\.(scale|normalized)|mlp\.post|(cross_)?attn\.(q|attn_scores|mask|masked_scores|pattern|z))$'
}

# What a program writes about a model, into a folder.
write_all() {
    program=$1 model=$2 to=$3
    mkdir -p "$to"
    cd "$to" || exit 1
    "$program" trace "$model" --out plain.safetensors
    "$program" trace "$model" --set norm_first=true --out pre.safetensors
    "$program" trace "$model" --set norm_first=false --out post.safetensors
    "$program" trace "$model" --dropout-seed 7 --out dropout.safetensors
    "$program" trace "$model" --record patterns --out patterns.safetensors
    echo '[{"edit": "scale_head", "attention": "blocks.0.attn", "head": 0, "factor": 0.0},
        {"edit": "mask", "attention": "blocks.0.attn", "batch": 0, "head": 1, "query": 2, "key": 1, "keep": false}]' >edits.json
    "$program" trace "$model" --edits edits.json --out edited.safetensors
    for tensor in $(tensors plain.safetensors); do
        "$program" export "$model" --tensor "$tensor" --out "$tensor.svg" --with-operands
        for ending in svg png csv npy json; do "$program" export "$model" --tensor "$tensor" --out "$tensor.$ending"; done
    done
    for ending in png svg pdf csv json npy npz safetensors; do
        "$program" export "$model" --tensor blocks.0.attn.pattern --all-heads --all-layers --out "all.$ending"
        "$program" export "$model" --norm-curves --out "curves.$ending"
    done
    "$program" report "$model" --edits edits.json --out report.html
} >said 2>&1

models=$("$old" models | sed 's/ .*//')
differing=0 files=0
for model in $models; do
    mkdir -p "$folder/old/$model" "$folder/new/$model"
    (cd "$folder/old/$model" && write_all "$old" "$model" .)
    (cd "$folder/new/$model" && write_all "$new" "$model" .)
    for file in "$folder/old/$model"/*; do
        name=$(basename "$file") other=$folder/new/$model/$(basename "$file")
        files=$((files + 1))
        cmp -s "$file" "$other" && continue
        differing=$((differing + 1))
        echo "$model: $name differs"
        case $name in said | *.svg | *.html | *.json | *.csv) diff "$file" "$other" | cut -c -200 | head -n 6 ;; esac
    done
done
echo "$files files of $(echo "$models" | wc -w) models compared, $differing differ"
[ "$differing" -eq 0 ]
