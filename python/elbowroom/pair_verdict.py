"""When it is known that a program is not slower, from pairs of launches.

A launch is the unit: steps of one process are alike in ways in which processes differ. A pair is a launch of the program as it is
and one under `elbowroom run`, one right after the other, in turns which first. Its value is the logarithm of the ratio of their
medians.

The pairs are looked at after 3, 5, 8 and 12 of them. Each look takes an interval of Student's t. Their errors add up to 5 %
(Bonferroni), so that all four hold together with 95 %, whichever of them ends the measuring. An eighth, an eighth, a quarter and
half of it are spent at the looks: most where most is known. Four fifths lie above, where a wrong "faster" or "not slower" comes
from, and one fifth below, for a wrong "slower".
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
BOUND = 0.003  # "not slower" allows for this share of a step
HOST_BOUND_IDLE = 0.10  # share of a step in which nothing runs on the GPU, from which the host decides how long a step takes


def counted(pairs: int) -> str:
    return "1 pair" if pairs == 1 else f"{pairs} pairs"


@dataclass(frozen=True)
class Look:
    """Student's t of an interval's ends, in standard errors, with one degree of freedom less than there are pairs."""

    above: float
    below: float


# By the number of pairs. Errors above: 0.5, 0.5, 1, 2 %; below: a quarter of these.
LOOKS = {3: Look(9.9248, 19.9625), 5: Look(4.6041, 6.7583), 8: Look(2.9980, 4.0293), 12: Look(2.3281, 3.1058)}

FASTER, NOT_SLOWER, SLOWER, UNDECIDED = "faster", "not slower", "slower", "undecided"
PASSING = (FASTER, NOT_SLOWER)
STEP_TIME, HOST_TIME = "step time", "host time"


@dataclass(frozen=True)
class Change:
    """Of a step: 0.01 is 1 % longer. The interval is None before the first look."""

    estimate: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Verdict:
    measure: str
    pairs: int  # those of the last look
    change: Change | None
    verdict: str


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean of as many values as a look takes, and the ends of its interval."""
    mean = statistics.fmean(values)
    # The standard library sums squares as fractions, which takes twenty times as long.
    error = math.dist(values, [mean] * len(values)) / math.sqrt(len(values) * (len(values) - 1))
    look = LOOKS[len(values)]
    return mean, mean - look.below * error, mean + look.above * error


def last_look(pairs: int) -> int:
    return max((look for look in LOOKS if look <= pairs), default=0)


def said_of(change: Change, measure: str) -> str:
    if change.low is None or change.high is None:
        return UNDECIDED
    if change.high < 0 and measure == STEP_TIME:
        return FASTER
    if change.high <= BOUND:
        return NOT_SLOWER
    return SLOWER if change.low > BOUND else UNDECIDED


def _at(values: Sequence[float], measure: str) -> Change:
    shown = math.expm1 if measure == STEP_TIME else float
    if len(values) not in LOOKS:
        return Change(shown(statistics.fmean(values)))
    mean, low, high = interval(values)
    return Change(shown(mean), shown(low), shown(high))


def judge(values: Sequence[float], measure: str) -> Verdict:
    """The first look that decides, decides; pairs behind it are not used."""
    if not values:
        return Verdict(measure, 0, None, UNDECIDED)
    for look in LOOKS:
        if look > len(values):
            break
        change = _at(values[:look], measure)
        if said_of(change, measure) != UNDECIDED:
            return Verdict(measure, look, change, said_of(change, measure))
    look = last_look(len(values)) or len(values)
    return Verdict(measure, look, _at(values[:look], measure), UNDECIDED)


def step_time_value(plain_ms: Sequence[float], run_ms: Sequence[float]) -> float:
    return math.log(statistics.median(run_ms) / statistics.median(plain_ms))


def host_time_value(plain_cpu_ms: Sequence[float], run_cpu_ms: Sequence[float], plain_ms: Sequence[float]) -> float:
    """CPU time of all the process's threads that was added to a step, as a share of the plain step."""
    return (statistics.median(run_cpu_ms) - statistics.median(plain_cpu_ms)) / statistics.median(plain_ms)


def idle_share(busy_ms: float | None, plain_ms: Sequence[float]) -> float | None:
    """Of a plain step, in which nothing runs on the GPU. None where no trace told how long something ran."""
    return None if busy_ms is None else max(0.0, 1.0 - busy_ms / statistics.median(plain_ms))
