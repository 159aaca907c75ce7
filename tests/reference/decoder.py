"""The reference decoder: the forward pass written with PyTorch's own functions, every tensor recorded by name.

It is a second, independent implementation of the contract that the C++ program keeps; nothing here is taken from it.
`run` computes a trace.
"""

import math
import re

import torch
import torch.nn.functional as F

import experts
import rng
from config import complete, encoder_config, head_width, is_mixture
from rope import rotate, turn

ACTIVATIONS = {
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "tanh2": lambda x: x.tanh().square(),
}


# --- edits ------------------------------------------------------------------------------------------------------------


FUNCTIONS = {name: getattr(torch, name) for name in ("abs", "relu", "sigmoid", "softmax", "sqrt")}


def _target(edit):
    """The name of the tensor that an edit changes or adds; "*" stands for each layer's number."""
    if edit["edit"] == "set_cell":
        return edit["tensor"]
    if edit["edit"] == "formula":
        return edit["step"]
    if edit["edit"] == "row":
        return ".".join(filter(None, (edit.get("of"), edit["name"])))
    if edit["edit"] == "expert":
        return edit["mlp"] + ".router_scores"
    return edit["attention"] + {"mask": ".mask", "scale_head": ".z"}[edit["edit"]]


def _is_of(pattern, name):
    return re.fullmatch(re.escape(pattern).replace(r"\*", "[0-9]+"), name) is not None


def _value(formula, part, trace):
    """What a formula in PyTorch's notation makes of the tensors of this part of the model, and of those around it."""
    names = dict(FUNCTIONS)
    for around in ["", *(part[:dot.start()] for dot in re.finditer(r"\.", part)), part]:
        prefix = around + "." if around else ""
        names |= {name.removeprefix(prefix): tensor for name, tensor in trace.items() if name.startswith(prefix)}
    return eval(formula, {"__builtins__": {}}, names).to(next(iter(trace.values())).dtype)


def _apply(edit, tensor):
    """Changes `tensor` in place."""
    if edit["edit"] == "set_cell":
        tensor[tuple(edit["index"])] = edit["value"]
    elif edit["edit"] == "scale_head":
        tensor[:, edit["head"]] *= edit["factor"]
    elif edit["edit"] == "expert":
        scores = tensor[tuple(slice(None) if edit[axis] == "*" else edit[axis] for axis in ("batch", "pos"))]
        if edit["use"] == "alone":
            scores[...] = 0.0
        scores[..., edit["expert"]] = 1.0 if edit["use"] == "alone" else 0.0
    else:
        where = (edit[axis] for axis in ("batch", "head", "query", "key"))
        tensor[tuple(slice(None) if index == "*" else index for index in where)] = 1.0 if edit["keep"] else 0.0


# --- the forward pass -------------------------------------------------------------------------------------------------


class Decoder:
    """One forward pass. `trace` maps names to tensors in the order of computation."""

    def __init__(self, config, weights, edits=(), dropout_seed=None, asked=()):
        self.config = complete(config)
        self.weights = {name: torch.as_tensor(value) for name, value in weights.items()}
        self.edits = list(edits)
        self.dropout_seed = dropout_seed
        self.asked = set(asked)
        self.trace = {}
        self.places = None  # [batch, pos]: the numbers of the decoder's positions, if they aren't counted

    def record(self, name, tensor):
        """Notes a tensor, changed by the edits that name it. What follows must read what this returns."""
        tensor = tensor.clone()
        for edit in self.edits:
            if edit["edit"] == "formula" and _is_of(edit["step"], name):
                tensor = _value(edit["formula"], name.rpartition(".")[0], self.trace)
            elif edit["edit"] not in ("formula", "row") and _target(edit) == name:
                _apply(edit, tensor)
        self.trace[name] = tensor
        return tensor

    def stored(self, x):
        """A result that isn't recorded, as the run's arithmetic stores it (rounding.py)."""
        return x

    def logits_stored(self, x):
        return self.stored(x)

    def edited(self, name):
        return any(_is_of(_target(edit), name) for edit in self.edits)

    def add_rows(self):
        """A row's parts are those of the tensors that there are."""
        for edit in self.edits:
            if edit["edit"] != "row":
                continue
            parts = dict.fromkeys(name.rpartition(".")[0] for name in self.trace) if edit.get("of") else [""]
            for part in [part for part in parts if _is_of(edit.get("of", ""), part)]:
                name = f"{part}.{edit['name']}" if part else edit["name"]
                self.trace[name] = _value(edit["formula"], part, self.trace)

    def linear(self, x, name):
        return self.stored(F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias")))

    def gain(self, norm):
        """What a norm multiplies by; None without norm_gain."""
        if not self.config["norm_gain"]:
            return None
        gain = self.weights[norm + ".weight"]
        return 1.0 + gain if self.config["norm"].endswith("_plus_one") else gain

    def rms_norm(self, x, weight):
        """An RMSNorm within attention, of which only the outcome is recorded, if anything."""
        gain = self.gain(weight)
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.config["layer_norm_eps"])
        return self.stored(x if gain is None else self.before_gain(x) * gain)

    def before_gain(self, x):
        """An RMSNorm's row, which Hugging Face's Llama casts back before the gain, and its Gemma after it."""
        by_default = "after_gain" if self.config["norm"] == "rmsnorm_plus_one" else "before_gain"
        return self.stored(x) if (self.config["norm_cast"] or by_default) == "before_gain" else x

    def norm(self, x, weight, name):
        """`weight` is the parameters' prefix, `name` the trace's."""
        c = self.config
        gain, shift = self.gain(weight), self.weights.get(weight + ".bias")
        if c["norm"] == "dynamic_tanh":
            out = torch.tanh(self.weights[weight + ".alpha"] * x)
            out = out if gain is None else out * gain
            return self.record(name + ".normalized", out if shift is None else out + shift)
        if c["norm"] == "layernorm_std":
            centred, scale = x - x.mean(-1, keepdim=True), x.std(-1, keepdim=True) + c["layer_norm_eps"]
        elif c["norm"].startswith("layernorm"):
            centred = x - x.mean(-1, keepdim=True)
            scale = torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + c["layer_norm_eps"])
        else:
            centred, scale = x, torch.sqrt(x.pow(2).mean(-1, keepdim=True) + c["layer_norm_eps"])
        scale = self.record(name + ".scale", scale)
        if c["norm"] in ("layernorm", "layernorm_plus_one") and not self.edited(name + ".scale"):
            out = F.layer_norm(x, (c["d_model"],), gain, shift, c["layer_norm_eps"])
        else:
            out = centred / scale
            out = self.before_gain(out) if c["norm"].startswith("rmsnorm") else out
            out = out if gain is None else out * gain
            out = out if shift is None else out + shift
        return self.record(name + ".normalized", out)

    def dropout(self, x, site, name):
        c = self.config
        if self.dropout_seed is None or c["dropout"] == 0 or site not in c["dropout_sites"]:
            return x
        mask_name = name + ".dropout_mask"
        mask = rng.dropout_mask(self.dropout_seed, mask_name, tuple(x.shape), c["dropout"])
        mask = self.record(mask_name, torch.from_numpy(mask).to(x.dtype))
        return self.record(name + ".dropped", x * mask)

    def head_norm(self, c, x, weight):
        """RMSNorm of projected queries or keys [batch, pos, head·d_head]: by head, or over all heads at once."""
        rows = x if c["qk_norm_across_heads"] else x.unflatten(-1, (-1, head_width(c)))
        return self.rms_norm(rows, weight).reshape(x.shape)

    def projections(self, c, x, memory, weight):
        """q, k and v [batch, head, pos, d_head] as the products have them: three projections, norms, RoPE."""
        to_itself = weight.endswith("self_attn")
        names = ("q", "q", "q") if c["shared_qkv"] else ("q", "k", "v")
        sources = (x, memory, memory)
        q, k, v = (self.linear(source, f"{weight}.{n}_proj") for source, n in zip(sources, names))

        def normed(q, k):
            return self.head_norm(c, q, weight + ".q_norm"), self.head_norm(c, k, weight + ".k_norm")

        def side_by_side(x):
            return x.transpose(1, 2).flatten(2)

        late = c["qk_norm_after_rope"]
        if c["qk_norm"] and to_itself and not late:
            q, k = normed(q, k)
        if c["clip_qkv"] > 0:
            q, k, v = (self.stored(value.clip(-c["clip_qkv"], c["clip_qkv"])) for value in (q, k, v))
        q, k, v = (value.unflatten(-1, (-1, head_width(c))).transpose(1, 2) for value in (q, k, v))
        places = None if weight.startswith("encoder.") else self.places
        if c["positional_encoding"] == "rope" and to_itself:
            q, k = rotate(c, q, places), rotate(c, k, places)
        if c["qk_norm"] and to_itself and late:
            q, k = (value.unflatten(-1, (-1, head_width(c))).transpose(1, 2)
                    for value in normed(side_by_side(q), side_by_side(k)))
        if c["query_scale_beta"] and to_itself:
            places = torch.arange(q.shape[-2]) if places is None else places[:, None]
            q = q * (1 + c["query_scale_beta"] * torch.log1p(places // c["query_scale_positions"]))[..., None].to(q.dtype)
        return q, k, v

    def latent_projections(self, c, x, weight, name):
        """DeepSeek-V2's: keys and values are made of a latent row of a position, and of a few turned columns of it that
        all heads share."""
        heads, turned, turns = c["nhead"], c["qk_rope_head_dim"], c["positional_encoding"] == "rope"
        if c["q_lora_rank"] > 0:
            q = self.rms_norm(self.linear(x, weight + ".q_down_proj"), weight + ".q_down_norm")
            q = self.linear(self.record(name + ".q_latent", q), weight + ".q_up_proj")
        else:
            q = self.linear(x, weight + ".q_proj")
        latent, shared = self.linear(x, weight + ".kv_down_proj").split((c["kv_lora_rank"], turned), dim=-1)
        latent = self.record(name + ".kv_latent", self.rms_norm(latent, weight + ".kv_down_norm"))
        shared = shared[:, None]  # [batch, 1, pos, columns]
        shared = self.record(name + ".k_shared", turn(c, shared, self.places) if turns else shared)
        q, own, v = (value.unflatten(-1, (heads, -1)).transpose(1, 2) for value in (
            q, self.linear(latent, weight + ".k_up_proj"), self.linear(latent, weight + ".v_up_proj")))
        k = torch.cat((own, shared.expand(-1, heads, -1, -1)), dim=-1)
        return rotate(c, q, self.places) if turns else q, k, v

    def attention(self, c, x, memory, keep, weight, name):
        """Multi-head attention of `x` to `memory`; `keep` is the mask, broadcastable to [batch, head, query, key]."""
        heads, kv_heads, d_head = c["nhead"], c["num_key_value_heads"], head_width(c)
        to_itself = weight.endswith("self_attn")
        latent = c["kv_lora_rank"] > 0 and to_itself
        q, k, v = (self.latent_projections(c, x, weight, name) if latent else self.projections(c, x, memory, weight))
        q, k, v = (self.record(f"{name}.{n}", value) for n, value in zip("qkv", (q, k, v)))
        k, v = (value.repeat_interleave(heads // kv_heads, dim=1) for value in (k, v))

        scores = self.stored(torch.matmul(q, k.transpose(-2, -1)))
        scores = scores * c["attention_scale"] if c["attention_scale"] else scores / math.sqrt(d_head)
        if c["alibi"] and to_itself:
            places = None if name.startswith("encoder.") else self.places
            bias = alibi(heads, scores.shape[-1], places).to(scores.dtype)
            if c["alibi_scaled"]:
                scale = c["attention_scale"] or 1 / math.sqrt(d_head)
                scores = self.stored(self.stored(torch.matmul(q, k.transpose(-2, -1))) + bias) * scale
            else:
                scores = self.stored(scores) + bias
        if c["relative_attention_num_buckets"] > 0 and to_itself:
            in_encoder = name.startswith("encoder.")
            rows = buckets(c, scores.shape[-1], in_encoder)
            scores = self.stored(scores) + self.weights[("encoder." if in_encoder else "") + "relative_bias.weight"][rows].permute(2, 0, 1)
        scores = self.record(name + ".attn_scores", scores)
        if c["attention_soft_cap"] > 0:
            scores = self.record(name + ".capped_scores", soft_cap(scores, c["attention_soft_cap"]))
        mask = self.record(name + ".mask", keep.expand(scores.shape).to(scores.dtype))
        masked = scores.masked_fill(mask == 0, float(c["mask_value"]))
        masked = self.record(name + ".masked_scores", masked)
        masked = self.dropout(masked, "attention_scores", name + ".masked_scores")
        if c["attention_sinks"] and to_itself:
            pattern = self.with_sink(masked, self.weights[weight + ".sinks"], name)
        else:
            pattern = self.record(name + ".pattern", torch.softmax(masked, dim=-1))
        pattern = self.dropout(pattern, "attention_weights", name + ".pattern")
        z = self.record(name + ".z", torch.matmul(pattern, v))
        out = self.output_projection(c, z, weight + ".o_proj", name)
        return self.dropout(self.record(name + "_out", out), "attention_out", name + "_out")

    def with_sink(self, scores, sinks, name):
        """The softmax with one more score, a number of the head, whose weight goes to no key."""
        sink = sinks[None, :, None, None].expand(*scores.shape[:-1], 1)
        weights = torch.softmax(torch.cat((scores, sink), dim=-1), dim=-1)
        self.record(name + ".sink", weights[..., -1:])
        return self.record(name + ".pattern", weights[..., :-1])

    def output_projection(self, c, z, weight, name):
        """The heads side by side through o_proj; head by head where a head's share is asked for or changed."""
        result = None
        if name + ".result" in self.asked or self.edited(name + ".result"):
            per_head = self.weights[weight + ".weight"].unflatten(1, (c["nhead"], -1))  # [d_model, head, d_head]
            result = self.record(name + ".result", torch.einsum("bhqe,dhe->bhqd", z, per_head))
        if not self.edited(name + ".result"):
            return self.linear(z.transpose(1, 2).flatten(2), weight)
        out, bias = result.sum(dim=1), self.weights.get(weight + ".bias")
        return out if bias is None else out + bias

    def activated(self, c, pre, gate):
        """What goes into the last matrix of an MLP; gate is None without gated_mlp."""
        if c["activation"] == "swiglu_clamped":
            gate, pre = gate.clamp(max=c["swiglu_limit"]), pre.clamp(-c["swiglu_limit"], c["swiglu_limit"])
            return gate * torch.sigmoid(c["swiglu_alpha"] * gate) * (pre + 1)
        act = ACTIVATIONS[c["activation"]]
        return act(pre) if gate is None else act(gate) * pre

    def xielu(self, pre, weight):
        """Huang & Schlag 2024: a parabola above 0, an exponential less a line below, both learned in steepness."""
        above, below = (F.softplus(self.weights[f"{weight}.xielu.alpha_{side}"]) for side in "pn")
        low = pre.clamp(max=-1e-6).exp() - 1 - pre
        return 0.5 * pre + torch.where(pre > 0, above * pre.square(), (0.5 + below) * low)

    def hidden(self, c, linear, name, weight=None):
        """The wide rows of an MLP; linear(projection) multiplies what it reads by one of its matrices."""
        pre = self.record(name + ".pre", linear("up_proj"))
        gate = self.record(name + ".gate", linear("gate_proj")) if c["gated_mlp"] else None
        post = self.xielu(pre, weight) if c["activation"] == "xielu" else self.activated(c, pre, gate)
        return self.dropout(self.record(name + ".post", post), "mlp_post", name + ".post")

    def mlp(self, c, x, weight, name):
        if is_mixture(c, int(weight.split(".")[-1])):
            out = self.mixture(c, x, weight, name + ".mlp")
        else:
            post = self.hidden(c, lambda projection: self.linear(x, f"{weight}.{projection}"), name + ".mlp", weight)
            out = self.linear(post, weight + ".down_proj")
        return self.dropout(self.record(name + ".mlp_out", out), "mlp_out", name + ".mlp_out")

    def mixture(self, c, x, weight, name):
        """The weighted sum of what a position's experts give, and of what all positions share."""
        logits = self.record(name + ".router_logits", self.linear(x, weight + ".router"))
        scores = self.record(name + ".router_scores", experts.scores(c, logits))
        chosen = experts.choose(c, scores.detach(), self.weights.get(weight + ".router.correction"))
        chosen = self.record(name + ".expert", chosen.to(x.dtype)).long()
        weigh = experts.sparsemixer if c["router"] == "sparsemixer" else experts.weigh
        weights = self.record(name + ".expert_weight", weigh(c, scores, chosen))

        def linear(rows, projection):
            of = f"{weight}.experts.{projection}"
            return experts.linear(rows, self.weights[of + ".weight"], self.weights.get(of + ".bias"), chosen)

        rows = x[:, :, None].expand(-1, -1, c["experts_per_token"], -1)  # [batch, pos, slot, d_model]
        post = self.hidden(c, lambda projection: linear(rows, projection), name)
        out = self.record(name + ".expert_out", linear(post, "down_proj"))
        out = (weights[..., None] * out).sum(dim=2)
        return out + self.shared_mlp(c, x, weight, name) if c["shared_dim_feedforward"] > 0 else out

    def shared_mlp(self, c, x, weight, name):
        """The MLP beside the experts, times a number of the position with shared_gate."""
        post = self.hidden(c, lambda projection: self.linear(x, f"{weight}.shared.{projection}"), name + ".shared")
        out = self.linear(post, weight + ".shared.down_proj")
        if c["shared_gate"]:
            out = self.record(name + ".shared_weight", torch.sigmoid(self.linear(x, weight + ".shared_gate"))) * out
        return self.record(name + ".shared_out", out)

    def block(self, c, x, memory, masks, weight, name):
        """One block: two or three sublayers, each with its residual sum and its norm or norms."""
        sublayers = [(lambda h: self.attention(c, h, h, masks["self"], weight + ".self_attn", name + ".attn"),
                      "resid_mid")]
        if c["cross_attention"]:
            sublayers.append((lambda h: self.attention(c, h, memory, masks["cross"], weight + ".cross_attn",
                                                       name + ".cross_attn"), "resid_mid_cross"))
        if c["dim_feedforward"] > 0:
            sublayers.append((lambda h: self.mlp(c, h, weight, name), "resid_post"))

        x = self.record(name + ".resid_pre", x)
        if c["parallel_residual"] != "none":
            return self.parallel(c, x, masks["self"], weight, name)
        for n, (sublayer, total) in enumerate(sublayers, start=1):
            norm, post = (f"{weight}.norm{n}", f"{name}.ln{n}"), (f"{weight}.norm{n}_post", f"{name}.ln{n}_post")
            update = {
                "pre": lambda: sublayer(self.norm(x, *norm)),
                "post": lambda: sublayer(x),
                "peri": lambda: self.norm(sublayer(self.norm(x, *norm)), *post),
                "reordered": lambda: self.norm(sublayer(x), *post),
            }[c["norm_placement"]]()
            update = self.layer_scaled(c, update, f"{weight}.ls{n}", f"{name}.ls{n}")
            x = self.record(f"{name}.{total}", c["residual_scale"] * x + c["update_scale"] * update)
            if c["norm_placement"] == "post":
                x = self.norm(x, *norm)
        if c["dim_feedforward"] == 0:
            x = self.record(name + ".resid_post", x)  # what leaves the last attention sublayer
        return x

    def layer_scaled(self, c, update, weight, name):
        return self.record(name, update * self.weights[weight + ".weight"]) if c["layer_scale"] else update

    def parallel(self, c, x, keep, weight, name):
        """GPT-J's residual (one norm) and GPT-NeoX's (two): the sublayers read the same stream and are added at once."""
        h = self.norm(x, weight + ".norm1", name + ".ln1")
        attended = self.attention(c, h, h, keep, weight + ".self_attn", name + ".attn")
        attended = self.layer_scaled(c, attended, weight + ".ls1", name + ".ls1")
        if c["parallel_residual"] == "two_norms":
            h = self.norm(x, weight + ".norm2", name + ".ln2")
        transformed, scale = self.layer_scaled(c, self.mlp(c, h, weight, name), weight + ".ls2", name + ".ls2"), c["update_scale"]
        return self.record(name + ".resid_post", self.stored(c["residual_scale"] * x + scale * attended) + scale * transformed)

    def stack(self, c, x, memory, masks, weight, name):
        """All blocks and the final norm; `weight` and `name` are "" or "encoder."."""
        for layer in range(c["num_layers"]):
            masks = {**masks, "self": masks["windowed" if in_window(c, layer) else "everything"]}
            x = self.block(positions_of(c, layer), x, memory, masks, f"{weight}layers.{layer}", f"{name}blocks.{layer}")
        return self.norm(x, weight + "norm", name + "ln_final") if c["final_norm"] else x

    def embed(self, c, tokens, vectors, prefix):
        """What enters the first block: looked-up rows or vectors as given, plus the positions' code."""
        if tokens is None:
            x = vectors
        else:
            x = F.embedding(tokens, self.weights[prefix + "embed.weight"])
            x = x * math.sqrt(c["d_model"]) if c["scale_embedding"] else x
            x = self.record(prefix + "embed", x * c["embedding_scale"])
        code = None
        places = torch.arange(x.shape[1]) if self.places is None or prefix else self.places
        if c["positional_encoding"] == "sinusoidal":
            code = sinusoidal(int(places.max()) + 1, c["d_model"]).to(x.dtype)[places]
        elif c["positional_encoding"] == "learned":
            code = F.embedding(places, self.weights[prefix + "pos_embed.weight"])
        if code is not None:
            x = self.stored(x + self.record(prefix + "pos_embed", code * c["position_scale"]))
        return self.norm(x, prefix + "embed_norm", prefix + "embed_norm") if c["embedding_norm"] else x

    def encode(self, inputs):
        c = encoder_config(self.config)
        from_tokens = c["encoder_vocab_size"] > 0
        x = self.embed(c, inputs["encoder_tokens"] if from_tokens else None, inputs.get("memory"), "encoder.")
        masks = {"everything": key_mask(inputs.get("encoder_attention_mask"), x)}
        return self.record("encoder_out", self.stack(c, x, None, masks, "encoder.", "encoder."))

    def numbered(self, c, inputs):
        """The numbers of the positions: given, Hugging Face's cumsum of what isn't padding, or each document's from 0."""
        counts = c["positional_encoding"] != "none" or c["alibi"] or c["sliding_window"] > 0 or c["query_scale_beta"] != 0
        if not counts or "positions" in inputs:
            return inputs.get("positions") if counts else None
        mask, segments = inputs.get("attention_mask"), inputs.get("segments")
        if c["positions"] == "from_segments" and segments is not None:
            before = torch.tril(segments[:, :, None] == segments[:, None, :], diagonal=-1)
            return self.record("positions", before.sum(-1).float()).long()
        if c["positions"] != "from_mask" or mask is None:
            return None
        return self.record("positions", (mask.long().cumsum(-1) - 1).clamp(min=0).float()).long()

    def forward(self, inputs):
        c = self.config
        memory = inputs.get("memory")
        if c["encoder_layers"] > 0:
            memory = self.encode(inputs)
        self.places = self.numbered(c, inputs)
        x = self.embed(c, inputs["tokens"] if c["vocab_size"] > 0 else None, inputs.get("x"), "")
        masks = {"everything": self_mask(c, inputs, x)}
        if c["sliding_window"] > 0:
            masks["windowed"] = masks["everything"] & window(x.shape[1], c["sliding_window"], self.places)
        if c["cross_attention"]:
            masks["cross"] = key_mask(inputs.get("encoder_attention_mask"), memory)
        x = self.stack(c, x, memory, masks, "", "")
        if c["lm_head"]:
            matrix = self.weights["embed.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
            logits = F.linear(x, matrix, self.weights.get("lm_head.bias"))
            if c["logit_scale"] != 1:
                logits = self.logits_stored(logits) * c["logit_scale"]
            if c["logit_soft_cap"] > 0:
                logits = soft_cap(self.logits_stored(logits), c["logit_soft_cap"])
            logits = self.record("logits", logits)
            self.record("probs", torch.softmax(logits, dim=-1))


def soft_cap(x, cap):
    """Gemma 2's: modeling_gemma2.py divides, takes the tanh and multiplies."""
    return torch.tanh(x / cap) * cap


def key_mask(attention_mask, over):
    """[batch, 1, 1, key]: which keys are no padding; all of them by default."""
    if attention_mask is None:
        attention_mask = torch.ones(over.shape[:2], dtype=torch.long)
    return attention_mask[:, None, None, :] != 0


def self_mask(c, inputs, x):
    keep = key_mask(inputs.get("attention_mask"), x)
    if c["causal"]:
        keep = keep & torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    if "custom_mask" in inputs:
        keep = keep & (inputs["custom_mask"] != 0)
    if "segments" in inputs:
        keep = keep & (inputs["segments"][:, None, :, None] == inputs["segments"][:, None, None, :])
    return keep


def sinusoidal(length, d_model):
    """The code of "Attention Is All You Need", in float32 as PyTorch tutorials compute it."""
    position = torch.arange(length, dtype=torch.float).unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    code = torch.zeros(length, d_model)
    code[:, 0::2] = torch.sin(position * frequency)
    code[:, 1::2] = torch.cos(position * frequency[: d_model // 2])  # an odd d_model has one cosine less
    return code


def in_window(c, layer):
    return c["sliding_window"] > 0 and (not c["sliding_window_layers"] or layer in c["sliding_window_layers"])


def positions_of(c, layer):
    """The configuration for one layer: where RoPE turns nothing, and where it turns by a base of its own."""
    if c["rope_layers"] and layer not in c["rope_layers"]:
        return {**c, "positional_encoding": "none"}
    if c["rope_local_theta"] > 0 and in_window(c, layer):
        return {**c, "rope_theta": c["rope_local_theta"], "rope_scaling": "none"}
    return c


def window(length, width, places=None):
    """[query, key], or [batch, 1, query, key]: what is less than `width` positions back."""
    if places is None:
        return torch.ones(length, length, dtype=torch.bool).triu(1 - width)
    return (places[:, None, :, None] - places[:, None, None, :]) < width


def slopes(heads):
    """As in Press et al.'s attention_with_linear_biases: a geometric sequence for powers of two, else two of them."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return slopes(closest) + slopes(2 * closest)[0::2][: heads - closest]


def alibi(heads, length, places=None):
    """[head, query, key], or [batch, head, query, key]: -slope (query - key)."""
    position = (torch.arange(length)[None] if places is None else places).float()
    return torch.tensor(slopes(heads))[:, None, None] * (position[:, None, None, :] - position[:, None, :, None])


def buckets(c, length, both_ways):
    """[query, key]: which row of the table a distance has, as transformers' T5Attention has it."""
    count, found = c["relative_attention_num_buckets"], 0
    distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
    if both_ways:
        count //= 2
        found = (distance > 0).long() * count
        distance = distance.abs()
    else:
        distance = -torch.min(distance, torch.zeros_like(distance))
    exact = count // 2
    far = torch.log(distance.float().clamp(min=1) / exact) / math.log(c["relative_attention_max_distance"] / exact)
    far = (exact + (far * (count - exact)).long()).clamp(max=count - 1)
    return found + torch.where(distance < exact, distance, far)


def run(config, weights, inputs, edits=(), dropout_seed=None, asked=()):
    """The trace of one forward pass: name -> tensor, in order. `asked` names attn.result tensors to make as well."""
    decoder = Decoder(config, weights, edits, dropout_seed, asked)
    with torch.no_grad():
        decoder.forward({name: torch.as_tensor(value) for name, value in inputs.items()})
        decoder.add_rows()
    missing = {_target(edit) for edit in edits} | set(asked)
    missing = [target for target in missing if not any(_is_of(target, name) for name in decoder.trace)]
    if missing:
        raise KeyError(f"no such tensors: {sorted(missing)}")
    return decoder.trace
