"""What a failing test says: of a course's ten functions, of a decoder, in pytest's reports; with the desktop program, which is
on the PATH, and without it."""

import doctest
import importlib
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy
import torch

import decoderscope as ds
from decoderscope.testing import Different, read_snapshot, same_decoder, same_tensor

folder = pathlib.Path(__file__).resolve().parent / "assignment"
sys.path.insert(0, str(folder))
import mistakes  # noqa: E402
import solution  # noqa: E402
import test_bisection  # noqa: E402

# By mistake: the function that is wrong, a part of the cause as a student reads it, and of the line that is named.
WRONG = {
    "transposed_weight": ("linear", "It multiplies by “weight[n, m]”, not by “weight[m, n]”.", "torch.matmul(x, weight)"),
    "ids_from_one": ("embedding", "It computes “table[tokens[b, p] − 1, d]”, not “table[tokens[b, p], d]”.", "tokens.reshape(-1) - 1"),
    "sum_of_squares": ("rms_norm", "It adds “Σ_m x[i, j, m]²”, not “mean_m x[i, j, m]²”.", "x.pow(2).sum(-1"),
    "layer_norm": ("rms_norm", "It subtracts the mean, as LayerNorm does.", "x.pow(2).mean(-1"),
    "gate_without_silu": ("swiglu", "It does not multiply by “Σ_m x[i, j, m] · w1[n, m]”.", "torch.einsum"),
    "softmax_over_rows": ("softmax", "It computes “softmax_i(x[i, j, m])”, not “softmax_m(x[i, j, m])”.", "dim=0"),
    "no_scale": ("attention", "It does not divide by “√d_head”.", "torch.matmul(query, key.transpose(-2, -1))"),
    "inverted_mask": ("attention", "It computes “mask[q, k] ≠ 0 ? −1000000000 : scores[b, h, q, k]”", "masked_fill(mask, -1e9)"),
    "rope_of_halves": ("rope", "It turns halves of the columns, not pairs.", "torch.cat"),
    "rope_from_one": ("rope", "It multiplies by “p + 1”, not by “p”.", "torch.stack"),
    "no_causal_mask": ("multihead_self_attention", "It computes “scores[b, h, q, k]”, not “k ≤ q ? scores[b, h, q, k] : −∞”.",
                       "scores = torch.matmul"),
    "summed_loss": ("cross_entropy", "It computes “Σ_{b, p} ", ".sum()"),
}


def without_program():
    return mock.patch.dict(os.environ, PATH="/nowhere")


class Assignment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.snapshots = tempfile.TemporaryDirectory()
        subprocess.run([sys.executable, folder / "make_snapshots.py", cls.snapshots.name], check=True, cwd=folder)
        os.environ["SNAPSHOTS"] = cls.snapshots.name
        import test_assignment
        cls.tests = test_assignment
        test_assignment.SNAPSHOTS = pathlib.Path(cls.snapshots.name)

    @classmethod
    def tearDownClass(cls):
        cls.snapshots.cleanup()
        os.environ.pop("SNAPSHOTS")

    def difference(self, mistake):
        function = WRONG[mistake][0]
        with mock.patch.object(solution, function, getattr(mistakes, mistake)), self.assertRaises(Different) as raised:
            getattr(self.tests, "test_" + function)()
        return raised.exception

    def test_a_right_solution_passes(self):
        tests = [test for name, test in vars(self.tests).items() if name.startswith("test_")]
        self.assertEqual(len(tests), 10)
        for test in tests:
            test()

    def test_each_wrong_solution_is_led_to_its_cause_and_line(self):
        for mistake, (function, cause, line) in WRONG.items():
            with self.subTest(mistake):
                found = self.difference(mistake)
                self.assertTrue(found.causes and found.causes[0].startswith(cause), str(found))
                self.assertIn(line, found.line)
                self.assertRegex(found.line, r"(mistakes|solution)\.py:\d+: ")
                self.assertIn(found.line, str(found))
                self.assertIn(f"{function}.npz", str(found))
                self.assertRegex(str(found), r"Worst cell \[[\d, ]*\]: \S+, expected \S+\.\n  ")

    def test_without_the_program_the_cell_is_named_and_no_cause(self):
        with without_program():
            found = self.difference("no_scale")
        self.assertEqual(found.causes, [])
        self.assertRegex(str(found), r"Worst cell \[1, 1, 4, 4\]: -0\.6642, expected 0\.2447\.\nThe desktop program isn't installed")

    @unittest.skipIf(importlib.util.find_spec("pytest") is None, "pytest isn't installed")
    def test_pytest_writes_pages_points_and_markdown(self):
        with tempfile.TemporaryDirectory() as out:
            (pathlib.Path(out) / "conftest.py").write_text(
                "import mistakes, solution\nsolution.softmax = mistakes.softmax_over_rows\n")
            for name in ("adapters.py", "solution.py", "mistakes.py", "test_assignment.py"):
                (pathlib.Path(out) / name).write_text((folder / name).read_text().replace(
                    "def test_softmax", "import pytest\n\n\n@pytest.mark.points(5)\ndef test_softmax"))
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "decoderscope.plugin", "--gradescope=results.json",
                                   "--decoderscope-pages=pages", "--decoderscope-markdown=summary.md"],
                                  cwd=out, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"mistakes\.py:\d+: return torch\.softmax")
            tests = {test["name"]: test for test in json.loads((pathlib.Path(out) / "results.json").read_text())["tests"]}
            self.assertEqual(len(tests), 10)
            wrong = tests["test_assignment.py::test_softmax"]
            self.assertEqual((wrong["score"], wrong["max_score"], wrong["status"]), (0.0, 5, "failed"))
            self.assertIn("softmax_i", wrong["output"])
            self.assertEqual(sum(test["score"] for test in tests.values()), 9)
            summary = (pathlib.Path(out) / "summary.md").read_text()
            self.assertIn("**9 of 10 tests pass.**", summary)
            self.assertRegex(summary, r"test\\_softmax \| ✗ \| It computes .*softmax.*\| `mistakes\.py:\d+: ")
            pages = list((pathlib.Path(out) / "pages").iterdir())
            self.assertEqual([re.sub(r"\.\w+$", "", page.name) for page in pages], ["test_assignment.py_test_softmax"])


class Decoders(unittest.TestCase):
    def test_a_decoder_that_differs_says_the_step_the_cause_and_how_far_it_agrees(self):
        wrong, right = test_bisection.recorded(False), test_bisection.recorded(True)
        same_decoder(right, right)
        with self.assertRaises(Different) as raised:
            same_decoder(wrong, right)
        found = raised.exception
        self.assertEqual(found.first, "blocks.0.attn.masked_scores")
        self.assertTrue(found.causes[0].startswith("causal-one-too-far"))
        self.assertIn("tutorial.py:", found.line)
        self.assertTrue(0.0 < found.reached < 0.5, found.reached)

    def test_a_snapshot_is_a_reference(self):
        tokens = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]])
        test_bisection.tutorial.FIXED = True
        model = test_bisection.story_teller()
        run = ds.record(model, tokens)
        with tempfile.TemporaryDirectory() as out:
            path = pathlib.Path(out)
            numpy.save(path / "output.npy", run["(model)/out"].numpy())
            torch.save(run["(model)/out"], path / "output.pt")
            numpy.savez(path / "steps.npz", **{name: run[name].numpy() for name in ("(model)/out", "layers.0.attention/softmax/out")})
            for name in ("output.npy", "output.pt", "steps.npz"):
                same_decoder(model, path / name, tokens)
            test_bisection.tutorial.FIXED = False
            with self.assertRaises(Different) as raised:
                same_decoder(test_bisection.story_teller(), path / "steps.npz", tokens)
        self.assertEqual(raised.exception.first, "layers.0.attention/softmax/out")
        self.assertEqual(raised.exception.reached, 0.0)


class Refused(unittest.TestCase):
    def check_problem(self, words, work):
        with self.assertRaises(ds.Problem) as raised:
            work()
        self.assertRegex(str(raised.exception), words)
        self.assertEqual(len(str(raised.exception).splitlines()), 1)

    def test_what_cannot_be_compared_is_a_sentence(self):
        x = torch.ones(2, 3)
        self.check_problem("expected a tensor or a snapshot", lambda: same_tensor(x))
        self.check_problem("“sofmax.x, -1.”: there is no function “sofmax”", lambda: same_tensor(x, of="sofmax(x, -1)", x=x))
        self.check_problem("“x..”: ", lambda: same_tensor(x, of="2 * x", mistakes={"Bad.": "x*("}, x=x))
        self.check_problem("mistakes: “a=b”", lambda: same_tensor(x, of="2 * x", mistakes={"a=b": "x"}, x=x))
        self.check_problem("complex64, expected real numbers", lambda: same_tensor(torch.complex(x, x), x))
        self.check_problem("nowhere.npz: there is no such snapshot", lambda: same_tensor(x, "nowhere.npz"))
        self.check_problem("dict, expected a tensor", lambda: same_tensor({}, x))
        with without_program():
            self.check_problem("isn't installed", lambda: same_tensor(x, of="x", x=x))

    def test_no_code_in_a_snapshot_runs(self):
        with tempfile.TemporaryDirectory() as out:
            ran = pathlib.Path(out) / "ran"

            class Code:
                def __reduce__(self):
                    return pathlib.Path.touch, (ran,)

            torch.save(Code(), pathlib.Path(out) / "code.pt")
            numpy.save(pathlib.Path(out) / "code.npy", numpy.array([Code()], dtype=object), allow_pickle=True)
            (pathlib.Path(out) / "text.npz").write_text("no archive")
            for name in ("code.pt", "code.npy", "text.npz"):
                self.check_problem(name + ": expected", lambda name=name: read_snapshot(pathlib.Path(out) / name))
            self.assertFalse(ran.exists())

    def test_what_is_no_model_is_named(self):
        for work in (lambda: ds.record(3), lambda: ds.show(3), lambda: ds.bisect(3, 4), lambda: same_decoder(3, 4)):
            with self.assertRaisesRegex(TypeError, "^int, expected a torch.nn.Module, a Recording, or the path of one$"):
                work()

    def test_a_page_has_a_pages_name_and_its_size_is_said_before_it_is_written(self):
        x = torch.ones(100, 100)
        with tempfile.TemporaryDirectory() as out:
            self.check_problem("page.pt: save writes a page", lambda: ds.save(out + "/page.pt", torch.nn.Identity(), x))
            self.check_problem(r"page.html: 0\.\d+ MB were recorded, expected at most 0\.001 MB",
                               lambda: ds.save(out + "/page.html", torch.nn.Identity(), x, stored=1000))
            self.assertEqual(os.listdir(out), [])

    def test_what_a_model_computed_before_it_raised_is_kept(self):
        class Broken(torch.nn.Module):
            def forward(self, x):
                return torch.softmax(x, -1) @ torch.ones(7, 7)

        with self.assertRaises(RuntimeError) as raised:
            ds.record(Broken(), torch.ones(2, 3, 5))
        self.assertEqual(raised.exception.recording.shape("(model)/softmax/out"), (2, 3, 5))

    def test_what_was_opened_yesterday_is_removed(self):
        viewer = sys.modules["decoderscope.viewer"]
        with tempfile.TemporaryDirectory() as out, mock.patch.object(tempfile, "gettempdir", lambda: out):
            old, new, other = (pathlib.Path(out) / name for name in ("decoderscope-opened-a", "decoderscope-opened-b", "elsewhere"))
            for made in (old, new, other):
                made.mkdir()
            os.utime(old, (0, 0))
            os.utime(other, (0, 0))
            viewer._remove_what_was_opened_before()
            self.assertEqual(sorted(os.listdir(out)), ["decoderscope-opened-b", "elsewhere"])

    def test_types_with_fewer_digits_may_differ_by_four_units_of_the_last_place(self):
        x = torch.tensor([1.0, 1.003])
        same_tensor(x.half(), torch.ones(2))
        for got in (x, (x + 0.01).half()):
            with self.assertRaises(Different):
                same_tensor(got, torch.ones(2))
        same_tensor(x.to_sparse(), x)

    def test_another_shape_is_said(self):
        x = torch.ones(2, 3)
        with self.assertRaisesRegex(Different, r"Its shape is \[2, 3\], expected \[3, 2\]"):
            same_tensor(x, x.T)
        with self.assertRaisesRegex(Different, r"Its shape is \[2\], expected \[2, 3\]"):
            same_tensor(lambda: x.sum(-1), of="x + 1", x=x)

    def test_a_formula_that_is_wrong_itself_is_said(self):
        x = torch.ones(2, 3)
        with self.assertRaisesRegex(Different, "the formula or what is expected is wrong"):
            same_tensor(x, x + 1, of="x", x=x)


class Documented(unittest.TestCase):
    def test_the_examples_of_the_public_functions_do_what_they_say(self):
        tried = 0
        for name in ("bisection", "overlay", "recording", "testing"):
            module = importlib.import_module("decoderscope." + name)
            done = doctest.testmod(module)
            self.assertEqual(done.failed, 0, name)
            tried += done.attempted
        self.assertGreater(tried, 10)


if __name__ == "__main__":
    unittest.main()
