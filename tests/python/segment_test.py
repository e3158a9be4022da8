"""A segment has nothing in it but what belongs there, and never takes what the program needs; PyTorch's allocator is a stand-in."""

from __future__ import annotations

import contextlib
import unittest
import weakref
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import fake_torch

from elbowroom import segment

GIB = 1 << 30
BASE = 1 << 40


class Pool:
    def __init__(self, allocator: Any) -> None:
        self.parts: list[dict[str, Any]] = []

    def snapshot(self) -> list[dict[str, Any]]:
        return self.parts


class SegmentTest(unittest.TestCase):
    def setUp(self) -> None:
        self.torch = fake_torch()
        self.free, self.freed_by_cache, self.fails = 70 * GIB, 0, False
        cuda = self.torch.cuda
        cuda.MemPool, cuda.mem_get_info = Pool, lambda: (self.free, 80 * GIB)
        cuda.use_mem_pool = self.using
        cuda.empty_cache = self.empty_cache
        self.torch.OutOfMemoryError = MemoryError
        self.torch.uint8 = "uint8"
        self.torch.empty = self.empty

    @contextlib.contextmanager
    def using(self, pool: Pool) -> Any:
        self.pool = pool
        yield

    def empty_cache(self) -> None:
        self.free, self.freed_by_cache = self.free + self.freed_by_cache, 0

    def empty(self, size: int, dtype: Any, device: str) -> Any:
        if self.fails:
            raise MemoryError
        self.pool.parts.append({"address": BASE, "blocks": [{"state": "active_allocated", "size": size}]})
        return SimpleNamespace(data_ptr=lambda: BASE)

    def segment(self, size: int = GIB) -> segment.Segment:
        return segment.Segment(self.torch, "NCCL's", size)

    def put(self, address: int, *blocks: tuple[str, int]) -> None:
        """What the pool holds at `address` from now on."""
        parts = {part["address"]: part for part in self.pool.parts}
        parts[address] = {"address": address, "blocks": [{"state": state, "size": size} for state, size in blocks]}
        self.pool.parts = list(parts.values())

    def test_memory_goes_once_the_device_has_read_it(self) -> None:
        made = self.segment()
        with mock.patch.object(segment.ctypes.pythonapi, "Py_DecRef", lambda pool: self.torch.events.append("pool gone")):
            made.release()
        self.assertEqual(self.torch.events, ["device synchronized", "pool gone"])

    def test_a_device_that_is_99_percent_full_is_left_alone(self) -> None:
        self.free = 8 * GIB // 10  # of 80
        with self.assertRaisesRegex(segment.Unusable, "858993459 bytes of 85899345920 are free, 104857600 and a margin of 2% are needed"):
            self.segment(100 << 20)

    def test_what_the_cache_holds_counts_as_free_once_it_is_asked_for(self) -> None:
        self.free, self.freed_by_cache = GIB, 4 * GIB
        self.assertEqual(self.segment().size, GIB)

    def test_an_allocation_that_fails_all_the_same_is_a_reason(self) -> None:
        self.fails = True
        with self.assertRaisesRegex(segment.Unusable, "out of memory for 1073741824 bytes"):
            self.segment()

    def test_what_lies_in_it_has_offsets(self) -> None:
        made = self.segment()
        made.open()
        self.put(BASE, ("active_allocated", 25 << 20), ("active_allocated", 4 << 20), ("inactive", 995 << 20))
        self.assertEqual(made.placed(), [[0, 25 << 20], [25 << 20, 4 << 20]])

    def test_something_else_that_a_rank_put_there_shows_in_the_layout(self) -> None:
        made = self.segment()
        made.open()
        self.put(BASE, ("active_allocated", 512), ("active_allocated", 25 << 20))
        self.assertEqual(made.placed(), [[0, 512], [512, 25 << 20]])

    def test_a_buffer_beside_it_is_refused_and_a_small_one_is_not(self) -> None:
        made = self.segment()
        self.put(BASE + 4 * GIB, ("active_allocated", 512))
        self.assertEqual(made.placed(), [[0, GIB]])
        self.put(BASE + 4 * GIB, ("active_allocated", 25 << 20))
        with self.assertRaisesRegex(segment.Unusable, "26214400 bytes was placed elsewhere"):
            made.placed()

    def test_a_part_of_anothers_segment_is_refused(self) -> None:
        plain = self.empty

        def beside(size: int, dtype: Any, device: str) -> Any:
            whole = plain(size, dtype, device)
            self.put(BASE - GIB, ("active_allocated", GIB))
            return whole

        self.torch.empty = beside
        with self.assertRaisesRegex(segment.Unusable, "did not make a segment of its own"):
            self.segment()

    def test_it_is_dropped_once_its_owner_and_all_tensors_have_gone(self) -> None:
        made, owner = self.segment(), Pool(None)
        self.put(BASE, ("inactive", GIB))
        self.assertFalse(made.dropped(), "nobody owns it")
        made.owner = weakref.ref(owner)
        self.assertFalse(made.dropped(), "the owner is there")
        del owner
        self.assertTrue(made.dropped())
        made.lent = [SimpleNamespace(expired=lambda: True), SimpleNamespace(expired=lambda: False)]
        self.assertFalse(made.dropped(), "the program has a gradient that lies here")
        made.lent.pop()
        self.put(BASE, ("inactive", GIB - 512), ("active_pending_free", 512))
        self.assertFalse(made.dropped(), "a stream may still read it")

    def test_the_programs_peak_must_fit_beside_it(self) -> None:
        # 70 GiB are free now; at the peak 4 GiB were reserved, so 66 are left then. 3 % of 80 GiB are 2.4.
        self.torch.cuda.memory_reserved, self.torch.cuda.max_memory_reserved = lambda: 0, lambda: 4 * GIB
        segment.check_peak(self.torch, 63 * GIB)
        with self.assertRaisesRegex(segment.Unusable, "the program's peak leaves"):
            segment.check_peak(self.torch, 64 * GIB)


if __name__ == "__main__":
    unittest.main()
