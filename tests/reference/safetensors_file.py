"""Reads and writes files in the safetensors format: an 8-byte header length, a JSON header, the numbers.

The order of the tensors is kept both ways, in the header and in the data, because the order of a trace means something.
"""

import json
import struct

import numpy as np

# numpy has neither bfloat16 nor numbers of 8 bits: their bits come as 16-bit numbers, as signed bytes, and as plain bytes.
DTYPES = {"F32": np.dtype("<f4"), "I64": np.dtype("<i8"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2"),
          "BOOL": np.dtype("?"), "U8": np.dtype("u1"), "F8_E4M3": np.dtype("i1"), "F8_E5M2": np.dtype("V1")}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def save(path, tensors):
    header, blobs, offset = {}, [], 0
    for name, array in tensors.items():
        blob = np.ascontiguousarray(array).tobytes()
        span = [offset, offset + len(blob)]
        header[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": span}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers start at a multiple of 8
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[start + begin:start + end], DTYPES[entry["dtype"]])
            tensors[name] = array.reshape(entry["shape"]).copy()
    return tensors
