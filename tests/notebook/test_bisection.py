"""Where two decoders part, as a result; with the desktop program, which is on the PATH, and without it."""

import contextlib
import io
import os
import pathlib
import sys
import unittest
from unittest import mock

import torch

import decoderscope as ds

root = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(root / "assets" / "recorder"), str(root / "tests" / "reference" / "bugs")]
import tutorial  # noqa: E402: it imports the recorder, as a person's script does

LINE = "weights = torch.softmax(scores.masked_fill(future, -1e9), dim=-1)"


def story_teller():
    torch.manual_seed(0)
    return tutorial.StoryTeller().eval()


def recorded(fixed):
    tutorial.FIXED = fixed
    return ds.record(story_teller(), torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]]))


class Bisected(unittest.TestCase):
    def setUp(self):
        self.wrong, self.right = recorded(False), recorded(True)

    def check_found(self, result, first):
        self.assertFalse(result.ok or bool(result))
        self.assertEqual(result.first, "layers.0.attention/masked_fill/" + first)
        self.assertEqual(result.cell[-1] - result.cell[-2], 1)  # a query sees the next key
        self.assertRegex(result.line, r"tutorial\.py:\d+: ")
        self.assertTrue(result.line.endswith(LINE), result.line)  # also where the wrong mask is read
        self.assertIn(result.line, result.text)

    def test_the_first_difference_has_its_line_and_its_cause(self):
        result = ds.bisect(self.wrong, self.right)
        self.check_found(result, "out")
        self.assertEqual(result.step, "blocks.0.attn.masked_scores")
        self.assertTrue(result.causes[0].startswith("causal-one-too-far: "), result.causes)

    def test_without_the_program_tensors_of_one_name_are_compared_and_that_is_said(self):
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            result = ds.bisect(self.wrong, self.right)
            same = ds.bisect(self.right, self.right)
        self.check_found(result, "in.mask")
        self.assertEqual(result.causes, [])
        self.assertIn("the desktop program isn't installed", result.text)
        self.assertTrue(same.ok)
        self.assertIn("tensors agree", same.text)

    def test_what_agrees_agrees(self):
        result = ds.bisect(self.right, self.right)
        self.assertTrue(result.ok, result.text)
        self.assertIsNone(result.first)
        ds.assert_same(self.right, self.right)

    def test_a_tolerance_that_is_large_enough_hides_it(self):
        self.assertTrue(ds.bisect(self.right, self.right, tolerance=0.5).ok)

    def test_a_failing_test_says_where(self):
        with self.assertRaisesRegex(AssertionError, r"tutorial\.py:\d+: weights = torch\.softmax"):
            ds.assert_same(self.wrong, self.right)

    def test_infinities_and_nan_are_equal_to_themselves_alone(self):
        values = torch.tensor([[float("nan"), float("inf"), 1.0]])
        run = ds.record(torch.nn.Identity(), values)
        other = ds.record(torch.nn.Identity(), torch.tensor([[float("nan"), float("inf"), 2.0]]))
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            self.assertTrue(ds.bisect(run, run).ok)
            self.assertEqual(ds.bisect(run, other).cell, [0, 2])
            self.assertEqual(ds.bisect(run, ds.record(torch.nn.Identity(), torch.zeros(1, 3))).cell, [0, 0])


class TiedTeller(tutorial.StoryTeller):
    def __init__(self):
        super().__init__()
        self.to_logits.weight = self.token_embedding.weight


class Tied(unittest.TestCase):
    def test_the_gradient_of_a_tied_weight_is_the_sum_of_both_uses(self):
        tutorial.FIXED = True
        torch.manual_seed(0)
        run = ds.record(TiedTeller().eval(), torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]]), gradients=True)
        self.assertNotIn("grad.to_logits.weight", list(run))
        result = ds.bisect(run, run)
        self.assertTrue(result.ok, result.text)


class OutsideOfANotebook(unittest.TestCase):
    def test_compare_prints_what_was_found_and_opens_nothing(self):
        said, right = io.StringIO(), recorded(True)
        found = ds.bisect(right, right)
        with mock.patch("subprocess.Popen") as started, mock.patch("webbrowser.open") as opened, \
                mock.patch.object(sys.modules["decoderscope.viewer"], "bisect", return_value=found), \
                contextlib.redirect_stdout(said):
            view = ds.compare(right, right)
        started.assert_not_called()
        opened.assert_not_called()
        self.assertTrue(view.result.ok)
        self.assertEqual(said.getvalue(), view.result.text)

    def test_show_without_a_display_says_so(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("DISPLAY", None)
            os.environ.pop("WAYLAND_DISPLAY", None)
            with self.assertRaisesRegex(ds.Problem, "no display"):
                ds.show(recorded(True))


if __name__ == "__main__":
    unittest.main()
