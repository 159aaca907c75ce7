"""The random numbers of docs/semantics.md, computed in numpy: hashes of (seed, name, index).

The C++ program computes the same numbers on its own; both must agree to the last bit. That is why the logarithm is
spelled out here, too: every step is one IEEE operation, and numpy's own log may round its last bit differently.
"""

import numpy as np

from config import parameters

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def _mix(z):
    """SplitMix64's output function on an array of uint64, whose products wrap around as they should."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _mix_int(z):
    return int(_mix(np.array([z & MASK], np.uint64))[0])


def _fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    return h


def _unit(bits):
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


def portable_log(x):
    """ln x from additions, products and quotients in a fixed order."""
    m, e = np.frexp(np.asarray(x, np.float64))
    low = m < 0.70710678118654752
    m = np.where(low, m * 2.0, m)
    e = np.where(low, e - 1, e)
    z = (m - 1.0) / (m + 1.0)
    zz = z * z
    total = np.zeros_like(z)
    for k in range(23, 0, -2):
        total = total * zz + 1.0 / k
    return 2.0 * z * total + e * 0.69314718055994530942


class RandomStream:
    def __init__(self, seed, name):
        self.key = _mix_int(_mix_int(seed + GOLDEN) ^ _fnv1a(name))

    def bits(self, index):
        index = np.atleast_1d(np.asarray(index, np.uint64))
        return _mix(np.uint64(self.key) + (index + np.uint64(1)) * np.uint64(GOLDEN))

    def uniform(self, index):
        return _unit(self.bits(index))

    def normal(self, index):
        """Marsaglia's polar method; the numbers it turns down are tried again with the next pair."""
        key = self.bits(index)
        result = np.empty(len(key))
        open_ = np.arange(len(key))
        attempt = 0
        while len(open_):
            u, v = (2.0 * _unit(_mix(key[open_] + np.uint64((2 * attempt + n) * GOLDEN & MASK))) - 1.0 for n in (1, 2))
            s = u * u + v * v
            ok = (s > 0.0) & (s < 1.0)
            u, s = u[ok], s[ok]
            result[open_[ok]] = u * np.sqrt(-2.0 * portable_log(s) / s)
            open_ = open_[~ok]
            attempt += 1
        return result


def uniforms(seed, name, shape):
    """float64 numbers in [0, 1) for a tensor's elements in row-major order."""
    return RandomStream(seed, name).uniform(np.arange(np.prod(shape, dtype=int))).reshape(shape)


def normals(seed, name, shape):
    return RandomStream(seed, name).normal(np.arange(np.prod(shape, dtype=int))).reshape(shape)


def integers(seed, name, shape, bound):
    """Whole numbers 0 … bound − 1, as int64."""
    return np.floor(uniforms(seed, name, shape) * bound).astype(np.int64)


def dropout_mask(seed, name, shape, p):
    """What a dropout site multiplies by: 0 with probability p, else 1/(1 − p). p = 1 leaves nothing."""
    kept = np.float32(1.0 / (1.0 - p)) if p < 1.0 else np.float32(0.0)
    return np.where(uniforms(seed, name, shape) < p, np.float32(0.0), kept)


def initial_weights(config, seed):
    """Every parameter of a configuration as PyTorch would initialise it, by canonical name."""
    weights = {}
    for name, shape, kind, fan_in in parameters(config):
        if kind == "linear":
            value = (2.0 * uniforms(seed, name, shape) - 1.0) * (1.0 / np.sqrt(np.float64(fan_in)))
        elif kind == "embedding":
            value = normals(seed, name, shape)
        else:
            value = np.full(shape, 1.0 if kind == "gain" else 0.0)
        weights[name] = value.astype(np.float32)
    return weights


def perturbed_weights(config, seed):
    """Weights for the small fixtures: somewhat larger, so that attention is not flat; norms that are not 1 and 0."""
    weights = {}
    for name, shape, kind, fan_in in parameters(config):
        spread = 2.0 * uniforms(seed, name, shape) - 1.0
        if kind == "linear":
            value = 1.5 * spread / np.sqrt(np.float64(fan_in))
        elif kind == "embedding":
            value = normals(seed, name, shape)
        else:
            value = (1.0 if kind == "gain" else 0.0) + 0.3 * spread
        weights[name] = value.astype(np.float32)
    return weights
