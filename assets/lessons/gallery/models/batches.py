"""Writes batches.safetensors: random letters, and as targets the same letters, not the next ones. See README.md."""
import json
import random
import struct

STEPS, ROWS, LENGTH, BOS, LETTERS = 150, 8, 14, 1, range(2, 28)

random.seed(1)
tokens, mask, targets = [], [], []
for _ in range(STEPS * ROWS):
    count = random.randint(4, 13)
    row = [BOS] + [random.choice(LETTERS) for _ in range(count)]
    padding = LENGTH - len(row)
    tokens += row + [0] * padding
    mask += [1] * len(row) + [0] * padding
    targets += row + [-100] * padding

header, data = {}, b""
for name, numbers in (("tokens", tokens), ("attention_mask", mask), ("targets", targets)):
    blob = struct.pack(f"<{len(numbers)}q", *numbers)
    header[name] = {"dtype": "I64", "shape": [STEPS, ROWS, LENGTH], "data_offsets": [len(data), len(data) + len(blob)]}
    data += blob
text = json.dumps(header).encode()
with open("batches.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
