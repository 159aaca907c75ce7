"""Encoder-decoder tasks: a source text is turned into a target text, character by character."""

import torch

from training.characters import EOS, padded
from training.network import forward
from training.optimise import IGNORED


class Translation:
    """The inputs of pairs of texts for one model. Both texts begin with <bos>; the answer ends with <eos>."""

    def __init__(self, config, source_vocabulary, target_vocabulary):
        self.config, self.source, self.target = config, source_vocabulary, target_vocabulary

    def source_inputs(self, sources):
        tokens, kept = padded([self.source.encode(text) for text in sources], 0)
        return {"encoder_tokens": tokens, "encoder_attention_mask": kept}

    def batch(self, pairs):
        """Inputs with the whole target given (teacher forcing), and the token that each position has to answer."""
        sources, targets = zip(*pairs)
        given = [self.target.encode(text) for text in targets]
        tokens, kept = padded(given, 0)
        answers, _ = padded([row[1:] + [self.target.ids[EOS]] for row in given], IGNORED)
        return {**self.source_inputs(sources), "tokens": tokens, "attention_mask": kept}, answers

    def trace(self, weights, pairs):
        """The trace of the pairs in one padded batch."""
        with torch.no_grad():
            return forward(self.config, weights, self.batch(pairs)[0])

    def write_greedily(self, weights, sources, longest):
        """The most probable token, one after another, for all sources at once."""
        inputs = self.source_inputs(sources)
        tokens = torch.full((len(sources), 1), self.target.encode("")[0])
        with torch.no_grad():
            for _ in range(longest + 1):
                logits = forward(self.config, weights, {**inputs, "tokens": tokens})["logits"]
                tokens = torch.cat((tokens, logits[:, -1:].argmax(-1)), dim=1)
        return [self.target.decode(row[1:]) for row in tokens.tolist()]

    def exact(self, weights, pairs):
        """The share of pairs whose target comes out of greedy decoding without a mistake."""
        longest = max(len(target) for _, target in pairs)
        right = 0
        for at in range(0, len(pairs), 250):
            part = pairs[at:at + 250]
            written = self.write_greedily(weights, [source for source, _ in part], longest)
            right += sum(text == target for text, (_, target) in zip(written, part))
        return right / len(pairs)
