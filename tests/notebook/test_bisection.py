"""Where two decoders part, as a result; with the desktop program, which is on the PATH, and without it."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import torch

import decoderscope as ds

root = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(root / "assets" / "recorder"), str(root / "tests" / "reference" / "bugs")]
import tutorial  # noqa: E402: it imports the recorder, as a person's script does
from record import record  # noqa: E402

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

    def test_what_was_returned_is_compared_with_the_logits_whatever_it_is(self):
        class Warm(tutorial.StoryTeller):
            def forward(self, tokens):
                return super().forward(tokens) / 0.7

        torch.manual_seed(0)
        warm = ds.record(Warm().eval(), torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6]]))
        result = ds.bisect(warm, self.right)
        self.assertEqual((result.status, bool(result), result.first, result.step), (1, False, "(model)/out", "logits"), result.text)
        with self.assertRaises(AssertionError):
            ds.assert_same(warm, self.right)
        # By names alone, too.
        part = {name: self.right[name] for name in self.right if not name.startswith(("(model)", "to_logits"))}
        with mock.patch("shutil.which", return_value=None):
            self.assertEqual(ds.bisect(self.right, ds.Recording.of_tensors(part, "part.safetensors")).status, 3)
            self.assertEqual(ds.bisect(self.right, self.right).status, 0)

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


class Attention(torch.nn.Module):
    """Causal self-attention by products or by einsum, with RoPE on the first columns of each head."""

    def __init__(self, style, rotated):
        super().__init__()
        self.style, self.rotated = style, rotated
        self.to_q, self.to_k, self.to_v, self.to_out = (torch.nn.Linear(16, 16) for _ in range(4))

    def turned(self, x):  # [batch, head, pos, column]
        columns, half = self.rotated, self.rotated // 2
        angle = torch.arange(x.shape[2])[:, None] * 500.0 ** (-torch.arange(half) / half)
        first, second = x[..., :half], x[..., half:columns]
        return torch.cat([first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin(), x[..., columns:]], -1)

    def forward(self, x):
        q, k, v = (to(x).unflatten(-1, (2, 8)) for to in (self.to_q, self.to_k, self.to_v))  # [batch, pos, head, column]
        if self.rotated:
            q, k = (self.turned(y.transpose(1, 2)).transpose(1, 2) for y in (q, k))
        future = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        if self.style == "einsum":
            weights = (torch.einsum("...qhd,...khd->...hqk", q, k) / 8 ** 0.5).masked_fill(future, float("-inf")).softmax(-1)
            return self.to_out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(-2))
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        if self.style.startswith("alibi"):
            bias = 2.0 ** torch.tensor([-4.0, -8.0])[:, None, None] * torch.arange(x.shape[1])
            scores = {"alibi": lambda: q @ k.mT / 8 ** 0.5 + bias, "alibi scaled": lambda: (q @ k.mT + bias) / 8 ** 0.5,
                      "alibi by baddbmm": lambda: bias.repeat(len(x), 1, 1).baddbmm(q.flatten(0, 1), k.flatten(0, 1).mT, alpha=8 ** -0.5)}
            weights = scores[self.style]().reshape(len(x), 2, x.shape[1], -1).masked_fill(future, float("-inf")).softmax(-1)
            return self.to_out((weights @ v).transpose(1, 2).flatten(-2))
        weights = (q @ k.mT / 8 ** 0.5).masked_fill(future, float("-inf")).softmax(-1)
        return self.to_out((weights @ v).transpose(1, 2).flatten(-2))


class Block(torch.nn.Module):
    approximate = "none"

    def __init__(self, style, rotated):
        super().__init__()
        self.n1, self.a, self.n2 = torch.nn.LayerNorm(16), Attention(style, rotated), torch.nn.LayerNorm(16)
        self.up, self.down = torch.nn.Linear(16, 64), torch.nn.Linear(64, 16)

    def forward(self, x):
        x = x + self.a(self.n1(x))
        return x + self.down(torch.nn.functional.gelu(self.up(self.n2(x)), approximate=self.approximate))


class Own(torch.nn.Module):
    """A decoder whose final norm is called n; the stream is made of tokens, of tokens and segments, or of features."""

    def __init__(self, style="products", rotated=0, made_of="tokens"):
        super().__init__()
        torch.manual_seed(3)
        self.made_of = made_of
        self.proj = torch.nn.Linear(6, 16) if made_of == "features" else None
        self.emb = torch.nn.Embedding(20, 16) if made_of != "features" else None
        self.seg = torch.nn.Embedding(3, 16) if made_of == "segments" else None
        self.pos = None if rotated or style.startswith("alibi") else torch.nn.Embedding(32, 16)
        self.blocks = torch.nn.ModuleList(Block(style, rotated) for _ in range(2))
        self.n, self.head = torch.nn.LayerNorm(16), torch.nn.Linear(16, 20)

    def forward(self, tokens, seg=None):
        x = self.proj(tokens) if self.made_of == "features" else self.emb(tokens)
        if self.seg is not None:
            x = x + self.seg(seg)
        if self.pos is not None:
            x = x + self.pos(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.n(x))


class Matrix(torch.nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(rows, columns) * columns ** -0.5)

    def forward(self, x):
        return x @ self.weight.T


class Gain(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = torch.nn.Parameter(1 + 0.1 * torch.randn(width))

    def forward(self, x):
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight


class Turning(torch.nn.Module):
    """RoPE of neighbouring columns, [batch, head, pos, column]."""

    def forward(self, x):
        angle = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(0, x.shape[3], 2) / x.shape[3])
        first, second = x[..., 0::2], x[..., 1::2]
        return torch.stack([first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()], -1).flatten(-2)


class ScratchAttention(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.rope = heads, Turning()
        self.q_proj, self.k_proj, self.v_proj, self.output_proj = (Matrix(width, width) for _ in range(4))

    def forward(self, x):
        q, k, v = (to(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for to in (self.q_proj, self.k_proj, self.v_proj))
        scores = self.rope(q) @ self.rope(k).mT / q.shape[-1] ** 0.5
        scores = scores.masked_fill(torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1), float("-inf"))
        weights = torch.exp(scores - scores.max(-1, keepdim=True).values)
        return self.output_proj((weights / weights.sum(-1, keepdim=True) @ v).transpose(1, 2).flatten(-2))


class Gated(torch.nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.w1, self.w2, self.w3 = Matrix(inner, width), Matrix(width, inner), Matrix(inner, width)

    def forward(self, x):
        gate = self.w1(x)
        return self.w2(gate * torch.sigmoid(gate) * self.w3(x))


class ScratchBlock(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attn, self.ln1, self.ffn, self.ln2 = ScratchAttention(width, heads), Gain(width), Gated(width, 64), Gain(width)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class Rows(torch.nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(count, width))

    def forward(self, tokens):
        return self.weight[tokens]


class FromScratch(torch.nn.Module):
    """As a course has it written: no layer of PyTorch's, RMSNorm, SwiGLU, RoPE, softmax by hand."""

    def __init__(self, vocabulary=50, width=32, heads=4):
        super().__init__()
        torch.manual_seed(4)
        self.token_embeddings = Rows(vocabulary, width)
        self.layers = torch.nn.ModuleList(ScratchBlock(width, heads) for _ in range(2))
        self.ln_final, self.lm_head = Gain(width), Matrix(vocabulary, width)

    def forward(self, tokens):
        x = self.token_embeddings(tokens)
        for block in self.layers:
            x = block(x)
        return self.lm_head(self.ln_final(x))


class OtherWays(unittest.TestCase):
    """Right models that are written otherwise: each is computed again from its parameters, and agrees."""

    tokens = torch.tensor([[3, 1, 4, 1, 5, 9, 2], [6, 5, 3, 5, 8, 9, 7]])

    def check_agrees(self, model, inputs, at_least, status=0, **more):
        run = ds.record(model.eval(), *inputs)
        result = ds.bisect(run, run, **more)
        self.assertEqual(result.status, status, result.text)
        self.assertNotIn("of the same name", result.text)
        agreed = re.search(r"(\d+) tensors agree", result.text)
        self.assertGreaterEqual(int(agreed.group(1)), at_least, result.text)
        return result.text

    def test_a_decoder_from_scratch_needs_no_setting(self):
        self.check_agrees(FromScratch(), (self.tokens,), 35)

    def test_a_final_norm_of_any_name(self):
        self.check_agrees(Own(), (self.tokens,), 45)

    def test_einsum_is_aligned_by_its_letters(self):
        text = self.check_agrees(Own(style="einsum"), (self.tokens,), 45)
        self.assertNotIn("einsum", text)  # among what is not compared

    def test_alibi_is_added_behind_the_scale_or_before_it(self):
        runs = {style: ds.record(Own(style=style).eval(), self.tokens) for style in ("alibi", "alibi scaled", "alibi by baddbmm")}
        for run in runs.values():
            result = ds.bisect(run, run)
            self.assertEqual(result.status, 0, result.text)
        for theirs, ours, cause in (("alibi scaled", "alibi", "alibi-scaled: "), ("alibi", "alibi scaled", "alibi-not-scaled: ")):
            found = ds.bisect(runs[theirs], runs[ours])
            self.assertEqual(found.status, 1, found.text)
            self.assertTrue(found.causes[0].startswith(cause), found.text)

    def test_rope_on_a_part_of_the_columns_is_read_from_the_numbers(self):
        for style in ("products", "einsum"):
            self.check_agrees(Own(style=style, rotated=4), (self.tokens,), 40)

    def test_a_stream_that_is_made_otherwise_is_taken_from_the_recording(self):
        out = {name: "" for name in ("head.weight", "head.bias", "pos.weight")}
        for made_of, inputs, more in (("features", (torch.randn(2, 7, 6),), ("proj.weight", "proj.bias")),
                                      ("segments", (self.tokens, self.tokens % 3), ("emb.weight", "seg.weight"))):
            text = self.check_agrees(Own(made_of=made_of), inputs, 40, names={**out, **{name: "" for name in more}})
            self.assertIn("the stream begins with the recorded blocks.0/in.x", text)
            self.assertNotIn("head/out", text)  # which is what the recorded head makes of our last step

    def test_a_parameter_that_no_decoder_here_has_is_named(self):
        model = Own()
        model.blocks = torch.nn.ModuleList(ReZero() for _ in range(2))
        run = ds.record(model.eval(), self.tokens)
        self.assertRegex(ds.bisect(run, run).text,
                         r"blocks\.1\.beta is a parameter of the recorded model, and of no decoder that is computed here")

    def test_positions_may_come_before_the_batch_on_both_sides(self):
        model = torch.nn.Transformer(16, 2, 1, 1, 32)
        model.src_emb, model.tgt_emb, model.out = torch.nn.Embedding(20, 16), torch.nn.Embedding(20, 16), torch.nn.Linear(16, 20)

        class Translator(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = model

            def forward(self, src, tgt):
                mask = torch.triu(torch.full((len(tgt), len(tgt)), float("-inf")), 1)
                return self.model.out(self.model(self.model.src_emb(src), self.model.tgt_emb(tgt), tgt_mask=mask))

        self.check_agrees(Translator(), (self.tokens.T, self.tokens.T[:5]), 25)

    def test_what_is_chosen_to_fit_a_recording_is_said_and_a_temperature_is_not_chosen(self):
        class Warm(Own):
            def forward(self, tokens):
                return super().forward(tokens) / 0.7

        class Wide(Own):
            def forward(self, tokens):
                return super().forward(tokens) * 0.25

        class Weak(Own):
            def forward(self, tokens):
                x = 2.0 * self.emb(tokens) + self.pos(torch.arange(tokens.shape[1]))
                for block in self.blocks:
                    x = x + 0.5 * block.a(block.n1(x))
                    x = x + 0.5 * block.down(torch.nn.functional.gelu(block.up(block.n2(x))))
                return self.head(self.n(x))

        for model, status, said in ((Weak(), 0, "with embedding_scale=2, update_scale=0.5 the run fits"), (Warm(), 1, "1.42857"), (Wide(), 0, "with logit_scale=0.25 the run fits")):
            run = ds.record(model.eval(), self.tokens)
            result = ds.bisect(run, run)
            self.assertEqual(result.status, status, result.text)
            self.assertIn(said, result.text)

    def test_the_halves_of_rope_that_turns_the_other_way_are_no_difference_where_there_is_one(self):
        for mistake, cause in (("no norm of keys", "k_unnormed instead of"), ("keys turned back", "rope-other-direction")):
            found = ds.bisect(*(ds.record(Speedy(which).eval(), self.tokens) for which in (mistake, None)))
            self.assertEqual((found.status, found.step), (1, "blocks.0.attn.k"), found.text)
            self.assertIn(cause, found.text)
        self.check_agrees(Speedy(), (self.tokens,), 30)

    def test_one_matrix_of_attention_and_mlp_leaves_the_scores_in_sight(self):
        found = ds.bisect(*(ds.record(Fused(factor).eval(), self.tokens) for factor in (2.0, 1.0)))
        self.assertEqual((found.status, found.step), (1, "blocks.0.attn.attn_scores"), found.text)
        self.check_agrees(Fused(), (self.tokens,), 25)

    def test_what_an_attention_module_is_given_is_named(self):
        self.check_cause(with_given("x"), with_given(), r"\.a was given blocks\.0\.resid_pre in place of blocks\.0\.ln1\.normalized")
        self.check_cause(with_given("mask"), with_given(), "causal-one-too-far: ")

    def test_experts_and_a_shared_one_are_known_by_their_own_parts(self):
        self.check_agrees(Mixed(), (self.tokens,), 40)

    def check_cause(self, wrong, right, said):
        wrong, right = (ds.record(model.eval(), self.tokens) for model in (wrong, right))
        found = ds.bisect(wrong, right)
        self.assertEqual(found.status, 1, found.text)
        self.assertRegex("\n".join([*found.causes[:2], found.text.splitlines()[0]]), said, found.text)

    def test_what_a_mixture_does_wrong_is_named(self):
        for mistake in ("least likely experts", "last-expert-left-out", "experts-weighted-equally", "experts-not-weighted"):
            self.check_cause(Mixed(mistake), Mixed(), mistake)

    def test_one_gelu_is_told_from_the_other_in_bfloat16_or_it_is_said_that_it_is_not(self):
        exact, by_tanh = Own().bfloat16(), Own().bfloat16()
        for block in by_tanh.blocks:
            block.approximate = "tanh"
        self.check_cause(exact, by_tanh, "gelu-exact: ")
        # Two tokens give too few numbers to tell.
        runs = [ds.record(model.eval(), self.tokens[:1, :2]) for model in (exact, by_tanh)]
        found = ds.bisect(runs[0], runs[1])
        self.assertTrue(found.status == 1 or "doesn't tell whether this is so: The MLP uses the exact gelu" in found.text, found.text)
        for model in (exact, by_tanh):
            run = ds.record(model.eval(), self.tokens)
            self.assertEqual(ds.bisect(run, run).status, 0)

    def test_what_autocast_leaves_in_float32_is_computed_from_weights_that_are_not_rounded(self):
        class Autocast(Own):
            def forward(self, tokens):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return super().forward(tokens)

        run = ds.record(Autocast().eval(), self.tokens)
        result = ds.bisect(run, run)
        self.assertEqual(result.status, 0, result.text)

    def test_a_final_norm_that_is_left_out_behind_a_prompt_is_a_difference(self):
        self.check_cause(Prompted(normed=False), Prompted(), "head was given blocks.1.resid_post in place of ln_final.normalized")

    def test_one_parameter_of_a_norm_may_be_another_norms(self):
        wrong, right = Own(), Own()
        for model in (wrong, right):
            for name, parameter in model.named_parameters():
                if parameter.dim() == 1:
                    parameter.data += 0.2 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(sum(map(ord, name))))
        for block in wrong.blocks:
            block.__class__ = OtherBias
        self.check_cause(wrong, right, r"reads layers\.0\.norm1\.bias instead of layers\.0\.norm2\.bias")

    def test_a_recording_that_lists_no_calls_is_refused_in_a_sentence(self):
        run = ds.record(FromScratch().eval(), self.tokens)
        size = struct.unpack("<Q", run.data[:8])[0]
        header = json.loads(run.data[8:8 + size])
        header["__metadata__"]["calls"] = "[]"
        text = json.dumps(header).encode()
        without = ds.Recording(struct.pack("<Q", len(text)) + text + run.data[8 + size:])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.safetensors")
            path.write_bytes(without.data)
            program = shutil.which("decoderscope")
            done = subprocess.run([program, "bisect", path, "--against", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("run.safetensors", done.stderr)

    def test_tokens_are_what_was_given_first(self):
        run = ds.record(Own(made_of="segments").eval(), self.tokens, self.tokens % 3)
        found = ds.bisect(run, run, names={"seg.weight": ""})
        self.assertEqual(found.step, "blocks.0.resid_pre", found.text)  # the embedding agrees, the sum doesn't


class Padded(torch.nn.Module):
    """Reads a batch that is padded on the left, with its mask, and goes on behind what it keeps."""

    def __init__(self, counts=True, turned=True):
        super().__init__()
        torch.manual_seed(5)
        self.counts, self.turned = counts, turned
        self.emb, self.pos = torch.nn.Embedding(40, 32), None if turned else torch.nn.Embedding(16, 32)
        self.layers = torch.nn.ModuleList(PaddedLayer() for _ in range(2))
        self.norm, self.head = Gain(32), torch.nn.Linear(32, 40, bias=False)

    def forward(self, tokens, attention_mask, kept=0):
        new = tokens.shape[1]
        at = (attention_mask.long().cumsum(-1) - 1).clamp(min=0) if self.counts else torch.arange(attention_mask.shape[1]).expand_as(attention_mask)
        at = at[:, kept:]
        seen = torch.ones(new, kept + new, dtype=torch.bool).tril(kept) & attention_mask[:, None, None]
        angle = at[:, None, :, None] * 10000.0 ** (-torch.arange(4) / 4).repeat(2)
        x = self.emb(tokens) if self.turned else self.emb(tokens) + self.pos(at)
        angles = (angle.cos().to(x.dtype), angle.sin().to(x.dtype)) if self.turned else (None, None)
        for layer in self.layers:
            x = layer(x, *angles, seen)
        return self.head(self.norm(x))


class PaddedLayer(torch.nn.Module):
    scale = 8 ** -0.5

    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.kept = Gain(32), Gain(32), None
        self.q, self.k, self.v, self.o = (torch.nn.Linear(32, 32, bias=False) for _ in range(4))
        self.up, self.down = torch.nn.Linear(32, 64), torch.nn.Linear(64, 32)

    def forward(self, x, cos, sin, seen):
        y = self.n1(x)
        q, k, v = (to(y).unflatten(-1, (4, 8)).transpose(1, 2) for to in (self.q, self.k, self.v))
        if cos is not None:
            q, k = (z * cos + torch.cat([-z[..., 4:], z[..., :4]], -1) * sin for z in (q, k))
        if self.kept is not None and x.shape[1] == 1:
            k, v = torch.cat([self.kept[0], k], 2), torch.cat([self.kept[1], v], 2)
        self.kept = k, v
        weights = (q @ k.mT * self.scale).masked_fill(~seen, torch.finfo(x.dtype).min).softmax(-1)
        x = x + self.o((weights @ v).transpose(1, 2).flatten(-2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.n2(x))))


class LeftPadded(unittest.TestCase):
    tokens = torch.tensor([[3, 1, 4, 1, 5, 9], [0, 0, 3, 5, 8, 9]])

    def generated(self, model, count=3):
        tokens, keep, kept = self.tokens, self.tokens > 0, 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.safetensors")
            with torch.no_grad(), record(model.eval(), str(path)):
                for _ in range(count):
                    logits = model(tokens, keep, kept)
                    kept += tokens.shape[1]
                    tokens = logits[:, -1:].argmax(-1)
                    keep = torch.cat([keep, torch.ones(2, 1, dtype=torch.bool)], 1)
            return ds.Recording(path.read_bytes())

    def test_positions_are_counted_from_the_mask_in_every_call(self):
        for dtype in (torch.float32, torch.bfloat16):
            run = self.generated(Padded().to(dtype))
            result = ds.bisect(run, run)
            self.assertEqual(result.status, 0, result.text)
            self.assertNotIn("calls 2", result.text)

    def test_hiding_a_whole_text_explains_nothing(self):
        right, wrong = Padded().eval(), Padded().eval()
        for layer in wrong.layers:
            layer.scale = 0.5
        tokens = self.tokens + 1
        found = ds.bisect(*(ds.record(model, tokens, tokens > 0) for model in (wrong, right)))
        self.assertEqual(found.status, 1, found.text)
        self.assertFalse([cause for cause in found.causes if cause.startswith("padding-")], found.text)

    def test_padding_that_is_counted_is_told_from_padding_that_is_not(self):
        right, wrong = (self.generated(Padded(counts, turned=False), 1) for counts in (True, False))
        self.assertEqual(ds.bisect(right, right).status, 0)
        found = ds.bisect(wrong, right)
        self.assertEqual(found.status, 1, found.text)
        self.assertIn("token 2 of row 1 has position 2 there and 0 here", found.text)


class FeedForward(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = (torch.nn.Linear(*sizes, bias=False) for sizes in ((16, 24), (16, 24), (24, 16)))

    def forward(self, x):
        return self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))


class Mixture(torch.nn.Module):
    """A mixture of experts whose parts are called gate, up and down, as the shared one's are."""

    def __init__(self, mistake):
        super().__init__()
        self.mistake = mistake
        self.router, self.shared = torch.nn.Linear(16, 4, bias=False), FeedForward()
        self.experts = torch.nn.ModuleList(FeedForward() for _ in range(4))

    def forward(self, x):
        weights, chosen = self.router(x).softmax(-1).topk(2, -1, largest=self.mistake != "least likely experts")
        weights = {"experts-weighted-equally": torch.full_like(weights, 0.5), "experts-not-weighted": torch.ones_like(weights),
                   "last-expert-left-out": weights * torch.tensor([1.0, 0.0])}.get(self.mistake, weights)
        mixed = self.shared(x)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number)).sum(-1, keepdim=True)
            mixed = mixed + share * expert(x)
        return mixed


class MixedBlock(torch.nn.Module):
    def __init__(self, mistake):
        super().__init__()
        self.n1, self.a, self.n2, self.ff = torch.nn.LayerNorm(16), Attention("products", 0), torch.nn.LayerNorm(16), Mixture(mistake)

    def forward(self, x):
        x = x + self.a(self.n1(x))
        return x + self.ff(self.n2(x))


class Mixed(Own):
    def __init__(self, mistake=""):
        super().__init__()
        self.blocks = torch.nn.ModuleList(MixedBlock(mistake) for _ in range(2))


class Prompted(Own):
    def __init__(self, normed=True):
        super().__init__()
        self.normed, self.prompt = normed, torch.nn.Parameter(torch.randn(3, 16))

    def forward(self, tokens):
        x = torch.cat([self.prompt.expand(len(tokens), -1, -1), self.emb(tokens)], 1)
        x = x + self.pos(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head((self.n(x) if self.normed else x)[:, 3:])


class ReZero(torch.nn.Module):
    """Without norms: each sublayer's output times a number that is learned."""

    def __init__(self):
        super().__init__()
        self.a, self.up, self.down = Attention("products", 0), torch.nn.Linear(16, 64), torch.nn.Linear(64, 16)
        self.alpha, self.beta = (torch.nn.Parameter(torch.tensor(value)) for value in (0.3, 0.7))

    def forward(self, x):
        x = x + self.alpha * self.a(x)
        return x + self.beta * self.down(torch.nn.functional.gelu(self.up(x)))


class Speedy(torch.nn.Module):
    """As people train in records: norms without parameters, of queries and keys too, RoPE that turns the other way, relu²."""

    def __init__(self, mistake=None):
        super().__init__()
        torch.manual_seed(3)
        self.mistake = mistake
        self.wte, self.lm_head = torch.nn.Embedding(20, 16), torch.nn.Linear(16, 20, bias=False)
        self.h = torch.nn.ModuleList(torch.nn.ModuleDict({
            "attn": torch.nn.ModuleDict({name: torch.nn.Linear(16, 16, bias=False) for name in ("c_q", "c_k", "c_v", "c_proj")}),
            "mlp": torch.nn.ModuleDict({"c_fc": torch.nn.Linear(16, 64, bias=False), "c_proj": torch.nn.Linear(64, 16, bias=False)}),
        }) for _ in range(2))

    def norm(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()

    def turned(self, x, way=1):
        angle = torch.arange(x.shape[1])[:, None, None] * 10000.0 ** (-torch.arange(4) / 4) * way
        first, second = x.chunk(2, -1)
        return torch.cat([first * angle.cos() + second * angle.sin(), second * angle.cos() - first * angle.sin()], -1)

    def forward(self, tokens):
        x = self.norm(self.wte(tokens))
        for block in self.h:
            q, k, v = (block["attn"][name](self.norm(x)).unflatten(-1, (2, 8)) for name in ("c_q", "c_k", "c_v"))
            q, k = self.norm(q), k if self.mistake == "no norm of keys" else self.norm(k)
            q, k = self.turned(q), self.turned(k, -1 if self.mistake == "keys turned back" else 1)
            scores = q.transpose(1, 2) @ k.transpose(1, 2).mT / 8 ** 0.5
            weights = (scores + torch.full(scores.shape[-2:], float("-inf")).triu(1)).softmax(-1)
            x = x + block["attn"]["c_proj"]((weights @ v.transpose(1, 2)).transpose(1, 2).flatten(-2))
            x = x + block["mlp"]["c_proj"](torch.relu(block["mlp"]["c_fc"](self.norm(x))).square())
        return self.lm_head(self.norm(x))


class FusedBlock(torch.nn.Module):
    """PaLM's: one matrix makes query, key, value and both parts of the MLP, which is beside the attention."""

    def __init__(self, factor):
        super().__init__()
        self.factor, self.norm, self.fused = factor, torch.nn.LayerNorm(16), torch.nn.Linear(16, 16 + 8 + 8 + 64, bias=False)
        self.attn_out, self.ff_out = torch.nn.Linear(16, 16, bias=False), torch.nn.Linear(32, 16, bias=False)

    def forward(self, x):
        q, k, v, up, gate = self.fused(self.norm(x)).split((16, 8, 8, 32, 32), -1)
        q = q.unflatten(-1, (2, 8)).transpose(1, 2) * 8 ** -0.5 * self.factor
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        weights = torch.einsum("b h i d, b j d -> b h i j", q, k).masked_fill(future, -1e30).softmax(-1)
        y = torch.einsum("b h i j, b j d -> b h i d", weights, v).transpose(1, 2).flatten(2)
        return self.attn_out(y) + self.ff_out(torch.nn.functional.silu(gate) * up)


class Fused(torch.nn.Module):
    def __init__(self, factor=1.0):
        super().__init__()
        torch.manual_seed(3)
        self.emb, self.pos = torch.nn.Embedding(20, 16), torch.nn.Embedding(32, 16)
        self.blocks, self.norm = torch.nn.ModuleList(FusedBlock(factor) for _ in range(2)), torch.nn.LayerNorm(16)
        self.head = torch.nn.Linear(16, 20, bias=False)

    def forward(self, tokens):
        x = self.emb(tokens) + self.pos(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = x + block(x)
        return self.head(self.norm(x))


class Given(Block):
    """nn.MultiheadAttention, of a mask of truth values; its query may be what wasn't normed."""

    def __init__(self, mistake):
        super().__init__("products", 0)
        self.mistake, self.a = mistake, torch.nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        y, mask = self.n1(x), torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(2 if self.mistake == "mask" else 1)
        x = x + self.a(x if self.mistake == "x" else y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.n2(x))))


def with_given(mistake=None):
    model = Own()
    model.blocks = torch.nn.ModuleList(Given(mistake) for _ in range(2))
    return model


class OtherBias(Block):
    """The second norm has the bias of the first."""

    def forward(self, x):
        x = x + self.a(self.n1(x))
        normed = torch.nn.functional.layer_norm(x, (16,), self.n2.weight, self.n1.bias)
        return x + self.down(torch.nn.functional.gelu(self.up(normed)))


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
