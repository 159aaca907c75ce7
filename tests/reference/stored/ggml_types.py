"""The types of numbers in GGUF files: how a block of bytes is laid out, expanded in numpy, and packed by the plainest rule.

Packing is only for small models of our own; a real quantiser looks for better scales. What is expanded is compared with
blocks.safetensors, which is ggml's.
"""

import numpy as np

from stored import mxfp4

# Number in the file, numbers in a block, bytes of a block.
TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144),
         "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "BF16": (30, 1, 2), "MXFP4": (39, 32, 17)}


def half(blocks, at):
    """[block] -> a float16 of each, at a byte."""
    return blocks[:, at:at + 2].copy().view("<f2").astype(np.float32)


def halves(low_first):
    """Codes of 4 bits: the lower halves of some bytes, then their upper halves."""
    return np.concatenate((low_first & 15, low_first >> 4), -1)


# --- blocks of 32 -----------------------------------------------------------------------------------------------------


def expand_q8_0(b):
    return half(b, 0) * b[:, 2:].view(np.int8).astype(np.float32)


def pack_q8_0(x):
    d = (np.abs(x).max(-1, keepdims=True) / 127).astype("<f2")
    q = np.rint(divided(x, d)).astype(np.int8)
    return np.concatenate((d.view(np.uint8), q.view(np.uint8)), -1)


def expand_q4_0(b):
    return half(b, 0) * (halves(b[:, 2:]).astype(np.float32) - 8)


def pack_q4_0(x):
    largest = np.take_along_axis(x, np.abs(x).argmax(-1)[:, None], -1)
    d = (largest / -8).astype("<f2")
    q = np.clip(np.rint(divided(x, d)) + 8, 0, 15).astype(np.uint8)
    return np.concatenate((d.view(np.uint8), q[:, :16] | q[:, 16:] << 4), -1)


def expand_mxfp4(b):
    """A byte of scale, then as in Q4_0; in a safetensors file neighbours share a byte."""
    return mxfp4.NUMBERS[halves(b[:, 1:])] * np.exp2(b[:, :1].astype(np.float32) - 127)


def pack_mxfp4(x):
    pairs, scales = mxfp4.pack(x)
    codes = np.stack((pairs & 15, pairs >> 4), -1).reshape(len(x), 32)
    return np.concatenate((scales, codes[:, :16] | codes[:, 16:] << 4), -1)


# --- blocks of 256 ----------------------------------------------------------------------------------------------------


def six_bits(s):
    """The eight scales and eight minima of 6 bits that 12 bytes hold: the last four of each lend two bits of the first."""
    first, mins, rest = s[:, 0:4], s[:, 4:8], s[:, 8:12]
    scales = np.concatenate((first & 63, rest & 15 | first >> 6 << 4), -1)
    return scales, np.concatenate((mins & 63, rest >> 4 | mins >> 6 << 4), -1)


def twelve_bytes(scales, mins):
    first = scales[:, :4] | scales[:, 4:] >> 4 << 6
    return np.concatenate((first, mins[:, :4] | mins[:, 4:] >> 4 << 6, scales[:, 4:] & 15 | (mins[:, 4:] & 15) << 4), -1)


def with_minima(b, q):
    """d · scale · q − dmin · min for eight runs of 32."""
    scales, mins = six_bits(b[:, 4:16])
    low, high = half(b, 0) * scales, half(b, 2) * mins
    return (low[..., None] * q.astype(np.float32) - high[..., None]).reshape(len(b), 256)


def runs_of_32(bytes128):
    """128 bytes -> [block, 8, 32]: the lower halves of 32 bytes are a run, their upper halves the next."""
    return halves(bytes128.reshape(-1, 4, 32)).reshape(-1, 8, 32)


def expand_q4_k(b):
    return with_minima(b, runs_of_32(b[:, 16:]))


def expand_q5_k(b):
    fifth = b[:, 16:48, None] >> np.arange(8, dtype=np.uint8) & 1  # [block, 32, 8]: bit n is run n's
    return with_minima(b, runs_of_32(b[:, 48:]) | fifth.swapaxes(1, 2) << 4)


def scaled_with_minima(x, most):
    """What Q4_K and Q5_K store: d, dmin, 12 bytes, and the codes 0 … most of eight runs."""
    runs = x.reshape(-1, 8, 32)
    low = np.minimum(runs.min(-1), 0)
    step = (runs.max(-1) - low) / most
    d, dmin = ((v.max(-1, keepdims=True) / 63).astype("<f2") for v in (step, -low))
    scales, mins = (np.clip(np.rint(divided(v, e)), 0, 63).astype(np.uint8) for v, e in ((step, d), (-low, dmin)))
    whole = d.astype(np.float32) * scales
    q = divided(runs + (dmin.astype(np.float32) * mins)[..., None], whole[..., None])
    header = (d.view(np.uint8), dmin.view(np.uint8), twelve_bytes(scales, mins))
    return header, np.clip(np.rint(q), 0, most).astype(np.uint8)


def nibbles(q):
    """[block, 8, 32] of 4 bits -> 128 bytes"""
    return (q[:, 0::2] | q[:, 1::2] << 4).reshape(len(q), 128)


def pack_q4_k(x):
    header, q = scaled_with_minima(x, 15)
    return np.concatenate((*header, nibbles(q)), -1)


def pack_q5_k(x):
    header, q = scaled_with_minima(x, 31)
    fifth = np.bitwise_or.reduce(q >> 4 << np.arange(8, dtype=np.uint8)[:, None], axis=1)
    return np.concatenate((*header, fifth, nibbles(q & 15)), -1)


def expand_q6_k(b):
    """Two halves of 128 numbers; a half has 64 bytes of lower 4 bits, 32 of upper 2 bits, and 8 scales, one for 16."""
    low, high, scales = b[:, :128].reshape(-1, 2, 64), b[:, 128:192].reshape(-1, 2, 32), b[:, 192:208].view(np.int8)
    four = halves(low).reshape(-1, 2, 4, 32)
    two = (high[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)[:, None]) & 3
    q = (four | two << 4).astype(np.int8) - 32
    scaled = half(b, 208)[:, :, None] * scales.astype(np.float32).reshape(-1, 16, 1)
    return (scaled * q.reshape(-1, 16, 16)).reshape(len(b), 256)


def pack_q6_k(x):
    runs = x.reshape(-1, 16, 16)
    step = np.abs(runs).max(-1) / 31
    d = (step.max(-1, keepdims=True) / 127).astype("<f2")
    scales = np.clip(np.rint(divided(step, d)), 0, 127).astype(np.int8)
    q = np.rint(divided(runs, (d.astype(np.float32) * scales)[..., None]))
    q = (np.clip(q, -32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low = q[:, :, :2] & 15 | (q[:, :, 2:] & 15) << 4
    high = np.bitwise_or.reduce(q >> 4 << np.array([0, 2, 4, 6], np.uint8)[:, None], axis=2)
    return np.concatenate((low.reshape(-1, 128), high.reshape(-1, 64), scales.view(np.uint8), d.view(np.uint8)), -1)


# --- all --------------------------------------------------------------------------------------------------------------


def divided(x, by):
    """0 where the divisor is 0."""
    by = by.astype(np.float32)
    return np.divide(x, by, out=np.zeros_like(x), where=by != 0)


def expand_bf16(b):
    return (b.copy().view("<u2").astype(np.uint32) << 16).view(np.float32)


def pack_bf16(x):
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2").view(np.uint8)


EXPAND = {"F32": lambda b: b.copy().view("<f4"), "F16": lambda b: b.copy().view("<f2").astype(np.float32),
          "BF16": expand_bf16, "Q8_0": expand_q8_0, "Q4_0": expand_q4_0, "MXFP4": expand_mxfp4, "Q4_K": expand_q4_k,
          "Q5_K": expand_q5_k, "Q6_K": expand_q6_k}
PACK = {"F32": lambda x: x.view(np.uint8), "F16": lambda x: x.astype("<f2").view(np.uint8), "BF16": pack_bf16,
        "Q8_0": pack_q8_0, "Q4_0": pack_q4_0, "MXFP4": pack_mxfp4, "Q4_K": pack_q4_k, "Q5_K": pack_q5_k, "Q6_K": pack_q6_k}


def pack(kind, values):
    """float32 […, in] -> bytes; a row is a whole number of blocks."""
    count, size = TYPES[kind][1:]
    assert values.shape[-1] % count == 0, (kind, values.shape)
    blocks = PACK[kind](np.ascontiguousarray(values, np.float32).reshape(-1, count))
    assert blocks.shape[-1] == size and blocks.dtype == np.uint8
    return blocks.tobytes()


def expand(kind, data, shape):
    """Bytes -> float32 of a shape."""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, TYPES[kind][2])
    return EXPAND[kind](blocks).astype(np.float32).reshape(shape)
