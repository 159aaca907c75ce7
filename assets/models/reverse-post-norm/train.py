"""Trains `reverse-post-norm`: python3 train.py, about three minutes. With --check it only measures what lies here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training import reversal  # noqa: E402
from training.model import main  # noqa: E402

main(__file__, reversal.recipe(
    norm_first=False,
    description="The same as reverse with Post-Norm, trained in the same way, so that the two can be compared.",
))
