"""The task of `reverse` and `reverse-post-norm`: a word comes back letter by letter, the last one first."""

import random
import string

import torch

from training.characters import Vocabulary
from training.measures import Measure
from training.model import Recipe
from training.network import initial_weights
from training.optimise import train
from training.translation import Translation

VOCABULARY = Vocabulary(string.ascii_lowercase)
LONGEST = 16


def config(norm_first):
    return {
        "model_type": "decoderscope", "d_model": 64, "nhead": 4, "num_layers": 2, "encoder_layers": 2,
        "dim_feedforward": 256, "norm_first": norm_first, "final_norm": True, "cross_attention": True,
        "vocab_size": len(VOCABULARY), "encoder_vocab_size": len(VOCABULARY),
        "positional_encoding": "sinusoidal", "lm_head": True, "dropout": 0.1,
    }


def random_word(draw, shortest=1):
    return "".join(draw.choices(string.ascii_lowercase, k=draw.randint(shortest, LONGEST)))


def pairs_of(words):
    return [(word, word[::-1]) for word in words]


def held_out(count=1000):
    """Words that training doesn't see: of at least 6 letters none of its words comes again, in any likelihood."""
    draw = random.Random("held out")
    return pairs_of(random_word(draw, shortest=6) for _ in range(count))


def trained_weights(task, seed, steps, peak, batch=48):
    weights = initial_weights(task.config, seed)
    draw = random.Random(seed)
    train(task.config, weights, lambda step: task.batch(pairs_of(random_word(draw) for _ in range(batch))), steps, peak,
          seed=seed)
    return weights


def anti_diagonal_mass(task, weights, pairs):
    """Per layer and head, how much cross-attention lies on the letter that is due.   -> [layer, head]

    Query t writes letter t of the answer, which is letter L - 1 - t of the word, at L - t after <bos>. The last query
    has to answer <eos>, and what is due is <bos> itself. A mean over all queries of all words.
    """
    trace = task.trace(weights, pairs)
    masses = []
    for layer in range(task.config["num_layers"]):
        pattern = trace[f"blocks.{layer}.cross_attn.pattern"]  # [word, head, query, key]
        due = [pattern[row, :, t, len(word) - t] for row, (word, _) in enumerate(pairs) for t in range(len(word) + 1)]
        masses.append(torch.stack(due).mean(0))
    return torch.stack(masses)


def padding_mass(task, weights, pairs):
    """The largest weight that any query of any head puts on a padded letter."""
    trace = task.trace(weights, pairs)
    padding = task.batch(pairs)[0]["encoder_attention_mask"] == 0  # [word, key]
    return max(float(trace[f"blocks.{layer}.cross_attn.pattern"].amax((1, 2))[padding].max())
               for layer in range(task.config["num_layers"]))


def growth(task, weights, pairs):
    """How much longer the decoder's residual stream is after the last block than before the first, on average."""
    trace = task.trace(weights, pairs)
    kept = task.batch(pairs)[0]["attention_mask"] == 1
    length = {name: trace[name].norm(dim=-1)[kept].mean()
              for name in ("blocks.0.resid_pre", f"blocks.{task.config['num_layers'] - 1}.resid_post")}
    before, after = length.values()
    return float(after / before)


def things_to_try(layer, head, length, norm_first):
    """What the window offers: where a letter comes from, the run without the head that finds it, the other norm."""
    here, other = ("Pre-Norm", "Post-Norm") if norm_first else ("Post-Norm", "Pre-Norm")
    return [
        {"title": "See where the second letter comes from",
         "look": "The highlighted row writes the second letter. The highlighted cell shows what it attends to: the last "
                 "letter but one of the word. On the right you see how that weight was computed.",
         "tab": "step", "step": f"blocks.{layer}.cross_attn.pattern", "cell": [0, head, 1, length - 1]},
        {"title": "Switch off the heads that reverse",
         "look": "All four heads of the last cross-attention are off, and the model can no longer read the word: the "
                 "marks below the target show which letters it gets wrong now. Any one of them alone could go without "
                 "a mistake. Undo (Ctrl+Z) switches them on again.",
         "tab": "heads", "step": f"blocks.{layer}.cross_attn.pattern",
         "edits": [{"edit": "scale_head", "attention": f"blocks.{layer}.cross_attn", "head": each, "factor": 0}
                   for each in range(4)]},
        {"title": f"Flip {here} to {other}",
         "look": f"The same weights as {other}: the curves show what that does by depth. The model was trained as {here} "
                 "and makes mistakes now; undo (Ctrl+Z) flips it back.",
         "tab": "norms", "set": {"norm_first": "false" if norm_first else "true"}},
    ]


def recipe(norm_first, description, seed=0, steps=3600, peak=3e-3):
    task = Translation(config(norm_first), VOCABULARY, VOCABULARY)
    last = task.config["num_layers"] - 1

    def measure(weights):
        pairs = held_out()
        flipped = Translation(config(not norm_first), VOCABULARY, VOCABULARY)
        masses = anti_diagonal_mass(task, weights, pairs)[last]
        return [
            Measure("words of 6 to 16 letters that come back without a mistake", task.exact(weights, pairs),
                    at_least=0.99, percent=True),
            Measure(f"cross-attention of layer {last}, head {int(masses.argmax())}: weight on the letter that is due",
                    float(masses.max()), at_least=0.8),
            Measure("largest weight on a padded letter, in any layer and head", padding_mass(task, weights, pairs),
                    at_most=0.0),
            Measure("length of the residual stream after the last block, as a multiple of that before the first",
                    growth(task, weights, pairs), **({"at_least": 2.0} if norm_first else {"at_most": 1.5})),
            Measure("words that come back without a mistake with norm_first flipped", flipped.exact(weights, pairs),
                    at_most=0.5, percent=True),
        ]

    def example(weights):
        head = int(anti_diagonal_mass(task, weights, held_out())[last].argmax())
        words = ["decoder", "transformer"]
        return {"description": description, "source": words, "target": [word[::-1] for word in words],
                "look_at": {"step": f"blocks.{last}.cross_attn.pattern", "head": head},
                "try": things_to_try(last, head, len(words[0]), norm_first)}

    return Recipe(task.config, VOCABULARY, lambda: trained_weights(task, seed, steps, peak), measure, example,
                  encoder_vocabulary=None)
