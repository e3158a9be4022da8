#!/usr/bin/env python3
"""What copies between two devices wait for, and what waits for them: measured by streams that the host holds. Needs two GPUs and the driver.

usage: scripts/gpu/peer_copies.py [--held 0.15]

For each copy from device 1 to device 0, issued with device 0 current:
  after   the streams whose held work the copy waits for;
  before  the streams whose later work waits for the copy, which is itself held in its own stream or, without one, by the streams of 'after'.
Streams are named by device: 0l is the legacy default stream of device 0, 0b a blocking one, 0n a non-blocking one.
"""

from __future__ import annotations

import argparse
import ctypes
import threading
import time
from collections.abc import Callable

from cuda_driver import CudaDriver

NON_BLOCKING, BLOCKING = 1, 0
PORTABLE_AND_MAPPED = 3
LEGACY, PER_THREAD = ctypes.c_void_p(1), ctypes.c_void_p(2)
BYTES = 1 << 16


class Machine(CudaDriver):
    """Two devices, their streams, and words that the host and both devices see."""

    def __init__(self) -> None:
        super().__init__()
        self.contexts = [ctypes.c_void_p(), ctypes.c_void_p()]
        self.memory = [ctypes.c_uint64(), ctypes.c_uint64()]
        self.streams: dict[str, tuple[int, ctypes.c_void_p]] = {}
        for device, context in enumerate(self.contexts):
            self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self("cuCtxSetCurrent", context)
            self("cuMemAlloc_v2", ctypes.byref(self.memory[device]), ctypes.c_size_t(BYTES))
            self.streams[f"{device}l"] = (device, LEGACY)
            for kind, flag in (("b", BLOCKING), ("n", NON_BLOCKING)):
                self.streams[f"{device}{kind}"] = (device, self.stream(flag))
        self("cuCtxSetCurrent", self.contexts[0])
        self.own, self.reader = self.stream(NON_BLOCKING), self.stream(NON_BLOCKING)
        self.held, self.copy_held, self.passed = self._word(), self._word(), self._word()
        self.read = self._word()

    def enable_peer_access(self) -> None:
        for device in (0, 1):
            self.on(device)
            self("cuCtxEnablePeerAccess", self.contexts[1 - device], 0)

    def _word(self) -> ctypes.Array[ctypes.c_uint32]:
        memory = ctypes.c_void_p()
        self("cuMemHostAlloc", ctypes.byref(memory), ctypes.c_size_t(64), PORTABLE_AND_MAPPED)
        return ctypes.cast(memory, ctypes.POINTER(ctypes.c_uint32 * 16)).contents

    def on(self, device: int) -> None:
        self("cuCtxSetCurrent", self.contexts[device])

    def hold(self, device: int, stream: ctypes.c_void_p, word: ctypes.Array[ctypes.c_uint32]) -> None:
        self.on(device)
        self("cuStreamWaitValue32_v2", stream, ctypes.c_uint64(ctypes.addressof(word)), 1, 0)

    def mark(self, device: int, stream: ctypes.c_void_p) -> None:
        self.on(device)
        self("cuStreamWriteValue32_v2", stream, ctypes.c_uint64(ctypes.addressof(self.passed)), 1, 0)

    def begin(self) -> None:
        """All streams empty, nothing held, device 0's memory zero and device 1's one."""
        for word in (self.held, self.copy_held):
            word[0] = 1
        for device in (0, 1):
            self.on(device)
            self("cuMemsetD32_v2", self.memory[device], device, ctypes.c_size_t(BYTES // 4))
            self("cuCtxSynchronize")
        for word in (self.held, self.copy_held, self.passed, self.read):
            word[0] = 0

    def end(self) -> None:
        for word in (self.held, self.copy_held):
            word[0] = 1
        for device in (0, 1):
            self.on(device)
            self("cuCtxSynchronize")

    def copied(self) -> bool:
        self.on(0)
        self("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(ctypes.addressof(self.read)), self.memory[0], ctypes.c_size_t(4), self.reader)
        self("cuStreamSynchronize", self.reader)
        return self.read[0] == 1


Copy = Callable[[Machine, ctypes.c_void_p], None]


def plain(machine: Machine, stream: ctypes.c_void_p) -> None:
    machine("cuMemcpyAsync", machine.memory[0], machine.memory[1], ctypes.c_size_t(BYTES), stream)


def device_to_device(machine: Machine, stream: ctypes.c_void_p) -> None:
    machine("cuMemcpyDtoDAsync_v2", machine.memory[0], machine.memory[1], ctypes.c_size_t(BYTES), stream)


def peer(machine: Machine, stream: ctypes.c_void_p) -> None:
    contexts, memory = machine.contexts, machine.memory
    machine("cuMemcpyPeerAsync", memory[0], contexts[0], memory[1], contexts[1], ctypes.c_size_t(BYTES), stream)


def plain_now(machine: Machine, _: ctypes.c_void_p) -> None:
    machine("cuMemcpy", machine.memory[0], machine.memory[1], ctypes.c_size_t(BYTES))


def device_to_device_now(machine: Machine, _: ctypes.c_void_p) -> None:
    machine("cuMemcpyDtoD_v2", machine.memory[0], machine.memory[1], ctypes.c_size_t(BYTES))


def peer_now(machine: Machine, _: ctypes.c_void_p) -> None:
    machine("cuMemcpyPeer", machine.memory[0], machine.contexts[0], machine.memory[1], machine.contexts[1], ctypes.c_size_t(BYTES))


WITH_STREAM: dict[str, Copy] = {"cuMemcpyAsync": plain, "cuMemcpyDtoDAsync": device_to_device, "cuMemcpyPeerAsync": peer}
WITHOUT: dict[str, Copy] = {"cuMemcpy": plain_now, "cuMemcpyDtoD": device_to_device_now, "cuMemcpyPeer": peer_now}


def within(seconds: float, over: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if over():
            return True
        time.sleep(0.002)
    return over()


def issued(machine: Machine, copy: Copy | None, stream: ctypes.c_void_p, hold_it: bool = False) -> threading.Thread:
    """The copy in a thread of its own, since its call may wait; behind a wait in its own stream where `hold_it`."""

    def body() -> None:
        machine.on(0)
        if hold_it:
            machine.hold(0, stream, machine.copy_held)
        if copy is not None:
            copy(machine, stream)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(0.05)
    return thread


def comes_after(machine: Machine, copy: Copy, stream: ctypes.c_void_p, seconds: float) -> tuple[list[str], bool]:
    """The streams that the copy waits for, and whether its call waited with it."""
    found, call_waited = [], False
    for name, (device, other) in machine.streams.items():
        machine.begin()
        machine.hold(device, other, machine.held)
        thread = issued(machine, copy, stream)
        if not within(seconds, machine.copied):
            found.append(name)
            call_waited = call_waited or thread.is_alive()
        machine.end()
        thread.join()
    return found, call_waited


def comes_before(machine: Machine, copy: Copy, stream: ctypes.c_void_p, held: str | None, seconds: float) -> list[str]:
    """The streams whose later work waits for the copy and not for what holds the copy."""

    def passes(name: str, with_copy: bool) -> bool:
        machine.begin()
        if held is not None:
            machine.hold(*machine.streams[held], machine.copy_held)
        thread = issued(machine, copy if with_copy else None, stream, hold_it=held is None)
        marker = threading.Thread(target=machine.mark, args=machine.streams[name])
        marker.start()
        passed = within(seconds, lambda: machine.passed[0] == 1)
        machine.end()
        marker.join()
        thread.join()
        return passed

    return [name for name in machine.streams if name != held and passes(name, False) and not passes(name, True)]


def row(machine: Machine, name: str, copy: Copy, stream_name: str, stream: ctypes.c_void_p | None, seconds: float) -> str:
    after, call_waited = comes_after(machine, copy, stream or LEGACY, seconds)
    if stream is not None:
        before = comes_before(machine, copy, stream, None, seconds)
    else:
        before = sorted({found for held in after for found in comes_before(machine, copy, LEGACY, held, seconds)})
    return f"{name:18} {stream_name:10} after {' '.join(after) or '-':18} before {' '.join(before) or '-':18} {'the call waits' if call_waited else ''}".rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held", type=float, default=0.15, help="how long something is held before it counts as waiting, in seconds")
    options = parser.parse_args()
    machine = Machine()
    for access in ("off", "on"):
        if access == "on":
            machine.enable_peer_access()
        print(f"peer access {access}", flush=True)
        for name, copy in WITH_STREAM.items():
            for stream_name, stream in (("legacy", LEGACY), ("per-thread", PER_THREAD), ("0b", machine.streams["0b"][1]), ("0n", machine.own)):
                print(row(machine, name, copy, stream_name, stream, options.held), flush=True)
        for name, copy in WITHOUT.items():
            print(row(machine, name, copy, "none", None, options.held), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
