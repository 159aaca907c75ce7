"""Writes batches.safetensors; see README.md.

    python3 batches.py letters    random letters, and as targets the same letters, not the next ones
    python3 batches.py sums       rows of digits, each the sum of the two before it, without its tens
"""
import json
import random
import struct
import sys

BOS, LEFT_OUT = 1, -100


def letters(steps=150, rows=8, length=14):
    batch = {"tokens": [], "attention_mask": [], "targets": []}
    for _ in range(steps * rows):
        count = random.randint(4, 13)
        row = [BOS] + [random.choice(range(2, 28)) for _ in range(count)]
        padding = length - len(row)
        batch["tokens"] += row + [0] * padding
        batch["attention_mask"] += [1] * len(row) + [0] * padding
        batch["targets"] += row + [LEFT_OUT] * padding
    return (steps, rows, length), batch


def sums(steps=1500, rows=16, length=17):
    batch = {"tokens": [], "targets": []}
    for _ in range(steps * rows):
        digits = [random.randrange(10), random.randrange(10)]
        while len(digits) < length - 1:
            digits.append((digits[-1] + digits[-2]) % 10)
        ids = [2 + digit for digit in digits]
        batch["tokens"] += [BOS] + ids
        batch["targets"] += [LEFT_OUT] * 2 + ids[2:] + [LEFT_OUT]  # the first two digits can't be known
    return (steps, rows, length), batch


random.seed(1)
shape, batch = {"letters": letters, "sums": sums}[sys.argv[1]]()
header, data = {}, b""
for name, numbers in batch.items():
    blob = struct.pack(f"<{len(numbers)}q", *numbers)
    header[name] = {"dtype": "I64", "shape": shape, "data_offsets": [len(data), len(data) + len(blob)]}
    data += blob
text = json.dumps(header).encode()
with open("batches.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
