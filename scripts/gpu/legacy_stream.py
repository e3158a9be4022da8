#!/usr/bin/env python3
"""What marks on the legacy default stream order, and what questions to it say: measured while the host holds a blocking stream. Needs one GPU.

usage: scripts/gpu/legacy_stream.py [--held 0.2]

Blocking stream A is held. The legacy stream is then used as the row says, and a fill is put on blocking stream B. `behind A`: the fill waits for A,
so the use counts as an operation of the legacy stream. `free`: it does not. Where the row asks an event or the stream, its answer is given too.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable

from cuda_driver import CudaDriver

NON_BLOCKING, BLOCKING = 1, 0
MAPPED = 2
LEGACY = ctypes.c_void_p(1)
NOT_READY = 600


class Machine(CudaDriver):
    """A device with its streams, memory to fill, and words by which the host holds streams."""

    def __init__(self) -> None:
        super().__init__()
        context, self.memory = ctypes.c_void_p(), ctypes.c_uint64()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)
        self("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(4096))
        held = ctypes.c_void_p()
        self("cuMemHostAlloc", ctypes.byref(held), ctypes.c_size_t(64), MAPPED)
        self.words = ctypes.cast(held, ctypes.POINTER(ctypes.c_uint32 * 16)).contents
        self.a, self.b, self.apart = self.stream(BLOCKING), self.stream(BLOCKING), self.stream(NON_BLOCKING)

    def hold(self, stream: ctypes.c_void_p, word: int) -> None:
        self("cuStreamWaitValue32_v2", stream, ctypes.c_uint64(ctypes.addressof(self.words) + 4 * word), 1, 0)
        self.fill(stream)

    def fill(self, stream: ctypes.c_void_p) -> None:
        self("cuMemsetD8Async", self.memory, 0, ctypes.c_size_t(16), stream)

    def wait(self, stream: ctypes.c_void_p, event: ctypes.c_void_p) -> None:
        self("cuStreamWaitEvent", stream, event, 0)

    def recorded(self, stream: ctypes.c_void_p, over: bool = False) -> ctypes.c_void_p:
        """An event behind work of the stream. `over`: it has passed, and the host knows."""
        event = self.event()
        if over:
            self.fill(stream)
        self("cuEventRecord", event, stream)
        if over:
            self("cuCtxSynchronize")
        return event

    def is_over(self, name: str, handle: ctypes.c_void_p) -> bool:
        result = getattr(self.library, name)(handle)
        if result not in (0, NOT_READY):
            raise RuntimeError(f"{name}: {result}, expected 0 or {NOT_READY}")
        return result == 0


def rows(m: Machine) -> dict[str, Callable[[], Callable[[], str | None]]]:
    """Each makes ready, and gives what is to be done while A is held."""

    def question(name: str, handle: ctypes.c_void_p) -> str:
        return "over" if m.is_over(name, handle) else "not over"

    def waits_for(stream: ctypes.c_void_p) -> Callable[[], Callable[[], str | None]]:
        def make_ready() -> Callable[[], str | None]:
            event = m.recorded(stream, over=True)
            return lambda: m.wait(LEGACY, event)

        return make_ready

    def waits_for_pending() -> str | None:
        m.hold(m.apart, 1)
        event = m.recorded(m.apart)
        m.wait(LEGACY, event)
        m.words[1] = 1
        return None

    def waits_for_own_pending() -> str | None:
        m.wait(LEGACY, m.recorded(LEGACY))
        return None

    def asks_record() -> str | None:
        event = m.recorded(LEGACY)
        time.sleep(0.05)
        return question("cuEventQuery", event)

    def asks_record_behind_wait() -> Callable[[], str | None]:
        passed = m.recorded(m.apart, over=True)

        def ask() -> str | None:
            m.wait(LEGACY, passed)
            return asks_record()

        return ask

    return {
        "nothing": lambda: lambda: None,
        "a fill": lambda: lambda: m.fill(LEGACY),
        "a wait for a passed event of a non-blocking stream": waits_for(m.apart),
        "a wait for a passed event of B": waits_for(m.b),
        "a wait for a passed event of its own": waits_for(LEGACY),
        "a wait for an event that passes a moment later": lambda: waits_for_pending,
        "a record": lambda: lambda: m.recorded(LEGACY) and None,
        "a record, and a wait for it": lambda: waits_for_own_pending,
        "a record, of which the event is asked": lambda: asks_record,
        "a wait for a passed event and a record, of which the event is asked": asks_record_behind_wait,
        "a question to the stream": lambda: lambda: question("cuStreamQuery", LEGACY),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held", type=float, default=0.2, help="seconds after which what has not ended counts as held")
    options = parser.parse_args()
    machine = Machine()
    for name, make_ready in rows(machine).items():
        for word in range(2):
            machine.words[word] = 0
        use = make_ready()
        machine("cuCtxSynchronize")
        machine.hold(machine.a, 0)
        answer = use()
        machine.fill(machine.b)
        time.sleep(options.held)
        found = "free" if machine.is_over("cuStreamQuery", machine.b) else "behind A"
        machine.words[0] = machine.words[1] = 1
        machine("cuCtxSynchronize")
        print(f"{name}: {found}" + (f"; {answer}" if answer else ""), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
