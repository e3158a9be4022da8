"""What proves buffers in a PyTorch that no test knows: bits of gathers, and sums but for their rounding. Ends with 77 without PyTorch."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any

import stand_ins

from elbowroom import proof

RANKS = 2
GROUP = SimpleNamespace(rank=lambda: 0, size=lambda: RANKS)


class ProofTest(unittest.TestCase):
    def setUp(self) -> None:
        import torch

        self.torch = torch
        self.change: Any = lambda tensor: None  # what a collective on registered memory does besides
        memory = [torch.zeros(64) for _ in range(3)]
        place = lambda own: SimpleNamespace(fits=lambda size: size <= own.nbytes, hand_out=lambda count, dtype: own[:count])  # noqa: E731
        places = SimpleNamespace(next_gather=lambda: place(memory[0]), scatter_input=place(memory[1]), passing=place(memory[2]))
        self.ours = [tensor.data_ptr() for tensor in memory]
        self.proof = proof.Proof(torch, places, RANKS)

    def on_ours(self, output: Any) -> None:
        if output.data_ptr() in self.ours:
            self.change(output)

    def all_gather(self, output: Any, source: Any, group: Any) -> None:
        output.view(RANKS, -1).copy_(source.expand(RANKS, -1).clone())
        self.on_ours(output)

    def reduce_scatter(self, output: Any, source: Any, group: Any, op: Any) -> None:
        """As if the other rank had the same."""
        output.copy_(source[: output.numel()] * RANKS)
        self.on_ours(output)

    def verdict(self, change: Any) -> str:
        self.change = change
        output, result = self.torch.empty(8), self.torch.empty(4)
        self.all_gather(output, self.torch.rand(4), GROUP)
        self.proof.gather(output, output[:4], GROUP, self.all_gather)
        source = self.torch.tensor([1.0, -3.0, float("nan"), float("inf")] * RANKS)
        self.reduce_scatter(result, source, GROUP, "sum")
        self.proof.scatter(result, source, GROUP, "sum", self.reduce_scatter)
        return self.proof.verdict()

    def test_equal_steps_prove_it(self) -> None:
        self.assertEqual(self.verdict(lambda tensor: None), "")

    def test_one_bit_of_a_gather_does_not(self) -> None:
        one = lambda tensor: tensor.numel() == 8 and tensor[7:].mul_(1 + 2**-23)  # noqa: E731
        self.assertEqual(self.verdict(one), "a gather differs from that on ordinary memory")

    def test_sums_may_differ_by_their_rounding_and_no_more(self) -> None:
        # -6 is the sum of magnitudes 3 + 3: two roundings of 2^-23 of 6 are allowed, which is a relative error of 2^-22.
        near = lambda tensor: tensor.numel() == 4 and tensor[1:2].mul_(1 + 2**-22)  # noqa: E731
        self.assertEqual(self.verdict(near), "")
        far = lambda tensor: tensor.numel() == 4 and tensor[1:2].mul_(1 + 2**-21)  # noqa: E731
        self.assertIn("a sum differs", self.verdict(far))

    def test_what_was_not_compared_proves_nothing(self) -> None:
        self.assertEqual(self.proof.verdict(), "no step could be compared")

    def test_a_sum_in_a_bucket_leaves_the_bucket_as_it_was(self) -> None:
        memory = self.torch.arange(64, dtype=self.torch.float32).view(self.torch.uint8)
        before = memory.clone()

        def all_reduce(tensor: Any, group: Any) -> None:
            tensor.mul_(RANKS)
            if tensor.data_ptr() == memory.data_ptr():
                self.change(tensor)

        torch = SimpleNamespace(**{name: getattr(self.torch, name) for name in ("float32", "arange", "finfo")}, distributed=SimpleNamespace(all_reduce=all_reduce))
        self.assertEqual(proof.sums_differ(torch, GROUP, memory), "")
        self.change = lambda tensor: tensor[3:4].zero_()
        self.assertIn("a sum differs", proof.sums_differ(torch, GROUP, memory))
        self.assertTrue(self.torch.equal(memory, before))


if __name__ == "__main__":
    stand_ins.main_with_torch()
