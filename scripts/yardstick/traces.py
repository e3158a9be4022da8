"""How long a GPU was busy in each step of a torch.profiler trace."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "pytorch"))

import kernel_records  # noqa: E402

TRACED_STEPS = 3  # of loop.record


def busy_ms(trace: Path) -> float | None:
    """Milliseconds of a step in which a kernel or a copy ran. None without a trace, and for one that has neither.

    A profiler slows the host, so gaps in the trace say little; what ran takes about as long as without it.
    """
    try:
        document = json.loads(trace.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    spans = kernel_records.union((record.begin_us, record.end_us) for record in kernel_records.records_of_trace(document))
    return round(kernel_records.length(spans) / 1000.0 / TRACED_STEPS, 4) if spans else None
