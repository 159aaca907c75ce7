"""Checks what today's decoders brought against other ways to compute it: experts one position at a time, sinks by
exponentials, latent attention with its up-projections moved to the queries, YaRN by counting turns."""

import math

import numpy as np
import torch

from config import complete, head_width, is_mixture

CLOSE = 1e-4  # scores nearer than this, but not equal, could be chosen one way here and another way there


def largest(*differences):
    return float(max(np.max(np.abs(np.asarray(d, dtype=float))) for d in differences))


def array(tensor):
    return tensor.double().numpy()


# --- RoPE -------------------------------------------------------------------------------------------------------------


def crossing(falling, level, low, high):
    """Where a falling function of one number comes down to a level."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > level else (low, middle)
    return low


def yarn_frequency(c, pair, columns):
    """How fast a pair turns: kept or divided by where it stands between the two that turn beta_fast and beta_slow times
    within the original positions."""
    def turns(at):
        return c["rope_original_positions"] / (2 * math.pi) * c["rope_theta"] ** (-2 * at / columns)

    first, last = (crossing(turns, c[key], -9 * columns, 9 * columns) for key in ("rope_beta_fast", "rope_beta_slow"))
    if c["rope_truncate"]:
        first, last = math.floor(first + 1e-9), math.ceil(last - 1e-9)
    first, last = max(first, 0), min(last, columns - 1)
    divided = float(pair > first) if last - first < 1e-9 else min(1.0, max(0.0, (pair - first) / (last - first)))
    frequency = c["rope_theta"] ** (-2 * pair / columns)
    return (1 - divided) * frequency + divided * frequency / c["rope_factor"]


def cosine_factor(c):
    """What cos and sin are multiplied by."""
    if c["rope_scaling"] not in ("yarn", "longrope") or c["rope_attention_factor"] > 0:
        return c["rope_attention_factor"] if c["rope_scaling"] in ("yarn", "longrope") else 1.0
    if c["rope_scaling"] == "yarn":
        return 1 + math.log(c["rope_factor"]) / 10
    return math.sqrt(1 + math.log(c["rope_factor"], c["rope_original_positions"]))


# --- sinks ------------------------------------------------------------------------------------------------------------


def sinks_by_exponentials(case):
    """Each row of the pattern from exponentials, with one more in the sum; what is not given to keys is the sink's."""
    trace, worst = case.run(), 0.0
    for name in [name[:-len(".sink")] for name in trace if name.endswith(".sink")]:
        at = name.replace("blocks", "layers").replace(".attn", ".self_attn")
        scores = array(trace.get(name + ".masked_scores.dropped", trace[name + ".masked_scores"]))
        sink = case.weights[at + ".sinks"].astype(float)[None, :, None, None]
        raised, own = np.exp(scores), np.exp(sink)
        pattern = raised / (raised.sum(-1, keepdims=True) + own)
        worst = max(worst, largest(pattern - array(trace[name + ".pattern"]),
                                   1 - pattern.sum(-1, keepdims=True) - array(trace[name + ".sink"])))
    return worst


# --- latent attention -------------------------------------------------------------------------------------------------


def latent_absorbed(case):
    """Scores and heads' outputs from the cached rows alone: the up-projection of keys applied to the queries, that of
    values to the weighted latents."""
    c, trace, worst = complete(case.config), case.run(), 0.0
    heads, turned = c["nhead"], c["qk_rope_head_dim"]
    for name in [name[:-len(".kv_latent")] for name in trace if name.endswith(".kv_latent")]:
        at = name.replace("blocks", "layers").replace(".attn", ".self_attn")
        w = {key[len(at) + 1:]: value.astype(float) for key, value in case.weights.items() if key.startswith(at)}
        latent, shared, q = (array(trace[f"{name}.{n}"]) for n in ("kv_latent", "k_shared", "q"))
        own, width = q[..., :-turned], head_width(c) - turned
        for head in range(heads):
            rows = slice(head * width, (head + 1) * width)
            absorbed = own[:, head] @ w["k_up_proj.weight"][rows]  # [batch, query, rank]
            scores = absorbed @ latent.swapaxes(1, 2) + q[:, head, :, -turned:] @ shared[:, 0].swapaxes(1, 2)
            if "k_up_proj.bias" in w:
                scores = scores + (own[:, head] @ w["k_up_proj.bias"][rows])[..., None]
            scores *= c["attention_scale"] or head_width(c) ** -0.5
            if not c["alibi"]:
                worst = max(worst, largest(scores - array(trace[name + ".attn_scores"][:, head])))
            rows = slice(head * c["v_head_dim"], (head + 1) * c["v_head_dim"])
            pattern = array(trace[name + ".pattern"][:, head])
            z = pattern @ latent @ w["v_up_proj.weight"][rows].T
            if "v_up_proj.bias" in w:
                z = z + pattern.sum(-1, keepdims=True) * w["v_up_proj.bias"][rows]
            worst = max(worst, largest(z - array(trace[name + ".z"][:, head])))
    return worst


def latent_projections(c, w, at, x, turning):
    """q and k [batch, head, pos, d_head] from x in double precision; turning(pos) turns the columns that are turned."""
    turned, rank, heads = c["qk_rope_head_dim"], c["kv_lora_rank"], c["nhead"]

    def through(name, x):
        return x @ w[f"{at}.{name}.weight"].T + w.get(f"{at}.{name}.bias", 0)

    def normed(name, x):
        plus_one = c["norm"].endswith("_plus_one")
        gain = w.get(f"{at}.{name}.weight", torch.tensor(0.0 if plus_one else 1.0).double()) + plus_one
        return gain * x / (x.square().mean(-1, True) + c["layer_norm_eps"]).sqrt()

    def spun(columns):
        return torch.stack([columns[:, p] @ turning(p).T for p in range(columns.shape[1])], 1)

    q = through("q_up_proj", normed("q_down_norm", through("q_down_proj", x))) if c["q_lora_rank"] else through("q_proj", x)
    down = through("kv_down_proj", x)
    own = through("k_up_proj", normed("kv_down_norm", down[..., :rank]))
    shared, width = spun(down[..., rank:]), head_width(c)
    q = [torch.cat((part[..., :-turned], spun(part[..., -turned:])), -1) for part in q.split(width, -1)]
    k = [torch.cat((part, shared), -1) for part in own.split(width - turned, -1)]
    assert len(q) == len(k) == heads
    return torch.stack(q, 1), torch.stack(k, 1)


# --- experts ----------------------------------------------------------------------------------------------------------


def act(c, pre, gate):
    if c["activation"] == "swiglu_clamped":
        g, u = np.minimum(gate, c["swiglu_limit"]), np.clip(pre, -c["swiglu_limit"], c["swiglu_limit"])
        return g / (1 + np.exp(-c["swiglu_alpha"] * g)) * (u + 1)
    through = pre if gate is None else gate
    out = {"relu": lambda x: np.maximum(x, 0), "relu2": lambda x: np.maximum(x, 0) ** 2,
           "silu": lambda x: x / (1 + np.exp(-x)),
           "gelu": lambda x: x * np.vectorize(lambda v: 0.5 * (1 + math.erf(v / math.sqrt(2))))(x),
           "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "tanh2": lambda x: 1 - np.cosh(x) ** -2.0,
           "gelu_tanh": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
           }[c["activation"]](through)
    return out if gate is None else out * pre


def chosen_by_hand(c, scores, correction):
    """The experts of one position: one after the other, each the first of the best that are left."""
    value = {expert: score + correction[expert] for expert, score in enumerate(scores)}
    size = c["experts"] // c["router_groups"]
    left = list(value)
    if c["router_top_groups"] < c["router_groups"]:
        worth = {g: sum(sorted((value[e] for e in range(g * size, (g + 1) * size)), reverse=True)[:c["router_group_best"]])
                 for g in range(c["router_groups"])}
        kept = in_turn(worth, list(worth), c["router_top_groups"])
        left = [expert for expert in left if expert // size in kept]
    return in_turn(value, left, c["experts_per_token"])


def in_turn(value, left, count):
    found, left = [], list(left)
    for _ in range(count):
        most = max(value[key] for key in left)
        first = next(key for key in left if value[key] == most)
        near = [value[key] for key in left if value[key] != most and most - value[key] < CLOSE]
        assert not near, f"too near to call: {most} and {near}"
        found.append(first)
        left.remove(first)
    return found


def shares_among_ties(c, logits, experts):
    """One choice after the other: the chosen one's share, among those that are left, of what lies within its reach."""
    left, shares = dict(enumerate(logits)), []
    for expert in experts:
        top, rivals = left[expert], []
        for logit in left.values():
            gap, reach = top - logit, 2 * c["router_jitter"] * max(abs(logit), top)
            assert abs(gap - reach) > CLOSE, "too near to call"
            rivals += [logit] if gap < reach or logit == top else []
        shares.append(math.exp(top) / sum(map(math.exp, rivals)))
        del left[expert]
    return np.array(shares)


def mlp_by_hand(c, w, x):
    """What an MLP makes of one row; w holds its matrices by their last name."""
    pre = w["up_proj.weight"] @ x + w.get("up_proj.bias", 0)
    gate = w["gate_proj.weight"] @ x + w.get("gate_proj.bias", 0) if c["gated_mlp"] else None
    post = xielu_by_its_slope(w, pre) if c["activation"] == "xielu" else act(c, pre, gate)
    return w["down_proj.weight"] @ post + w.get("down_proj.bias", 0)


def xielu_by_its_slope(w, pre):
    """The activation as the integral of its slope, which is 2 p x + 1/2 above 0 and n (exp(x) - 1) + 1/2 below: by Simpson's
    rule."""
    above, below = (math.log1p(math.exp(w[f"xielu.alpha_{side}"][0])) for side in "pn")

    def slope(at):
        return 0.5 + (2 * above * at if at > 0 else (0.5 + below) * math.expm1(at))

    def area(to, pieces=64):
        at = [to * i / (2 * pieces) for i in range(2 * pieces + 1)]
        return to / (6 * pieces) * sum(slope(a) + 4 * slope(b) + slope(c) for a, b, c in zip(at[:-1:2], at[1::2], at[2::2]))

    return np.array([area(value) for value in pre])


def under(weights, prefix):
    return {key[len(prefix):]: value.astype(float) for key, value in weights.items() if key.startswith(prefix)}


def mlp_reads(c, trace, block):
    """What a block's MLP reads."""
    if c["parallel_residual"] != "none":
        return trace[f"{block}.ln{2 if c['parallel_residual'] == 'two_norms' else 1}.normalized"]
    number = 3 if c["cross_attention"] and not block.startswith("encoder.") else 2
    if c["norm_placement"] in ("pre", "peri"):
        return trace[f"{block}.ln{number}.normalized"]
    if c["norm_placement"] == "post":
        return trace[f"{block}.ln{number - 1}.normalized"]
    return trace[block + (".resid_mid_cross" if number == 3 else ".resid_mid")]


def experts_by_hand(case):
    """Every position of every mixture on its own, in double precision: which experts, what each gives, and the sum."""
    c, trace, worst, picked = complete(case.config), case.run(), 0.0, set()
    for block in [name[:-len(".mlp.expert")] for name in trace if name.endswith(".mlp.expert")]:
        layer = block.replace("blocks", "layers")
        assert is_mixture(c, int(block.split(".")[-1]))
        w, stacked = under(case.weights, layer + "."), under(case.weights, layer + ".experts.")
        read = array(mlp_reads(c, trace, block))
        of = {n: array(trace[f"{block}.mlp.{n}"]) for n in ("router_scores", "expert", "expert_weight", "expert_out")}
        out = array(trace[block + ".mlp_out"])
        for batch, pos in np.ndindex(*read.shape[:2]):
            x = read[batch, pos]
            logits = w["router.weight"] @ x + w.get("router.bias", 0)
            scores = {"sigmoid": lambda: 1 / (1 + np.exp(-logits)), "softmax": lambda: np.exp(logits) / np.exp(logits).sum(),
                      "sparsemixer": lambda: logits}[c["router"]]()
            experts = chosen_by_hand(c, scores.tolist(), w.get("router.correction", np.zeros(c["experts"])).tolist())
            assert experts == of["expert"][batch, pos].tolist(), (case.name, block, experts)
            picked |= set(experts)
            if c["router"] == "sparsemixer":
                weights = shares_among_ties(c, logits.tolist(), experts)
            else:
                weights = scores[experts] / (scores[experts].sum() if c["router_normalize"] else 1) * c["router_scale"]
            outs = [mlp_by_hand(c, {key: value[expert] for key, value in stacked.items()}, x) for expert in experts]
            total = sum(weight * row for weight, row in zip(weights, outs))
            if c["shared_dim_feedforward"] > 0:
                gate = 1 / (1 + np.exp(-w["shared_gate.weight"][0] @ x)) if c["shared_gate"] else 1
                shared = gate * mlp_by_hand(c, under(case.weights, layer + ".shared."), x)
                total = total + shared
                worst = max(worst, largest(shared - array(trace[block + ".mlp.shared_out"][batch, pos])))
            worst = max(worst, largest(scores - of["router_scores"][batch, pos], np.stack(outs) - of["expert_out"][batch, pos],
                                       weights - of["expert_weight"][batch, pos], total - out[batch, pos]))
    assert len(picked) > 1, case.name
    return worst


def dense_mlps(case):
    """The MLPs that are no mixtures, by the same hand."""
    c, trace, worst = complete(case.config), case.run(), 0.0
    for block in [name[:-len(".mlp_out")] for name in trace if name.endswith(".mlp_out")]:
        if block + ".mlp.expert" in trace:
            continue
        w = under(case.weights, block.replace("blocks", "layers") + ".")
        read = array(mlp_reads(c, trace, block))
        out = np.stack([mlp_by_hand(c, w, row) for row in read.reshape(-1, c["d_model"])]).reshape(read.shape)
        worst = max(worst, largest(out - array(trace[block + ".mlp_out"])))
    return worst


def embeddings(case):
    """The looked-up rows, times both scales."""
    c, trace, worst = complete(case.config), case.run(), 0.0
    for prefix, key in (("", "tokens"), ("encoder.", "encoder_tokens")):
        if prefix + "embed" in trace:
            rows = case.weights[prefix + "embed.weight"].astype(float)[case.inputs[key]]
            scale = c["embedding_scale"] * (math.sqrt(c["d_model"]) if c["scale_embedding"] else 1)
            worst = max(worst, largest(rows * scale - array(trace[prefix + "embed"])))
    return worst


def check(cases, note):
    """`note(kind, name, difference)` is told what each check of each case saw."""
    for case in cases:
        c = complete(case.config)
        dropped = case.dropout_seed is not None
        if c["attention_sinks"] and not case.edits and not (dropped and c["mask_value"] == "-inf"):
            note("sinks by exponentials", case.name, sinks_by_exponentials(case))
        if case.edits or dropped:
            continue
        if c["kv_lora_rank"] > 0:
            note("latent attention from the cache alone", case.name, latent_absorbed(case))
        if c["experts"] > 0 and "nothing-left" not in case.name:
            note("experts a position at a time", case.name, experts_by_hand(case))
        if case.weights_seed is None and c["dim_feedforward"] > 0 and "nothing-left" not in case.name:
            note("dense MLPs a row at a time", case.name, dense_mlps(case))
            note("scaled embeddings", case.name, embeddings(case))
