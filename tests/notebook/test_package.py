"""The package without a notebook: what is recorded, what fits, what is refused."""

import json
import pathlib
import re
import struct
import tempfile
import unittest

import torch

import decoderscope as ds


def decoder():
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(32, 4, 64, batch_first=True, norm_first=True)
    return torch.nn.TransformerDecoder(layer, 2).eval(), torch.randn(1, 6, 32), torch.randn(1, 5, 32)


class Recorded(unittest.TestCase):
    def setUp(self):
        self.model, self.x, self.memory = decoder()
        self.run_ = ds.record(self.model, self.x, self.memory)

    def test_tensors_are_what_the_model_computes(self):
        with torch.no_grad():
            out = self.model(self.x, self.memory)
        self.assertTrue(torch.equal(self.run_["(model)/out"], out))
        self.assertTrue(torch.equal(self.run_["param/layers.0.linear1.weight"], self.model.layers[0].linear1.weight))

    def test_rows_of_a_pattern_sum_to_1(self):
        self.assertEqual(len(self.run_.patterns()), 4)
        for name in self.run_.patterns():
            self.assertTrue(torch.allclose(self.run_[name].sum(-1), torch.tensor(1.0)))

    def test_a_name_is_found_by_its_ending_and_a_wrong_one_names_what_is_close(self):
        self.assertTrue(torch.equal(self.run_["layers.1.linear2.bias"], self.model.layers[1].linear2.bias))
        self.assertEqual(self.run_.shape("layers.1.linear2/out"), (1, 6, 32))
        with self.assertRaisesRegex(KeyError, "layers.1.linear2/out"):
            self.run_["layers.1.linear2/outt"]

    def test_what_fits_is_whole_and_the_rest_is_named(self):
        kept, left_out = self.run_.within(100_000)
        self.assertLessEqual(len(kept.data), 100_000)
        self.assertEqual(set(kept) | set(left_out), set(self.run_))
        self.assertTrue(left_out and all(name.startswith("param/") for name in left_out))
        for name in kept:
            self.assertTrue(torch.equal(kept[name], self.run_[name]), name)
        self.assertEqual(set(json.loads(kept.metadata["skipped"])), set(left_out))

    def test_a_cut_file_is_refused(self):
        for size in (0, 4, 100, len(self.run_.data) - 1):
            with self.assertRaises(ValueError):
                ds.Recording(self.run_.data[:size])
        with self.assertRaises(ValueError):
            ds.Recording(struct.pack("<Q", 1 << 60) + b"{}")


class Saved(unittest.TestCase):
    def test_the_page_asks_nothing_of_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            ds.save(path, *decoder())
            page = path.read_text()
            self.assertEqual([name.name for name in pathlib.Path(folder).iterdir()], ["page.html"])
        self.assertLess(len(page), 5_000_000)
        self.assertIsNone(re.search(r'(src|href)="?(https?:)?//', page))
        self.assertIn("<table>", page)

    def test_a_file_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ds.Problem, "gone.safetensors"):
            ds.save("page.html", "gone.safetensors")
        self.assertFalse(pathlib.Path("page.html").exists())


if __name__ == "__main__":
    unittest.main()
