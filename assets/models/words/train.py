"""Trains `words`: python3 train.py, ten minutes on two cores. With --check it only measures what lies here.

The text is the King James Bible, in the public domain, as Debian's package bible-kjv prints it.
"""

import random
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import training  # noqa: E402, F401 (before torch)
import torch  # noqa: E402

from training.characters import padded  # noqa: E402
from training.king_james import HELD_OUT, read_verses  # noqa: E402
from training.measures import Measure  # noqa: E402
from training.model import Recipe, main  # noqa: E402
from training.network import forward, initial_weights  # noqa: E402
from training.optimise import IGNORED, loss_of, train  # noqa: E402
from training.words import Words  # noqa: E402

LENGTH = 32
KNOWN = 1200  # the most frequent words and marks
LEAST = 5  # words in a row that are worth learning from
BEGINNINGS = ("And God said", "In the beginning", "The king")  # of the samples in the card
SEED, STEPS, BATCH = 0, 4000, 32


VERSES = [(book, Words.split(verse)) for book, verse in read_verses()]  # the words and marks of each
VOCABULARY = Words([word for word, _ in Counter(w for _, verse in VERSES for w in verse).most_common(KNOWN)])
CONFIG = {
    "model_type": "decoderscope", "d_model": 96, "nhead": 4, "num_layers": 2, "dim_feedforward": 384,
    "norm_first": True, "final_norm": True, "activation": "gelu", "vocab_size": len(VOCABULARY),
    "positional_encoding": "learned", "max_positions": LENGTH, "lm_head": True, "tie_word_embeddings": True,
}


def known_runs(verse):
    """The longest runs of words that the vocabulary has, as ids after <bos>; a run that is too long is cut."""
    runs, run = [], []
    for word in [*verse, None]:
        if word in VOCABULARY.ids and len(run) < LENGTH:
            run.append(word)
            continue
        if len(run) >= LEAST:
            runs.append(VOCABULARY.ids_of(run))
        run = [word] if word in VOCABULARY.ids else []
    return runs


def runs_of(held_out):
    return [run for book, verse in VERSES if (book in HELD_OUT) == held_out for run in known_runs(verse)]


def batch_of(runs):
    """<bos> and the words but the last, and the next word of each."""
    tokens, kept = padded([run[:-1] for run in runs], 0)
    answers, _ = padded([run[1:] for run in runs], IGNORED)
    return {"tokens": tokens, "attention_mask": kept}, answers


def trained_weights():
    runs = runs_of(held_out=False)
    weights = initial_weights(CONFIG, SEED, embedding_std=0.1)
    draw = random.Random(SEED)
    train(CONFIG, weights, lambda step: batch_of(draw.sample(runs, BATCH)), STEPS, peak=3e-3, warm_up=200,
          weight_decay=0.1, seed=SEED)
    return weights


def validation_loss(weights):
    """Nats per word, over the held-out books."""
    runs, total, count = runs_of(held_out=True), 0.0, 0
    for at in range(0, len(runs), 64):
        inputs, answers = batch_of(runs[at:at + 64])
        asked = int((answers != IGNORED).sum())
        with torch.no_grad():
            total += float(loss_of(CONFIG, weights, inputs, answers)) * asked
        count += asked
    return total / count


TEXT, WHO = "And the LORD spake unto", "LORD"


def pass_of(weights, text=TEXT):
    ids = VOCABULARY.encode(text)
    with torch.no_grad():
        return ids, forward(CONFIG, weights, {"tokens": torch.tensor([ids])})


def answer(weights):
    """The most probable next word of TEXT, and its share."""
    _, trace = pass_of(weights)
    share, word = torch.softmax(trace["logits"][0, -1], 0).max(0)
    return int(word), float(share)


def reading_head(weights):
    """The head of the last block whose last word looks most at WHO, and the weight.   -> (layer, head, weight)"""
    ids, trace = pass_of(weights)
    layer, key = CONFIG["num_layers"] - 1, ids.index(VOCABULARY.ids[WHO])
    weight, head = trace[f"blocks.{layer}.attn.pattern"][0, :, -1, key].max(0)
    return layer, int(head), float(weight)


def needed_heads(weights):
    """Of two heads without which several predictions change, those without which the answer loses most, and what is left
    of its share.   -> [(layer, head)], share"""
    word, _ = answer(weights)
    predicted = pass_of(weights)[1]["logits"][0].argmax(-1)
    width, left = CONFIG["d_model"] // CONFIG["nhead"], []
    heads = [(layer, head) for layer in range(CONFIG["num_layers"]) for head in range(CONFIG["nhead"])]
    for pair in combinations(heads, 2):
        without = {name: weight.clone() for name, weight in weights.items()}
        for layer, head in pair:
            without[f"layers.{layer}.self_attn.o_proj.weight"][:, head * width:(head + 1) * width] = 0
        _, trace = pass_of(without)
        if int((trace["logits"][0].argmax(-1) != predicted).sum()) > 1:
            left.append((float(torch.softmax(trace["logits"][0, -1], 0)[word]), pair))
    share, pair = min(left)
    return pair, share


def measure(weights):
    layer, head, weight = reading_head(weights)
    pair, left = needed_heads(weights)
    word, share = answer(weights)
    says = VOCABULARY.decode([word])
    return [
        Measure("validation loss, nats per word, on " + ", ".join(HELD_OUT), validation_loss(weights), at_most=4.2),
        Measure(f"share of “{says}” after “{TEXT}”", share, at_least=0.6),
        Measure(f"the same without heads {' and '.join(f'{layer}.{head}' for layer, head in pair)}", left, at_most=0.2),
        Measure(f"layer {layer}, head {head}: weight of the last word on “{WHO}”", weight, at_least=0.6),
    ]


def sample(weights, beginning, seed, temperature=0.7):
    """Words drawn one by one, from a fixed seed."""
    generator = torch.Generator().manual_seed(seed)
    ids = VOCABULARY.encode(beginning)
    while len(ids) < LENGTH:
        with torch.no_grad():
            logits = forward(CONFIG, weights, {"tokens": torch.tensor([ids])})["logits"][0, -1]
        ids.append(int(torch.multinomial(torch.softmax(logits / temperature, 0), 1, generator=generator)))
    return VOCABULARY.decode(ids[1:])


def things_to_try(weights):
    layer, head, _ = reading_head(weights)
    ids, _ = pass_of(weights)
    pair, _ = needed_heads(weights)
    return [
        {"title": "See whom the last word looks at",
         "look": "The last row: “unto” looks at “LORD”. So the word that comes next depends on who speaks.",
         "tab": "step", "step": f"blocks.{layer}.attn.pattern",
         "cell": [0, head, len(ids) - 1, ids.index(VOCABULARY.ids[WHO])]},
        {"title": "Let it write the next word",
         "look": "The bars are the model's probabilities. Next draws a word and appends it.",
         "tab": "generate"},
        {"title": "Switch two heads off",
         "look": f"Heads {' and '.join(f'{head} of block {layer}' for layer, head in pair)} are off: above, the next "
                 "word is another one. Undo (Ctrl+Z) switches them on again.",
         "tab": "heads", "step": f"blocks.{pair[0][0]}.attn.pattern",
         "edits": [{"edit": "scale_head", "attention": f"blocks.{layer}.attn", "head": head, "factor": 0}
                   for layer, head in pair]},
    ]


def example(weights):
    layer, head, _ = reading_head(weights)
    return {
        "description": "Goes on with a sentence, word by word. A GPT of 2 Pre-Norm blocks, trained on the King James "
                       "Bible: it knows a little grammar, and what often follows what.",
        "target": [TEXT],
        "look_at": {"step": f"blocks.{layer}.attn.pattern", "head": head},
        "try": things_to_try(weights),
    }


main(__file__, Recipe(CONFIG, VOCABULARY, trained_weights, measure, example, dtype=torch.float16,
                      tokens_file="tokenizer.json",
                      samples=lambda weights: [sample(weights, beginning, seed)
                                               for seed, beginning in enumerate(BEGINNINGS)]))
