"""The reference decoder: the forward pass written with PyTorch's own functions, every tensor recorded by name.

It is a second, independent implementation of the contract that the C++ program keeps; nothing here is taken from it.
`run` computes a trace.
"""

import math

import torch
import torch.nn.functional as F

import rng
from config import complete, encoder_config, head_width

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


# --- edits ------------------------------------------------------------------------------------------------------------


def _target(edit):
    """The name of the tensor that an edit changes."""
    if edit["edit"] == "set_cell":
        return edit["tensor"]
    return edit["attention"] + {"mask": ".mask", "scale_head": ".z"}[edit["edit"]]


def _apply(edit, tensor):
    """Changes `tensor` in place."""
    if edit["edit"] == "set_cell":
        tensor[tuple(edit["index"])] = edit["value"]
    elif edit["edit"] == "scale_head":
        tensor[:, edit["head"]] *= edit["factor"]
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

    def record(self, name, tensor):
        """Notes a tensor, changed by the edits that name it. What follows must read what this returns."""
        tensor = tensor.clone()
        for edit in self.edits:
            if _target(edit) == name:
                _apply(edit, tensor)
        self.trace[name] = tensor
        return tensor

    def edited(self, name):
        return any(_target(edit) == name for edit in self.edits)

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def norm(self, x, weight, name):
        """`weight` is the parameters' prefix, `name` the trace's."""
        c = self.config
        gain, shift = self.weights[weight + ".weight"], self.weights.get(weight + ".bias")
        if c["norm"] == "layernorm_std":
            centred, scale = x - x.mean(-1, keepdim=True), x.std(-1, keepdim=True) + c["layer_norm_eps"]
        elif c["norm"] == "layernorm":
            centred = x - x.mean(-1, keepdim=True)
            scale = torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + c["layer_norm_eps"])
        else:
            centred, scale = x, torch.sqrt(x.pow(2).mean(-1, keepdim=True) + c["layer_norm_eps"])
        if c["norm"] == "rmsnorm_plus_one":
            gain = 1.0 + gain
        scale = self.record(name + ".scale", scale)
        if c["norm"] == "layernorm" and not self.edited(name + ".scale"):
            out = F.layer_norm(x, (c["d_model"],), gain, shift, c["layer_norm_eps"])
        else:
            out = centred / scale * gain
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
        gain = self.weights[weight + ".weight"]
        gain = 1.0 + gain if c["norm"] == "rmsnorm_plus_one" else gain
        rows = x if c["qk_norm_across_heads"] else x.unflatten(-1, (-1, head_width(c)))
        rows = rows * torch.rsqrt(rows.pow(2).mean(-1, keepdim=True) + c["layer_norm_eps"]) * gain
        return rows.reshape(x.shape)

    def attention(self, c, x, memory, keep, weight, name):
        """Multi-head attention of `x` to `memory`; `keep` is the mask, broadcastable to [batch, head, query, key]."""
        heads, kv_heads, d_head = c["nhead"], c["num_key_value_heads"], head_width(c)
        to_itself = weight.endswith("self_attn")
        names = ("q", "q", "q") if c["shared_qkv"] else ("q", "k", "v")
        sources = (x, memory, memory)
        q, k, v = (self.linear(source, f"{weight}.{n}_proj") for source, n in zip(sources, names))
        if c["qk_norm"] and to_itself:
            q, k = self.head_norm(c, q, weight + ".q_norm"), self.head_norm(c, k, weight + ".k_norm")
        q, k, v = (value.unflatten(-1, (-1, d_head)).transpose(1, 2) for value in (q, k, v))
        if c["positional_encoding"] == "rope" and to_itself:
            q, k = rotate(c, q), rotate(c, k)
        q, k, v = (self.record(f"{name}.{n}", value) for n, value in zip("qkv", (q, k, v)))
        k, v = (value.repeat_interleave(heads // kv_heads, dim=1) for value in (k, v))

        scores = torch.matmul(q, k.transpose(-2, -1))
        scores = scores * c["attention_scale"] if c["attention_scale"] else scores / math.sqrt(d_head)
        if c["alibi"] and to_itself:
            scores = scores + alibi(heads, scores.shape[-1]).to(scores.dtype)
        if c["relative_attention_num_buckets"] > 0 and to_itself:
            in_encoder = name.startswith("encoder.")
            rows = buckets(c, scores.shape[-1], in_encoder)
            scores = scores + self.weights[("encoder." if in_encoder else "") + "relative_bias.weight"][rows].permute(2, 0, 1)
        scores = self.record(name + ".attn_scores", scores)
        if c["attention_soft_cap"] > 0:
            scores = self.record(name + ".capped_scores", soft_cap(scores, c["attention_soft_cap"]))
        mask = self.record(name + ".mask", keep.expand(scores.shape).to(scores.dtype))
        masked = scores.masked_fill(mask == 0, float(c["mask_value"]))
        masked = self.record(name + ".masked_scores", masked)
        masked = self.dropout(masked, "attention_scores", name + ".masked_scores")
        pattern = self.record(name + ".pattern", torch.softmax(masked, dim=-1))
        pattern = self.dropout(pattern, "attention_weights", name + ".pattern")
        z = self.record(name + ".z", torch.matmul(pattern, v))
        out = self.output_projection(c, z, weight + ".o_proj", name)
        return self.dropout(self.record(name + "_out", out), "attention_out", name + "_out")

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

    def mlp(self, c, x, weight, name):
        act = ACTIVATIONS[c["activation"]]
        pre = self.record(name + ".mlp.pre", self.linear(x, weight + ".up_proj"))
        if c["gated_mlp"]:
            gate = self.record(name + ".mlp.gate", self.linear(x, weight + ".gate_proj"))
            post = act(gate) * pre
        else:
            post = act(pre)
        post = self.dropout(self.record(name + ".mlp.post", post), "mlp_post", name + ".mlp.post")
        out = self.record(name + ".mlp_out", self.linear(post, weight + ".down_proj"))
        return self.dropout(out, "mlp_out", name + ".mlp_out")

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
            x = self.record(f"{name}.{total}", c["residual_scale"] * x + update)
            if c["norm_placement"] == "post":
                x = self.norm(x, *norm)
        if c["dim_feedforward"] == 0:
            x = self.record(name + ".resid_post", x)  # what leaves the last attention sublayer
        return x

    def parallel(self, c, x, keep, weight, name):
        """GPT-J's residual (one norm) and GPT-NeoX's (two): the sublayers read the same stream and are added at once."""
        h = self.norm(x, weight + ".norm1", name + ".ln1")
        attended = self.attention(c, h, h, keep, weight + ".self_attn", name + ".attn")
        if c["parallel_residual"] == "two_norms":
            h = self.norm(x, weight + ".norm2", name + ".ln2")
        return self.record(name + ".resid_post",
                           c["residual_scale"] * x + attended + self.mlp(c, h, weight, name))

    def stack(self, c, x, memory, masks, weight, name):
        """All blocks and the final norm; `weight` and `name` are "" or "encoder."."""
        for layer in range(c["num_layers"]):
            masks = {**masks, "self": masks["windowed" if in_window(c, layer) else "everything"]}
            x = self.block(c, x, memory, masks, f"{weight}layers.{layer}", f"{name}blocks.{layer}")
        return self.norm(x, weight + "norm", name + "ln_final") if c["final_norm"] else x

    def embed(self, c, tokens, vectors, prefix):
        """What enters the first block: looked-up rows or vectors as given, plus the positions' code."""
        if tokens is None:
            x = vectors
        else:
            x = F.embedding(tokens, self.weights[prefix + "embed.weight"])
            x = self.record(prefix + "embed", x * math.sqrt(c["d_model"]) if c["scale_embedding"] else x)
        length, code = x.shape[1], None
        if c["positional_encoding"] == "sinusoidal":
            code = sinusoidal(length, c["d_model"]).to(x.dtype)
        elif c["positional_encoding"] == "learned":
            code = self.weights[prefix + "pos_embed.weight"][:length]
        if code is not None:
            x = x + self.record(prefix + "pos_embed", code * c["position_scale"])
        return self.norm(x, prefix + "embed_norm", prefix + "embed_norm") if c["embedding_norm"] else x

    def encode(self, inputs):
        c = encoder_config(self.config)
        from_tokens = c["encoder_vocab_size"] > 0
        x = self.embed(c, inputs["encoder_tokens"] if from_tokens else None, inputs.get("memory"), "encoder.")
        masks = {"everything": key_mask(inputs.get("encoder_attention_mask"), x)}
        return self.record("encoder_out", self.stack(c, x, None, masks, "encoder.", "encoder."))

    def forward(self, inputs):
        c = self.config
        memory = inputs.get("memory")
        if c["encoder_layers"] > 0:
            memory = self.encode(inputs)
        x = self.embed(c, inputs["tokens"] if c["vocab_size"] > 0 else None, inputs.get("x"), "")
        masks = {"everything": self_mask(c, inputs, x)}
        if c["sliding_window"] > 0:
            masks["windowed"] = masks["everything"] & window(x.shape[1], c["sliding_window"])
        if c["cross_attention"]:
            masks["cross"] = key_mask(inputs.get("encoder_attention_mask"), memory)
        x = self.stack(c, x, memory, masks, "", "")
        if c["lm_head"]:
            matrix = self.weights["embed.weight" if c["tie_word_embeddings"] else "lm_head.weight"]
            logits = F.linear(x, matrix, self.weights.get("lm_head.bias")) * c["logit_scale"]
            if c["logit_soft_cap"] > 0:
                logits = soft_cap(logits, c["logit_soft_cap"])
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


def window(length, width):
    """[query, key]: what is less than `width` positions back."""
    return torch.ones(length, length, dtype=torch.bool).triu(1 - width)


def slopes(heads):
    """As in Press et al.'s attention_with_linear_biases: a geometric sequence for powers of two, else two of them."""
    if math.log2(heads).is_integer():
        start = 2 ** (-(2 ** -(math.log2(heads) - 3)))
        return [start * start**i for i in range(heads)]
    closest = 2 ** math.floor(math.log2(heads))
    return slopes(closest) + slopes(2 * closest)[0::2][: heads - closest]


def alibi(heads, length):
    """[head, query, key]: -slope (query - key)."""
    position = torch.arange(length).float()
    return torch.tensor(slopes(heads))[:, None, None] * (position[None, :] - position[:, None])


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


def scaled_frequencies(c, inv_freq):
    """As transformers' modeling_rope_utils.py has it: "linear" divides all frequencies, "llama3" only the low ones."""
    if c["rope_scaling"] == "linear":
        return inv_freq / c["rope_factor"]
    if c["rope_scaling"] == "none":
        return inv_freq
    low, high, old_length = c["rope_low_freq_factor"], c["rope_high_freq_factor"], c["rope_original_positions"]
    wavelength = 2 * math.pi / inv_freq
    lowered = torch.where(wavelength > old_length / low, inv_freq / c["rope_factor"], inv_freq)
    smooth = (old_length / wavelength - low) / (high - low)
    smoothed = (1 - smooth) * lowered / c["rope_factor"] + smooth * lowered
    between = ~(wavelength < old_length / high) & ~(wavelength > old_length / low)
    return torch.where(between, smoothed, lowered)


def rotate(c, x):
    """Rotary position embedding of the first columns; pairs are halves of these columns, or neighbours."""
    length, columns = x.shape[-2], c["rotary_dim"] or x.shape[-1]
    inv_freq = scaled_frequencies(c, 1.0 / c["rope_theta"] ** (torch.arange(0, columns, 2).float() / columns))
    angle = torch.outer(torch.arange(length).float(), inv_freq)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    turning, rest = x[..., :columns], x[..., columns:]
    if c["rope_interleaved"]:
        first, second = turning[..., 0::2], turning[..., 1::2]
        pairs = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1)
        return torch.cat((pairs.flatten(-2), rest), dim=-1)
    first, second = turning.chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    cos, sin = torch.cat((cos, cos), dim=-1), torch.cat((sin, sin), dim=-1)
    return torch.cat((turning * cos + turned * sin, rest), dim=-1)


def run(config, weights, inputs, edits=(), dropout_seed=None, asked=()):
    """The trace of one forward pass: name -> tensor, in order. `asked` names attn.result tensors to make as well."""
    decoder = Decoder(config, weights, edits, dropout_seed, asked)
    with torch.no_grad():
        decoder.forward({name: torch.as_tensor(value) for name, value in inputs.items()})
    missing = {_target(edit) for edit in edits} | set(asked)
    missing -= set(decoder.trace)
    if missing:
        raise KeyError(f"no such tensors: {sorted(missing)}")
    return decoder.trace
