"""scripts/gpu/symmetric_trouble.py: that it sees what is wrong, and that its programs run, on CPUs. Ends with 77 where there is no PyTorch."""

from __future__ import annotations

import sys
import unittest
from argparse import Namespace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "gpu"))
import symmetric_trouble


class TroubleTest(unittest.TestCase):
    def rank(self, state: str, reason: str = "", wrong: int = 0) -> dict[str, Any]:
        return {"wrong": wrong, "buffers": [{"state": state, "reason": reason}], "refused": []}

    def test_a_case_fails_for_each_thing_that_may_be_wrong(self) -> None:
        judged = symmetric_trouble.judged
        good = self.rank("refused", "rank 1: as if cuMemMap had answered 801")
        self.assertEqual(judged("fails_on_one_rank", [good, good], "cuda"), "")
        self.assertIn("wrong gradients on the ranks: [0, 3]", judged("fails_on_one_rank", [good, good | {"wrong": 3}], "cuda"))
        self.assertIn("ranks differ", judged("fails_on_one_rank", [good, self.rank("registered")], "cuda"))
        self.assertIn("expected ['refused']", judged("fails_on_one_rank", [self.rank("registered")] * 2, "cuda"))
        self.assertIn("expected the reason", judged("fails_on_one_rank", [self.rank("refused", "rank 0: other")] * 2, "cuda"))

    def test_programs_run_and_their_sums_are_right(self) -> None:
        for case in ("rebuilt", "slower_fsdp2"):
            result = symmetric_trouble.launch(case, Namespace(device="cpu", timeout=240))
            self.assertEqual((result["pass"], result["reason"]), (True, ""))
            self.assertEqual(result["ranks"][1]["steps"], 96)


if __name__ == "__main__":
    try:
        import torch
    except ImportError as error:
        print(f"skipped: torch cannot be imported ({error})", file=sys.stderr)
        sys.exit(77)
    if not torch.distributed.is_available():
        print("skipped: this PyTorch has no torch.distributed", file=sys.stderr)
        sys.exit(77)
    unittest.main()
