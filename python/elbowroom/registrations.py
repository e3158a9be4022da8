"""NCCL's symmetric memory of one communicator.

PyTorch registers whole pools, also segments that come to them later and on one rank alone. So NCCL is called here by itself.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from elbowroom import multicast, record

OLDEST_NCCL = 22800
SYMMETRIC = 1  # NCCL_WIN_COLL_SYMMETRIC
UNDEFINED = -(1 << 31)  # a field of NCCL's configuration that nobody set
BLOCKS = "16"  # by itself NCCL takes 7, too few beside compute
CHOOSE_BLOCKS = ("NCCL_SYM_CTAS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS")
NOT_CACHED = "NCCL_NO_CACHE"  # names of variables that NCCL 2.29.7 and later read at each use
MULTICAST = "NVLink multicast may be on: NCCL bounds its blocks itself, which was not measured"
AVERAGES_SINCE = 23003  # NCCL whose symmetric scatters have means


class Unusable(Exception):
    """Why nothing can be registered."""


def leave_blocks_open() -> None:
    """Has NCCL read the number of blocks at each use. To be called before the process' first collective.

    NCCL from 2.29 on asks for it at any collective, and would keep what it finds there: nothing, as buffers are placed later.
    """
    names = [name for name in os.environ.get(NOT_CACHED, "").split(",") if name]
    if not {"ALL", "NCCL_SYM_CTAS"} & set(names) and not any(os.environ.get(name) for name in CHOOSE_BLOCKS):
        os.environ[NOT_CACHED] = ",".join([*names, "NCCL_SYM_CTAS"])


def choose_blocks(backend: Any) -> str:
    """Sets the number of blocks of the kernels for symmetric memory, unless somebody chose blocks."""
    config = backend.options.config
    if (config.min_ctas, config.max_ctas) != (UNDEFINED, UNDEFINED):
        return f"{config.min_ctas},{config.max_ctas}"
    if not any(os.environ.get(name) for name in CHOOSE_BLOCKS):
        if multicast.may_be_used(_driver()):
            record.say_of_blocks(MULTICAST)
        else:
            os.environ["NCCL_SYM_CTAS"] = BLOCKS
    return ",".join(os.environ.get(name, "") for name in CHOOSE_BLOCKS)


def _driver() -> Any:
    """None where there is none to ask."""
    try:
        return loaded("libcuda.so.1")
    except Unusable:
        return None


def loaded(name: str) -> ctypes.CDLL:
    """The library that the process has already: a second NCCL would not know the first one's communicators."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        raise Unusable(f"{name} is not loaded as a library of its own") from None


def nccl_version(torch: Any, backend: Any) -> tuple[int, int, int]:
    """Of the NCCL that PyTorch calls, as the backend tells it or, where it tells none, PyTorch's first backend of NCCL."""
    telling = backend if hasattr(type(backend), "get_runtime_nccl_version") else torch.distributed.ProcessGroupNCCL
    return telling.get_runtime_nccl_version()


def number_of(version: tuple[int, int, int]) -> int:
    """As ncclGetVersion writes it."""
    return version[0] * 10_000 + version[1] * 100 + version[2]


def averages(torch: Any, backend: Any) -> bool:
    """Whether NCCL's symmetric scatters have means: then sums of ours, and divisions, gain nothing."""
    return number_of(nccl_version(torch, backend)) >= AVERAGES_SINCE


class Registrations:
    def __init__(self, torch: Any, backend: Any) -> None:
        self._nccl = loaded("libnccl.so.2")
        self._driver = loaded("libcuda.so.1")
        self._declare()
        version = ctypes.c_int()
        self._check("ncclGetVersion", self._nccl.ncclGetVersion(ctypes.byref(version)))
        expected = nccl_version(torch, backend)
        if version.value < OLDEST_NCCL:
            raise Unusable(f"NCCL is {version.value}, expected {OLDEST_NCCL} or later")
        if version.value != number_of(expected):
            raise Unusable(f"libnccl.so.2 is {version.value}, PyTorch uses {expected}")
        if backend.options.config.blocking == 0 or os.environ.get("TORCH_NCCL_USE_COMM_NONBLOCKING", "0") not in ("", "0"):
            raise Unusable("the communicator is not blocking")
        self._communicator = backend._comm_ptr()
        if not self._communicator:
            raise Unusable("the process group has no communicator yet")
        self._registrations: list[ctypes.c_void_p] = []

    def _declare(self) -> None:
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        try:
            register = self._nccl.ncclCommWindowRegister
            register.argtypes = [pointer, pointer, size, ctypes.POINTER(pointer), ctypes.c_int]
            self._nccl.ncclCommWindowDeregister.argtypes = [pointer, pointer]
            self._nccl.ncclGetErrorString.restype = ctypes.c_char_p
            self._nccl.ncclGetLastError.argtypes = [pointer]
            self._nccl.ncclGetLastError.restype = ctypes.c_char_p
            self._driver.cuMemGetAddressRange_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(size), ctypes.c_uint64]
            self._driver.cuMemRetainAllocationHandle.argtypes = [ctypes.POINTER(ctypes.c_uint64), pointer]
            self._driver.cuMemRelease.argtypes = [ctypes.c_uint64]
        except AttributeError as missing:
            raise Unusable(f"{missing}: this NCCL or driver has no symmetric memory") from None

    def mapped_bytes(self, address: int) -> int:
        """Of the allocation at `address`, which NCCL maps as a whole. It must begin there and be one that ranks can share."""
        begin, size, handle = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint64()
        if self._driver.cuMemGetAddressRange_v2(ctypes.byref(begin), ctypes.byref(size), address) != 0 or begin.value != address:
            raise Unusable("the segment is not an allocation of its own")
        code = self._driver.cuMemRetainAllocationHandle(ctypes.byref(handle), address)
        if code != 0:
            raise Unusable(f"NCCL allocates memory that ranks cannot share (cuMemRetainAllocationHandle: {code}); see NCCL_CUMEM_ENABLE")
        self._driver.cuMemRelease(handle)
        return size.value

    def register(self, address: int, size: int) -> None:
        """All ranks together: NCCL waits for all without a limit."""
        handle = ctypes.c_void_p()
        result = self._nccl.ncclCommWindowRegister(self._communicator, address, size, ctypes.byref(handle), SYMMETRIC)
        self._check("ncclCommWindowRegister", result)
        self._registrations.append(handle)

    def deregister(self) -> None:
        """Of this rank alone. No collective may use the memory on any rank until all have done it."""
        while self._registrations:
            self._nccl.ncclCommWindowDeregister(self._communicator, self._registrations.pop())

    def _check(self, call: str, result: int) -> None:
        if result != 0:
            name = (self._nccl.ncclGetErrorString(result) or b"").decode()
            last = (self._nccl.ncclGetLastError(None) or b"").decode()
            raise Unusable(" ".join(f"{call}: {name} {last}".split()))
