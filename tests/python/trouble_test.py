"""scripts/gpu/symmetric_trouble.py and losses.py: that they see what is wrong, and that their programs run on CPUs. Ends with 77 where
there is no PyTorch.
"""

from __future__ import annotations

import sys
import unittest
from argparse import Namespace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "gpu"))
import losses
import stand_ins  # puts the package on the path
import symmetric_trouble

from elbowroom import lifetime


class TroubleTest(unittest.TestCase):
    def rank(self, state: str, reason: str = "", wrong: int = 0, **more: Any) -> dict[str, Any]:
        return {"wrong": wrong, "buffers": [{"state": state, "reason": reason, "in_place": 6, "not_in_place": ""} | more], "refused": []}

    def test_a_case_fails_for_each_thing_that_may_be_wrong(self) -> None:
        judged = symmetric_trouble.judged
        good = self.rank("refused", "rank 1: as if cuMemMap had answered 801")
        self.assertEqual(judged("fails_on_one_rank", [good, good], "cuda"), "")
        self.assertIn("wrong gradients on the ranks: [0, 3]", judged("fails_on_one_rank", [good, good | {"wrong": 3}], "cuda"))
        self.assertIn("ranks differ", judged("fails_on_one_rank", [good, self.rank("registered")], "cuda"))
        self.assertIn("expected ['refused']", judged("fails_on_one_rank", [self.rank("registered")] * 2, "cuda"))
        self.assertIn("no gradient stayed", judged("plain_ddp", [self.rank("registered", in_place=0)] * 2, "cuda"))
        self.assertIn("seen 'off'", judged("plain_ddp", [self.rank("registered", not_in_place="off")] * 2, "cuda"))
        self.assertIn("because of 'a CUDA graph", judged("captured", [self.rank("registered")] * 2, "cuda"))
        self.assertIn("expected the reason", judged("fails_on_one_rank", [self.rank("refused", "rank 0: other")] * 2, "cuda"))

    def test_programs_run_and_their_sums_are_right(self) -> None:
        for case in ("rebuilt", "dropped", "slower_fsdp2", "slower_hsdp"):
            result = symmetric_trouble.launch(case, Namespace(device="cpu", timeout=240))
            self.assertEqual((result["pass"], result["reason"]), (True, ""))
            self.assertEqual(result["ranks"][1]["steps"], 96)


class LossesTest(unittest.TestCase):
    def arms(self, **of_hook: Any) -> dict[str, Any]:
        plain = {kind: {"losses": [3.0, 2.0, 1.0], "digest": "a"} for kind in losses.KINDS}
        other = {kind: {"losses": [3.0, 2.001, 1.0], "digest": "b"} for kind in losses.KINDS}
        buffers = [{"what": "buckets", "state": "registered", "reason": ""}] * len(losses.KINDS)
        return {"plain": plain, "again": plain, "own": other, "hook": other | {"buffers": buffers} | of_hook}

    def found(self, **of_hook: Any) -> list[str]:
        arms = self.arms(**of_hook)
        return losses.failures([losses.compared(kind, arms) for kind in losses.KINDS], arms["hook"]["buffers"], True)

    def test_the_bits_of_the_same_kind_of_memory_are_expected(self) -> None:
        self.assertEqual(self.found(), [])
        self.assertIn("other bits", self.found(ddp={"losses": [3.0, 2.001, 1.0], "digest": "c"})[0])
        self.assertIn("further from plain", self.found(fsdp2={"losses": [3.0, 2.002, 1.0], "digest": "b"})[0])
        self.assertIn("the hook's buffers", self.found(buffers=[])[0])

    def test_differences_are_the_greatest_of_a_curve(self) -> None:
        row = losses.compared("ddp", self.arms())
        self.assertAlmostEqual(row["greatest_difference_from_plain"]["own"], 0.001)
        self.assertEqual(row["hook_has_the_bits_of"], ["own"])

    def test_own_goes_to_symmetric_memory_at_the_step_of_the_hook(self) -> None:
        # DDP's buckets are made anew at the second forward; from the third on boundaries are counted. FSDP2 counts from the third, too.
        steps_before = 2 + lifetime.UNTIMED_BEFORE + lifetime.STEPS
        self.assertEqual(losses.REGISTERED_AFTER, steps_before)


if __name__ == "__main__":
    stand_ins.main_with_torch()
