#!/usr/bin/env python3
"""`elbowroom plan FILE` against the driver: registers, static shared memory and blocks per SM of kernels in cubins of a library.

usage: scripts/gpu/kernels_by_file.py --elbowroom PROGRAM --cuobjdump CUOBJDUMP --device NAME [--most 60] LIBRARY...

Needs one GPU, its driver and cuobjdump. Of each library the cubins of the device's architecture are extracted; the driver loads them and is
asked by cuFuncGetAttribute and cuOccupancyMaxActiveBlocksPerMultiprocessor. Exit code 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from cuda_driver import CudaDriver

SHARED_SIZE_BYTES, NUM_REGS = 1, 4
THREADS = 256


def planned(arguments: argparse.Namespace, cubin: pathlib.Path) -> list[dict]:
    command = [arguments.elbowroom, "plan", cubin, "--device", arguments.device, "--threads", THREADS, "--json"]
    environment = dict(os.environ, ELBOWROOM_CUOBJDUMP=str(arguments.cuobjdump))
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=False)
    return json.loads(done.stdout)["kernels"] if done.returncode == 0 else []


def answers(driver: CudaDriver, module: ctypes.c_void_p, name: str) -> dict | None:
    """The driver's; None for a function of the device that is no kernel."""
    function, value = ctypes.c_void_p(), ctypes.c_int()
    if driver.library.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) != 0:
        return None
    found = {}
    for key, attribute in (("registers", NUM_REGS), ("static_shared", SHARED_SIZE_BYTES)):
        driver("cuFuncGetAttribute", ctypes.byref(value), attribute, function)
        found[key] = value.value
    driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(value), function, THREADS, ctypes.c_size_t(0))
    found["blocks_per_sm"] = value.value
    return found


def compare(driver: CudaDriver, kernel: dict, there: dict) -> bool:
    blocks = 0 if "refused" in kernel else kernel["residencies"][0]["blocks_per_sm"]
    stated = {"registers": kernel["registers"], "static_shared": kernel["static_shared"], "blocks_per_sm": blocks}
    if stated != there:
        print(f"{kernel['name']}: plan says {stated}, the driver {there}")
    return stated == there


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elbowroom", type=pathlib.Path, required=True)
    parser.add_argument("--cuobjdump", type=pathlib.Path, required=True)
    parser.add_argument("--device", required=True)
    parser.add_argument("--most", type=int, default=60, help="kernels of each library")
    parser.add_argument("libraries", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    driver = CudaDriver()
    context = ctypes.c_void_p()
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    driver("cuCtxSetCurrent", context)
    equal = different = 0
    for library in arguments.libraries:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([arguments.cuobjdump, "-xelf", "sm_90", library.resolve()], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            left = arguments.most
            for cubin in sorted(pathlib.Path(folder).iterdir(), key=lambda path: path.stat().st_size):
                module = ctypes.c_void_p()
                if left <= 0 or driver.library.cuModuleLoad(ctypes.byref(module), str(cubin).encode()) != 0:
                    continue
                for kernel in planned(arguments, cubin)[:left]:
                    there = answers(driver, module, kernel["name"])
                    if there is None:
                        continue
                    left -= 1
                    same = compare(driver, kernel, there)
                    equal, different = equal + same, different + (not same)
    print(f"{equal} kernels as the driver has them, {different} not")
    return 0 if different == 0 and equal > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
