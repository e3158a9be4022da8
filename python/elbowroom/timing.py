"""Device times of a program's steps, and whether they became slower. The device is never waited for."""

from __future__ import annotations

import functools
import statistics
from itertools import pairwise
from typing import Any

MARGIN = 0.005  # a difference below this share of a step counts as none
MOST_ERROR = 0.01  # the probability of calling equal steps slower


class Clock:
    """Times `steps` steps in a row, on the stream that is the current one at their boundaries."""

    def __init__(self, torch: Any, steps: int) -> None:
        self._torch, self._steps = torch, steps
        self._events: list[Any] = []

    def mark(self) -> None:
        """At the boundary of two steps. The first marks the beginning of the first step."""
        if not self.full():
            event = self._torch.cuda.Event(enable_timing=True)
            event.record()
            self._events.append(event)

    def full(self) -> bool:
        return len(self._events) > self._steps

    def known(self) -> bool:
        """Whether the device has come to the last mark."""
        return self.full() and self._events[-1].query()

    def milliseconds(self) -> list[float]:
        return [begin.elapsed_time(end) for begin, end in pairwise(self._events)]


def proven_slower(before: list[float], after: list[float]) -> bool:
    """Whether steps take longer than before by more than MARGIN: an exact one-sided rank test (Mann and Whitney).

    Ranks and not means, since steps of a program that waits for its host have two modes and rare long outliers.
    """
    longer = sum(late > early * (1 + MARGIN) for early in before for late in after)
    return _chance(longer, len(before), len(after)) < MOST_ERROR


def _chance(least: int, first: int, second: int) -> float:
    """That `least` pairs or more of equally distributed times are longer in the second set."""
    ways = [_ways(pairs, first, second) for pairs in range(first * second + 1)]
    return sum(ways[least:]) / sum(ways)


@functools.cache
def _ways(pairs: int, first: int, second: int) -> int:
    """Orders of all times in which exactly `pairs` pairs are longer in the second set: the longest is of one set or the other."""
    if pairs < 0:
        return 0
    if first == 0 or second == 0:
        return int(pairs == 0)
    return _ways(pairs - first, first, second - 1) + _ways(pairs, first - 1, second)


def median(times: list[float]) -> float:
    return round(statistics.median(times), 4)
