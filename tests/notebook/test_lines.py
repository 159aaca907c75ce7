"""The line of code that stands with each recorded call, and what else the recorder refuses or says."""

import base64
import copy
import fnmatch
import importlib.util
import json
import os
import pathlib
import re
import tempfile
import threading
import unittest
from unittest import mock

import styles
import torch

import decoderscope as ds
from decoderscope.recording import recorder_module

record, first_difference = recorder_module().record, recorder_module().first_difference


def marked():
    """The marked lines of each style, by what is called in them: as patterns, as PyTorch's own layers call other functions
    in each version."""
    found = {}
    for name in ("styles.py", "helper.py"):
        style = None
        for number, line in enumerate((pathlib.Path(__file__).parent / name).read_text().splitlines(), 1):
            begun = re.match(r"class (\w+)", line)
            if begun:
                style = re.sub("(Attention|Block)$", "", begun[1])
            for called in re.findall(r"\S+", line.partition("# -> ")[2]):
                found.setdefault(style or "Functional", {})[called] = (name, number, line.strip())
    return found


class Lines(unittest.TestCase):
    def test_each_call_has_the_line_that_a_person_wrote(self):
        expected, looked_at = marked(), 0
        for style in styles.STYLES:
            torch.manual_seed(0)
            run = ds.record(style().eval(), torch.randint(0, 11, (1, 5)))
            for call in run.calls:
                if call["name"] == "(model)":
                    continue
                name = re.sub(r"(?<=\.)\d+(?=[./#]|$)", "N", call["name"])
                with self.subTest(style=style.__name__, call=call["name"]):
                    file, number, text = next(line for called, line in expected[style.__name__].items()
                                              if fnmatch.fnmatchcase(name, called))
                    self.assertEqual((pathlib.Path(call["at"]["file"]).name, call["at"]["line"]), (file, number))
                    self.assertTrue(call["at"]["text"].startswith(text.partition("  # ->")[0]))
                    looked_at += 1
        self.assertGreaterEqual(looked_at, 40)

    def test_a_statement_over_several_lines_is_whole(self):
        run = ds.record(styles.Tutorial().eval(), torch.tensor([[1, 2, 3]]))
        gelu = next(call for call in run.calls if call["name"] == "blocks.0/gelu")
        self.assertTrue(gelu["at"]["text"].endswith("self.up(x))  # -> blocks.N.up"), gelu["at"]["text"])
        self.assertIn("styles.py:", run.line_of("blocks.0/gelu/out"))

    def test_the_whole_model_has_the_line_that_asked_for_it_and_not_the_package_s(self):
        model, tokens = styles.Tutorial().eval(), torch.tensor([[1, 2, 3]])
        with tempfile.TemporaryDirectory() as folder, mock.patch("decoderscope.viewer._viewer_script", return_value=""):
            page = pathlib.Path(folder, "page.html")
            ds.save(page, model, tokens)  # this line
            stored = re.search(r'data-file="recording.safetensors">([^<]*)<', page.read_text())[1]
            shown = ds.Recording(base64.b64decode(stored))
        for run in (shown, ds.record(model, tokens)):  # this line
            at = run.calls[0]["at"]
            self.assertEqual((run.calls[0]["name"], at["file"]), ("(model)", "test_lines.py"))
            self.assertTrue(at["text"].endswith("# this line"), at["text"])

    def test_no_line_says_where_a_person_keeps_their_files(self):
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as away:
            source = pathlib.Path(away, "lessons", "mine.py")
            source.parent.mkdir()
            source.write_text("import torch\nclass Mine(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n")
            spec = importlib.util.spec_from_file_location("mine", source)
            mine = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(mine)
            for folder, shown in ((before, "mine.py"), (away, os.path.join("lessons", "mine.py"))):
                os.chdir(folder)
                try:
                    run = ds.record(mine.Mine(), torch.ones(2))
                finally:
                    os.chdir(before)
                self.assertEqual(run.calls[1]["at"]["file"], shown)
                self.assertNotIn(away.encode(), run.data)


class InParts(unittest.TestCase):
    """What is stored of a recording: some tensors, or their hashes."""

    def setUp(self):
        torch.manual_seed(0)
        self.model, self.tokens = styles.Tutorial().eval(), torch.tensor([[1, 2, 3]])
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def recorded(self, name, model=None, tokens=None, **how):
        path = str(pathlib.Path(self.folder.name, name))
        with torch.no_grad(), record(model or self.model, path, **how):
            (model or self.model)(self.tokens if tokens is None else tokens)
        return path

    def test_only_what_is_asked_for_is_stored_beside_what_the_model_was_given(self):
        whole = ds.record(self.model, self.tokens)
        some = ds.record(self.model, self.tokens, only="*/gelu/out")
        self.assertEqual(sorted(some), sorted([name for name in whole if name.endswith("/gelu/out") or
                                               name.startswith("(model)/in")]))
        for name in some:
            self.assertTrue(torch.equal(some[name], whole[name]))
        self.assertEqual([call["name"] for call in some.calls], [call["name"] for call in whole.calls])
        with self.assertRaisesRegex(ValueError, r"no tensor has a name as in only=\['\*/gleu/out'\]; the first one is param/"):
            ds.record(self.model, self.tokens, only="*/gleu/out")

    def test_hashes_say_where_two_runs_part_as_their_tensors_do(self):
        other = copy.deepcopy(self.model)
        with torch.no_grad():
            other.blocks[1].up.weight[2, 3] += 1e-6
        a, b = self.recorded("a"), self.recorded("b", other)
        hashed_a, hashed_b = self.recorded("ha", hashes=True), self.recorded("hb", other, hashes=True)
        self.assertEqual(first_difference(a, a)[1], 0)
        self.assertEqual(first_difference(a, hashed_a)[1], 0)
        ours, theirs = ds.Recording.of_file(a), ds.Recording.of_file(b)
        differing = [name for name in ours if not torch.equal(ours[name], theirs[name])]
        computed = [name for name in differing if not name.startswith("param/")]
        for pair in ((a, b), (hashed_a, hashed_b), (a, hashed_b)):
            sentences, status = first_difference(*pair)
            self.assertEqual(status, 1)
            self.assertEqual(sentences[0], "blocks.1.up.weight is the first of 1 parameters that differ")
            self.assertTrue(sentences[1].startswith(f"{computed[0]}, {list(ours[computed[0]].shape)}, is the first of "
                                                    f"{len(computed)} tensors that differ, of {len(ours)}: "), sentences[1])
            self.assertIn(ours.line_of(computed[0]), sentences[1])
        self.assertLess(os.path.getsize(hashed_a), os.path.getsize(a))

    def test_layers_that_are_stacked_in_one_parameter_have_one_hash(self):
        class Stacked(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weights, self.norm = torch.nn.Parameter(torch.randn(3, 4, 4)), torch.nn.LayerNorm(4)

            def forward(self, x):
                for layer in range(3):
                    x = x @ self.weights[layer]
                return self.norm(x)

        model, x = Stacked(), torch.randn(1, 2, 4)
        self.assertIn("param/weights[2]", ds.record(model, x))
        other = copy.deepcopy(model)
        with torch.no_grad():
            other.weights[2, 0, 0] += 1
        before, after = (self.recorded(name, of, x, hashes=True) for name, of in (("a", model), ("b", other)))
        self.assertEqual(first_difference(before, before)[1], 0)
        self.assertEqual(first_difference(before, after)[0][0], "weights is the first of 1 parameters that differ")

    def test_weights_in_stacks_of_stacks_and_in_a_dictionary_are_named_where_they_are_used(self):
        class Plain(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = {"stack": torch.randn(2, 3, 4, 4), "bias": torch.randn(4)}

            def forward(self, x):
                for layer in range(2):
                    q, k = (x @ self.weights["stack"][layer, i] for i in range(2))
                    x = torch.addmm(self.weights["bias"], q + k, self.weights["stack"][layer, 2])
                return x

        recording = ds.record(Plain(), torch.randn(2, 4))
        self.assertIn("param/weights.stack[1][2]", recording)
        self.assertNotIn("param/weights.stack", recording)
        used = [tuple(call["parameters"].values()) for call in recording.calls if call.get("function") == "addmm"]
        self.assertEqual(used, [("weights.bias", f"weights.stack[{layer}][2]") for layer in range(2)])

    def test_another_length_is_a_difference_and_what_one_lacks_is_said(self):
        a, b = self.recorded("a", hashes=True), self.recorded("b", tokens=torch.tensor([[1, 2]]), hashes=True)
        sentences, status = first_difference(a, b)
        self.assertEqual(status, 1)
        self.assertIn(f"[1, 3] in {a} and [1, 2] in {b}", sentences[0])
        sentences, status = first_difference(a, self.recorded("c", hashes=True, parameters=False))
        self.assertEqual(status, 3)
        self.assertRegex(sentences[1], r"^\d+ tensors are in one of them alone, first param/")

    def test_a_file_that_is_none_and_one_of_hashes_are_refused_in_a_sentence(self):
        a = self.recorded("a", hashes=True)
        with self.assertRaisesRegex(ValueError, "it holds hashes in place of tensors"):
            ds.Recording.of_file(a)
        for data in (b"", b"{}", b"\xff" * 40, b"\x02" + bytes(7) + b"{}", b"\x0e" + bytes(7) + b"{\"param/x\": 1}"):
            wrong = pathlib.Path(self.folder.name, "wrong")
            wrong.write_bytes(data)
            with self.assertRaisesRegex(ValueError, "wrong: expected a recording, a file that record\\(\\) wrote"):
                first_difference(a, str(wrong))


class Refused(unittest.TestCase):
    def setUp(self):
        self.model, self.tokens = styles.Tutorial().eval(), torch.tensor([[1, 2, 3]])
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name="run.safetensors"):
        return str(pathlib.Path(self.folder.name) / name)

    def test_two_recordings_of_one_model_at_a_time(self):
        before = dict(self.model.__dict__)
        with record(self.model, self.path()):
            with self.assertRaisesRegex(RuntimeError, "is being recorded already"):
                with record(self.model, self.path("other.safetensors")):
                    pass
            self.model(self.tokens)
        self.assertEqual(self.model.__dict__.keys(), before.keys())  # no forward is left wrapped
        with record(self.model, self.path()):  # and it can be recorded again
            self.model(self.tokens)

    def test_a_recording_that_can_not_begin_leaves_the_model_free(self):
        with self.assertRaises(OSError):
            with record(self.model, self.path("no such folder/run.safetensors"), piece=1):
                pass
        self.assertNotIn("forward", self.model.__dict__)
        with record(self.model, self.path()):
            self.model(self.tokens)

    def test_calls_of_other_threads_are_counted_and_not_mixed_in(self):
        with torch.no_grad():
            alone = ds.record(self.model, self.tokens)
        with record(self.model, self.path()):
            others = [threading.Thread(target=self.model, args=(self.tokens + 4,)) for _ in range(4)]
            for other in others:
                other.start()
            self.model(self.tokens)
            for other in others:
                other.join()
        run = ds.Recording.of_file(self.path())
        self.assertEqual([call["name"] for call in run.calls], [call["name"] for call in alone.calls])
        self.assertTrue(torch.equal(run["(model)/out"], alone["(model)/out"]))
        self.assertEqual(run.metadata["calls_in_other_threads"], "4")

    def test_a_model_without_numbers(self):
        model = torch.nn.Linear(4, 4, device="meta")
        with self.assertRaisesRegex(ValueError, "nothing that was computed could be recorded: .*meta"):
            ds.record(model, torch.ones(1, 4, device="meta"))
        self.assertNotIn("forward", model.__dict__)

    def test_what_was_recorded_before_an_error_is_kept(self):
        with self.assertRaises(RuntimeError):
            with record(self.model, self.path()):
                self.model.head(self.model.embed(self.tokens))
                self.model.blocks[0](torch.ones(1, 3, 5))
        run = ds.Recording.of_file(self.path())
        self.assertIn("head/out", run)
        self.assertTrue(run.metadata["finished"].startswith("RuntimeError"))
        self.assertEqual(json.loads(run.metadata["skipped"]), {})


if __name__ == "__main__":
    unittest.main()
