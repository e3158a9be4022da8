"""Medians, bootstrap intervals and Markdown tables. Needs no torch."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
RESAMPLES = 2000


@dataclass(frozen=True)
class Interval:
    """An estimate and the ends of its bootstrap interval."""

    estimate: float
    low: float
    high: float

    def text(self, decimals: int = 2, sign: bool = False) -> str:
        form = f"{{:{'+' if sign else ''}.{decimals}f}}"
        return f"{form.format(self.estimate)} ({form.format(self.low)}..{form.format(self.high)})"


def _interval(estimate: float, replicates: list[float]) -> Interval:
    replicates.sort()
    outside = int((1 - CONFIDENCE) / 2 * (len(replicates) - 1))
    low, high = replicates[outside], replicates[len(replicates) - 1 - outside]
    return Interval(estimate, min(low, estimate), max(high, estimate))


def _bootstrap(samples: Sequence[Sequence[float]], statistic: Callable[..., float], seed: int) -> Interval:
    for values in samples:
        if not values:
            raise ValueError("got no trials, expected at least 1")
    generator = random.Random(seed)
    replicates = [
        statistic(*(generator.choices(values, k=len(values)) for values in samples)) for _ in range(RESAMPLES)
    ]
    return _interval(statistic(*samples), replicates)


def median_interval(values: Sequence[float], seed: int = 1) -> Interval:
    """The median of trials with its percentile interval."""
    return _bootstrap([values], statistics.median, seed)


def difference_interval(values: Sequence[float], reference: Sequence[float], seed: int = 1) -> Interval:
    """How much greater the median of `values` is than that of `reference`; the two are resampled independently."""
    return _bootstrap([values, reference], lambda a, b: statistics.median(a) - statistics.median(b), seed)


def verdict(difference: Interval) -> str:
    """What a difference of times allows to say; nothing where its interval holds zero."""
    if difference.high < 0:
        return "faster"
    if difference.low > 0:
        return "slower"
    return "undecided"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column is left-aligned, the others right-aligned."""
    for row in rows:
        if len(row) != len(headings):
            raise ValueError(f"a row has {len(row)} cells, expected {len(headings)}")
    lines = [
        "| " + " | ".join(headings) + " |",
        "| " + " | ".join(["---"] + ["---:"] * (len(headings) - 1)) + " |",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
