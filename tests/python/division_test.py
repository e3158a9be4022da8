"""Who divides FSDP2's gradients, and that a copy which divides gives what a copy and a division give. Ends with 77 without PyTorch."""

from __future__ import annotations

import unittest
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import stand_ins

from elbowroom import division

MIB = 1 << 20


def owner(torch: Any, sizes: list[int], **more: Any) -> Any:
    parameters = [SimpleNamespace(_orig_size=torch.Size([size]), orig_dtype=torch.bfloat16) for size in sizes]
    values = {"fsdp_params": parameters, "_orig_dtype": torch.bfloat16, "_reduce_dtype": None, "mesh_info": SimpleNamespace(), "gradient_divide_factor": None}
    return SimpleNamespace(**(values | more))


class DivisionTest(unittest.TestCase):
    def setUp(self) -> None:
        import torch

        self.torch = torch
        self.module = ModuleType(division.COLLECTIVES)
        setattr(self.module, division.COPY, division.copy_function(torch, self.plain))
        patch = mock.patch.dict("sys.modules", {division.COLLECTIVES: self.module})
        patch.start()
        self.addCleanup(patch.stop)

    def plain(self, unsharded_grads: Any, reduce_scatter_input: Any, world_size: int) -> None:
        self.torch._chunk_cat(unsharded_grads, 0, world_size, out=reduce_scatter_input.view(world_size, -1))

    def taken_over(self, ranks: int, sizes: list[int], **more: Any) -> bool:
        made = owner(self.torch, sizes, **more)
        division.take_over(self.torch, made, ranks)
        return isinstance(made.gradient_divide_factor, division.InCopy)

    def test_who_divides(self) -> None:
        large = [16 * MIB, 128]  # two bytes an element: 32 MiB in two parameters are 16 MiB each, and a little
        self.assertTrue(self.taken_over(2, large))
        self.assertTrue(self.taken_over(8, large))
        self.assertFalse(self.taken_over(3, large))  # thirds are rounded
        self.assertFalse(self.taken_over(2, [16 * MIB, 64, 64]))  # 10.7 MiB each
        self.assertFalse(self.taken_over(2, []))
        self.assertFalse(self.taken_over(2, large, gradient_divide_factor=4.0))  # the program's own
        self.assertFalse(self.taken_over(2, large, _reduce_dtype=self.torch.float16))
        self.assertFalse(self.taken_over(2, large, mesh_info=SimpleNamespace(replicate_process_group="a group")))
        setattr(self.module, division.COPY, self.plain)  # the seam was not found
        self.assertFalse(self.taken_over(2, large))

    def test_given_back_only_where_it_was_taken(self) -> None:
        ours, theirs = owner(self.torch, [], gradient_divide_factor=division.InCopy(1.0)), owner(self.torch, [], gradient_divide_factor=1.0)
        division.give_back(ours)
        division.give_back(theirs)
        self.assertEqual((ours.gradient_divide_factor, theirs.gradient_divide_factor), (None, 1.0))

    def copied(self, gradients: list[Any], factor: float | None, elements: int, dtype: Any) -> Any:
        made = owner(self.torch, [], gradient_divide_factor=factor)
        target = division.due(made, self.torch.full((elements,), 7.0, dtype=dtype), 2)
        getattr(self.module, division.COPY)(gradients, target, 2)
        division.settle(target)
        return target

    def test_a_copy_that_divides_is_a_copy_and_a_division(self) -> None:
        torch = self.torch
        # Rank 0 gets the first half of each: rows 1, 2 of the matrix, 9 of the vector. Halves of them.
        matrix, vector = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), torch.tensor([9.0, 10.0])
        expected = [0.5, 1.0, 1.5, 2.0, 4.5, 2.5, 3.0, 3.5, 4.0, 5.0]
        ours = division.InCopy(1.0)
        self.assertEqual(self.copied([matrix, vector], ours, 10, torch.float32).tolist(), expected)
        self.assertEqual(self.copied([matrix.bfloat16(), vector.bfloat16()], ours, 10, torch.float32).tolist(), expected)
        self.assertEqual(self.copied([matrix, vector], None, 10, torch.float32).tolist(), [2 * value for value in expected])

    def test_what_the_copy_cannot_divide_is_divided_before_the_scatter(self) -> None:
        torch = self.torch
        # Three rows for two ranks: two and one, and a row of zeros.
        uneven = self.copied([torch.tensor([2.0, 4.0, 6.0])], division.InCopy(1.0), 4, torch.float32)
        self.assertEqual(uneven.tolist(), [1.0, 2.0, 3.0, 0.0])
        transposed = torch.tensor([[2.0, 4.0], [6.0, 8.0]]).t()
        self.assertEqual(self.copied([transposed], division.InCopy(1.0), 4, torch.float32).tolist(), [1.0, 3.0, 2.0, 4.0])


if __name__ == "__main__":
    stand_ins.main_with_torch()
