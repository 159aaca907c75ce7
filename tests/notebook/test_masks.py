"""An attention's mask in the words of other programs: the code is run, by PyTorch where it is PyTorch's, and hides what
the program's own mask hides."""

import json
import os
import pathlib
import subprocess
import tempfile
import types
import unittest

import numpy as np
import torch
import torch.nn.functional as F

ATTENTION = "blocks.0.attn"
PADDED = np.array([[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0]])
DOCUMENTS = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 1, 1]])
# What a run is given, and how the table calls it.
CASES = {
    "causal alone": ([], {}),
    "causal and padding": ([], {"attention_mask": PADDED}),
    "window": (["--set", "sliding_window=2"], {}),
    "window and padding": (["--set", "sliding_window=3"], {"attention_mask": PADDED}),
    "documents": ([], {"segments": DOCUMENTS}),
    "all of them": (["--set", "sliding_window=3"], {"attention_mask": PADDED, "segments": DOCUMENTS}),
}


def run(*arguments):
    return subprocess.run(["decoderscope", *arguments], check=True, capture_output=True, text=True).stdout


def save(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        values = np.ascontiguousarray(values, dtype=np.int64)
        header[name] = {"dtype": "I64", "shape": list(values.shape),
                        "data_offsets": [len(data), len(data) + values.nbytes]}
        data += values.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def load(path, name):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8:8 + size])[name]
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[8 + size + begin:8 + size + end], np.float32).reshape(entry["shape"])


def mask_and_words(folder, options, inputs):
    """The program's mask [batch, head, query, key], as true where a key is kept, and the words by API."""
    tokens = {"tokens": np.arange(12).reshape(2, 6) % 9 + 3}
    save(folder / "inputs.safetensors", {**tokens, **inputs})
    given = ["causal-lm", "--inputs", str(folder / "inputs.safetensors"), *options]
    trace = folder / "trace.safetensors"
    run("trace", *given, "--ask", ATTENTION + ".mask", "--out", str(trace))
    words = json.loads(run("mask", *given, "--attention", ATTENTION, "--json"))
    return load(trace, ATTENTION + ".mask") != 0, {one["api"]: one for one in words}


def names_of_code(mask, inputs):
    batch, heads, queries, keys = mask.shape
    return {"torch": torch, "F": F, "B": batch, "H": heads, "L": queries, "S": keys,
            "padding": torch.tensor(inputs.get("attention_mask", np.ones((batch, keys), int))),
            "documents": torch.tensor(inputs.get("segments", np.zeros((batch, keys), int)))}


def executed(words, names):
    code = compile("\n".join(words["code"]), words["api"], "exec")
    exec(code, names)  # the program's own words
    return names


class Words(unittest.TestCase):
    def each(self, api):
        for case, (options, inputs) in CASES.items():
            with self.subTest(case), tempfile.TemporaryDirectory() as folder:
                mask, words = mask_and_words(pathlib.Path(folder), options, inputs)
                self.assertFalse(mask.all() or not mask.any(axis=-1).all())
                yield mask, inputs, words[api]

    def check_weights(self, weights, mask):
        self.assertTrue(np.array_equal(np.broadcast_to(weights.detach().numpy() > 0, mask.shape), mask))

    def test_multihead_attention_gives_weight_to_what_is_kept(self):
        for mask, inputs, words in self.each("torch.nn.MultiheadAttention"):
            batch, heads, queries, _ = mask.shape
            module = torch.nn.MultiheadAttention(8 * heads, heads, batch_first=True)
            x = torch.randn(batch, queries, 8 * heads)

            def attention(q, k, v, **arguments):
                return module(q, k, v, average_attn_weights=False, **arguments)

            weights = []
            names = names_of_code(mask, inputs) | {
                "x": x, "attention": lambda *given, **more: weights.append(attention(*given, **more)[1])}
            executed(words, names)
            self.check_weights(weights[0], mask)
            self.assertEqual((words["kept"], words["hidden"], words["unsaid"]), ("False", "True", ""))

    def test_scores_that_are_filled_or_added_to_give_weight_to_what_is_kept(self):
        for api in ("masked_fill", "scores + bias"):
            for mask, inputs, words in self.each(api):
                names = executed(words, names_of_code(mask, inputs) | {"scores": torch.randn(mask.shape)})
                self.check_weights(names["weights"], mask)

    @unittest.skipUnless(hasattr(F, "scaled_dot_product_attention"), "PyTorch before 2.0")
    def test_scaled_dot_product_attention_gives_weight_to_what_is_kept(self):
        for mask, inputs, words in self.each("F.scaled_dot_product_attention"):
            batch, heads, queries, keys = mask.shape
            outputs = []

            def attention(*given, **more):
                outputs.append(torch.nn.functional.scaled_dot_product_attention(*given, **more))

            q = torch.randn(batch, heads, queries, 8)
            values = torch.eye(keys).expand(batch, heads, keys, keys)
            executed(words, names_of_code(mask, inputs) |
                     {"q": q, "k": q, "v": values, "F": types.SimpleNamespace(scaled_dot_product_attention=attention)})
            self.check_weights(outputs[0], mask)

    def test_masks_of_other_libraries_are_true_where_a_key_is_kept(self):
        # NumPy stands in for what isn't here: the functions have the same names and meaning.
        for api, module in (("jax.nn.dot_product_attention", "jnp"), ("keras.layers.MultiHeadAttention", "np")):
            for mask, inputs, words in self.each(api):
                batch, _, queries, keys = mask.shape
                given = []
                take = types.SimpleNamespace(
                    nn=types.SimpleNamespace(dot_product_attention=lambda *_, **more: given.append(more)))
                names = {module: np, "B": batch, "L": queries, "S": keys, "jax": take, "x": None, "q": None, "k": None,
                         "v": None, "attention": lambda *_, **more: given.append(more),
                         "padding": inputs.get("attention_mask"), "documents": inputs.get("segments")}
                executed(words, names)
                kept = given[0].get("mask", given[0].get("attention_mask", np.ones((queries, keys), bool)))
                if api.startswith("keras") and kept.ndim == 3:
                    kept = kept[:, None]
                if given[0].get("is_causal") or given[0].get("use_causal_mask"):
                    kept = np.logical_and(kept, np.tril(np.ones((queries, keys), bool)))
                if "local_window_size" in given[0]:
                    left, right = given[0]["local_window_size"]
                    apart = np.arange(queries)[:, None] - np.arange(keys)
                    kept = np.logical_and(kept, (apart <= left) & (apart >= -right))
                self.assertTrue(np.array_equal(np.broadcast_to(kept, mask.shape), mask))

    def test_a_function_of_indices_is_true_where_a_key_is_kept(self):
        for mask, inputs, words in self.each("flex_attention"):
            names = {"padding": inputs.get("attention_mask"), "documents": inputs.get("segments")}
            exec(words["code"][0], names)
            kept = [[[[bool(names["keep"](b, h, q, k)) for k in range(mask.shape[3])] for q in range(mask.shape[2])]
                     for h in range(mask.shape[1])] for b in range(mask.shape[0])]
            self.assertTrue(np.array_equal(np.array(kept), mask))

    def test_what_an_api_can_not_say_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            _, words = mask_and_words(pathlib.Path(folder), *CASES["all of them"])
        self.assertEqual(words["flash_attn"]["unsaid"], "padding, documents")
        self.assertEqual(words["transformers: attention_mask"]["unsaid"], "documents")
        self.assertEqual(words["flash_attn"]["code"], ["flash_attn_func(q, k, v, causal=True, window_size=(3 - 1, 0))"])

    def test_a_row_that_sees_no_key_is_what_pytorch_makes_of_it(self):
        hidden = torch.ones(2, 2, dtype=torch.bool)
        hidden[0, 0] = False
        x = torch.randn(1, 2, 8)
        out, weights = torch.nn.MultiheadAttention(8, 1, batch_first=True)(x, x, x, attn_mask=hidden)
        self.assertTrue(torch.isfinite(out[0, 0]).all())
        after_all = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 13)
        if not after_all:
            self.assertTrue(torch.isnan(out[0, 1]).all() and torch.isnan(weights[0, 1]).all())
        scores = torch.full((1, 2), torch.finfo(torch.float32).min) + torch.tensor([[3.0, -2.0]])
        self.assertEqual(scores.softmax(-1).tolist(), [[0.5, 0.5]])


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    unittest.main()
