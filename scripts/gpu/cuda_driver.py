"""The driver's functions by their own names, for scripts that need nothing else of CUDA."""

from __future__ import annotations

import ctypes

NO_TIMING = 2


class CudaDriver:
    """`driver(NAME, ARGUMENTS...)` calls a function of libcuda. One that fails raises RuntimeError with its name and code."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)

    def __call__(self, name: str, *arguments: object) -> None:
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name}: {result}, expected 0")

    def stream(self, flags: int) -> ctypes.c_void_p:
        """In the current context. `flags`: 0 blocks on the legacy default stream, 1 does not."""
        made = ctypes.c_void_p()
        self("cuStreamCreate", ctypes.byref(made), flags)
        return made

    def event(self) -> ctypes.c_void_p:
        """In the current context, without timing."""
        made = ctypes.c_void_p()
        self("cuEventCreate", ctypes.byref(made), NO_TIMING)
        return made
