"""The package without a notebook: what is recorded, what fits, what is refused."""

import base64
import json
import os
import pathlib
import re
import struct
import sys
import tempfile
import unittest
import zlib
from unittest import mock

import torch

import decoderscope as ds
from decoderscope.picture import in_words

viewer = sys.modules["decoderscope.viewer"]  # ds.viewer is its function


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

    def test_a_patterns_words_are_its_numbers(self):
        for name in self.run_.patterns():
            pattern = self.run_[name].flatten(0, -3)[0]
            words = in_words(pattern.tolist())
            largest, at = pattern.flatten().max(0)
            query, key = divmod(int(at), pattern.shape[-1])
            self.assertIn(f"The largest weight is {float(largest):.4g}, of query {query} on key {key}.", words)
            by_key = pattern.sum(0)
            share = float(by_key.max() / by_key.sum())
            self.assertIn(f"Key {int(by_key.argmax())} gets {share:.3g} of all weight", words)
        self.assertIn("NaN in 2 cells.", in_words([[float("nan")] * 2, [0.25, 0.75]]))
        self.assertEqual(in_words([[float("nan")]]), "NaN in 1 cells.")

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


class LanguageModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(11, 32)
        self.blocks = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)
        self.lm_head = torch.nn.Linear(32, 11)

    def forward(self, tokens, attention_mask=None):
        causal = torch.triu(torch.full((tokens.shape[1],) * 2, float("-inf")), 1)
        return self.lm_head(self.blocks(self.embed(tokens), causal))


class Gradients(unittest.TestCase):
    """Beside what backward() leaves, which the recording must not touch."""

    def setUp(self):
        torch.manual_seed(0)
        self.model, self.tokens = LanguageModel().eval(), torch.randint(0, 11, (2, 7))

    def expected(self, loss):
        self.model.zero_grad()
        loss.backward()
        return {name: value.grad.clone() for name, value in self.model.named_parameters()}

    def check_parameters(self, run, loss):
        for name, gradient in self.expected(loss).items():
            self.assertTrue(torch.allclose(run["grad." + name], gradient, atol=1e-6), name)

    def test_the_loss_is_that_of_the_next_tokens(self):
        run = ds.record(self.model, self.tokens, gradients=True)
        self.assertTrue(all(value.grad is None for value in self.model.parameters()))
        logits = self.model(self.tokens)
        each = -logits[:, :-1].log_softmax(-1).gather(-1, self.tokens[:, 1:, None])[..., 0]
        self.assertTrue(torch.allclose(run["loss"], each.mean(), atol=1e-6))
        self.assertTrue(torch.allclose(run["loss_per_token"][:, :-1], each, atol=1e-6))
        self.assertEqual(run["loss_per_token"][:, -1].abs().max(), 0)
        self.check_parameters(run, each.mean())

    def test_padding_counts_for_nothing(self):
        mask = torch.ones_like(self.tokens)
        mask[1, 4:] = 0
        run = ds.record(self.model, self.tokens, attention_mask=mask, gradients=True)
        each = -self.model(self.tokens)[:, :-1].log_softmax(-1).gather(-1, self.tokens[:, 1:, None])[..., 0]
        counted = torch.cat([each[0], each[1, :3]])
        self.assertTrue(torch.allclose(run["loss"], counted.mean(), atol=1e-6))
        self.check_parameters(run, counted.mean())

    def test_a_pattern_has_one_too_and_softmax_passes_it_on(self):
        run = ds.record(self.model, self.tokens, gradients=True)
        for name in run.patterns():
            pattern, gradient = run[name], run["grad." + name]
            self.assertEqual(pattern.shape, gradient.shape)
            self.assertGreater(gradient.abs().max(), 0)
        logits = run["(model)/out"].clone().requires_grad_()
        each = -logits[:, :-1].log_softmax(-1).gather(-1, self.tokens[:, 1:, None])[..., 0]
        each.mean().backward()
        self.assertTrue(torch.allclose(run["grad.lm_head/out"], logits.grad, atol=1e-7))

    def test_of_any_number_and_zero_where_nothing_depends(self):
        run = ds.record(self.model, self.tokens, gradients=lambda logits: logits[0, 0, 3])
        self.assertNotIn("loss", run)
        self.assertEqual(run["grad.lm_head/out"].abs().sum(), 1)
        self.assertEqual(run["grad.lm_head.bias"].tolist(), [0, 0, 0, 1] + [0] * 7)
        self.assertEqual(run["grad.embed/out"][1].abs().max(), 0)

    def test_without_a_loss_it_says_what_was_expected(self):
        with self.assertRaisesRegex(ValueError, "lambda output"):
            ds.record(*decoder(), gradients=True)


class Compared(unittest.TestCase):
    def setUp(self):
        self.mine, self.x, self.memory = decoder()
        self.theirs, _, _ = decoder()

    def content(self, limit=4_000_000):
        return viewer._compared(self.mine, self.theirs, (self.x, self.memory), {}, limit, None)

    def test_the_reference_can_be_run_again(self):
        files = self.content().files
        self.assertEqual(list(files), ["bisection.dscope", "comparison.dscope", "mine.safetensors", "reference.safetensors"])
        session = json.loads(files["bisection.dscope"])
        self.assertEqual(session["model"], {"path": "reference.safetensors"})
        self.assertEqual(session["compare"], {"with": "bisect", "file": "mine.safetensors"})
        self.assertEqual(session["set"], {"causal": "false"})  # torch.nn.TransformerDecoder without a mask
        reference, mine = ds.Recording(files["reference.safetensors"]), ds.Recording(files["mine.safetensors"])
        for name in self.theirs.state_dict():
            self.assertIn("param/" + name, reference)
        self.assertFalse(any(name.startswith("param/") for name in mine))
        self.assertIn("(model)/in.tgt", reference)

    def test_a_causal_reference_is_run_as_one(self):
        model, tokens = LanguageModel().eval(), torch.randint(0, 11, (1, 5))
        session = json.loads(viewer._compared(model, model, (tokens,), {}, 4_000_000, 1e-3).files["bisection.dscope"])
        self.assertNotIn("set", session)
        self.assertEqual(session["compare"]["bisect"], {"tolerance": 1e-3})

    def test_parameters_that_do_not_fit_leave_a_comparison_by_names(self):
        files = self.content(limit=150_000).files
        self.assertEqual(list(files), ["comparison.dscope", "mine.safetensors", "reference.safetensors"])
        self.assertLessEqual(sum(map(len, files.values())), 150_000)
        self.assertTrue(ds.Recording(files["mine.safetensors"]).patterns())

    def test_what_the_desktop_program_finds_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "decoderscope"
            program.write_text("#!/bin/sh\n[ -e reference.safetensors ] && echo \"found \\\\<b> $*\"; exit 1\n")
            program.chmod(0o755)
            with mock.patch.dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"]):
                cell = "".join(self.content().cell("one", 600))
        self.assertIn("<pre>found &lt;b&gt; compare reference.safetensors mine.safetensors --markdown", cell)


class Saved(unittest.TestCase):
    def test_what_is_read_beside_the_code_is_in_the_package(self):
        for name in ("cell.js", "scorm.js", "viewer.html", "py.typed"):
            self.assertTrue((pathlib.Path(ds.__file__).parent / name).is_file(), name)

    def test_the_page_asks_nothing_of_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            ds.save(path, *decoder())
            page = path.read_text()
            self.assertEqual([name.name for name in pathlib.Path(folder).iterdir()], ["page.html"])
        if "SLOW_MACHINE" not in os.environ:  # there the viewer is built quickly, and larger
            self.assertLess(len(page), 5_000_000)
        self.assertIsNone(re.search(r'(src|href)="?(https?:)?//', page))
        self.assertIn("<table>", page)

    def test_notes_are_in_a_session_beside_the_recording_and_in_the_page_as_text(self):
        run = ds.record(*decoder())
        pattern = next(iter(run.patterns()))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "page.html"
            ds.save(path, run, notes={pattern: "<b>looks back", f"{pattern}[0, 0, 1, 0]": "a cell"})
            page = path.read_text()
        self.assertIn(f"<li><code>{pattern}</code>: &lt;b&gt;looks back</li>", page)
        packed = re.search(r'data-file="notes.dscope">([^<]*)<', page)[1]
        session = json.loads(base64.b64decode(packed))
        self.assertEqual(session["model"], {"path": run.name, "trace": True})
        self.assertEqual(session["notes"][1], {"at": f"{pattern}[0, 0, 1, 0]", "text": "a cell"})

    def test_a_note_on_a_tensor_that_is_not_there_names_what_is_close(self):
        with self.assertRaisesRegex(KeyError, "no tensor attention"):
            ds.save("page.html", ds.record(*decoder()), notes={"attention": "?"})
        self.assertFalse(pathlib.Path("page.html").exists())

    def test_numbers_that_colour_are_in_the_session_and_as_a_table_in_the_page(self):
        run = ds.record(*decoder())
        pattern = next(iter(run.patterns()))
        module = pattern.split("/")[0]
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder) / "times.csv"
            csv.write_text(f'name,value,text\n{pattern}[0, 0, 1, 0], 1e-1, "<slow>, here"\n{module}, -2\n')
            as_json = pathlib.Path(folder) / "times.json"
            as_json.write_text(json.dumps([{"name": f"{pattern}[0, 0, 1, 0]", "value": 0.1, "text": "<slow>, here"},
                                           {"name": module, "value": -2}]))
            given = {f"{pattern}[0, 0, 1, 0]": (torch.tensor(0.1, dtype=torch.float64), "<slow>, here"), module: -2}
            path = pathlib.Path(folder) / "page.html"
            for overlay in (csv, str(as_json), given):
                ds.save(path, run, overlay=overlay)
                page = path.read_text()
                self.assertIn("<td>&lt;slow&gt;, here</td>", page)
                session = json.loads(base64.b64decode(re.search(r'data-file="notes.dscope">([^<]*)<', page)[1]))
                self.assertEqual(session["overlay"]["values"],
                                 [{"name": f"{pattern}[0, 0, 1, 0]", "value": 0.1, "text": "<slow>, here"},
                                  {"name": module, "value": -2.0, "text": ""}])
                self.assertNotIn("notes", session)

    def test_numbers_that_can_not_be_used_are_named_with_file_and_line(self):
        run = ds.record(*decoder())
        pattern = next(iter(run.patterns()))
        with tempfile.TemporaryDirectory() as folder:
            csv = pathlib.Path(folder) / "times.csv"
            for text, says in ((f"{pattern},1\nno.such,2\n", r"times.csv:2: no tensor no.such"),
                               (f"{pattern},nan\n", r"times.csv:1: nan, expected a finite number"),
                               (f"{pattern},one\n", r"times.csv:1: 'one', expected a finite number"),
                               (f"{pattern}\n", r"times.csv:1: 1 fields, expected NAME, value, text"),
                               ("name,value\n", r"times.csv: no numbers")):
                csv.write_text(text)
                with self.assertRaisesRegex(ds.Problem, says):
                    ds.save("page.html", run, overlay=csv)
            with self.assertRaisesRegex(ds.Problem, "gone.csv"):
                ds.save("page.html", run, overlay=pathlib.Path(folder) / "gone.csv")
            with self.assertRaisesRegex(ds.Problem, r"overlay\['no.such'\]: no tensor no.such"):
                ds.save("page.html", run, overlay={"no.such": 1})
        self.assertFalse(pathlib.Path("page.html").exists())

    def test_what_the_viewer_must_show_is_named_so_that_nothing_else_stands_for_it(self):
        def session(model):
            return json.dumps({"format": "decoderscope-session", "version": 1, "model": model}).encode()

        def link(data):
            return "#s1=" + base64.urlsafe_b64encode(zlib.compress(data)).decode().rstrip("=")

        with tempfile.TemporaryDirectory() as folder:
            for name, data, models in (("a.dscope", session({"bundled": "reverse"}), ["reverse"]),
                                       ("b.dscope", session({"path": "../of/mine.safetensors"}), ["mine.safetensors"]),
                                       ("cut.dscope", b"{", []), ("cut.safetensors", b"\0", ["cut.safetensors"])):
                path = pathlib.Path(folder) / name
                path.write_bytes(data)
                self.assertEqual(viewer._Content(path, (), {}, None).models, models)
        self.assertEqual(viewer._Content(link(session({"bundled": "verses"})), (), {}, None).models, ["verses"])
        self.assertEqual(viewer._Content("#s1=cut", (), {}, None).models, [])

    def test_a_file_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ds.Problem, "gone.safetensors"):
            ds.save("page.html", "gone.safetensors")
        self.assertFalse(pathlib.Path("page.html").exists())


if __name__ == "__main__":
    unittest.main()
