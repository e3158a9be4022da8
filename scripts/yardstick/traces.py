"""How long a GPU was busy in each step of a program, by torch.profiler traces of all its ranks."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "pytorch"))

from kernel_records import COMMUNICATION, KernelRecord, kernel_class, length, records_of_trace, union  # noqa: E402

TRACED_STEPS = 6  # of loop.record


def of_ranks(trace: Path) -> list[Path]:
    """That of rank 0 first, and those that the other ranks wrote beside it."""
    others = sorted(trace.parent.glob(f"{trace.name}.rank*"), key=lambda path: int(path.name.rpartition("rank")[2]))
    return [trace, *others]


def busy_ms(trace: Path) -> float | None:
    """Milliseconds of a step in which rank 0 computed, copied or communicated. None without a trace, and for one that has none of these.

    A profiler slows the hosts. So gaps in the trace say little, and a collective waits for ranks that come later than without one: of
    each the last part counts, as long as it took the quickest rank in any of the steps.
    """
    ranks = [records for path in of_ranks(trace) if (records := records_in(path))]
    if not ranks:
        return None
    spans = [(record.begin_us, record.end_us) for record in ranks[0] if kernel_class(record.name) != COMMUNICATION]
    spans += [(record.end_us - least, record.end_us) for record, least in zip(communications(ranks[0]), least_us(ranks), strict=True)]
    return round(length(union(spans)) / 1000.0 / TRACED_STEPS, 4)


def records_in(path: Path) -> list[KernelRecord]:
    try:
        return records_of_trace(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return []


def communications(records: Sequence[KernelRecord]) -> list[KernelRecord]:
    found = [record for record in records if kernel_class(record.name) == COMMUNICATION]
    return sorted(found, key=lambda record: record.begin_us)


def least_us(ranks: Sequence[Sequence[KernelRecord]]) -> list[float]:
    """Of each communication of rank 0, in order, how long it took where its ranks came together. They are told by name and by their place
    among those of the name in a step. Names with other numbers of them in each step, or on each rank, keep what they took.
    """
    named = [by_name(communications(records)) for records in ranks]
    least: dict[str, list[float]] = {}
    for name, own in named[0].items():
        in_step, rest = divmod(len(own), TRACED_STEPS)
        alike = [] if rest else [times for rank in named if len(times := rank.get(name, [])) == len(own)]
        if not alike:
            least[name] = own
            continue
        of_step = [min(min(times[place::in_step]) for times in alike) for place in range(in_step)]
        least[name] = of_step * TRACED_STEPS
    taken = {name: iter(times) for name, times in least.items()}
    return [next(taken[record.name]) for record in communications(ranks[0])]


def by_name(records: Sequence[KernelRecord]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for record in records:
        found.setdefault(record.name, []).append(record.end_us - record.begin_us)
    return found
