"""Writes and reads GGUF files, version 3: metadata, the tensors' names, shapes and types, and their bytes."""

import struct

from stored import ggml_types

ALIGNMENT = 32
# The numbers of metadata's types.
FORMATS = {"uint8": (0, "<B"), "int8": (1, "<b"), "uint16": (2, "<H"), "int16": (3, "<h"), "uint32": (4, "<I"),
           "int32": (5, "<i"), "float32": (6, "<f"), "bool": (7, "<?"), "uint64": (10, "<Q"), "int64": (11, "<q"),
           "float64": (12, "<d")}
STRING, ARRAY = 8, 9
BY_NUMBER = {number: (name, form) for name, (number, form) in FORMATS.items()}


def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def kind_of(value):
    """Integers are uint32 and floats float32, as model files have them; (type, value) says another."""
    if isinstance(value, tuple):
        return value
    return {bool: "bool", int: "uint32", float: "float32", str: "string", list: "array"}[type(value)], value


def encoded(value):
    """A metadata value behind its type."""
    kind, value = kind_of(value)
    if kind == "string":
        return struct.pack("<I", STRING) + text(value)
    if kind == "array" or isinstance(value, list):
        item = kind if kind != "array" else kind_of(value[0])[0]
        number = STRING if item == "string" else FORMATS[item][0]
        items = b"".join(text(v) if item == "string" else struct.pack(FORMATS[item][1], v) for v in value)
        return struct.pack("<IIQ", ARRAY, number, len(value)) + items
    number, form = FORMATS[kind]
    return struct.pack("<I", number) + struct.pack(form, value)


def padded(data):
    return data + b"\0" * (-len(data) % ALIGNMENT)


def write(path, metadata, tensors):
    """tensors: name -> (type, float32 array); the file has the innermost axis first."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    out += b"".join(text(key) + encoded(value) for key, value in metadata.items())
    blobs, offset = [], 0
    for name, (kind, value) in tensors.items():
        out += text(name) + struct.pack("<I", value.ndim) + struct.pack(f"<{value.ndim}Q", *value.shape[::-1])
        out += struct.pack("<IQ", ggml_types.TYPES[kind][0], offset)
        blobs.append(padded(ggml_types.pack(kind, value)))
        offset += len(blobs[-1])
    path.write_bytes(padded(out) + b"".join(blobs))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        self.at += struct.calcsize(form)
        return struct.unpack_from(form, self.data, self.at - struct.calcsize(form))[0]

    def string(self):
        length = self.number("<Q")
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def value(self, number):
        if number == STRING:
            return self.string()
        if number == ARRAY:
            item, count = self.number("<I"), self.number("<Q")
            return [self.value(item) for _ in range(count)]
        return self.number(BY_NUMBER[number][1])


def read(path):
    """(metadata, name -> float32 array)"""
    r = Reader(path.read_bytes())
    assert r.data[:4] == b"GGUF"
    r.at = 4
    assert r.number("<I") == 3
    count, keys = r.number("<Q"), r.number("<Q")
    metadata = {r.string(): r.value(r.number("<I")) for _ in range(keys)}
    by_number = {number: name for name, (number, _, _) in ggml_types.TYPES.items()}
    entries = []
    for _ in range(count):
        name = r.string()
        shape = [r.number("<Q") for _ in range(r.number("<I"))][::-1]
        entries.append((name, shape, by_number[r.number("<I")], r.number("<Q")))
    start = r.at + -r.at % metadata.get("general.alignment", ALIGNMENT)
    tensors = {}
    for name, shape, kind, offset in entries:
        _, block, size = ggml_types.TYPES[kind]
        cells = 1
        for axis in shape:
            cells *= axis
        at = start + offset
        tensors[name] = ggml_types.expand(kind, r.data[at:at + cells // block * size], shape)
    return metadata, tensors
