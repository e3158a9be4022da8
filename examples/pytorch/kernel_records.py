"""Where the time of a step goes, from the kernel records of torch.profiler. Needs no torch.

A step is longer than local compute for two reasons: communication beside which no compute kernel runs (exposed), and compute
kernels that take longer beside communication than alone (inflation).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

COMMUNICATION = "communication"
# The first class whose pattern is found in a kernel's name takes it.
CLASSES: tuple[tuple[str, re.Pattern[str]], ...] = (
    # Copies between devices too: collectives by copy engines have no kernel.
    (COMMUNICATION, re.compile(r"^nccl|^nvshmem|^rccl|all_?reduce_?kernel|^Memcpy PtoP", re.IGNORECASE)),
    ("attention", re.compile(r"flash|fmha|attention|sdpa", re.IGNORECASE)),
    ("gemm", re.compile(r"nvjet|gemm|cutlass|xmma|splitK|cublas", re.IGNORECASE)),
    ("copy", re.compile(r"^Mem(cpy|set)|CatArray|split_with_sizes|chunk_cat|copy", re.IGNORECASE)),
    ("elementwise", re.compile("")),
)
CLASS_NAMES = tuple(name for name, _ in CLASSES)
DEVICE_CATEGORIES = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})

Span = tuple[float, float]


@dataclass(frozen=True)
class KernelRecord:
    name: str
    begin_us: float
    end_us: float


def kernel_class(name: str) -> str:
    return next(kind for kind, pattern in CLASSES if pattern.search(name))


def records_of_trace(trace: dict[str, Any]) -> list[KernelRecord]:
    """What ran on the GPU, of a Chrome trace as torch.profiler exports it."""
    return [
        KernelRecord(event["name"], float(event["ts"]), float(event["ts"]) + float(event["dur"]))
        for event in trace.get("traceEvents", [])
        if event.get("ph") == "X" and event.get("cat") in DEVICE_CATEGORIES
    ]


def union(spans: Iterable[Span]) -> list[Span]:
    """The same time without overlaps, in order."""
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return joined


def length(spans: Iterable[Span]) -> float:
    return sum(end - begin for begin, end in spans)


def outside(spans: Sequence[Span], cover: Sequence[Span]) -> float:
    """How much of `spans` lies outside `cover`; both without overlaps and in order."""
    covered = 0.0
    at = 0
    for begin, end in spans:
        while at < len(cover) and cover[at][1] <= begin:
            at += 1
        ahead = at
        while ahead < len(cover) and cover[ahead][0] < end:
            covered += min(end, cover[ahead][1]) - max(begin, cover[ahead][0])
            ahead += 1
    return length(spans) - covered


def breakdown(records: Sequence[KernelRecord], steps: int) -> dict[str, float]:
    """Milliseconds per step: the sum of each class, and the communication beside which nothing is computed."""
    if steps < 1:
        raise ValueError(f"steps: {steps}, expected at least 1")
    sums = dict.fromkeys(CLASS_NAMES, 0.0)
    spans: dict[bool, list[Span]] = {True: [], False: []}
    for record in records:
        kind = kernel_class(record.name)
        sums[kind] += record.end_us - record.begin_us
        spans[kind == COMMUNICATION].append((record.begin_us, record.end_us))
    communication, compute = union(spans[True]), union(spans[False])
    per_step = 1000.0 * steps
    return {kind: value / per_step for kind, value in sums.items()} | {
        "exposed_communication": outside(communication, compute) / per_step,
        "compute_busy": length(compute) / per_step,
    }


def inflation(overlapped: dict[str, float], alone: dict[str, float]) -> dict[str, float]:
    """How much more time per step each class of compute takes than in local compute, in milliseconds."""
    return {kind: overlapped[kind] - alone[kind] for kind in CLASS_NAMES if kind != COMMUNICATION}
