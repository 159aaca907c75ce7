"""The decoder as one would write it in PyTorch to be fast: fused q, k and v, F.linear, F.layer_norm, one batched product
for all heads. It can keep the tensors that Decoderscope records, or free each as soon as it is used."""

import math

import torch
import torch.nn.functional as F

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}


class FastDecoder:
    def __init__(self, config, weights):
        self.c, self.w = config, weights
        for layer in range(config["num_layers"]):
            at = f"layers.{layer}.self_attn."
            for kind in ("weight", "bias"):
                weights[at + "qkv." + kind] = torch.cat([weights[f"{at}{x}_proj.{kind}"] for x in "qkv"])

    def norm(self, x, name):
        w = self.w
        return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], self.c["layer_norm_eps"])

    def linear(self, x, name):
        return self.multiply(x, name + ".weight", self.w[name + ".bias"])

    def multiply(self, x, weight, bias):
        return F.linear(x, self.w[weight], bias)

    def heads(self, x):
        batch, pos, width = x.shape
        return x.view(batch, pos, -1, width // self.c["nhead"]).transpose(1, 2)

    def attend(self, q, k, v, hidden, keep):
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        masked = scores if hidden is None else scores.masked_fill(hidden, float(self.c["mask_value"]))
        pattern = masked.softmax(-1)
        z = pattern @ v
        keep(q, k, v, scores, masked, pattern, z)
        return z.transpose(1, 2).flatten(2)

    def self_attention(self, x, at, hidden, keep):
        q, k, v = (self.heads(part) for part in self.linear(x, at + "qkv").chunk(3, -1))
        return self.linear(self.attend(q, k, v, hidden, keep), at + "o_proj")

    def cross_attention(self, x, memory, at, hidden, keep):
        q = self.heads(self.linear(x, at + "q_proj"))
        k, v = (self.heads(self.linear(memory, f"{at}{part}_proj")) for part in "kv")
        return self.linear(self.attend(q, k, v, hidden, keep), at + "o_proj")

    def feed_forward(self, x, at, keep):
        pre = self.linear(x, at + "up_proj")
        post = ACTIVATIONS[self.c["activation"]](pre)
        keep(pre, post)
        return self.linear(post, at + "down_proj")

    def sublayer(self, x, norm_name, work, keep):
        if self.c["norm_first"]:
            normed = self.norm(x, norm_name)
            update = work(normed)
            x = x + update
            keep(normed, update, x)
            return x
        update = work(x)
        summed = x + update
        x = self.norm(summed, norm_name)
        keep(update, summed, x)
        return x

    def __call__(self, inputs, keep=lambda *tensors: None):
        """Logits where there is a head, else what leaves the last block (or the final norm)."""
        c, w = self.c, self.w
        if c["vocab_size"] > 0:
            x = F.embedding(inputs["tokens"], w["embed.weight"])
        else:
            x = inputs["x"]
        batch, pos = x.shape[:2]
        if c["positional_encoding"] == "learned":
            keep(x)
            x = x + w["pos_embed.weight"][:pos]
        hidden = torch.ones(pos, pos, dtype=torch.bool).triu(1)
        if "attention_mask" in inputs:
            hidden = hidden | (inputs["attention_mask"] == 0)[:, None, None, :]
        memory_hidden = None
        if "encoder_attention_mask" in inputs:
            memory_hidden = (inputs["encoder_attention_mask"] == 0)[:, None, None, :]
        keep(x)
        for layer in range(c["num_layers"]):
            at = f"layers.{layer}."
            x = self.sublayer(x, at + "norm1", lambda y: self.self_attention(y, at + "self_attn.", hidden, keep), keep)
            number = 2
            if c["cross_attention"]:
                x = self.sublayer(x, at + "norm2", lambda y: self.cross_attention(
                    y, inputs["memory"], at + "cross_attn.", memory_hidden, keep), keep)
                number = 3
            x = self.sublayer(x, f"{at}norm{number}", lambda y: self.feed_forward(y, at, keep), keep)
        if c["final_norm"]:
            x = self.norm(x, "norm")
        if not c["lm_head"]:
            return x
        head = "embed.weight" if c["tie_word_embeddings"] else "lm_head.weight"
        logits = self.multiply(x, head, w.get("lm_head.bias"))
        keep(x, logits)
        return logits


class OneDnnDecoder(FastDecoder):
    """The same with the weights in oneDNN's layout, which multiplies them instead of the BLAS."""

    def __init__(self, config, weights):
        super().__init__(config, weights)
        self.packed = {}

    def multiply(self, x, weight, bias):
        if weight not in self.packed:
            self.packed[weight] = self.w[weight].to_mkldnn()
        bias = torch.zeros(self.w[weight].shape[0]) if bias is None else bias
        product = torch._C._nn.mkldnn_linear(x.contiguous().to_mkldnn(), self.packed[weight], bias.to_mkldnn())
        return product.to_dense()
