"""A lens fitted to a bundled model: nearer to the output than the logit lens on text that it wasn't fitted on; its solution, and what is refused."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import decoderscope as ds
from decoderscope import lens

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lines():
    """English of the model's letters."""
    words = " ".join(term["meaning"] for term in json.loads((ROOT / "assets" / "glossary.json").read_text())).split()
    plain = ["".join(c for c in word.lower() if c.isascii() and c.isalpha()) for word in words]
    return [" ".join(plain[i:i + 12]) for i in range(0, len(plain), 12)]


class Fitted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        (cls.path / "text.txt").write_text("\n".join(lines()))
        cls.done = subprocess.run([sys.executable, "-m", "decoderscope", "lens", "verses", "--text", str(cls.path / "text.txt"),
                                   "--out", str(cls.path / "lens.safetensors")], capture_output=True, text=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_is_nearer_to_the_output_in_every_layer_on_what_was_held_out(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        held_out = [(line, "") for line in lines()[9::10]]
        found = lens.divergences("verses", held_out, str(self.path / "lens.safetensors"))
        self.assertEqual(list(found), ["embed", "blocks.0", "blocks.1", "blocks.2"])
        for place, (logit, fitted) in found.items():
            self.assertLess(fitted, 0.8 * logit, place)
        self.assertIn(f"blocks.1: {found['blocks.1'][1]:.3g} bits from the output; the logit lens {found['blocks.1'][0]:.3g}\n", self.done.stdout)

    def test_it_is_the_least_squares_solution(self):
        pairs = [(line, "") for line in lines()[:60]]
        fitted = lens.fit("verses", pairs, ridge=0.0)
        streams, last = lens._names("verses", pairs[0])
        run = next(lens._runs("verses", pairs, [streams["blocks.1"], last, lens._MASK]))
        kept = np.diagonal(run[lens._MASK][:, 0], axis1=1, axis2=2) != 0
        x, final = run[streams["blocks.1"]][kept].astype(float), run[last][kept].astype(float)
        solution = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), final, rcond=None)[0]
        ours, theirs = (np.abs(x @ w.T + b - final).mean() for w, b in
                        [(fitted["blocks.1.weight"], fitted["blocks.1.bias"]), (solution[:-1].T, solution[-1])])
        self.assertAlmostEqual(ours, theirs, places=5)
        towards = lens.fit("verses", pairs, ridge=1e9)
        np.testing.assert_allclose(towards["blocks.1.weight"], np.eye(x.shape[1]), atol=1e-4)

    def test_what_is_wrong_is_one_sentence(self):
        def refused(*arguments):
            done = subprocess.run([sys.executable, "-m", "decoderscope", "lens", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            return done.stderr
        few, text = self.path / "few.txt", str(self.path / "text.txt")
        few.write_text("one\n")
        out = ["--out", str(self.path / "not.safetensors")]
        self.assertIn("1 lines, expected at least 10", refused("verses", "--text", str(few), *out))
        self.assertIn("causal-lm has no vocabulary", refused("causal-lm", "--text", text, *out))
        self.assertFalse((self.path / "not.safetensors").exists())
        with self.assertRaisesRegex(ds.Problem, "nowhere"):
            lens.fit("nowhere", [("a", "")])


if __name__ == "__main__":
    unittest.main()
