"""A step of a decoder as a function of one's own: judged by the desktop program, which is on the PATH."""

import doctest
import unittest
from unittest import mock

import numpy as np

import decoderscope as ds
from decoderscope import writing


def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis, keepdims=True)


def heads(x, W, bias):
    y = (x @ W.T + bias).reshape(*x.shape[:2], 4, 16)
    return y.transpose(0, 2, 1, 3)


# By exercise: a right function, a wrong one, what the gallery calls it, and a part of what the lesson says.
STEPS = {
    "scores": (lambda query, key: np.einsum("bhid,bhjd->bhij", query, key), lambda query, key: key @ query.swapaxes(-1, -2),
               "query-and-key-swapped", "Rows and columns are exchanged"),
    "scale": (lambda query, key: query @ key.swapaxes(-1, -2) / 4, lambda query, key: query @ key.swapaxes(-1, -2) / 16,
              "scale-without-root", "A sum of d_head products grows"),
    "softmax": (softmax, lambda x: softmax(x, -2), "softmax-over-queries", "each column add up to 1"),
    "z": (lambda pattern, v: pattern @ v, lambda pattern, v: pattern.swapaxes(-1, -2) @ v, "", "the sum runs over queries"),
    "residual": (lambda x, update: x + update, lambda x, update: update, "no-residual-attention", "is lost"),
    "norm": (lambda x, gain, shift, eps: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gain + shift,
             lambda x, gain, shift, eps: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) * gain + shift,
             "unbiased-std", "divides by n − 1"),
    "projection": (heads, lambda x, W: heads(x, W, 0), "no-attention-bias", "whatever the text is"),
    "append": (lambda kept, new: np.concatenate([kept, new], 2), lambda kept, new: np.concatenate([new, kept], 2), "", "stands first"),
}


class Writing(unittest.TestCase):
    def test_each_function_is_judged_as_a_formula_is(self):
        for step, (right, wrong, mistake, said) in STEPS.items():
            with self.subTest(step):
                found = ds.write_it(step, right)
                self.assertTrue(found, found)
                self.assertTrue(repr(found).startswith("Right.\n"))
                found = ds.write_it(step, wrong)
                self.assertFalse(found)
                self.assertEqual(found.mistake, mistake)
                self.assertIn("You get ", found.replies[0])
                self.assertIn(said, found.replies[-1])

    def test_what_a_function_cant_be_given_or_makes_is_said(self):
        with self.assertRaisesRegex(ds.Problem, "asks for q; there are key, query$"):
            ds.write_it("scale", lambda q, key: q)
        with self.assertRaisesRegex(ds.Problem, r"the function makes \[1, 4, 6, 16\]; expected \[1, 4, 6, 6\]"):
            ds.write_it("scale", lambda query, key: query)
        with self.assertRaisesRegex(ds.Problem, "there is no such exercise; expected one of .*write/softmax"):
            ds.write_it("hardmax", softmax)
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(ds.Problem, "on the PATH"):
            ds.write_it("softmax", softmax)

    def test_another_language(self):
        self.assertIn("每一列之和是 1", ds.write_it("softmax", lambda x: softmax(x, -2), language="zh_CN").replies[-1])

    def test_the_examples(self):
        done = doctest.testmod(writing)
        self.assertGreater(done.attempted, 1)
        self.assertEqual(done.failed, 0)


if __name__ == "__main__":
    unittest.main()
