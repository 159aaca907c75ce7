"""Rows of one's own over a recording: the numbers beside PyTorch's, and what the viewer is handed."""

import doctest
import importlib
import json
import unittest
from unittest import mock

import torch

import decoderscope as ds

FORMULAS = {"layers.0.self_attn.sharpness": "softmax.out.max(-1).values",
            "layers.1.self_attn.entropy": "−Σ_k softmax.out[h, q, k] · log(softmax.out[h, q, k])",
            "apart": "(layers.1.self_attn.softmax.out - layers.0.self_attn.softmax.out).abs().sum(-1)"}


def recorded():
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(16, 2, batch_first=True)
    return ds.record(torch.nn.TransformerDecoder(layer, 2).eval(), torch.randn(1, 5, 16), torch.randn(1, 4, 16))


class Rows(unittest.TestCase):
    def setUp(self):
        self.run_ = recorded()

    def test_the_numbers_are_pytorchs(self):
        found = ds.rows(self.run_, FORMULAS)
        first, second = (self.run_[f"layers.{layer}.self_attn/softmax/out"] for layer in (0, 1))
        torch.testing.assert_close(found["layers.0.self_attn.sharpness"], first.max(-1).values)
        torch.testing.assert_close(found["layers.1.self_attn.entropy"], -(second * second.log()).sum(-1))
        torch.testing.assert_close(found["apart"], (second - first).abs().sum(-1))

    def test_what_is_wrong_is_one_sentence_with_its_place(self):
        with self.assertRaisesRegex(ds.Problem, "character 1 of its formula: there is no operand “sofmax.out”"):
            ds.rows(self.run_, {"layers.0.self_attn.row": "sofmax.out + 1"})
        with self.assertRaisesRegex(ds.Problem, "layers.9.self_attn: this model has no such part"):
            ds.rows(self.run_, {"layers.9.self_attn.row": "softmax.out"})
        with mock.patch.dict("os.environ", PATH="/nowhere"), self.assertRaisesRegex(ds.Problem, "expected the desktop program"):
            ds.rows(self.run_, FORMULAS)

    def test_the_viewer_is_handed_them_as_a_sessions_edits(self):
        viewer = importlib.import_module("decoderscope.viewer")  # the name in the package is a function
        content = viewer._Content(self.run_, (), {}, None, None, None, FORMULAS)
        session = json.loads(content.files["notes.dscope"])
        self.assertEqual(session["model"], {"path": self.run_.name, "trace": True})
        self.assertEqual(session["edits"][0], {"edit": "row", "name": "sharpness", "of": "layers.0.self_attn",
                                               "formula": FORMULAS["layers.0.self_attn.sharpness"]})
        self.assertEqual(session["edits"][2]["name"], "apart")
        self.assertNotIn("of", session["edits"][2])

    def test_the_example_in_its_documentation_holds(self):
        done = doctest.testmod(importlib.import_module("decoderscope.rows"))
        self.assertGreater(done.attempted, 0)
        self.assertEqual(done.failed, 0)


if __name__ == "__main__":
    unittest.main()
