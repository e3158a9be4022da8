#!/usr/bin/env python3
"""Kernels that need several SMs at once, launched before a collective whose peers come only when they have ended: each ends as the program
is, and must end where the collective goes first. Needs one Hopper GPU or a later one, and the driver alone.

usage: scripts/gpu/needed_sms.py [--elbowroom PROGRAM] [--timeout 60]

All SMs are held for 50 ms, while the kernel and then the collective are launched on other streams. Their blocks take a whole SM each. The
host stands for the peers. As expected is that the kernel ends before they come, as the program is and under `--policy priority`, and of the
last case that a cooperative kernel begins with all its blocks or none, and nothing launched behind it begins before. Exit code 1 where one
is not as expected.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable

from cuda_driver import CudaDriver
from driver_cases import run_cases

NON_BLOCKING, MAPPED, MAX_DYNAMIC_SHARED, SM_COUNT = 1, 2, 8, 16
SHARED_BYTES = 200 * 1024
HELD_NS, LONGEST_S = 50_000_000, 3.0
HOLDS = """{
  .reg .u64 end, now;
  .reg .pred again;
  ld.param.u64 end, [nanoseconds];
  mov.u64 now, %globaltimer;
  add.u64 end, end, now;
wait:
  mov.u64 now, %globaltimer;
  setp.lt.u64 again, now, end;
  @again bra wait;
  ret;
}
"""
KERNELS = f"""
.version 7.8
.target sm_90
.address_size 64
.visible .entry ncclDevKernel_AllReduce_flag(.param .u64 flag) {{
  .reg .u64 at;
  .reg .u32 value;
  .reg .pred again;
  ld.param.u64 at, [flag];
wait:
  ld.volatile.global.u32 value, [at];
  setp.eq.u32 again, value, 0;
  @again bra wait;
  ret;
}}
.visible .entry hold(.param .u64 nanoseconds)
{HOLDS}.visible .entry clusters(.param .u64 nanoseconds) .explicitcluster .reqnctapercluster 8, 1, 1
{HOLDS}.visible .entry grid_barrier(.param .u64 counter) {{
  .reg .u64 at;
  .reg .u32 value, blocks;
  .reg .pred again;
  ld.param.u64 at, [counter];
  mov.u32 blocks, %nctaid.x;
  atom.global.add.u32 value, [at], 1;
wait:
  ld.volatile.global.u32 value, [at];
  setp.lt.u32 again, value, blocks;
  @again bra wait;
  ret;
}}
""".encode()


class Program:
    """A stream each for what holds the SMs, for the kernel and for the collective. Every kernel is loaded."""

    def __init__(self) -> None:
        self.driver = CudaDriver()
        context, module = ctypes.c_void_p(), ctypes.c_void_p()
        self.driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.driver("cuCtxSetCurrent", context)
        self.driver("cuModuleLoadData", ctypes.byref(module), KERNELS)
        self.module = module
        count = ctypes.c_int()
        self.driver("cuDeviceGetAttribute", ctypes.byref(count), SM_COUNT, 0)
        self.sms = count.value
        self.collective = self.kernel(b"ncclDevKernel_AllReduce_flag")
        self.hold, self.clusters, self.grid_barrier = self.kernel(b"hold"), self.kernel(b"clusters"), self.kernel(b"grid_barrier")
        self.holding, self.compute, self.communication = (self.driver.stream(NON_BLOCKING) for _ in range(3))
        self._arguments: list[object] = []
        self.peers, self.peers_at = self.word()
        self.counter, self.counter_at = self.word()
        self.ended, self.ended_at = self.word()
        self.ended[0] = 1  # a collective whose peers are there
        self.peers[0] = 1
        self.launch(self.collective, self.communication, 1, self.peers_at)
        self.launch(self.hold, self.holding, 1, 1000)
        self.launch(self.clusters, self.holding, 8, 1000)
        self.launch_cooperative(1)
        self.driver("cuCtxSynchronize")
        self.peers[0] = self.counter[0] = 0

    def kernel(self, name: bytes) -> ctypes.c_void_p:
        made = ctypes.c_void_p()
        self.driver("cuModuleGetFunction", ctypes.byref(made), self.module, name)
        self.driver("cuFuncSetAttribute", made, MAX_DYNAMIC_SHARED, SHARED_BYTES)
        return made

    def word(self) -> tuple[ctypes._Pointer[ctypes.c_uint32], int]:
        memory, device = ctypes.c_void_p(), ctypes.c_uint64()
        self.driver("cuMemHostAlloc", ctypes.byref(memory), ctypes.c_size_t(64), MAPPED)
        self.driver("cuMemHostGetDevicePointer_v2", ctypes.byref(device), memory, 0)
        return ctypes.cast(memory, ctypes.POINTER(ctypes.c_uint32)), device.value

    def values(self, value: int) -> ctypes.Array[ctypes.c_void_p]:
        argument = ctypes.c_uint64(value)
        made = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(argument), ctypes.c_void_p))
        self._arguments.append((argument, made))
        return made

    def launch(self, kernel: ctypes.c_void_p, stream: ctypes.c_void_p, blocks: int, value: int) -> None:
        self.driver("cuLaunchKernel", kernel, blocks, 1, 1, 32, 1, 1, SHARED_BYTES, stream, self.values(value), None)

    def launch_cooperative(self, blocks: int) -> None:
        self.driver("cuLaunchCooperativeKernel", self.grid_barrier, blocks, 1, 1, 32, 1, 1, SHARED_BYTES, self.compute,
                    self.values(self.counter_at))

    def collect(self, blocks: int) -> None:
        self.launch(self.collective, self.communication, blocks, self.peers_at)

    def ends(self) -> bool:
        end = time.monotonic() + LONGEST_S
        while time.monotonic() < end:
            if self.driver.library.cuStreamQuery(self.compute) == 0:
                return True
            time.sleep(0.001)
        return False


def behind_held_sms(program: Program, launch: Callable[[], None], collective_blocks: int) -> bool:
    """Whether what is launched first ends, although the peers of the collective behind it have not come."""
    program.launch(program.hold, program.holding, program.sms, HELD_NS)
    time.sleep(0.005)
    launch()
    program.collect(collective_blocks)
    return program.ends()


def ordinary(program: Program) -> bool:
    """A kernel of three waves, and a collective that leaves seven SMs."""
    return behind_held_sms(program, lambda: program.launch(program.hold, program.compute, 3 * program.sms, 1_000_000), program.sms - 7)


def clusters(program: Program) -> bool:
    """The same with clusters of eight."""
    return behind_held_sms(program, lambda: program.launch(program.clusters, program.compute, 8 * program.sms, 5_000_000), program.sms - 7)


def cooperative(program: Program) -> bool:
    """A cooperative kernel of all SMs, and a collective of 24 blocks."""
    return behind_held_sms(program, lambda: program.launch_cooperative(program.sms), 24)


def cooperative_large(program: Program) -> bool:
    """The same, and a collective that leaves seven SMs."""
    return behind_held_sms(program, lambda: program.launch_cooperative(program.sms), program.sms - 7)


def cooperative_begins(program: Program) -> bool:
    """No block of a cooperative kernel of all SMs begins beside a collective that is there, nor does a collective behind it."""
    program.collect(24)
    time.sleep(0.02)
    program.launch_cooperative(program.sms)
    time.sleep(0.1)
    behind = program.driver.stream(NON_BLOCKING)
    program.launch(program.collective, behind, 24, program.ended_at)
    time.sleep(0.1)
    return program.counter[0] == 0 and program.driver.library.cuStreamQuery(behind) != 0


CASES = {case.__name__: case for case in (ordinary, clusters, cooperative, cooperative_large, cooperative_begins)}


def run_case(name: str) -> int:
    program = Program()
    as_expected = CASES[name](program)
    program.peers[0] = 1
    program.driver("cuCtxSynchronize")
    return 0 if as_expected else 1


if __name__ == "__main__":
    sys.exit(
        run_cases(
            os.path.abspath(__file__), __doc__, CASES, run_case, policy="priority", timeout=60, words=("as expected", "not as expected")
        )
    )
