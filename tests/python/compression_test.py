"""Which hooks of DDP get places for what they send; PyTorch is a stand-in. torch_seams_test.py has PyTorch's own hooks and their results."""

from __future__ import annotations

import sys
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import Group, Store, fake_torch

from elbowroom import compression, lifetime, record



class Type:
    def __init__(self, itemsize: int) -> None:
        self.itemsize = itemsize


BF16, FP16, FP32 = Type(2), Type(2), Type(4)
COUNT = 8 << 20


def allreduce_hook(state: Any, bucket: Any) -> None: ...


def bf16_compress_hook(state: Any, bucket: Any) -> None: ...


def powersgd_hook(state: Any, bucket: Any) -> None: ...


def bf16_compress_wrapper(hook: Any) -> Any:
    def bf16_compress_wrapper_hook(state: Any, bucket: Any) -> Any:
        return hook(state, bucket)

    return bf16_compress_wrapper_hook


class Buffer:
    def __init__(self, dtype: Any, place: Any = None) -> None:
        self.dtype, self.place, self.nbytes = dtype, place, COUNT * dtype.itemsize

    def numel(self) -> int:
        return COUNT

    def to(self, dtype: Any) -> "Buffer":
        return Buffer(dtype)


class Place:
    def __init__(self, torch: Any, whole: Any, offset: int, size: int) -> None:
        self.offset, self.size = offset, size

    def fits(self, size: int) -> bool:
        return size <= self.size

    def hand_out(self, count: int, dtype: Any) -> Any:
        return SimpleNamespace(copy_=lambda buffer: Buffer(dtype, self))


class CompressionTest(unittest.TestCase):
    def setUp(self) -> None:
        self.torch = fake_torch()
        self.torch.bfloat16, self.torch.float16 = BF16, FP16
        self.torch._C._construct_storage_from_data_pointer = True
        self.group = Group(0, 2, Store())
        self.torch.distributed.group = SimpleNamespace(WORLD=self.group)
        self.segments: list[Any] = []
        self.registers = True
        hooks = SimpleNamespace(
            allreduce_hook=allreduce_hook, bf16_compress_hook=bf16_compress_hook, bf16_compress_wrapper=bf16_compress_wrapper
        )

        def segment(torch: Any, allocator: Any, size: int) -> Any:
            made = SimpleNamespace(size=size, tensor=lambda: "whole", released=False)
            made.release = lambda: setattr(made, "released", True)
            self.segments.append(made)
            return made

        placed = SimpleNamespace(
            allocator=lambda: "NCCL's",
            place=lambda entry, segment, layout, problem, boundary: SimpleNamespace(board=None) if self.registers and not problem else None,
        )
        for patch in (
            mock.patch.dict(sys.modules, {compression.HOOKS: hooks}),
            mock.patch.object(compression, "Segment", segment),
            mock.patch.object(compression, "Place", Place),
            mock.patch.object(compression.placement, "of_group", lambda torch, group: placed),
            mock.patch.object(record, "write", lambda: None),
            mock.patch.multiple(lifetime, STEPS=0, UNTIMED_BEFORE=0),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def reducer(self, dtype: Any = FP32, on_gpus: bool = True) -> Any:
        return SimpleNamespace(group=self.group, copies=None, on_gpus=lambda: on_gpus, dtypes=lambda: {dtype})

    def placed(self, hook: Any, state: Any = None, **reducer: Any) -> bool:
        made = self.reducer(**reducer)
        given = compression.placed_hook(self.torch, made, state, hook)
        self.assertEqual(given is hook, made.copies is None)
        return made.copies is not None

    def test_hooks_of_pytorch_that_send_a_copy_have_places(self) -> None:
        self.assertTrue(self.placed(bf16_compress_hook))
        self.assertTrue(self.placed(bf16_compress_hook, state=self.group))
        self.assertTrue(self.placed(bf16_compress_wrapper(allreduce_hook)))

    def test_others_stay_as_they_are(self) -> None:
        self.assertFalse(self.placed(lambda state, bucket: None))
        self.assertFalse(self.placed(allreduce_hook))
        self.assertFalse(self.placed(bf16_compress_wrapper(powersgd_hook)))  # what this sends is made by the inner hook

    def test_so_do_other_groups_cpus_and_gradients_that_have_the_type_already(self) -> None:
        self.assertFalse(self.placed(bf16_compress_hook, state=Group(0, 2, Store(), "another")))
        self.assertFalse(self.placed(bf16_compress_hook, on_gpus=False))
        self.assertFalse(self.placed(bf16_compress_hook, dtype=BF16))

    def copies(self) -> compression.Copies:
        return compression.Copies(self.torch, self.group)

    def step(self, copies: compression.Copies, buckets: tuple[int, ...] = (0, 1)) -> list[Any]:
        copies.step_begins(True)
        return [copies.of(SimpleNamespace(index=lambda index=index: index, buffer=lambda: Buffer(FP32)), BF16).place for index in buckets]

    def test_each_bucket_has_its_place_after_two_steps_that_sent_the_same(self) -> None:
        copies = self.copies()
        self.assertEqual([self.step(copies, (0,)), self.step(copies), self.step(copies)], [[None], [None] * 2, [None] * 2])
        self.step(copies)  # at its beginning they are known to be settled
        first, second = self.step(copies)
        self.assertEqual((first.offset, second.offset), (0, 16 << 20))
        self.assertEqual(self.step(copies), [first, second])
        # Two copies of 16 MiB; one of them at least was there at a time.
        self.assertEqual((copies.entry.bytes, copies.entry.extra_bytes), (32 << 20, 16 << 20))

    def test_a_refusal_frees_the_segment(self) -> None:
        self.registers = False
        copies = self.copies()
        for _ in range(6):
            handed = self.step(copies)
        self.assertEqual((handed, self.segments[0].released), ([None, None], True))

    def test_what_is_given_back_is_freed_at_once(self) -> None:
        copies = self.copies()
        for _ in range(6):
            self.step(copies)
        copies._end()
        self.assertEqual((self.step(copies), self.segments[0].released), ([None, None], True))


if __name__ == "__main__":
    unittest.main()
