"""What a model card claims, and whether it is so."""

from dataclasses import dataclass


@dataclass
class Measure:
    """A number that was measured on data that training didn't see, and the bound that the card claims for it."""

    what: str
    measured: float
    at_least: float = None
    at_most: float = None
    percent: bool = False

    @property
    def holds(self):
        return ((self.at_least is None or self.measured >= self.at_least)
                and (self.at_most is None or self.measured <= self.at_most))

    @property
    def claim(self):
        sign, bound = ("≥", self.at_least) if self.at_least is not None else ("≤", self.at_most)
        return f"{sign} {self.text(bound)}"

    def text(self, number):
        return f"{100 * number:.4g} %" if self.percent else f"{number:.4g}"


def check(measures):
    """Fails where one doesn't hold."""
    for m in measures:
        print(f"{m.what}: {m.text(m.measured)}, claimed {m.claim}")
    assert all(m.holds for m in measures), [m.what for m in measures if not m.holds]
