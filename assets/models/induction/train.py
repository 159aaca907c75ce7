"""Trains `induction`: python3 train.py, about a minute. With --check it only measures what lies here."""

import random
import string
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import training  # noqa: E402, F401 (before torch)
import torch  # noqa: E402

from decoder import run  # noqa: E402
from training.characters import BOS, PAD, Vocabulary, padded  # noqa: E402
from training.measures import Measure  # noqa: E402
from training.model import Recipe, main  # noqa: E402
from training.network import forward, initial_weights  # noqa: E402
from training.optimise import IGNORED, train  # noqa: E402

VOCABULARY = Vocabulary(string.ascii_lowercase, special=(PAD, BOS))
CONFIG = {
    "model_type": "decoderscope", "d_model": 64, "nhead": 4, "num_layers": 2, "dim_feedforward": 0,
    "norm_first": True, "final_norm": True, "vocab_size": len(VOCABULARY), "positional_encoding": "sinusoidal",
    "lm_head": True, "dropout": 0.1,
}
SEED, STEPS, BATCH = 0, 2000, 32
SHORTEST, LONGEST = 8, 22


def random_letters(draw):
    """A string in which no letter comes twice, so that one place alone says what follows."""
    return "".join(draw.sample(string.ascii_lowercase, draw.randint(SHORTEST, LONGEST)))


def batch_of(strings):
    """Inputs [BOS] + s + s, and the letter after each. All are asked for, also those that can't be known: with the
    repeat's alone the network finds a way by positions, and no clean heads."""
    rows = [VOCABULARY.encode(s + s) for s in strings]
    tokens, kept = padded(rows, 0)
    answers, _ = padded([row[1:] + [IGNORED] for row in rows], IGNORED)
    return {"tokens": tokens, "attention_mask": kept}, answers


def knowable(strings, answers):
    """Where the answer is in the repeat, from its second letter on.   -> [string, position]"""
    place = torch.arange(answers.shape[1])
    lengths = torch.tensor([[len(s)] for s in strings])
    return (place > lengths) & (place < 2 * lengths)


def trained_weights():
    weights = initial_weights(CONFIG, SEED, embedding_std=0.3)
    draw = random.Random(SEED)
    train(CONFIG, weights, lambda step: batch_of([random_letters(draw) for _ in range(BATCH)]), STEPS, peak=5e-3,
          weight_decay=0.1, seed=SEED)
    return weights


def held_out():
    draw = random.Random("held out")
    return [random_letters(draw) for _ in range(500)]


def heads(weights, switched_off=()):
    """With heads of layer 0 switched off, mean weights, per head: in layer 0 of the letters of s on the letter before; in layer 1 of the letters of the
    repeat on what stands one past their earlier place, and of the letters of s on <bos>.   -> [head] each"""
    strings = held_out()
    edits = [{"edit": "scale_head", "attention": "blocks.0.attn", "head": head, "factor": 0.0} for head in switched_off]
    trace = run(CONFIG, weights, batch_of(strings)[0], edits)
    first, second = (trace[f"blocks.{layer}.attn.pattern"] for layer in (0, 1))  # [string, head, query, key]
    previous = [first[row, :, p, p - 1] for row, s in enumerate(strings) for p in range(2, len(s) + 1)]
    induction = [second[row, :, p, p - len(s) + 1] for row, s in enumerate(strings)
                 for p in range(len(s) + 1, 2 * len(s))]
    resting = [second[row, :, p, 0] for row, s in enumerate(strings) for p in range(1, len(s) + 1)]
    return [torch.stack(cells).mean(0) for cells in (previous, induction, resting)]


def measure(weights):
    strings = held_out()
    inputs, answers = batch_of(strings)
    with torch.no_grad():
        written = forward(CONFIG, weights, inputs)["logits"].argmax(-1)
    asked = knowable(strings, answers)
    right = (written[asked] == answers[asked]).float().mean()
    previous, induction, resting = heads(weights)
    looks_back, head = int(previous.argmax()), int(induction.argmax())
    without_one = heads(weights, [looks_back])[1][head]
    without_any = heads(weights, range(CONFIG["nhead"]))[1][head]
    return [
        Measure("letters of the repeat that are known", float(right), at_least=0.99, percent=True),
        Measure(f"layer 0, head {looks_back}: weight on the letter before", float(previous.max()), at_least=0.65),
        Measure("layer 0, the lowest of the other heads: the same", float(previous.min()), at_least=0.5),
        Measure(f"layer 1, head {head}: weight one past where the letter stood before", float(induction[head]),
                at_least=0.85),
        Measure("the same head, in the first half: weight on `<bos>`", float(resting[head]), at_least=0.85),
        Measure(f"its weight one past, with head {looks_back} of layer 0 switched off", float(without_one),
                at_least=0.85),
        Measure("its weight one past, with all heads of layer 0 switched off", float(without_any), at_most=0.2),
    ]


def things_to_try(head):
    return [
        {"title": "See the induction head look back",
         "look": "The highlighted row is the g of the second “algorithm”. The highlighted cell shows what it attends to: "
                 "the letter that followed the first g, which is what comes next.",
         "tab": "step", "step": "blocks.1.attn.pattern", "cell": [0, head, 12, 4]},
        {"title": "Switch off the heads that it relies on",
         "look": "All heads of the first layer are off, and the stripe below the diagonal is gone: no key knows any more "
                 "which letter comes before it. Undo (Ctrl+Z) brings them back.",
         "tab": "step", "step": "blocks.1.attn.pattern",
         "edits": [{"edit": "scale_head", "attention": "blocks.0.attn", "head": off, "factor": 0}
                   for off in range(CONFIG["nhead"])]},
        {"title": "See which letter comes next",
         "look": "The bars are the model's probabilities. Next draws a letter and appends it.",
         "tab": "generate"},
    ]


def example(weights):
    return {
        "description": "Continues what it has seen before. 2 layers of attention alone, trained on strings of letters "
                       "that come twice: an induction head looks one past where the letter stood before.",
        "target": ["algorithmalgorithm"],
        "look_at": {"step": "blocks.1.attn.pattern", "head": int(heads(weights)[1].argmax())},
        "try": things_to_try(int(heads(weights)[1].argmax())),
    }


main(__file__, Recipe(CONFIG, VOCABULARY, trained_weights, measure, example))
