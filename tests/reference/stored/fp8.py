"""FP8 (OCP 8-bit Floating Point 1.0): E4M3 and E5M2, and DeepSeek's scales for blocks of 128 × 128."""

import numpy as np


def values(exponent_bits, mantissa_bits, bias, finite):
    """What each of the 256 bytes stands for; `finite`: E4M3 has no infinities, and one NaN of each sign."""
    found = []
    for byte in range(256):
        exponent = byte >> mantissa_bits & (1 << exponent_bits) - 1
        fraction = (byte & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
        number = (1 + fraction) * 2.0 ** (exponent - bias) if exponent else fraction * 2.0 ** (1 - bias)
        if exponent == (1 << exponent_bits) - 1:
            if finite:
                number = float("nan") if byte & 7 == 7 else number
            else:
                number = float("nan") if fraction else float("inf")
        found.append(-number if byte & 128 else number)
    return np.array(found, np.float32)


E4M3 = values(4, 3, 7, True)
E5M2 = values(5, 2, 15, False)


STORED = np.int8  # what safetensors_file.py takes for E4M3


def nearest(x, table):
    finite = np.where(np.isfinite(table), table, np.inf)
    return np.abs(x[..., None] - finite).argmin(-1).astype(np.uint8)


def pack(weight, block=(128, 128)):
    """[out, in] -> E4M3 as bytes, and a float32 scale a block, of which the last ones may be cut."""
    rows, columns = (-(-size // side) for size, side in zip(weight.shape, block))
    codes, scales = np.zeros(weight.shape, np.uint8), np.zeros((rows, columns), np.float32)
    for r, c in np.ndindex(rows, columns):
        at = slice(r * block[0], (r + 1) * block[0]), slice(c * block[1], (c + 1) * block[1])
        scales[r, c] = np.abs(weight[at]).max() / 448
        codes[at] = nearest(weight[at] / scales[r, c], E4M3)
    return codes, scales


def expand(codes, scales, block=(128, 128)):
    spread = np.repeat(np.repeat(scales, block[0], 0), block[1], 1)[:codes.shape[0], :codes.shape[1]]
    return E4M3[codes] * spread
