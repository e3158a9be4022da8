#!/usr/bin/env python3
"""Handlers that end the process in the midst of its first launches, on the real driver: as the program is, and under the gate. A handler
that interrupts the driver may hang the program alone; it must not do so more often under `elbowroom run`. Needs one GPU and the driver alone.

usage: scripts/gpu/handlers.py [--elbowroom PROGRAM] [--runs 100] [--at-once 8] [--latest-us 4000] [--timeout 20]

The handler is exit() itself. It comes at a random moment of loops in which kernels and streams are met for the first time. The two arms
take turns. Each line gives how many runs ended in the handler, and how many did not end. Exit code 1 where a run under the gate did not end
and none of the program alone did.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import ctypes
import os
import random
import signal
import subprocess
import sys

from late_hosts import NON_BLOCKING, Driver

NEW_KERNELS = 200
HANDLED = int(signal.SIGALRM)  # exit() gets the signal's number


def new_kernels(driver: Driver) -> list[ctypes.c_void_p]:
    entries = "".join(f".visible .entry product_{i}() {{ ret; }}\n" for i in range(NEW_KERNELS))
    module = ctypes.c_void_p()
    driver("cuModuleLoadData", ctypes.byref(module), f".version 7.0\n.target sm_70\n.address_size 64\n{entries}".encode())
    kernels = [ctypes.c_void_p() for _ in range(NEW_KERNELS)]
    for i, kernel in enumerate(kernels):
        driver("cuModuleGetFunction", ctypes.byref(kernel), module, f"product_{i}".encode())
    return kernels


def run_program(after_us: int) -> int:
    driver = Driver()
    kernels = new_kernels(driver)
    library = ctypes.CDLL(None)
    library.signal(HANDLED, ctypes.cast(library.exit, ctypes.c_void_p))
    library.ualarm(after_us, 0)
    for kernel in kernels:
        driver.collect(driver.communication)
        driver.launch(kernel, driver.compute, 8)
        driver.launch(kernel, driver.stream(NON_BLOCKING), 8)
    signal.pause()
    return 1


def ending_of(command: list[str], timeout: float) -> str:
    try:
        code = subprocess.run(command, timeout=timeout, check=False, stdout=subprocess.DEVNULL).returncode
    except subprocess.TimeoutExpired:
        return "did not end"
    return "ended in the handler" if code == HANDLED else f"exit code {code}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--runs", type=int, default=100, help="of each arm")
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--latest-us", type=int, default=4000, help="when the latest handler comes, counted from the first launch")
    parser.add_argument("--timeout", type=float, default=20, help="of one run, in seconds")
    parser.add_argument("--after-us", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.after_us is not None:
        return run_program(options.after_us)
    gate = [options.elbowroom, "run", "--no-memory", "--quiet", "--policy", "gate", "--"]
    arms = {"as it is": [], "gate": gate}
    found = {arm: collections.Counter[str]() for arm in arms}

    def run_of(arm: str) -> None:
        after_us = random.randint(1, options.latest_us)
        command = [*arms[arm], sys.executable, "-B", os.path.abspath(__file__), "--after-us", str(after_us)]
        found[arm][ending_of(command, options.timeout)] += 1

    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        list(pool.map(run_of, [arm for _ in range(options.runs) for arm in arms]))
    for arm, endings in found.items():
        print(f"{arm:9} " + ", ".join(f"{count} {ending}" for ending, count in sorted(endings.items())), flush=True)
    hung = {arm: endings["did not end"] for arm, endings in found.items()}
    return 1 if hung["gate"] > 0 and hung["as it is"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
