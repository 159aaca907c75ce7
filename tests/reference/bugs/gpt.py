"""A decoder in minGPT's manner: one projection for q, k and v, learned positions, Pre-Norm."""
import torch
from torch import nn

from parts import NormByHand, NormOverPositions, attend, gelu, gelu_tanh, gelu_tanh_mistyped, join, relu, split, triangle


class Attention(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        self.n_head, self.how = heads, how
        self.attn_dropout = nn.Dropout(0.3)
        if "apart" in how:
            self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        else:
            self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        if "apart" in self.how:
            parts = self.query(x), self.key(x), self.value(x)
        else:
            parts = self.c_attn(x).split(x.size(2), dim=2)
        q, k, v = (split(part, self.n_head, self.how) for part in parts)
        if "row-by-row" in self.how:
            kept = triangle(x.size(1), self.how)
            z = torch.cat([attend(q[i:i + 1], k[i:i + 1], v[i:i + 1], kept, x.size(2), self.how) for i in range(len(x))])
        else:
            z = attend(q, k, v, triangle(x.size(1), self.how).to(x.dtype), x.size(2), self.how)
        return self.c_proj(join(z, self.how))


class Mlp(nn.Module):
    def __init__(self, width, how):
        super().__init__()
        self.c_fc, self.c_proj, self.how = nn.Linear(width, 2 * width), nn.Linear(2 * width, width), how

    def forward(self, x):
        x = self.c_fc(x)
        if "gelu-constant" in self.how or "gelu-without-root" in self.how:
            x = gelu_tanh_mistyped(x, self.how)
        elif "no-activation" not in self.how:
            x = relu(x) if "relu" in self.how else gelu(x) if "gelu-exact" in self.how else gelu_tanh(x)
        return self.c_proj(x)


class Block(nn.Module):
    def __init__(self, width, heads, how):
        super().__init__()
        norm = NormOverPositions if "norm-over-positions" in how else nn.LayerNorm
        eps = 1e-2 if "eps-1e-2" in how else 1e-5
        self.ln_1, self.ln_2 = norm(width, eps=eps), norm(width, eps=eps)
        if "variance-about-zero" in how or "variance-not-rooted" in how:
            self.ln_1, self.ln_2 = NormByHand(width, how), NormByHand(width, how)
        self.attn, self.mlp, self.how = Attention(width, heads, how), Mlp(width, how), how
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        how = self.how
        if "norm-elsewhere" in how:
            x = self.ln_1(x + self.attn(x))
            return self.ln_2(x + self.mlp(x))
        if "residual-from-norm" in how:
            x = self.ln_1(x)
            x = x + self.attn(x)
            x = self.ln_2(x)
            return x + self.mlp(x)
        if "sums-turned" in how:
            x = self.attn(self.ln_1(x)) + x
            return self.mlp(self.ln_2(x)) + x
        attended = self.drop(self.attn(self.ln_1(x)))
        if "update-halved" in how or "update-subtracted" in how:
            attended = attended * (0.5 if "update-halved" in how else -1.0)
        x = attended if "no-residual-attention" in how else x + attended
        transformed = self.drop(self.mlp(self.ln_2(x)))
        return transformed if "no-residual-mlp" in how else x + transformed


class Gpt(nn.Module):
    def __init__(self, how=(), width=8, heads=2, layers=2, vocabulary=11, positions=9):
        super().__init__()
        self.how = how
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList([Block(width, heads, how) for _ in range(layers)])
        by_hand = "variance-about-zero" in how or "variance-not-rooted" in how
        self.ln_f = NormByHand(width, how) if by_hand else nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        positions = torch.arange(tokens.size(1))
        if "positions-by-batch" in self.how:
            positions = torch.arange(tokens.size(0))[:, None]
        if "positions-from-1" in self.how:
            positions = positions + 1
        x = self.wte(tokens)
        if "embedding-scaled" in self.how:
            x = x * x.size(2) ** 0.5
        if "no-positions" not in self.how:
            x = x + self.wpe(positions)
        for block in self.h:
            x = block(x)
        if "no-final-norm" not in self.how:
            x = self.ln_f(x)
        logits = self.lm_head(x)
        return torch.softmax(logits, -1) if "softmax-in-model" in self.how else logits
