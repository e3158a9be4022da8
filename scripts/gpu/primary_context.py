#!/usr/bin/env python3
"""Whether a primary context that is made anew has the handle of the one before, and another id (cuCtxGetId). Needs one GPU and CUDA 12.

usage: scripts/gpu/primary_context.py [--times 5]
"""

from __future__ import annotations

import argparse
import ctypes
import sys

from cuda_driver import CudaDriver


def made_and_ended(driver: CudaDriver) -> tuple[int, int]:
    """Handle and id of a primary context, which ends with its only reference."""
    context, identity = ctypes.c_void_p(), ctypes.c_ulonglong()
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    driver("cuCtxGetId", context, ctypes.byref(identity))
    driver("cuDevicePrimaryCtxRelease_v2", 0)
    return context.value or 0, identity.value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="how often it is made")
    options = parser.parse_args()
    driver = CudaDriver()
    made = [made_and_ended(driver) for _ in range(options.times)]
    print(f"made {len(made)} times: {len({handle for handle, _ in made})} handles, {len({identity for _, identity in made})} ids")
    return 0


if __name__ == "__main__":
    sys.exit(main())
