"""What the tests of the Python part put in the place of PyTorch: a store, a device, ranks as threads."""

from __future__ import annotations

import sys
import threading
import unittest
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

PYTHON = Path(__file__).resolve().parents[2] / "python"
HOOK = PYTHON / "elbowroom" / "hook"
sys.path.insert(0, str(PYTHON))


class Store:
    """As a TCPStore answers: who waits is woken by `set` alone."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._values[key] = value if isinstance(value, bytes) else value.encode()
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        with self._changed:
            return self._values[key]

    def wait(self, keys: list[str], timeout: timedelta) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: all(key in self._values for key in keys), timeout.total_seconds()):
                raise RuntimeError("wait timeout")

    def compare_set(self, key: str, expected: str, desired: str) -> bytes:
        with self._changed:
            if key not in self._values and not expected:
                self._values[key] = desired.encode()
            return self._values.get(key, expected.encode())


def on_ranks(ranks: int, act: Callable[[int], Any]) -> list[Any]:
    """`act` of each rank at the same time; an exception of one is raised here."""
    results: list[Any] = [None] * ranks
    failures: list[BaseException] = []

    def of_rank(rank: int) -> None:
        try:
            results[rank] = act(rank)
        except BaseException as failure:  # noqa: BLE001
            failures.append(failure)

    threads = [threading.Thread(target=of_rank, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a rank hangs"
    if failures:
        raise failures[0]
    return results


class Group:
    """A process group of one rank."""

    def __init__(self, rank: int, ranks: int, store: Store, name: str = "0") -> None:
        self._rank, self._ranks, self.store, self.group_name = rank, ranks, store, name
        self.collectives = 0

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._ranks

    def _get_backend(self, device: Any) -> Any:
        return ProcessGroupNCCL(self)


class ProcessGroupNCCL:
    version = (2, 28, 9)
    mem_allocator = "NCCL's allocator"
    options = SimpleNamespace(config=SimpleNamespace(min_ctas=-(1 << 31), max_ctas=-(1 << 31), blocking=-(1 << 31)))

    def __init__(self, group: Any = None) -> None:
        self._group = group

    @classmethod
    def get_runtime_nccl_version(cls) -> tuple[int, int, int]:
        return cls.version

    def _comm_ptr(self) -> int:
        return 1

    def _get_sequence_number_for_group(self) -> int:
        return 0 if self._group is None else self._group.collectives


class ProcessGroupNCCL2:
    """What "nccl" means from PyTorch 2.15 on: no kind of the other class, and without its get_runtime_nccl_version."""

    mem_allocator, options = ProcessGroupNCCL.mem_allocator, ProcessGroupNCCL.options

    def __init__(self, group: Any = None) -> None:
        self._group = group

    _comm_ptr, _get_sequence_number_for_group = ProcessGroupNCCL._comm_ptr, ProcessGroupNCCL._get_sequence_number_for_group


class OtherNCCL(ProcessGroupNCCL2):
    """One that was measured on no GPU."""


class Device(str):
    type = property(lambda self: self.partition(":")[0])


class Event:
    """Of a device that is done with everything; `now` is the time that the next one records."""

    now = 0.0

    def __init__(self, enable_timing: bool = False) -> None:
        self.time = 0.0

    def record(self) -> None:
        self.time = self.now

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Any) -> float:
        return end.time - self.time


def fake_torch() -> SimpleNamespace:
    """A PyTorch of one rank; `events` is what was asked of the device."""
    events: list[str] = []
    stream = SimpleNamespace(
        synchronize=lambda: events.append("stream synchronized"), query=lambda: True, wait_stream=lambda other: events.append("wait")
    )
    cuda = SimpleNamespace(
        current_stream=lambda: stream,
        current_device=lambda: 0,
        empty_cache=lambda: events.append("cache emptied"),
        synchronize=lambda: events.append("device synchronized"),
        is_current_stream_capturing=lambda: False,
        Event=type("Event", (Event,), {}),
        memory_stats_as_nested_dict=lambda: {},
        mem_get_info=lambda: (70 << 30, 80 << 30),
        memory_reserved=lambda: 4 << 30,
        max_memory_reserved=lambda: 5 << 30,
    )
    c10d = SimpleNamespace(_get_process_group_store=lambda group: group.store)
    distributed = SimpleNamespace(distributed_c10d=c10d, ProcessGroupNCCL=ProcessGroupNCCL)
    device = lambda kind, index=0: Device(f"{kind}:{index}")  # noqa: E731
    return SimpleNamespace(
        cuda=cuda, distributed=distributed, device=device, events=events, __version__="2.11.0", _C=SimpleNamespace(
            _construct_storage_from_data_pointer=None
        )
    )


class FakeRegistrations:
    """NCCL's registrations of one rank; `failing` ranks cannot register."""

    failing: set[int] = set()
    mapped: dict[int, int] = {}

    def __init__(self, torch: Any, backend: Any) -> None:
        self._torch = torch

    def mapped_bytes(self, address: int) -> int:
        return self.mapped.get(self._torch.rank, 2 << 20)

    def register(self, address: int, size: int) -> None:
        if self._torch.rank in self.failing:
            raise RuntimeError("ncclCommWindowRegister: unhandled cuda error 801")
        self._torch.events.append("registered")

    def deregister(self) -> None:
        self._torch.events.append("deregistered")


def main_with_torch() -> None:
    """unittest.main, or exit code 77 where there is no PyTorch that could start ranks."""
    try:
        import torch
    except ImportError as error:
        print(f"skipped: torch cannot be imported ({error})", file=sys.stderr)
        sys.exit(77)
    if not torch.distributed.is_available():
        print("skipped: this PyTorch has no torch.distributed", file=sys.stderr)
        sys.exit(77)
    unittest.main()
