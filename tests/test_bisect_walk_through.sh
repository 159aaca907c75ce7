#!/bin/sh
# docs/bisect.md's walk-through with PyTorch: test_bisect_walk_through.sh PROGRAM TUTORIAL
program=$1 tutorial=$2
. "$(dirname "$0")/../scripts/python_with_torch.sh"
if [ -z "$python" ]; then
    echo 'no python3 with torch here'
    exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() {
    printf '%s\n' "$1"
    cat ./*.txt ./*.json
    exit 1
}

"$program" recorder > record.py || fail 'no recorder'
cp "$tutorial" tutorial.py
export OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
$python tutorial.py trace.safetensors || fail 'not recorded'
"$program" open trace.safetensors --list > list.txt || fail 'not opened'
grep -q 'layers.0.attention/softmax/out' list.txt || fail 'the softmax is not in the trace'

# The model is the trace's own: its parameters are in it, and its calls say the heads, the norms and the activation.
bisect() {
    "$program" bisect "$1" --against "$1" --json
}
bisect trace.safetensors > wrong.json 2> wrong.txt
[ $? -eq 1 ] || fail 'the bug was not found'
grep -q '"first": "blocks.0.attn.masked_scores"' wrong.json || fail 'another tensor was found'
sed -n '/"causes"/,/"explains"/p' wrong.json | grep -q '"causal-one-too-far"' || fail 'another cause was found'

$python tutorial.py fixed.safetensors --fixed || fail 'not recorded'
bisect fixed.safetensors > right.json 2> right.txt || fail 'an alarm on the fixed one'
grep -q '"first": null' right.json || fail 'the fixed one differs'

# A program that dies while it records leaves what it wrote.
cat > dies.py <<'PYTHON'
import os
import torch
from record import record
torch.manual_seed(0)
module = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(20)])
with torch.no_grad(), record(module, "dead.safetensors", piece=4000):
    module(torch.ones(4, 16))
    os._exit(9)
PYTHON
$python dies.py
"$program" open dead.safetensors --list > dead.txt || fail 'a dead recording does not open'
grep -q '^5/out' dead.txt || fail 'a dead recording lost what was written'
grep -q 'ended before the recording did' dead.txt || fail 'it does not say that it is not whole'
