"""A segment of device memory from NCCL's allocator, with nothing in it but what is put there on purpose.

A pool of its own holds one segment, so what ranks put there in the same order lies at the same offsets on all of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Iterator
from typing import Any

from elbowroom.registrations import Unusable

MIB = 1 << 20
LEAST_TOTAL = 8 * MIB  # of a set's buffers; below there is nothing to gain
LEAST_LARGE = 20 * MIB  # the caching allocator gives requests below 10 MiB a part of a shared segment
LARGE_BLOCK = MIB  # blocks up to this size come from segments for small ones
ROUNDING = 2 * MIB
MARGIN = 0.02  # of the device's memory stays free
PEAK_MARGIN = 0.03  # of the device's memory, beside the program's own peak


class Segment:
    def __init__(self, torch: Any, allocator: Any, size: int) -> None:
        """Allocates `size` bytes on the current device and stream. Unusable where that leaves too little for the program."""
        self._torch = torch
        self.registered = False
        self.owner: weakref.ref[Any] | None = None  # who has tensors here; None: others may have some too
        self.lent: list[Any] = []  # weak: storages of tensors that lie here and that the pool does not know
        self.size = -(-max(size, LEAST_LARGE) // ROUNDING) * ROUNDING
        _make_room(torch, self.size)
        self._allocator = allocator
        self._pool = torch.cuda.MemPool(allocator)
        # A pool that is destroyed when the interpreter ends would free its memory after the driver has gone.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._pool))
        try:
            with self.allocating():
                self._whole = torch.empty(self.size, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            raise Unusable(f"out of memory for {self.size} bytes") from None
        self.address = self._whole.data_ptr()
        if [part["address"] for part in self._pool.snapshot()] != [self.address]:
            raise Unusable("the allocator did not make a segment of its own")

    @contextlib.contextmanager
    def allocating(self) -> Iterator[None]:
        """What this thread allocates inside comes from the pool."""
        with self._torch.cuda.use_mem_pool(self._pool):
            yield

    def tensor(self) -> Any:
        """All bytes of it. Whoever keeps this decides himself what lies where."""
        return self._whole

    def open(self) -> None:
        """Gives the bytes to the pool: the next allocations inside `allocating` lie in them one behind the other."""
        self._whole = None

    def first(self, size: int) -> Any:
        """The first bytes, whoever has them."""
        device, size = self._torch.device("cuda", self._torch.cuda.current_device()), min(size, self.size)
        storage = self._torch._C._construct_storage_from_data_pointer(self.address, device, size)
        return self._torch.empty(0, dtype=self._torch.uint8, device=device).set_(storage, 0, (size,))

    def placed(self) -> list[list[int]]:
        """Offset and size of what was allocated here since `open`. Unusable if a block that belongs here lies elsewhere in the pool."""
        here: list[list[int]] = []
        for part in self._pool.snapshot():
            offset = part["address"] - self.address
            for block in part["blocks"]:
                if block["state"].startswith("active"):
                    if part["address"] == self.address:
                        here.append([offset, block["size"]])
                    elif block["size"] > LARGE_BLOCK:
                        raise Unusable(f"a buffer of {block['size']} bytes was placed elsewhere")
                offset += block["size"]
        return here

    def dropped(self) -> bool:
        """Whether its owner has gone, and all tensors with it. PyTorch has some for 0.1 s behind the last collective."""
        if self.owner is None or self.owner() is not None or not all(storage.expired() for storage in self.lent):
            return False
        return not any(block["state"].startswith("active") for part in self._pool.snapshot() for block in part["blocks"])

    def release(self) -> None:
        """Gives the memory back, and waits for the device before. Nothing may be registered or referred to any more."""
        self._torch.cuda.synchronize()  # who reads it last may not have begun, and NCCL's allocator unmaps at once
        self._whole = None
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(self._pool))
        self._pool = None
        self._torch.cuda.empty_cache()


def _make_room(torch: Any, size: int) -> None:
    """A program that fits without these bytes must fit with them."""
    free, total = torch.cuda.mem_get_info()
    if free < size + MARGIN * total:
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
    if free < size + MARGIN * total:
        raise Unusable(f"{free} bytes of {total} are free, {size} and a margin of {MARGIN:.0%} are needed")


def check_peak(torch: Any, more: int) -> None:
    """A program that fitted when it took the most must fit with `more` bytes beside it."""
    free, total = torch.cuda.mem_get_info()
    room = free + torch.cuda.memory_reserved() - torch.cuda.max_memory_reserved()
    if room < more + PEAK_MARGIN * total:
        raise Unusable(f"the program's peak leaves {room} bytes of {total}, {more} and a margin of {PEAK_MARGIN:.0%} are needed")
