"""Weights as they are stored in fewer bits: packed for a file, and expanded again. See README.md."""

from stored import fp8, mxfp4


def expanded(tensors):
    """A safetensors file's tensors, with those that are stored in fewer bits as float32 under the name they have without."""
    found = {}
    for name, value in tensors.items():
        if name.endswith("_blocks"):
            plain = name.removesuffix("_blocks")
            found[plain] = mxfp4.expand(value, tensors[plain + "_scales"]).swapaxes(1, 2)
        elif name + "_scale_inv" in tensors:
            found[name] = fp8.expand(value.view("u1"), tensors[name + "_scale_inv"])
        elif not name.endswith(("_scales", "_scale_inv")):
            found[name] = value
    return found
