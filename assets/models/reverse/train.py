"""Trains `reverse`: python3 train.py, about three minutes. With --check it only measures what lies here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training import reversal  # noqa: E402
from training.model import main  # noqa: E402

main(__file__, reversal.recipe(
    norm_first=True,
    description="Writes a word backwards. Encoder and decoder of 2 Pre-Norm blocks each, trained on letters: "
                "cross-attention reads the word from its end.",
))
