"""Checks the reference decoder against other ways to compute the same: torch's own Transformer modules, the seed
notebooks' modules, a Llama block with complex-number rotation, and edits that amount to changed weights or inputs.

Every check returns the largest difference that it saw; `check` runs them all and fails where one is too large.
"""

import math

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

import crosscheck_today
import decoder
import models
import rng
import small
from config import DEFAULTS, complete, head_width
from rope import turned_columns

TOLERANCE = 2e-5


def difference(a, b):
    """The largest difference; NaN must stand in the same places."""
    assert a.shape == b.shape, (a.shape, b.shape)
    assert torch.equal(a.isnan(), b.isnan())
    return float((a.nan_to_num() - b.nan_to_num()).abs().max())


def tensors(arrays):
    return {name: torch.as_tensor(value) for name, value in arrays.items()}


class FixedDropout(nn.Module):
    """Stands in for nn.Dropout with a mask that is known."""

    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def forward(self, x):
        return x if self.mask is None else x * self.mask


BEYOND_TORCH = ("head_dim", "attention_scale", "logit_scale", "embedding_norm", "residual_scale", "qk_norm",
                "sliding_window", "alibi", "relative_attention_num_buckets", "norm_gain", "update_scale", "layer_scale",
                "attention_sinks", "kv_lora_rank", "experts")


# --- torch's modules --------------------------------------------------------------------------------------------------


def torch_can(case):
    """Whether torch.nn.Transformer… layers can express the case."""
    c = complete(case.config)
    if case.edits or c["norm"] != "layernorm" or c["gated_mlp"] or c["positional_encoding"] == "rope":
        return False
    if c["attention_soft_cap"] or c["logit_soft_cap"] or c["parallel_residual"] != "none":
        return False
    if any(c[key] != DEFAULTS[key] for key in BEYOND_TORCH) or c["norm_placement"] in ("peri", "reordered"):
        return False
    if c["dim_feedforward"] == 0 or (case.dropout_seed is not None and c["dropout"] and
                                     not set(c["dropout_sites"]) <= {"attention_out", "mlp_post", "mlp_out"}):
        return False
    # torch masks with -inf only. That is the same as a very negative number, unless a row has nothing left.
    value = float(c["mask_value"])
    return value == -math.inf or (value <= -1e9 and not any(
        (mask.sum(-1) == 0).any() for name, mask in case.run().items() if name.endswith(".mask")))


def copy_attention(module, c, w, prefix):
    d_head, group = c["d_model"] // c["nhead"], c["nhead"] // c["num_key_value_heads"]
    zero = torch.zeros(c["d_model"])
    names = "qqq" if c["shared_qkv"] else "qkv"
    weights, biases = [], []
    for name, repeat in zip(names, (1, group, group)):  # grouped queries are equal heads side by side
        weight, bias = (w.get(f"{prefix}.{name}_proj.{part}") for part in ("weight", "bias"))
        weights.append(weight.unflatten(0, (-1, d_head)).repeat_interleave(repeat, 0).flatten(0, 1))
        biases.append(zero if bias is None else bias.unflatten(0, (-1, d_head)).repeat_interleave(repeat, 0).flatten())
    module.in_proj_weight.copy_(torch.cat(weights))
    module.in_proj_bias.copy_(torch.cat(biases))
    copy_linear(module.out_proj, w, prefix + ".o_proj")


def copy_linear(module, w, prefix):
    module.weight.copy_(w[prefix + ".weight"])
    module.bias.copy_(w.get(prefix + ".bias", torch.zeros_like(module.bias)))


def torch_layer(c, w, prefix, name, trace):
    """A TransformerDecoderLayer (or EncoderLayer, where nothing is attended to but oneself) with these weights."""
    kind = nn.TransformerDecoderLayer if c["cross_attention"] else nn.TransformerEncoderLayer
    layer = kind(c["d_model"], c["nhead"], c["dim_feedforward"], activation=decoder.ACTIVATIONS[c["activation"]],
                 layer_norm_eps=c["layer_norm_eps"], norm_first=c["norm_first"], batch_first=True)
    copy_attention(layer.self_attn, c, w, prefix + ".self_attn")
    if c["cross_attention"]:
        copy_attention(layer.multihead_attn, c, w, prefix + ".cross_attn")
    copy_linear(layer.linear1, w, prefix + ".up_proj")
    copy_linear(layer.linear2, w, prefix + ".down_proj")
    for n in range(3 if c["cross_attention"] else 2):
        copy_linear(getattr(layer, f"norm{n + 1}"), w, f"{prefix}.norm{n + 1}")
    outs = ["attn_out", "cross_attn_out", "mlp_out"] if c["cross_attention"] else ["attn_out", "mlp_out"]
    layer.eval()
    layer.dropout = FixedDropout(trace.get(name + ".mlp.post.dropout_mask"))
    for n, out in enumerate(outs):
        setattr(layer, f"dropout{n + 1}", FixedDropout(trace.get(f"{name}.{out}.dropout_mask")))
    return layer


def block_out(c, trace, name):
    if c["norm_first"]:
        return trace[name + ".resid_post"]
    return trace[f"{name}.ln{3 if c['cross_attention'] else 2}.normalized"]


def hidden(mask):
    """torch's bool masks are True for what is hidden."""
    return None if mask is None else mask == 0


def run_layers(c, case, trace, w, prefix, x, **arguments):
    """Block by block through torch's layers; the largest difference at any block's end, and what leaves the last."""
    worst = 0.0
    for n in range(c["num_layers"]):
        name = f"{prefix}blocks.{n}"
        layer = torch_layer(c, w, f"{prefix}layers.{n}", name, trace)
        with torch.enable_grad():  # without gradients the encoder layer takes a fused path that zeroes padded rows
            x = layer(x, **arguments).detach()
        worst = max(worst, difference(x, block_out(c, trace, name)))
    if c["final_norm"]:
        norm = nn.LayerNorm(c["d_model"], eps=c["layer_norm_eps"])
        copy_linear(norm, w, prefix + "norm")
        x = norm(x)
        worst = max(worst, difference(x, trace[prefix + "ln_final.normalized"]))
    return worst, x


def against_torch(case):
    c, w, inputs, trace = complete(case.config), tensors(case.weights), tensors(case.inputs), case.run()
    worst, memory = 0.0, inputs.get("memory")
    source_hidden = hidden(inputs.get("encoder_attention_mask"))
    if c["encoder_layers"] > 0:
        encoder = decoder.encoder_config(c)
        worst, memory = run_layers(encoder, case, trace, w, "encoder.", trace["encoder.blocks.0.resid_pre"],
                                   src_key_padding_mask=source_hidden)
        worst = max(worst, difference(memory, trace["encoder_out"]))
    x = trace["blocks.0.resid_pre"]
    batch, pos = x.shape[:2]
    ahead = torch.ones(pos, pos, dtype=torch.bool).triu(1) if c["causal"] else torch.zeros(pos, pos, dtype=torch.bool)
    if "custom_mask" in inputs:
        ahead = ahead | (inputs["custom_mask"] == 0).expand(batch, c["nhead"], pos, pos)
        ahead = ahead.flatten(0, 1)
    padding = hidden(inputs.get("attention_mask"))
    if c["cross_attention"]:
        arguments = {"memory": memory, "tgt_mask": ahead, "tgt_key_padding_mask": padding,
                     "memory_key_padding_mask": source_hidden}
    else:
        arguments = {"src_mask": ahead, "src_key_padding_mask": padding}
    found, x = run_layers(c, case, trace, w, "", x, **arguments)
    worst = max(worst, found)
    if c["lm_head"]:
        head = nn.Linear(c["d_model"], c["vocab_size"])
        head.weight.copy_(w["embed.weight" if c["tie_word_embeddings"] else "lm_head.weight"])
        head.bias.copy_(w.get("lm_head.bias", torch.zeros(c["vocab_size"])))
        worst = max(worst, difference(head(x), trace["logits"]), difference(head(x).softmax(-1), trace["probs"]))
    return worst


def attention_only_against_torch(case):
    """No MLP: nn.MultiheadAttention and nn.LayerNorm, one after the other."""
    c, w, inputs, trace = complete(case.config), tensors(case.weights), tensors(case.inputs), case.run()
    pos = trace["blocks.0.resid_pre"].shape[1]
    ahead = torch.ones(pos, pos, dtype=torch.bool).triu(1)
    memory = trace.get("encoder_out", inputs.get("memory"))
    x, worst = trace["blocks.0.resid_pre"], 0.0
    for n in range(c["num_layers"]):
        for m, kind in enumerate(["self_attn", "cross_attn"] if c["cross_attention"] else ["self_attn"], start=1):
            attention = nn.MultiheadAttention(c["d_model"], c["nhead"], batch_first=True)
            copy_attention(attention, c, w, f"layers.{n}.{kind}")
            norm = nn.LayerNorm(c["d_model"], c["layer_norm_eps"])
            copy_linear(norm, w, f"layers.{n}.norm{m}")
            q = norm(x) if c["norm_first"] else x
            k = q if kind == "self_attn" else memory
            x = x + attention(q, k, k, attn_mask=ahead if kind == "self_attn" else None)[0]
            x = x if c["norm_first"] else norm(x)
        worst = max(worst, difference(x, trace[f"blocks.{n}.resid_post"]))
    return worst


# --- the seeds' modules -----------------------------------------------------------------------------------------------


class NotebookBlock(nn.Module):
    """The block of seeds 000 and 001, which differ in eps, fill, the place of dropout, and what makes k and v."""

    def __init__(self, dim, heads, eps, fill, shared, dropout_first, drop_attention=None, drop_mlp=None):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim) for _ in range(4))
        self.up_proj, self.down_proj = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)
        self.layernorm_att, self.layernorm_ffn = nn.LayerNorm(dim, eps=eps), nn.LayerNorm(dim, eps=eps)
        self.heads, self.fill, self.shared, self.dropout_first = heads, fill, shared, dropout_first
        self.drop_attention, self.drop_mlp = FixedDropout(drop_attention), FixedDropout(drop_mlp)

    def forward(self, x, mask):
        projections = (self.q_proj,) * 3 if self.shared else (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (p(x).view(*x.shape[:2], self.heads, -1).transpose(1, 2) for p in projections)
        weight = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        weight = weight.masked_fill(mask.tril() == 0, float(self.fill))
        if self.dropout_first:
            weight = torch.softmax(self.drop_attention(weight), dim=-1)
        else:
            weight = self.drop_attention(torch.softmax(weight, dim=-1))
        x = self.layernorm_att(x + self.o_proj((weight @ v).transpose(1, 2).reshape(x.shape)))
        return self.layernorm_ffn(x + self.drop_mlp(self.down_proj(self.up_proj(x).relu())))


def against_notebook(case):
    c, w, inputs, trace = complete(case.config), tensors(case.weights), tensors(case.inputs), case.run()
    dropout_first = "attention_scores" in c["dropout_sites"]
    site = "masked_scores" if dropout_first else "pattern"
    mask = inputs["attention_mask"][:, None, None, :].repeat(1, c["nhead"], inputs["attention_mask"].shape[1], 1)
    x = F.embedding(inputs["tokens"], w["embed.weight"]) if "tokens" in inputs else inputs["x"]
    worst = 0.0
    for n in range(c["num_layers"]):
        name = f"blocks.{n}"
        block = NotebookBlock(c["d_model"], c["nhead"], c["layer_norm_eps"], c["mask_value"], c["shared_qkv"],
                              dropout_first, trace.get(f"{name}.attn.{site}.dropout_mask"),
                              trace.get(f"{name}.mlp_out.dropout_mask"))
        own = {"norm1": "layernorm_att", "norm2": "layernorm_ffn"}
        state = {}
        for parameter, value in w.items():
            if parameter.startswith(f"layers.{n}."):
                module, part = parameter.split(".")[-2:]
                state[f"{own.get(module, module)}.{part}"] = value
        block.load_state_dict(state)
        x = block(x, mask)
        worst = max(worst, difference(x, trace[f"{name}.ln2.normalized"]))
    if c["lm_head"]:
        probs = torch.softmax(F.linear(x, w["lm_head.weight"], w["lm_head.bias"]), dim=-1)
        worst = max(worst, difference(probs, trace["probs"]))
    return worst


# --- Llama ------------------------------------------------------------------------------------------------------------


def turn(x, theta):
    """RoPE in double precision as it was first written: pairs of numbers are complex, each turns by a unit number."""
    real, imaginary = x.double().chunk(2, dim=-1)
    angle = torch.outer(torch.arange(x.shape[-2]), theta ** -(torch.arange(real.shape[-1]) / real.shape[-1]).double())
    turned = torch.view_as_complex(torch.stack((real, imaginary), -1)) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat((turned.real, turned.imag), dim=-1).float()


def llama(case):
    """Pre-Norm rmsnorm blocks with gated silu, RoPE and grouped queries, the heads one at a time."""
    c, w, trace = complete(case.config), tensors(case.weights), case.run()
    group, d_head = c["nhead"] // c["num_key_value_heads"], c["d_model"] // c["nhead"]

    def rms(x, name):
        return w[name + ".weight"] * x * torch.rsqrt(x.square().mean(-1, True) + c["layer_norm_eps"])

    x = w["embed.weight"][torch.as_tensor(case.inputs["tokens"])]
    for n in range(c["num_layers"]):
        p = f"layers.{n}."
        h, heads = rms(x, p + "norm1"), []
        rows = {name: w[f"{p}self_attn.{name}_proj.weight"].split(d_head) for name in "qkv"}
        for head in range(c["nhead"]):
            q, k = (turn(h @ rows[name][at].T, c["rope_theta"]) for name, at in (("q", head), ("k", head // group)))
            scores = q @ k.mT / d_head**0.5
            scores = scores + torch.full(scores.shape[-2:], -math.inf).triu(1)
            heads.append(scores.softmax(-1) @ (h @ rows["v"][head // group].T))
        x = x + torch.cat(heads, -1) @ w[p + "self_attn.o_proj.weight"].T
        h = rms(x, p + "norm2")
        gate, up = (h @ w[f"{p}{name}_proj.weight"].T for name in ("gate", "up"))
        x = x + (F.silu(gate) * up) @ w[p + "down_proj.weight"].T
    return difference(rms(x, "norm") @ w["lm_head.weight"].T, trace["logits"])


# --- edits, asked-for tensors, codes ----------------------------------------------------------------------------------


def edits_amount_to():
    """Edits that could as well be other weights, inputs or masks."""
    config = {"d_model": 8, "nhead": 2, "num_layers": 1, "lm_head": True, "vocab_size": 9}
    weights = rng.perturbed_weights(config, 3)
    inputs = {"tokens": small.tokens(2, 5, 9)}
    name = "blocks.0.attn"

    def logits(edits=(), **changed):
        given = {"weights": weights, "inputs": inputs, **changed}
        return decoder.run(config, given["weights"], given["inputs"], edits)["logits"]

    off = {key: value.copy() for key, value in weights.items()}
    off["layers.0.self_attn.o_proj.weight"][:, 4:] = 0  # what head 1's z meets
    row = {key: value.copy() for key, value in weights.items()}
    row["embed.weight"][inputs["tokens"][0, 0], 3] = 5.0
    mask = torch.ones(2, 2, 5, 5, dtype=torch.long)
    mask[1, 0, 3, 1] = mask[1, 0, 4, 1] = 0
    same_token = torch.nonzero(torch.as_tensor(inputs["tokens"] == inputs["tokens"][0, 0])).tolist()
    scale = float(decoder.run(config, weights, inputs)["blocks.0.ln1.scale"][0, 1, 0])
    pairs = [
        (logits([small.scale_head(name, 1, 0.0)]), logits(weights=off)),
        (logits([small.set_cell("embed", [b, p, 3], 5.0) for b, p in same_token]), logits(weights=row)),
        (logits([small.mask_edit(name, 1, 0, q, 1, False) for q in (3, 4)]),
         logits(inputs={**inputs, "custom_mask": mask})),
        # A cell set to what it already is changes nothing, whichever way the tensors are then computed.
        (logits([small.set_cell("blocks.0.ln1.scale", [0, 1, 0], scale)]), logits()),
        (logits([small.scale_head(name, 0, 1.0)]), logits()),
    ]
    return max(difference(a, b) for a, b in pairs)


def results_add_up(case):
    """attn_out is the sum of what the heads add, and the bias."""
    trace, worst = case.run(), 0.0
    for name in case.asked:
        block, attention, _ = name.rsplit(".", 2)
        layer = block.replace("blocks", "layers")
        kind = {"attn": "self_attn", "cross_attn": "cross_attn"}[attention]
        bias = torch.as_tensor(case.weights[f"{layer}.{kind}.o_proj.bias"])
        worst = max(worst, difference(trace[name].sum(1) + bias, trace[f"{block}.{attention}_out"]))
    return worst


def caps_by_exponentials(case):
    """The caps by the exponential form of tanh, in double precision; the logits' cap undone gives the product."""
    c, trace, w = complete(case.config), case.run(), tensors(case.weights)

    def capped(x, cap):
        return cap * (1 - 2 / (torch.exp(2 * x.double() / cap) + 1)).float()

    worst = 0.0
    for name in trace:
        if name.endswith(".capped_scores"):
            scores = trace[name.replace("capped_scores", "attn_scores")]
            worst = max(worst, difference(capped(scores, c["attention_soft_cap"]), trace[name]))
    if c["logit_soft_cap"]:
        matrix = w["embed.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
        product = trace["ln_final.normalized"] @ matrix.T + w.get("lm_head.bias", 0)
        worst = max(worst, difference(capped(product, c["logit_soft_cap"]), trace["logits"]))
    return worst


def parallel_by_two_residuals(case):
    """A parallel block is what two residual connections of the same stream have in common: (x + a) + (x + m) - x, with
    the norm by torch's module."""
    c, trace, w, worst = complete(case.config), case.run(), tensors(case.weights), 0.0
    for n in range(c["num_layers"]):
        x, name = trace[f"blocks.{n}.resid_pre"], f"blocks.{n}"
        norms = ["ln1", "ln2"] if c["parallel_residual"] == "two_norms" else ["ln1"]
        assert (name + ".ln2.normalized" in trace) == (len(norms) == 2) and name + ".resid_mid" not in trace
        for number, norm in enumerate(norms, start=1):
            module = nn.LayerNorm(c["d_model"], eps=c["layer_norm_eps"])
            copy_linear(module, w, f"layers.{n}.norm{number}")
            worst = max(worst, difference(module(x), trace[f"{name}.{norm}.normalized"]))
        a, m = (c["update_scale"] * left_by(trace, f"{name}.{out}") for out in ("attn_out", "mlp_out"))
        if c["layer_scale"]:
            a, m = a * w[f"layers.{n}.ls1.weight"], m * w[f"layers.{n}.ls2.weight"]
        x = c["residual_scale"] * x
        worst = max(worst, difference((x + a) + (x + m) - x, trace[f"{name}.resid_post"]))
    return worst


def attention_by_loops(case):
    """Queries and keys turned by matrices and multiplied a cell at a time in double precision, the penalty and the mask of
    each cell by their definition."""
    c, trace, worst = complete(case.config), case.run(), 0.0
    for name in [name[:-len(".attn_scores")] for name in trace if name.endswith(".attn_scores")]:
        to_itself = not name.endswith("cross_attn")
        q, k = (trace[f"{name}.{n}"].double() for n in "qk")
        found = projections_by_matrices(case, c, trace, name, to_itself)
        worst = max(worst, *(difference(a.float(), b.float()) for a, b in zip(found, (q, k))))
        scores, kept = torch.zeros_like(trace[name + ".attn_scores"]), torch.ones_like(trace[name + ".attn_scores"])
        batch, heads, queries, keys = scores.shape
        layer, in_encoder = int(name.split("blocks.")[1].split(".")[0]), name.startswith("encoder.")
        window = 0 if in_encoder or not to_itself else c["sliding_window"]
        if c["sliding_window_layers"] and layer not in c["sliding_window_layers"]:
            window = 0
        for b, h, i, j in ((b, h, i, j) for b in range(batch) for h in range(heads) for i in range(queries)
                           for j in range(keys)):
            score = sum(a * b for a, b in zip(q[b, h, i].tolist(), k[b, h * k.shape[1] // heads, j].tolist()))
            scale = c["attention_scale"] if c["attention_scale"] else head_width(c) ** -0.5
            score *= scale
            if c["alibi"] and to_itself:
                score -= slope(h, heads) * (i - j) * (scale if c["alibi_scaled"] else 1.0)
            if c["relative_attention_num_buckets"] and to_itself:
                table = torch.as_tensor(case.weights[("encoder." if in_encoder else "") + "relative_bias.weight"])
                score += float(table[distance_row(c, i - j, in_encoder), h])
            scores[b, h, i, j] = score
            if (c["causal"] and to_itself and not in_encoder and j > i) or (window and i - j >= window):
                kept[b, h, i, j] = 0
        worst = max(worst, difference(scores, trace[name + ".attn_scores"]))
        if "custom_mask" not in case.inputs:
            padding = case.inputs.get("attention_mask" if to_itself and not in_encoder else "encoder_attention_mask")
            if padding is not None:
                kept = kept * (torch.as_tensor(padding) != 0)[:, None, None, :]
            assert torch.equal(kept, trace[name + ".mask"]), (case.name, name)
    return worst


def distance_row(c, back, in_encoder):
    """The row for a key so far back: by counting up the boundaries between rows, which grow geometrically."""
    count = c["relative_attention_num_buckets"] // (2 if in_encoder else 1)
    first = count if in_encoder and back < 0 else 0
    back = abs(back) if in_encoder else max(back, 0)
    exact = count // 2
    if back < exact:
        return first + back
    farthest, row = c["relative_attention_max_distance"], exact
    while row < count - 1 and back >= exact * (farthest / exact) ** ((row + 1 - exact) / (count - exact)) - 1e-9:
        row += 1
    return first + row


def slope(head, heads):
    """The paper's sequence, by exponents: 8 / n apart for a power of two, and the odd ones of twice as many for the rest."""
    below = 1
    while below * 2 <= heads:
        below *= 2
    return 0.5 ** (8 * (head + 1) / below) if head < below else 0.5 ** (4 * (2 * (head - below) + 1) / below)


def projections_by_matrices(case, c, trace, name, to_itself):
    """q and k of an attention: projected head by head, divided by their root mean square, turned by a matrix."""
    block, d = name.rsplit(".", 1)[0], head_width(c)
    at = block.replace("blocks", "layers") + (".self_attn" if to_itself else ".cross_attn")
    w = {key: value.double() for key, value in tensors(case.weights).items()}
    x, memory = read_by(c, case, trace, block, to_itself)
    layer = int(block.split("blocks.")[1])
    turns = c["positional_encoding"] == "rope" and (not c["rope_layers"] or layer in c["rope_layers"])
    c = c if block.startswith("encoder.") else in_layer(c, layer)
    if c["kv_lora_rank"] and to_itself:
        columns = c["qk_rope_head_dim"]
        return crosscheck_today.latent_projections(c, w, at, x.double(), lambda p: turning(
            c, columns, p, x.shape[1]) if turns else torch.eye(columns, dtype=torch.double))
    found = []
    for n, source, heads in (("q", x, c["nhead"]), ("k", memory, c["num_key_value_heads"])):
        proj = f"{at}.{'q' if c['shared_qkv'] else n}_proj"
        y = source.double() @ w[proj + ".weight"].T + w.get(proj + ".bias", 0)

        def normed(rows):
            gain = w[f"{at}.{n}_norm.weight"] + c["norm"].endswith("_plus_one") if c["norm_gain"] else 1
            return gain * rows / (rows.square().mean(-1, True) + c["layer_norm_eps"]).sqrt()

        late = c["qk_norm_after_rope"]
        if c["qk_norm"] and to_itself and not late:
            y = torch.cat([normed(p) for p in ([y] if c["qk_norm_across_heads"] else y.split(d, -1))], -1)
        if c["clip_qkv"]:
            y = torch.minimum(torch.maximum(y, torch.tensor(-c["clip_qkv"])), torch.tensor(c["clip_qkv"]))
        y = torch.stack(y.split(d, -1), 1)
        if turns and to_itself:
            y = torch.stack([torch.stack([row[:, p] @ turning(c, d, place, y.shape[2]).T for p, place in enumerate(at)], 1)
                             for row, at in zip(y, places(case, block, y))])
        if c["qk_norm"] and to_itself and late:
            y = normed(y)
        if c["query_scale_beta"] and to_itself and n == "q":
            beta, length = c["query_scale_beta"], c["query_scale_positions"]
            y = y * torch.tensor([[1 + beta * math.log(1 + place // length) for place in row]
                                  for row in places(case, block, y)])[:, None, :, None]
        assert y.shape[1] == heads
        found.append(y)
    return found


def places(case, block, rows):
    """The number of each position [batch][pos]: how many come before it, without padding where the mask counts."""
    count = rows.shape[2]
    if complete(case.config)["positions"] == "plain" or block.startswith("encoder."):
        return [list(range(count))] * len(rows)
    kept = np.asarray(case.inputs["attention_mask"]).tolist()
    return [[max(0, sum(row[:p + 1]) - 1) for p in range(count)] for row in kept]


def read_by(c, case, trace, block, to_itself):
    """What queries and keys of an attention are projected from."""
    stream = trace[block + (".resid_pre" if to_itself else ".resid_mid")]
    norm = block + (".ln1" if to_itself else ".ln2")
    if c["norm_placement"] in ("pre", "peri"):
        x = trace[norm + ".normalized"]
    elif c["norm_placement"] == "post" and not to_itself:
        x = trace[block + ".ln1.normalized"]
    else:
        x = stream
    return x, (x if to_itself else trace.get("encoder_out", torch.as_tensor(case.inputs.get("memory", 0))))


def in_layer(c, layer):
    """The configuration of a decoder's layer, whose window may have a base of its own."""
    windowed = c["sliding_window"] > 0 and layer in (c["sliding_window_layers"] or range(c["num_layers"]))
    own = windowed and c["rope_local_theta"] > 0
    return {**c, "rope_theta": c["rope_local_theta"], "rope_scaling": "none"} if own else c


def frequency(c, pair, columns, length):
    """How far a pair of columns turns at each position, after scaling."""
    plain = c["rope_theta"] ** (-2 * pair / columns)
    if c["rope_scaling"] == "none":
        return plain
    if c["rope_scaling"] == "yarn":
        return crosscheck_today.yarn_frequency(c, pair, columns)
    if c["rope_scaling"] == "longrope":
        return plain / c["rope_long_factors" if length > c["rope_original_positions"] else "rope_short_factors"][pair]
    # By how many of its waves fit into the texts of the training before.
    waves = c["rope_original_positions"] * plain / (2 * math.pi)
    low, high = c["rope_low_freq_factor"], c["rope_high_freq_factor"]
    kept = min(1, max(0, (waves - low) / (high - low))) if c["rope_scaling"] == "llama3" else 0
    return plain * (kept + (1 - kept) / c["rope_factor"])


def turning(c, d_head, position, length):
    """The matrix that turns (and stretches) a head's columns at a position of a text of this length."""
    columns, matrix = turned_columns(c), torch.eye(d_head, dtype=torch.double)
    stretch = crosscheck_today.cosine_factor(c)
    for pair in range(columns // 2):
        a, b = (2 * pair, 2 * pair + 1) if c["rope_interleaved"] else (pair, pair + columns // 2)
        angle = position * frequency(c, pair, columns, length)
        matrix[a, a] = matrix[b, b] = stretch * math.cos(angle)
        matrix[a, b], matrix[b, a] = -stretch * math.sin(angle), stretch * math.sin(angle)
    return matrix


def norms_by_numpy(case):
    """Every norm in double precision by numpy, and every sum of the stream from what the placement says it adds."""
    c, trace, worst = complete(case.config), case.run(), 0.0
    for name in [name[:-len(".normalized")] for name in trace if name.endswith(".normalized")]:
        of = name.split(".")[-1]
        block = name[: -len(of) - 1]
        x = norm_reads(c, case, trace, name, block, of)
        weight = name.replace("blocks", "layers").replace("ln_final", "norm")
        weight = weight.replace(".ln", ".norm") if of.startswith("ln") and of != "ln_final" else weight
        gain, shift = case.weights.get(weight + ".weight"), case.weights.get(weight + ".bias", 0)
        gain = 1 if not c["norm_gain"] else gain.astype(float) + c["norm"].endswith("_plus_one")
        x, eps = x.double().numpy(), c["layer_norm_eps"]
        if c["norm"] == "dynamic_tanh":
            grown = np.exp(2 * case.weights[weight + ".alpha"].astype(float) * x)
            worst = max(worst, difference(torch.as_tensor((grown - 1) / (grown + 1) * gain + shift).float(), trace[name + ".normalized"]))
            continue
        if c["norm"].startswith("layernorm"):
            centred = x - np.mean(x, -1, keepdims=True)
            scale = (np.std(x, -1, keepdims=True, ddof=1) + eps if c["norm"] == "layernorm_std"
                     else np.sqrt(np.var(x, -1, keepdims=True) + eps))
        else:
            centred, scale = x, np.sqrt(np.mean(x * x, -1, keepdims=True) + eps)
        out = centred / scale * gain + shift
        worst = max(worst, difference(torch.as_tensor(scale).float(), trace[name + ".scale"]),
                    difference(torch.as_tensor(out).float(), trace[name + ".normalized"]))
    return worst


def left_by(trace, name):
    """An update, after its dropout where there is one."""
    return trace.get(name + ".dropped", trace[name])


def norm_reads(c, case, trace, name, block, of):
    """The tensor that a norm reads, by its name and the placement; the sums on the way are checked, too."""
    prefix = "encoder." if name.startswith("encoder.") else ""
    sublayers = [("attn_out", "resid_mid")]
    if c["cross_attention"] and not prefix:
        sublayers.append(("cross_attn_out", "resid_mid_cross"))
    if c["dim_feedforward"]:
        sublayers.append(("mlp_out", "resid_post"))
    placement = c["norm_placement"]
    if of == "embed_norm":
        own = "memory" if prefix else "x"
        x = trace[prefix + "embed"] if prefix + "embed" in trace else torch.as_tensor(case.inputs[own])
        return x + trace[prefix + "pos_embed"] if prefix + "pos_embed" in trace else x
    if of == "ln_final":
        last = c["encoder_layers" if prefix else "num_layers"] - 1
        end = f"{prefix}blocks.{last}."
        return trace[end + f"ln{len(sublayers)}.normalized"] if placement == "post" else trace[end + "resid_post"]
    number = int(of[2])
    update, total = sublayers[number - 1]
    before = f"{block}.resid_pre" if number == 1 else f"{block}.{sublayers[number - 2][1]}"
    if c["parallel_residual"] != "none":
        return trace[block + ".resid_pre"]
    stream = trace[f"{block}.ln{number - 1}.normalized"] if placement == "post" and number > 1 else trace[before]
    added = trace[f"{block}.{of}.normalized"] if of.endswith("_post") else left_by(trace, f"{block}.{update}")
    if placement != "peri" or of.endswith("_post"):
        if c["layer_scale"]:
            added = added * tensors(case.weights)[f"{block.replace('blocks', 'layers')}.ls{number}.weight"]
        whole = torch.as_tensor(c["residual_scale"] * stream.double() + c["update_scale"] * added.double()).float()
        assert difference(whole, trace[f"{block}.{total}"]) < TOLERANCE, (case.name, total)
    if of.endswith("_post"):
        return left_by(trace, f"{block}.{update}")
    return trace[f"{block}.{total}"] if placement == "post" else stream


def head_scaled(case):
    """The logits by a plain product, times the scale and under the cap; the code by its table times the scale."""
    c, trace, w = complete(case.config), case.run(), tensors(case.weights)
    worst, head = 0.0, "embed.weight" if c["tie_word_embeddings"] else "lm_head.weight"
    if "pos_embed" in trace and c["positional_encoding"] == "learned":
        rows = w["pos_embed.weight"][: trace["pos_embed"].shape[0]]
        worst = max(worst, difference(c["position_scale"] * rows, trace["pos_embed"]))
    if c["lm_head"] and c["logit_scale"] != 1:
        last = f"blocks.{c['num_layers'] - 1}."
        x = trace.get("ln_final.normalized", trace.get(last + "ln3.normalized", trace.get(last + "ln2.normalized")))
        product = x @ (c["logit_scale"] * w[head]).T + c["logit_scale"] * w.get("lm_head.bias", 0)
        if c["logit_soft_cap"]:
            product = c["logit_soft_cap"] * (product / c["logit_soft_cap"]).tanh()
        worst = max(worst, difference(product, trace["logits"]))
    return worst


def sinusoidal_code():
    """The formula of the paper in double precision."""
    code = decoder.sinusoidal(7, 9)
    exact = torch.tensor([[(math.cos if i % 2 else math.sin)(pos / 10000 ** (i // 2 * 2 / 9)) for i in range(9)]
                          for pos in range(7)])
    return difference(code, exact)


def rounding(case):
    """How far float32 is from the same computed in double precision: what a comparison has to allow for."""
    wide = {name: torch.as_tensor(value).double() for name, value in case.weights.items()}
    inputs = {name: value.astype("float64") if value.dtype == "float32" else value
              for name, value in case.inputs.items()}
    exact = decoder.run(case.config, wide, inputs, case.edits, case.dropout_seed, case.asked)
    worst = 0.0
    for name, value in case.run().items():
        if not name.endswith("masked_scores") and not name.endswith("masked_scores.dropped"):  # these hold -1e9
            finite = exact[name].isfinite()
            worst = max(worst, float((value - exact[name])[finite].abs().max()) if finite.any() else 0.0)
    return worst


def torch_dropout_gives_nan():
    """torch's own dropout makes NaN of a dropped -inf, which is why the trace has it, too."""
    dropped = F.dropout(torch.full((64,), -math.inf), 0.5, training=True)
    return bool(dropped.isnan().any() and (dropped == -math.inf).any())


def check(cases):
    """Runs every check that fits each case and prints the largest differences."""
    by_name = {case.name: case for case in cases}
    found = {}

    def note(kind, name, value):
        assert value <= TOLERANCE, (kind, name, value)
        found.setdefault(kind, {})[name] = value

    with torch.no_grad():
        for case in cases:
            note("float32 against float64", case.name, rounding(case))
            if torch_can(case):
                note("torch.nn.TransformerDecoderLayer/EncoderLayer", case.name, against_torch(case))
            if complete(case.config)["attention_soft_cap"]:
                note("the soft caps by exponentials", case.name, caps_by_exponentials(case))
            if not case.edits and case.weights_seed is None:
                if "nothing-left" not in case.name:  # NaN is not compared by loops
                    note("queries, scores and masks by loops", case.name, attention_by_loops(case))
                note("norms and sums by numpy", case.name, norms_by_numpy(case))
                note("scaled logits and positions", case.name, head_scaled(case))
            if complete(case.config)["parallel_residual"] != "none" and not case.edits:
                note("parallel blocks by two residuals", case.name, parallel_by_two_residuals(case))
            if complete(case.config)["dim_feedforward"] == 0 and case.name != "attention-only-reordered":
                note("torch.nn.MultiheadAttention", case.name, attention_only_against_torch(case))
            if case.bundled in ("simple-decoder", "causal-lm", "causal-lm-as-meant"):
                note("the notebooks' modules", case.name, against_notebook(case))
        crosscheck_today.check(cases, note)
        note("a Llama block", "llama-like", llama(by_name["llama-like"]))
        note("attn.result adds up", "result-asked", results_add_up(by_name["result-asked"]))
        note("attn.result adds up", "edits-result", results_add_up(by_name["edits-result"]))
        note("edits", "as weights, inputs, masks", edits_amount_to())
        note("the sinusoidal code", "odd", sinusoidal_code())
        # torch cannot be given dropout masks for a whole seed-001 run, but the notebook's module can.
        dropped = models.causal_lm("causal-lm", "", {**models.CAUSAL_LM, "mask_value": "-1e9"})
        dropped.dropout_seed = 3
        note("the notebooks' modules", "causal-lm, dropout", against_notebook(dropped))
    assert torch_dropout_gives_nan()
    for kind, values in found.items():
        worst = max(values, key=values.get)
        print(f"{kind}: {len(values)} checked, largest difference {values[worst]:.2g} ({worst})")
        print("   ", ", ".join(values))
