"""Trains `experts`: python3 train.py, about a minute. With --check it only measures what lies here."""

import random
import string
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import training  # noqa: E402, F401 (before torch)
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from decoder import run  # noqa: E402
from training.characters import BOS, PAD, Vocabulary, padded  # noqa: E402
from training.measures import Measure  # noqa: E402
from training.model import Recipe, main  # noqa: E402
from training.network import initial_weights  # noqa: E402
from training.optimise import IGNORED, train  # noqa: E402

KINDS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
VOCABULARY = Vocabulary(" " + "".join(KINDS), special=(PAD, BOS))
CONFIG = {
    "model_type": "decoderscope", "d_model": 32, "nhead": 4, "num_layers": 2, "dim_feedforward": 32,
    "norm_first": True, "norm": "rmsnorm", "final_norm": True, "vocab_size": len(VOCABULARY),
    "positional_encoding": "rope", "activation": "silu", "gated_mlp": True, "bias": False, "lm_head": True,
    "experts": 6, "experts_per_token": 2, "router_normalize": True,
}
SEED, STEPS, BATCH = 0, 400, 32
BALANCE, AGREEMENT, DECISION = 1.0, 4.0, 0.2


# ---- three kinds of rows

def next_after(row, kind, wait):
    """The number that follows: digits add up the last two; small letters go on by the same step; capitals by one more
    than last time."""
    if kind == 0:
        return (row[-1] + row[-2]) % 10
    return (row[-1] + wait) % 26


def row_of(kind, draw, length):
    size = len(KINDS[kind])
    row = [draw.randrange(size)]
    if kind == 0:
        row.append(draw.randrange(size))
    step = {0: 0, 1: draw.choice([-3, -2, -1, 1, 2, 3]), 2: draw.randint(1, 4)}[kind]
    while len(row) < length:
        row.append(next_after(row, kind, step))
        step += kind == 2
    return "".join(KINDS[kind][i] for i in row)


def random_text(draw):
    """A row of each kind, in any order."""
    kinds = [0, 1, 2]
    draw.shuffle(kinds)
    return " ".join(row_of(kind, draw, draw.randint(5, 8)) for kind in kinds)


def answers_of(text):
    """The character after each, from a row's second on: before that it can't be known.   -> [1 + len(text)]"""
    answers = [IGNORED] * (len(text) + 1)
    for i in range(2, len(text)):
        if " " not in text[i - 2:i + 1]:
            answers[i] = VOCABULARY.ids[text[i]]
    return answers


def batch_of(texts):
    tokens, kept = padded([VOCABULARY.encode(text) for text in texts], 0)
    answers, _ = padded([answers_of(text) for text in texts], IGNORED)
    return {"tokens": tokens, "attention_mask": kept}, answers


# ---- what the routers should do, besides giving the answers

def penalty(trace, inputs):
    """Balance: no expert gets most of the characters (Fedus et al. 2022). Agreement: the characters of one row are
    scored alike. Decision: two experts get most of a row's scores. Nothing says which row is of which kind, nor which
    expert it should go to."""
    kept, space = inputs["attention_mask"] != 0, VOCABULARY.ids[" "]
    row_number = torch.cumsum((inputs["tokens"] == space).long(), 1)
    in_row = kept & (inputs["tokens"] > space)
    balance = agreement = decision = 0.0
    for layer in range(CONFIG["num_layers"]):
        scores = trace[f"blocks.{layer}.mlp.router_scores"]  # [batch, pos, expert]
        chosen = F.one_hot(trace[f"blocks.{layer}.mlp.expert"].long(), CONFIG["experts"]).float()
        load = chosen.sum(2)[kept].mean(0) / CONFIG["experts_per_token"]
        balance = balance + CONFIG["experts"] * (load * scores[kept].mean(0)).sum()
        for row in range(len(KINDS)):
            mine = (in_row & (row_number == row)).float()[..., None]
            mean = (scores * mine).sum(1, keepdim=True) / mine.sum(1, keepdim=True)
            best = mean.topk(CONFIG["experts_per_token"], dim=-1).values.sum(-1)
            decision = decision + (1.0 - best).mean() / len(KINDS)
            agreement = agreement + ((scores - mean) ** 2 * mine).sum() / kept.sum()
    return BALANCE * balance + AGREEMENT * agreement + DECISION * decision


def trained_weights():
    weights = initial_weights(CONFIG, SEED, embedding_std=0.3)
    draw = random.Random(SEED)
    train(CONFIG, weights, lambda step: batch_of([random_text(draw) for _ in range(BATCH)]), STEPS, peak=5e-3,
          warm_up=100, weight_decay=0.05, seed=SEED, penalty=penalty)
    return weights


# ---- what it has learned

def held_out():
    draw = random.Random("held out")
    return [random_text(draw) for _ in range(300)]


def kind_of_tokens(tokens):
    """0 to 2 for characters of a row, −1 for all others."""
    kinds = torch.full_like(tokens, -1)
    for kind, characters in enumerate(KINDS):
        kinds[(tokens >= VOCABULARY.ids[characters[0]]) & (tokens <= VOCABULARY.ids[characters[-1]])] = kind
    return kinds


def division(trace, kinds, layer):
    """How often each expert gets a character of each kind.   -> [expert, kind]"""
    chosen = F.one_hot(trace[f"blocks.{layer}.mlp.expert"].long(), CONFIG["experts"]).sum(2)  # [batch, pos, expert]
    return torch.stack([chosen[kinds == kind].sum(0) for kind in range(len(KINDS))], 1)


def of_one_kind(counts):
    """The share of characters that are of their expert's most frequent kind. Chance: a third."""
    return float(counts.max(1).values.sum() / counts.sum())


def information(counts):
    """Mutual information of kind and expert, as a share of the kinds' entropy."""
    joint = counts.double() / counts.sum()
    apart = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
    bits = (joint * (joint / apart).clamp(min=1e-30).log()).sum()
    kinds = joint.sum(0)
    return float(bits / -(kinds * kinds.log()).sum())


def right(weights, edits=()):
    """The share of known characters that are predicted, by kind, and the trace."""
    inputs, answers = batch_of(held_out())
    trace = run(CONFIG, weights, inputs, list(edits))
    hit, kinds = trace["logits"].argmax(-1) == answers, kind_of_tokens(inputs["tokens"])
    asked = answers != IGNORED
    return [float(hit[asked & (kinds == kind)].float().mean()) for kind in range(len(KINDS))], trace, kinds


def experts_of(counts, kind):
    """The experts most of whose characters are of that kind."""
    return [int(e) for e in range(CONFIG["experts"]) if int(counts[e].argmax()) == kind]


def off(counts, kind):
    return [{"edit": "expert", "mlp": f"blocks.{layer}.mlp", "expert": expert, "batch": "*", "pos": "*", "use": "off"}
            for layer in range(CONFIG["num_layers"]) for expert in experts_of(counts[layer], kind)]


def measure(weights):
    by_kind, trace, kinds = right(weights)
    counts = [division(trace, kinds, layer) for layer in range(CONFIG["num_layers"])]
    without_digits = right(weights, off(counts, 0))[0]
    measures = [Measure(f"{name} that are known", share, at_least=0.98, percent=True)
                for name, share in zip(("digits", "small letters", "capitals"), by_kind)]
    for layer, count in enumerate(counts):
        measures += [
            Measure(f"layer {layer}: characters of their expert's most frequent kind", of_one_kind(count),
                    at_least=0.95, percent=True),
            Measure(f"layer {layer}: what the expert tells of the kind, of all there is to know", information(count),
                    at_least=0.9, percent=True),
        ]
    return measures + [
        Measure("digits, with the digits' experts off", without_digits[0], at_most=0.3, percent=True),
        Measure("small letters, with the digits' experts off", without_digits[1], at_least=0.95, percent=True),
        Measure("capitals, with the digits' experts off", without_digits[2], at_least=0.95, percent=True),
    ]


EXAMPLE = "1123583 acegikm ABDGKPV"


def things_to_try(counts):
    return [
        {"title": "See which character goes to which expert",
         "look": "Each row of the picture is an expert, each column a character: digits, small letters and capitals go "
                 "to experts of their own.",
         "tab": "experts"},
        {"title": "Switch off the experts of the digits",
         "look": "The routers can't choose them any more, so that digits go to experts that never saw one: the marks "
                 "below the text show which digits the model gets wrong now. Letters stay right. Undo (Ctrl+Z) "
                 "switches them on again.",
         "tab": "experts", "edits": off(counts, 0)},
        {"title": "See which letter comes next",
         "look": "The bars are the model's probabilities. Next draws a letter and appends it.",
         "tab": "generate"},
    ]


def example(weights):
    _, trace, kinds = right(weights)
    counts = [division(trace, kinds, layer) for layer in range(CONFIG["num_layers"])]
    return {
        "description": "Continues rows of three kinds: digits add up, small letters keep their step, capitals lengthen "
                       "it. 2 layers with 6 experts each, of which every character gets 2: each expert works for one "
                       "kind.",
        "target": [EXAMPLE],
        "look_at": {"step": "blocks.0.attn.pattern", "head": 0},
        "try": things_to_try(counts),
    }


main(__file__, Recipe(CONFIG, VOCABULARY, trained_weights, measure, example))
