"""Vocabularies of characters, and batches of texts padded to one length."""

import torch

PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"


class Vocabulary:
    """The special tokens, then the characters. As a file: vocabulary.json."""

    def __init__(self, characters, special=(PAD, BOS, EOS)):
        self.special = special
        self.tokens = [*special, *characters]
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self):
        return len(self.tokens)

    def encode(self, text):
        """As the program encodes typed text: after <bos>, if the vocabulary has it."""
        return [self.ids[c] for c in ([BOS] if BOS in self.special else []) + list(text)]

    def decode(self, ids):
        """The text up to <eos>."""
        text = ""
        for i in ids:
            if self.tokens[i] == EOS:
                break
            text += self.tokens[i]
        return text

    @classmethod
    def from_json(cls, vocabulary):
        special = [token for token in (PAD, BOS, EOS) if token in vocabulary["tokens"]]
        return cls(vocabulary["tokens"][len(special):], special)

    def as_json(self):
        keys = {"pad": PAD, "beginning": BOS, "end": EOS}
        return {"tokens": self.tokens, **{key: token for key, token in keys.items() if token in self.special}}


def padded(rows, fill):
    """Lists of ids as one tensor [row, longest], and the mask with 1 for what is not padding."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor([row + [fill] * (longest - len(row)) for row in rows])
    kept = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    return ids, kept
