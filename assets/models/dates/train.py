"""Trains `dates`: python3 train.py, about two minutes. With --check it only measures what lies here."""

import datetime
import random
import string
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import training  # noqa: E402, F401 (before torch)
import torch  # noqa: E402

from training.characters import Vocabulary  # noqa: E402
from training.measures import Measure  # noqa: E402
from training.model import Recipe, main  # noqa: E402
from training.network import initial_weights  # noqa: E402
from training.optimise import train  # noqa: E402
from training.translation import Translation  # noqa: E402

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")
FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)

# Each spelling as its parts, so that it is known which letters of it say the year, the month and the day.
SPELLINGS = (
    lambda d: [("day", d.day), " ", ("month", MONTHS[d.month - 1]), " ", ("year", d.year)],
    lambda d: [("month", MONTHS[d.month - 1]), " ", ("day", d.day), ", ", ("year", d.year)],
    lambda d: [("day", d.day), " ", ("month", MONTHS[d.month - 1][:3]), " ", ("year", d.year)],
    lambda d: [("month", MONTHS[d.month - 1][:3]), " ", ("day", d.day), " ", ("year", d.year)],
    lambda d: [("day", d.day), ".", ("month", d.month), ".", ("year", d.year)],
    lambda d: [("month", d.month), "/", ("day", d.day), "/", ("year", d.year)],
    lambda d: [("year", d.year), " ", ("month", MONTHS[d.month - 1]), " ", ("day", d.day)],
)

SOURCE = Vocabulary(" ,./" + string.digits + string.ascii_lowercase + "".join(sorted({m[0] for m in MONTHS})))
TARGET = Vocabulary("-" + string.digits)
CONFIG = {
    "model_type": "decoderscope", "d_model": 64, "nhead": 4, "num_layers": 2, "encoder_layers": 2,
    "dim_feedforward": 256, "norm_first": True, "final_norm": True, "cross_attention": True,
    "vocab_size": len(TARGET), "encoder_vocab_size": len(SOURCE), "positional_encoding": "sinusoidal", "lm_head": True,
    "dropout": 0.1,
}
TASK = Translation(CONFIG, SOURCE, TARGET)
SEED, STEPS, BATCH = 0, 1500, 48
FIELDS = ["year"] * 4 + [None] + ["month"] * 2 + [None] + ["day"] * 2  # of each character of the answer


def text_of(parts):
    return "".join(part if isinstance(part, str) else str(part[1]) for part in parts)


def places_of(parts):
    """The positions of each part in the source's tokens, which begin with <bos>."""
    places, at = {}, 1
    for part in parts:
        length = len(text_of([part]))
        if not isinstance(part, str):
            places[part[0]] = range(at, at + length)
        at += length
    return places


def split_days():
    """All days of two centuries, in an order of their own: the first 1,000 are held out."""
    days = [FIRST + datetime.timedelta(days=n) for n in range((LAST - FIRST).days + 1)]
    random.Random("days").shuffle(days)
    return days[:1000], days[1000:]


HELD_OUT, SEEN = split_days()


def random_pair(draw):
    day = draw.choice(SEEN)
    source = text_of(draw.choice(SPELLINGS)(day))
    return (source.lower() if draw.random() < 0.5 else source), day.isoformat()


def trained_weights():
    weights = initial_weights(CONFIG, SEED)
    draw = random.Random(SEED)
    train(CONFIG, weights, lambda step: TASK.batch([random_pair(draw) for _ in range(BATCH)]), STEPS, peak=3e-3,
          seed=SEED)
    return weights


def field_mass(weights):
    """Per head of the last layer, how much of its cross-attention lies on the part of the date that the character about
    to be written comes from.   -> [head]"""
    spelled = [(spelling(day), day) for day in HELD_OUT[:100] for spelling in SPELLINGS]
    trace = TASK.trace(weights, [(text_of(parts), day.isoformat()) for parts, day in spelled])
    pattern = trace[f"blocks.{CONFIG['num_layers'] - 1}.cross_attn.pattern"]  # [date, head, query, key]
    masses = [pattern[row, :, query, places_of(parts)[field][0]:places_of(parts)[field][-1] + 1].sum(-1)
              for row, (parts, _) in enumerate(spelled) for query, field in enumerate(FIELDS) if field]
    return torch.stack(masses).mean(0)


def measure(weights):
    masses = field_mass(weights)
    right = [TASK.exact(weights, [(text_of(spelling(day)), day.isoformat()) for day in HELD_OUT])
             for spelling in SPELLINGS]
    return [
        Measure("dates that come out without a mistake, all seven spellings", sum(right) / len(right), at_least=0.99,
                percent=True),
        Measure("the same of the worst spelling", min(right), at_least=0.98, percent=True),
        Measure(f"cross-attention of layer {CONFIG['num_layers'] - 1}, head {int(masses.argmax())}: weight on the part "
                "of the date that is being written", float(masses.max()), at_least=0.8),
    ]


def things_to_try(layer, head):
    pattern = f"blocks.{layer}.cross_attn.pattern"
    return [
        {"title": "See where the month comes from",
         "look": "The highlighted row writes the 7 of the month. The highlighted cell shows what it attends to: the word July.",
         "tab": "step", "step": pattern, "cell": [0, head, 6, 6]},
        {"title": "See the same in another spelling",
         "look": "The same digit of the same day, written 20.7.1969: now it looks at the 7.",
         "tab": "step", "step": pattern, "cell": [4, head, 6, 4]},
        {"title": "Switch that head off",
         "look": f"Head {head} of the last cross-attention is off. The list shows how far that reaches, step by step; "
                 "undo (Ctrl+Z) switches it on again.",
         "tab": "diff", "step": "probs",
         "edits": [{"edit": "scale_head", "attention": f"blocks.{layer}.cross_attn", "head": head, "factor": 0}]},
    ]


def example(weights):
    day = datetime.date(1969, 7, 20)
    return {
        "description": "Writes a date the way ISO 8601 does. Encoder and decoder of 2 Pre-Norm blocks each, trained on "
                       "seven spellings: cross-attention goes to the year, the month and the day, wherever they stand.",
        "source": [text_of(spelling(day)) for spelling in SPELLINGS],
        "target": [day.isoformat()] * len(SPELLINGS),
        "look_at": {"step": f"blocks.{CONFIG['num_layers'] - 1}.cross_attn.pattern",
                    "head": int(field_mass(weights).argmax())},
        "try": things_to_try(CONFIG["num_layers"] - 1, int(field_mass(weights).argmax())),
    }


main(__file__, Recipe(CONFIG, TARGET, trained_weights, measure, example, encoder_vocabulary=SOURCE))
