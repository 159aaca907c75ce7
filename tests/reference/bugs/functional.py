"""A decoder without modules: functions of a dictionary of parameters, which einsum multiplies by."""
import torch
from torch import einsum, nn
from torch.nn import functional as F

from parts import scaled, triangle, weights_of

WIDTH, HEADS, LAYERS = 16, 2, 2


def layer_norm(x, gain, shift, how):
    centred = x if "variance-about-zero" in how else x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(((x - x.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True) + 1e-5) * gain + shift


def attention(p, x, how):
    q, k, v = (einsum("bnd,hde->bhne", x, p["w" + name]) for name in ("qqv" if "keys-of-queries" in how else "qkv"))
    scores = scaled(einsum("bhie,bhje->bhij", q, k), WIDTH // HEADS, WIDTH, how)
    z = einsum("bhij,bhje->bhie", weights_of(scores, triangle(x.size(1), how), WIDTH // HEADS, how), v)
    return einsum("bhie,hed->bid", z, p["wo"])


def decoder(p, tokens, how):
    x = p["table"][tokens] + p["places"][:tokens.size(1)]
    for layer in range(LAYERS):
        own = {name.partition("_")[2]: value for name, value in p.items() if name.startswith(f"l{layer}_")}
        x = x + attention(own, layer_norm(x, own["g1"], own["c1"], how), how)
        inner = einsum("bnd,df->bnf", layer_norm(x, own["g2"], own["c2"], how), own["w1"])
        inner = inner if "no-mlp-bias" in how else inner + own["b1"]
        update = einsum("bnf,fd->bnd", F.gelu(inner) if "gelu-exact" in how else F.relu(inner), own["w2"]) + own["b2"]
        x = update if "no-residual-mlp" in how else x + update
    if "no-final-norm" not in how:
        x = layer_norm(x, p["gf"], p["cf"], how)
    return einsum("bnd,vd->bnv", x, p["table"])


class Functional(nn.Module):
    def __init__(self, how):
        super().__init__()
        shapes = {"table": (11, WIDTH), "places": (8, WIDTH), "gf": (WIDTH,), "cf": (WIDTH,)}
        for layer in range(LAYERS):
            own = {"w" + name: (HEADS, WIDTH, WIDTH // HEADS) for name in "qkv"}
            own |= {"wo": (HEADS, WIDTH // HEADS, WIDTH), "w1": (WIDTH, 24), "b1": (24,), "w2": (24, WIDTH), "b2": (WIDTH,)}
            own |= {name: (WIDTH,) for name in ("g1", "c1", "g2", "c2")}
            shapes |= {f"l{layer}_{name}": shape for name, shape in own.items()}
        self.p = nn.ParameterDict({name: nn.Parameter(torch.zeros(shape)) for name, shape in shapes.items()})
        self.how = how

    def forward(self, tokens):
        return decoder(self.p, tokens, self.how)
