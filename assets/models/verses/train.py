"""Trains `verses`: python3 train.py, ten to fifteen minutes. With --check it only measures what lies here.

The text is the King James Bible, in the public domain, as Debian's package bible-kjv prints it.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import training  # noqa: E402, F401 (before torch)
import torch  # noqa: E402

from training.characters import EOS, Vocabulary, padded  # noqa: E402
from training.king_james import HELD_OUT, read_verses  # noqa: E402
from training.measures import Measure  # noqa: E402
from training.model import Recipe, main  # noqa: E402
from training.network import forward, initial_weights  # noqa: E402
from training.optimise import IGNORED, loss_of, train  # noqa: E402

LENGTH = 128
BEGINNINGS = ("And the LORD said unto ", "In the ", "Blessed ")  # of the samples in the card
SEED, STEPS, BATCH = 0, 2500, 16


VERSES = read_verses()
VOCABULARY = Vocabulary(sorted(set("".join(verse for _, verse in VERSES))))
CONFIG = {
    "model_type": "decoderscope", "d_model": 128, "nhead": 4, "num_layers": 4, "dim_feedforward": 512,
    "norm_first": True, "final_norm": True, "activation": "gelu", "vocab_size": len(VOCABULARY),
    "positional_encoding": "learned", "max_positions": LENGTH, "lm_head": True,
}


def batch_of(verses):
    """The beginnings of verses, up to LENGTH characters with <bos>, and the next character; <eos> ends a verse."""
    rows = [VOCABULARY.encode(verse) + [VOCABULARY.ids[EOS]] for verse in verses]
    tokens, kept = padded([row[:-1][:LENGTH] for row in rows], 0)
    answers, _ = padded([row[1:][:LENGTH] for row in rows], IGNORED)
    return {"tokens": tokens, "attention_mask": kept}, answers


def trained_weights():
    verses = [verse for book, verse in VERSES if book not in HELD_OUT]
    weights = initial_weights(CONFIG, SEED, embedding_std=0.1)
    draw = random.Random(SEED)
    train(CONFIG, weights, lambda step: batch_of(draw.sample(verses, BATCH)), STEPS, peak=2e-3, warm_up=100,
          weight_decay=0.1, seed=SEED)
    return weights


def held_out():
    return [verse for book, verse in VERSES if book in HELD_OUT]


def validation_loss(weights):
    """Nats per character, over the held-out books."""
    verses, total, count = held_out(), 0.0, 0
    for at in range(0, len(verses), 32):
        inputs, answers = batch_of(verses[at:at + 32])
        asked = int((answers != IGNORED).sum())
        with torch.no_grad():
            total += float(loss_of(CONFIG, weights, inputs, answers)) * asked
        count += asked
    return total / count


def mean_mass(weights, looked_at, asked):
    """How much each head looks at some of the keys, a mean over the queries asked in held-out verses. Both are made from
    the tokens: [verse, query, key] and [verse, query].   -> [layer, head]"""
    inputs, _ = batch_of(held_out()[:64])
    with torch.no_grad():
        trace = forward(CONFIG, weights, inputs)
    keys, queries = looked_at(inputs["tokens"]), asked(inputs["tokens"]) & (inputs["attention_mask"] == 1)
    masses = []
    for layer in range(CONFIG["num_layers"]):
        pattern = trace[f"blocks.{layer}.attn.pattern"]  # [verse, head, query, key]
        mass = (pattern * keys[:, None]).sum(-1).transpose(1, 2)  # [verse, query, head]
        masses.append(mass[queries].mean(0))
    return torch.stack(masses)


def best_head(weights):
    """The head that looks most at the character before."""
    def before(tokens):
        length = tokens.shape[1]
        return torch.eye(length, dtype=torch.bool).roll(-1, 1).tril().expand(len(tokens), length, length)

    masses = mean_mass(weights, before, lambda tokens: torch.arange(tokens.shape[1]).expand(tokens.shape) > 0)
    layer, head = divmod(int(masses.argmax()), CONFIG["nhead"])
    return layer, head, float(masses.max())


def mass_within_word(weights):
    """How much of its weight a layer keeps within the word that is being written, with the space before it, from its
    third character on.   -> [layer]"""
    def start(tokens):  # [verse, query]: the last space, or <bos>
        places = torch.arange(tokens.shape[1]) * (tokens == VOCABULARY.ids[" "])
        return places.cummax(1).values

    def within(tokens):
        place = torch.arange(tokens.shape[1])
        return (place >= start(tokens)[:, :, None]) & (place <= place[:, None])

    def later(tokens):
        return torch.arange(tokens.shape[1]) - start(tokens) >= 2

    return mean_mass(weights, within, later).mean(1)


def measure(weights):
    layer, head, mass = best_head(weights)
    within = mass_within_word(weights)
    return [
        Measure("validation loss, nats per character, on " + ", ".join(HELD_OUT), validation_loss(weights), at_most=1.3),
        Measure(f"layer {layer}, head {head}: weight on the character before", mass, at_least=0.7),
        Measure("layer 0, mean of its heads: weight within the word that is being written", float(within[0]),
                at_least=0.55),
        Measure(f"layer {len(within) - 1}: the same", float(within[-1]), at_most=0.35),
    ]


def sample(weights, beginning, seed, temperature=0.7):
    """A verse drawn character by character, from a fixed seed."""
    generator = torch.Generator().manual_seed(seed)
    ids = VOCABULARY.encode(beginning)
    while len(ids) < LENGTH and ids[-1] != VOCABULARY.ids[EOS]:
        with torch.no_grad():
            logits = forward(CONFIG, weights, {"tokens": torch.tensor([ids])})["logits"][0, -1]
        ids.append(int(torch.multinomial(torch.softmax(logits / temperature, 0), 1, generator=generator)))
    return VOCABULARY.decode(ids[1:])


def things_to_try(layer, head):
    return [
        {"title": "See the head that looks one letter back",
         "look": "Nearly all weight lies just below the diagonal: each letter looks at the one before it. Press ↓ for the "
                 "same step in the next layer.",
         "tab": "step", "step": f"blocks.{layer}.attn.pattern", "cell": [0, head, 13, 12]},
        {"title": "Let it write the next letter",
         "look": "The bars are the model's probabilities. Next draws a letter and appends it.",
         "tab": "generate"},
        {"title": "Switch that head off",
         "look": f"Head {head} of the first layer is off. The list shows how far that reaches, step by step; undo "
                 "(Ctrl+Z) switches it on again.",
         "tab": "diff", "step": "probs",
         "edits": [{"edit": "scale_head", "attention": f"blocks.{layer}.attn", "head": head, "factor": 0}]},
    ]


def example(weights):
    layer, head, _ = best_head(weights)
    return {
        "description": "Writes Bible verses, a character at a time. A GPT of 4 Pre-Norm blocks, trained on the King "
                       "James Bible: it knows spelling, words and a little grammar.",
        "target": ["And the LORD said"],
        "look_at": {"step": f"blocks.{layer}.attn.pattern", "head": head},
        "try": things_to_try(layer, head),
    }


main(__file__, Recipe(CONFIG, VOCABULARY, trained_weights, measure, example, dtype=torch.float16,
                      samples=lambda weights: [sample(weights, beginning, seed)
                                               for seed, beginning in enumerate(BEGINNINGS)]))
