"""NVML's counter of energy, read while a program runs. The library is found at run time; without it there are no joules."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

PERIOD_SECONDS = 0.02
LEAST_UPDATES = 20  # of the counter inside a span: the ends are then uncertain by 5 % of it at most

Row = tuple[float, tuple[int, ...]]  # a time, and the counter of each GPU in millijoules


class NoCounter(Exception):
    """Why there are no joules."""


class Watch:
    """Samples in a thread of their own from its making to stop()."""

    def __init__(self, read: Any) -> None:
        self._read = read
        self._rows: list[Row] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._over.is_set():
            self._rows.append((time.time(), self._read()))
            self._over.wait(PERIOD_SECONDS)

    def stop(self) -> list[Row]:
        self._over.set()
        self._thread.join()
        return self._rows


def at(updates: Sequence[tuple[float, int]], moment: float) -> float:
    """The counter at a moment, on a line between the updates around it."""
    for (begin, low), (end, high) in itertools.pairwise(updates):
        if begin <= moment <= end:
            return low + (high - low) * (moment - begin) / (end - begin)
    raise ValueError(f"{moment} lies outside {updates[0][0]}..{updates[-1][0]}" if updates else "no updates")


def updates_of(rows: Sequence[Row], gpu: int) -> list[tuple[float, int]]:
    """The samples at which the counter had moved on."""
    found: list[tuple[float, int]] = []
    for moment, values in rows:
        if not found or values[gpu] != found[-1][1]:
            found.append((moment, values[gpu]))
    return found


def per_step(rows: Sequence[Row], span: Sequence[float] | None, steps: int) -> dict[str, Any]:
    """{"joules": J} of a step, all GPUs together, or {"no_joules": why}."""
    if span is None:
        return {"no_joules": "the program does not say when its timed steps began and ended"}
    total = 0.0
    for gpu in range(len(rows[0][1]) if rows else 0):
        updates = updates_of(rows, gpu)
        inside = sum(span[0] <= moment <= span[1] for moment, _ in updates)
        if inside < LEAST_UPDATES:
            length = span[1] - span[0]
            return {"no_joules": f"the counter moved {inside} times in {length:.1f} s, expected at least {LEAST_UPDATES}"}
        try:
            total += at(updates, span[1]) - at(updates, span[0])
        except ValueError as error:
            return {"no_joules": str(error)}
    return {"joules": round(total / 1000.0 / steps, 3)} if rows else {"no_joules": "the counter was not read"}


class EnergyCounter:
    def __init__(self, gpus: int) -> None:
        self._nvml = _library()
        if self._nvml is None:
            raise NoCounter("NVML cannot be loaded")
        visible = [int(index) for index in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if index.isdigit()]
        self._handles = [self._handle(index) for index in (visible or range(gpus))[:gpus]]
        self.read()

    def _check(self, code: int, call: str) -> None:
        if code != 0:
            raise NoCounter(f"{call} answers {code}")

    def _handle(self, index: int) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        code = self._nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle))
        self._check(code, "nvmlDeviceGetHandleByIndex_v2")
        return handle

    def read(self) -> tuple[int, ...]:
        values = []
        for handle in self._handles:
            value = ctypes.c_ulonglong()
            code = self._nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(value))
            self._check(code, "nvmlDeviceGetTotalEnergyConsumption")
            values.append(value.value)
        return tuple(values)

    def watch(self) -> Watch:
        return Watch(self.read)

    per_step = staticmethod(per_step)


def _library() -> ctypes.CDLL | None:
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return nvml if nvml.nvmlInit_v2() == 0 else None


def gpus_here() -> int:
    """How many GPUs NVML shows; 0 where there is none."""
    nvml, count = _library(), ctypes.c_uint()
    return count.value if nvml and nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 else 0


def driver() -> dict[str, str]:
    """Its version, where there is one."""
    nvml, version = _library(), ctypes.create_string_buffer(80)
    found = nvml is not None and nvml.nvmlSystemGetDriverVersion(version, ctypes.c_uint(len(version))) == 0
    return {"driver": version.value.decode()} if found else {}
