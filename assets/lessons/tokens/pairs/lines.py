"""Prints what the model was trained on: 400 lines of five words."""
import random

WORDS = ["sea"] * 5 + ["seal"] * 2 + ["meal"] * 4 + ["heal"] * 3

random.seed(3)
for _ in range(400):
    print(" ".join(random.choice(WORDS) for _ in range(5)))
