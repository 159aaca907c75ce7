"""T5 and T5 1.1: a learned bias for each distance, no scale on the scores, RMSNorm."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from case import Case, some_inputs
from parts import Stack, attend, gelu_tanh, logits_of, mlp, module, record, rms_norm, split, sums

VOCABULARY, D, HEADS, D_HEAD, LAYERS, FF, BUCKETS, FARTHEST = 23, 12, 2, 5, 2, 16, 6, 8
EPS = 1e-6


def bucket(distance, two_sided):
    """The row of the bias for key − query: half of the rows count, the others grow logarithmically up to FARTHEST."""
    count, first = BUCKETS, 0
    if two_sided:
        count //= 2
        first = count if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = count // 2
    if distance < exact:
        return first + distance
    grown = exact + int(math.log(distance / exact) / math.log(FARTHEST / exact) * (count - exact))
    return first + min(grown, count - 1)


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, at, x):
        return rms_norm(at, x, self.weight, EPS)


def attention(biased):
    a = module(q=nn.Linear(D, HEADS * D_HEAD, bias=False), k=nn.Linear(D, HEADS * D_HEAD, bias=False),
               v=nn.Linear(D, HEADS * D_HEAD, bias=False), o=nn.Linear(HEADS * D_HEAD, D, bias=False))
    if biased:
        a.relative_attention_bias = nn.Embedding(BUCKETS, HEADS)
    return a


def run(a, at, h, source, keep, bias):
    q, k, v = split(a.q(h), HEADS), split(a.k(source), HEADS), split(a.v(source), HEADS)
    return record(f"{at}_out", a.o(attend(at, q, k, v, keep, scale=1.0, bias=bias)))


class Block(nn.Module):
    def __init__(self, crossed, gated, first):
        super().__init__()
        self.crossed, self.gated = crossed, gated
        parts = [module(SelfAttention=attention(first), layer_norm=Norm())]
        if crossed:
            parts.append(module(EncDecAttention=attention(False), layer_norm=Norm()))
        wi = ("wi_0", "wi_1") if gated else ("wi",)
        linears = {name: nn.Linear(D, FF, bias=False) for name in wi}
        parts.append(module(DenseReluDense=module(**linears, wo=nn.Linear(FF, D, bias=False)), layer_norm=Norm()))
        self.layer = nn.ModuleList(parts)

    def feed_forward(self, at, h):
        m = self.layer[-1].DenseReluDense
        if self.gated:
            return mlp(at, h, m.wi_1, m.wo, gelu_tanh, m.wi_0)
        return mlp(at, h, m.wi, m.wo, F.relu)

    def run(self, at, x, keep, memory, memory_keep, bias):
        own = self.layer[0]
        steps = [("resid_mid", lambda h: run(own.SelfAttention, f"{at}.attn", h, h, keep, bias), own.layer_norm)]
        if self.crossed:
            cross = self.layer[1]
            steps.append(("resid_mid_cross", lambda h: run(cross.EncDecAttention, f"{at}.cross_attn", h, memory,
                                                           memory_keep,
                                                           None), cross.layer_norm))
        steps.append(("resid_post", lambda h: self.feed_forward(at, h), self.layer[-1].layer_norm))
        return sums(at, x, steps, "pre")


class T5(nn.Module):
    def __init__(self, gated, tied):
        super().__init__()
        self.tied = tied
        self.shared = nn.Embedding(VOCABULARY, D)
        for side, crossed in (("encoder", False), ("decoder", True)):
            blocks = nn.ModuleList([Block(crossed, gated, layer == 0) for layer in range(LAYERS)])
            setattr(self, side, module(embed_tokens=self.shared, block=blocks, final_layer_norm=Norm()))
        self.lm_head = nn.Linear(D, VOCABULARY, bias=False)
        if tied:
            self.lm_head.weight = self.shared.weight

    def stack(self, side, two_sided):
        """The first block's bias serves all of them."""
        table = side.block[0].layer[0].SelfAttention.relative_attention_bias

        def step(block):
            def forward(at, x, keep, memory, memory_keep):
                length = x.size(1)
                rows = torch.tensor([[bucket(key - query,
                                             two_sided) for key in range(length)] for query in range(length)])
                return block.run(at, x, keep, memory, memory_keep, table(rows).permute(2, 0, 1))
            return forward

        return Stack(lambda prefix, tokens: record(prefix + "embed", self.shared(tokens)),
                     [step(b) for b in side.block],
                     side.final_layer_norm)

    def head(self, x):
        return self.lm_head(x * D ** -0.5 if self.tied else x)

    def forward(self, inputs):
        return logits_of(inputs, self.head, self.stack(self.decoder, False), self.stack(self.encoder, True))


def names(gated, tied):
    found = {"shared.weight": ["embed.weight", "encoder.embed.weight"]}
    for side, crossed in (("encoder", False), ("decoder", True)):
        start = "" if crossed else "encoder."
        for layer in range(LAYERS):
            theirs, ours = f"{side}.block.{layer}.layer.", f"{start}layers.{layer}."
            for n, (name, our) in enumerate([("SelfAttention", "self_attn"), ("EncDecAttention",
                                                                              "cross_attn")][:1 + crossed]):
                for letter in "qkvo":
                    found[f"{theirs}{n}.{name}.{letter}.weight"] = f"{ours}{our}.{letter}_proj.weight"
                found[f"{theirs}{n}.layer_norm.weight"] = f"{ours}norm{n + 1}.weight"
            if layer == 0:
                found[f"{theirs}0.SelfAttention.relative_attention_bias.weight"] = f"{start}relative_bias.weight"
            last = 1 + crossed
            for name, our in ((("wi_0", "gate"), ("wi_1", "up")) if gated else (("wi", "up"),)) + (("wo", "down"),):
                found[f"{theirs}{last}.DenseReluDense.{name}.weight"] = f"{ours}{our}_proj.weight"
            found[f"{theirs}{last}.layer_norm.weight"] = f"{ours}norm{last + 1}.weight"
        found[f"{side}.final_layer_norm.weight"] = f"{start}norm.weight"
    return found if tied else {**found, "lm_head.weight": "lm_head.weight"}


def case(name, title, gated, tied):
    hf = {"architectures": ["T5ForConditionalGeneration"], "classifier_dropout": 0.0, "d_ff": FF, "d_kv": D_HEAD,
          "d_model": D,
          "decoder_start_token_id": 0, "dense_act_fn": "gelu_new" if gated else "relu", "dropout_rate": 0.1,
          "eos_token_id": 1,
          "feed_forward_proj": "gated-gelu" if gated else "relu", "initializer_factor": 1.0, "is_encoder_decoder": True,
          "is_gated_act": gated, "layer_norm_epsilon": EPS, "model_type": "t5", "n_positions": 512,
          "num_decoder_layers": LAYERS, "num_heads": HEADS, "num_layers": LAYERS, "output_past": True,
          "pad_token_id": 0,
          "relative_attention_max_distance": FARTHEST, "relative_attention_num_buckets": BUCKETS,
          "torch_dtype": "float32",
          "transformers_version": "4.46.0", "use_cache": True, "vocab_size": VOCABULARY}
    if not tied:
        hf["tie_word_embeddings"] = False
    ours = {"model_type": "decoderscope", "d_model": D, "nhead": HEADS, "num_layers": LAYERS, "dim_feedforward": FF,
            "head_dim": D_HEAD, "norm_first": True, "norm": "rmsnorm", "layer_norm_eps": EPS, "final_norm": True,
            "activation": "gelu_tanh" if gated else "relu", "gated_mlp": gated, "bias": False, "cross_attention": True,
            "encoder_layers": LAYERS, "vocab_size": VOCABULARY, "encoder_vocab_size": VOCABULARY,
            "attention_scale": 1.0,
            "lm_head": True, "tie_word_embeddings": tied, **({"logit_scale": D ** -0.5} if tied else {}),
            "relative_attention_num_buckets": BUCKETS, "relative_attention_max_distance": FARTHEST}
    unsaved = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight") + (("lm_head.weight",) if tied else ())
    return Case(name, title, {"repository": "huggingface/transformers", "paper": "arXiv:1910.10683"}, T5(gated, tied),
                some_inputs(name, VOCABULARY, 7, (VOCABULARY, 9)), ours, names(gated, tied), config_json=hf,
                unsaved=unsaved,
                needs=["a learned bias for each distance, part of attn_scores: relative_attention_num_buckets and "
                       "relative_attention_max_distance, a relative_bias.weight of the decoder and one of the encoder"])


def cases():
    return [case("t5", "T5", False, True), case("t5-v1.1", "T5 1.1", True, False)]
