#!/usr/bin/env python3
"""Programs whose hosts act only when a kernel has ended, which a gate could make wait for the host: they end as they are, and must end
under `elbowroom run --policy gate` too. Needs one GPU and the driver alone.

usage: scripts/gpu/late_hosts.py [--elbowroom PROGRAM] [--timeout 25]

Each case runs as it is and under the gate. Its kernel named like NCCL's spins until the host stores a flag, as a collective does until its
peers have come; here the host stands for the peers' hosts too. Exit code 1 where a case does not end.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable

from cuda_driver import CudaDriver
from driver_cases import run_cases

NON_BLOCKING, BLOCKING, RELAXED, MAPPED = 1, 0, 2, 2
LONGEST_S = 2.0
COLLECTIVE_BLOCKS, PRODUCT_BLOCKS = 24, 4096
# The first spins for 0.2 ms, so that the gate thinks it worth a wait, and then until the flag is set. The second ends at once.
KERNELS = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry ncclDevKernel_AllReduce_flag(.param .u64 flag) {
  .reg .u64 at, end, now;
  .reg .u32 value;
  .reg .pred again;
  ld.param.u64 at, [flag];
  mov.u64 end, %globaltimer;
  add.u64 end, end, 200000;
early:
  mov.u64 now, %globaltimer;
  setp.lt.u64 again, now, end;
  @again bra early;
late:
  ld.volatile.global.u32 value, [at];
  setp.eq.u32 again, value, 0;
  @again bra late;
  ret;
}
.visible .entry product() { ret; }
"""


class Flag:
    """A word that the host and kernels see."""

    def __init__(self, driver: Driver, value: int) -> None:
        memory = ctypes.c_void_p()
        self.device = ctypes.c_uint64()
        driver("cuMemHostAlloc", ctypes.byref(memory), ctypes.c_size_t(64), MAPPED)
        driver("cuMemHostGetDevicePointer_v2", ctypes.byref(self.device), memory, 0)
        self._words = ctypes.cast(memory, ctypes.POINTER(ctypes.c_uint32))
        self.value = value

    @property
    def value(self) -> int:
        return self._words[0]

    @value.setter
    def value(self, value: int) -> None:
        self._words[0] = value


class Driver(CudaDriver):
    """A context, and what the cases have in common."""

    def __init__(self) -> None:
        super().__init__()
        context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)
        module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), KERNELS)
        self.collective, self.product = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(self.collective), module, b"ncclDevKernel_AllReduce_flag")
        self("cuModuleGetFunction", ctypes.byref(self.product), module, b"product")
        self._arguments: list[object] = []
        self.peers = Flag(self, 1)
        self.host = Flag(self, 0)
        self.communication, self.compute = self.stream(NON_BLOCKING), self.stream(NON_BLOCKING)
        # Both are loaded now: to load one waits for the GPU.
        self.launch(self.product, self.compute, 1)
        self.launch(self.collective, self.communication, 1, self.peers)
        self("cuCtxSynchronize")

    def launch(self, kernel: ctypes.c_void_p, stream: ctypes.c_void_p, blocks: int, flag: Flag | None = None) -> None:
        values = None
        if flag is not None:
            values = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(flag.device), ctypes.c_void_p))
            self._arguments.append(values)
        self("cuLaunchKernel", kernel, blocks, 1, 1, 32, 1, 1, 0, stream, values, None)

    def collect(self, stream: ctypes.c_void_p) -> None:
        self.launch(self.collective, stream, COLLECTIVE_BLOCKS, self.peers)

    def multiply(self, stream: ctypes.c_void_p) -> None:
        self.launch(self.product, stream, PRODUCT_BLOCKS)

    def wait_for_host(self, stream: ctypes.c_void_p) -> None:
        self("cuStreamWaitValue32_v2", stream, self.host.device, 1, 0)

    def ends(self, stream: ctypes.c_void_p) -> bool:
        return polled(lambda: self.library.cuStreamQuery(stream) == 0)

    def let_all_end(self) -> None:
        self.peers.value = self.host.value = 1
        self("cuCtxSynchronize")


def polled(over: Callable[[], bool]) -> bool:
    end = time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        if over():
            return True
        time.sleep(0.001)
    return False


def captured_wait(driver: Driver) -> bool:
    """In one graph: a wait for the host and a collective behind it, and a product beside both, whose end the host awaits."""
    forked, joined, done = driver.event(), driver.event(), Flag(driver, 0)
    driver("cuStreamBeginCapture_v2", driver.communication, RELAXED)
    driver("cuEventRecord", forked, driver.communication)
    driver("cuStreamWaitEvent", driver.compute, forked, 0)
    driver.wait_for_host(driver.communication)
    driver.collect(driver.communication)
    driver.multiply(driver.compute)
    driver("cuStreamWriteValue32_v2", driver.compute, done.device, 1, 0)
    driver("cuEventRecord", joined, driver.compute)
    driver("cuStreamWaitEvent", driver.communication, joined, 0)
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    driver("cuStreamEndCapture", driver.communication, ctypes.byref(graph))
    driver("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
    driver("cuGraphLaunch", executable, driver.communication)
    return polled(lambda: done.value == 1)


def late_peer(driver: Driver) -> bool:
    """Two collectives, whose peers come when the product has ended."""
    for _ in range(60):
        driver.collect(driver.communication)
        driver.multiply(driver.compute)
        time.sleep(0.001)
        driver.multiply(driver.compute)
        driver("cuCtxSynchronize")
    driver.peers.value = 0
    driver.collect(driver.communication)
    time.sleep(0.02)
    driver.collect(driver.communication)
    driver.multiply(driver.compute)
    return driver.ends(driver.compute)


def legacy_query(driver: Driver) -> bool:
    """A poll of the legacy stream between a wait for the host and a launch on another blocking stream, which ends."""
    waiting, other = driver.stream(BLOCKING), driver.stream(BLOCKING)
    driver.wait_for_host(waiting)
    driver.library.cuStreamQuery(None)
    driver.multiply(other)
    if not driver.ends(other):
        return False
    driver.collect(waiting)
    driver.multiply(driver.compute)
    return driver.ends(driver.compute)


CASES = {case.__name__: case for case in (captured_wait, late_peer, legacy_query)}


def run_case(name: str) -> int:
    driver = Driver()
    over = CASES[name](driver)
    driver.let_all_end()
    return 0 if over else 1


if __name__ == "__main__":
    sys.exit(
        run_cases(
            os.path.abspath(__file__), __doc__, CASES, run_case, policy="gate", timeout=25, words=("ended", "did not end")
        )
    )
