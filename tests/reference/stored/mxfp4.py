"""MXFP4 (OCP Microscaling Formats 1.0): 4-bit numbers, two a byte, the first in the lower half; a scale 2^(e − 127) for 32
of them."""

import numpy as np

# A sign, two bits of exponent, one of mantissa.
NUMBERS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def pack(values):
    """[…, in] -> blocks U8 […, in / 32, 16] and scales U8 […, in / 32]: the nearest numbers."""
    rows = values.reshape(*values.shape[:-1], -1, 32)
    largest = np.abs(rows).max(-1)
    power = np.floor(np.log2(np.maximum(largest, 2.0**-100))).astype(int) - 2
    scaled = rows / np.exp2(power)[..., None]
    codes = np.abs(scaled[..., None] - NUMBERS).argmin(-1).astype(np.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4, (power + 127).astype(np.uint8)


def expand(blocks, scales):
    codes = np.stack((blocks & 15, blocks >> 4), -1).reshape(*blocks.shape[:-1], 32)
    values = NUMBERS[codes] * np.exp2(scales.astype(np.float32) - 127)[..., None]
    return values.reshape(*values.shape[:-2], -1).astype(np.float32)
