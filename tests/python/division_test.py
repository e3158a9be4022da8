"""Who divides FSDP2's gradients, and that a copy which divides gives what a copy and a division give. Ends with 77 without PyTorch."""

from __future__ import annotations

import unittest
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import stand_ins

from elbowroom import division, parts


def owner(torch: Any, of_parameters: Any = None, **more: Any) -> Any:
    values = {"_orig_dtype": torch.bfloat16, "_reduce_dtype": None, "mesh_info": SimpleNamespace(), "gradient_divide_factor": None}
    if of_parameters is not None:
        values["fsdp_params"] = of_parameters
        del values["_orig_dtype"]
    return SimpleNamespace(**(values | more))


class DivisionTest(unittest.TestCase):
    def setUp(self) -> None:
        import torch

        self.torch = torch
        self.module = ModuleType(parts.COLLECTIVES)
        self.copied_scaled = 0
        setattr(self.module, parts.COPY_IN, division.Copy(torch, self.plain, lambda torch: self.scaled))
        patch = mock.patch.dict("sys.modules", {parts.COLLECTIVES: self.module})
        patch.start()
        self.addCleanup(patch.stop)

    def plain(self, unsharded_grads: Any, reduce_scatter_input: Any, world_size: int) -> None:
        self.torch._chunk_cat(unsharded_grads, 0, world_size, out=reduce_scatter_input.view(world_size, -1))

    def scaled(self, sources: Any, target: Any, rows: int, scale: float) -> None:
        self.copied_scaled += 1
        self.plain([source * scale for source in sources], target, rows)

    def taken_over(self, ranks: int, **more: Any) -> bool:
        made = owner(self.torch, **more)
        division.take_over(self.torch, made, ranks)
        return isinstance(made.gradient_divide_factor, division.InCopy)

    def test_who_divides(self) -> None:
        self.assertTrue(self.taken_over(2))
        self.assertTrue(self.taken_over(8))
        self.assertFalse(self.taken_over(3))  # thirds are rounded
        self.assertFalse(self.taken_over(2, gradient_divide_factor=4.0))  # the program's own
        self.assertFalse(self.taken_over(2, _orig_dtype=self.torch.float16))
        self.assertFalse(self.taken_over(2, _reduce_dtype=self.torch.float16))
        parameters = [SimpleNamespace(sharded_grad_dtype=self.torch.float32), SimpleNamespace(sharded_grad_dtype=self.torch.bfloat16)]
        self.assertTrue(self.taken_over(2, of_parameters=parameters))  # as PyTorch 2.15 has it
        for unknown in (None, self.torch.float16):  # None: of whatever type gradients come
            self.assertFalse(self.taken_over(2, of_parameters=[*parameters, SimpleNamespace(sharded_grad_dtype=unknown)]))
        self.assertFalse(self.taken_over(2, mesh_info=SimpleNamespace(replicate_process_group="a group")))

    def test_a_process_says_why_its_copies_cannot_divide(self) -> None:
        self.assertEqual(division.problem(), "")

        def fails(torch: Any) -> Any:
            raise OSError("libnvrtc.so.13: not found")

        setattr(self.module, parts.COPY_IN, division.Copy(self.torch, self.plain, fails))
        self.assertEqual(division.problem(), "libnvrtc.so.13: not found")
        setattr(self.module, parts.COPY_IN, self.plain)  # the seam was not found
        self.assertEqual(division.problem(), "this PyTorch copies gradients in another way")

    def test_given_back_only_where_it_was_taken(self) -> None:
        ours, theirs = owner(self.torch, gradient_divide_factor=division.InCopy(1.0)), owner(self.torch, gradient_divide_factor=1.0)
        division.give_back(ours)
        division.give_back(theirs)
        self.assertEqual((ours.gradient_divide_factor, theirs.gradient_divide_factor), (None, 1.0))

    def copied(self, gradients: list[Any], factor: float | None, elements: int) -> Any:
        self.assertEqual(division.problem(), "")
        target = division.due(owner(self.torch, gradient_divide_factor=factor), self.torch.full((elements,), 7.0), 2)
        getattr(self.module, parts.COPY_IN)(gradients, target, 2)
        division.settle(target)
        return target.tolist()

    def test_a_copy_divides_where_it_is_due(self) -> None:
        # Rank 0 gets the first half of each: rows 1, 2 of the matrix, 9 of the vector.
        matrix, vector = self.torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), self.torch.tensor([9.0, 10.0])
        half = [0.5, 1.0, 1.5, 2.0, 4.5, 2.5, 3.0, 3.5, 4.0, 5.0]
        self.assertEqual(self.copied([matrix, vector], division.InCopy(1.0), 10), half)
        self.assertEqual(self.copied([matrix, vector], None, 10), [2 * value for value in half])
        self.assertEqual(self.copied_scaled, 1)

    def test_what_the_kernel_does_not_copy_is_divided_before_the_scatter(self) -> None:
        ours, torch = division.InCopy(1.0), self.torch
        # Three rows for two ranks: two and one, and a row of zeros.
        self.assertEqual(self.copied([torch.tensor([2.0, 4.0, 6.0])], ours, 4), [1.0, 2.0, 3.0, 0.0])
        self.assertEqual(self.copied([torch.tensor([[2.0, 4.0], [6.0, 8.0]]).t()], ours, 4), [1.0, 3.0, 2.0, 4.0])
        self.assertEqual(self.copied_scaled, 0)


if __name__ == "__main__":
    stand_ins.main_with_torch()
