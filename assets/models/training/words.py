"""Vocabularies of whole words and marks."""

import re

from training.characters import BOS, PAD

UNKNOWN = "<unk>"


class Words:
    """The special tokens, then words and marks. As a file: tokenizer.json, in Hugging Face's form."""

    def __init__(self, words):
        self.tokens = [PAD, BOS, UNKNOWN, *words]
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self):
        return len(self.tokens)

    @staticmethod
    def split(text):
        """As the pre-tokenizer Whitespace: runs of letters and digits, and runs of other marks."""
        return re.findall(r"\w+|[^\w\s]+", text)

    def ids_of(self, words):
        return [self.ids[BOS], *(self.ids.get(word, self.ids[UNKNOWN]) for word in words)]

    def encode(self, text):
        return self.ids_of(self.split(text))

    def decode(self, ids):
        return " ".join(self.tokens[i] for i in ids)

    def as_json(self):
        special = [{"id": self.ids[token], "content": token, "special": True, "single_word": False, "lstrip": False,
                    "rstrip": False, "normalized": False} for token in (PAD, BOS, UNKNOWN)]
        return {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": BOS, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {BOS: {"id": BOS, "ids": [self.ids[BOS]], "tokens": [BOS]}},
            },
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": self.ids, "unk_token": UNKNOWN},
        }
