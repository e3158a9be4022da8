"""The seams in the PyTorch that is here, on CPUs: that they are there, when they act, and that results stay the same to the bit.
Ends with 77 where there is no PyTorch.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE.parents[1] / "examples" / "pytorch" / "launch.py"


def ranks(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-B", str(LAUNCHER), "-n", "2", str(HERE / "torch_ranks.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stderr[-3000:]}")


class DdpTest(unittest.TestCase):
    def test_the_rebuilt_buckets_are_made_inside_and_registered_before_the_third_step(self) -> None:
        plain, placed = ranks("ddp", "plain", "views"), ranks("ddp", "views")
        self.assertEqual(placed["events"][:5], ["step 0", "in", "out", "step 1", "registered"])
        self.assertEqual(placed["events"].count("in"), 1)
        self.assertEqual(placed["buffers"][0]["state"], "registered")
        self.assertEqual(placed["digest"], plain["digest"])

    def test_buckets_that_are_never_rebuilt_are_made_inside_at_once(self) -> None:
        self.assertEqual(ranks("ddp", "unused")["events"][:4], ["in", "out", "registered", "step 0"])

    def test_a_rank_that_cannot_sends_all_back(self) -> None:
        failed, unequal = ranks("ddp", "fails"), ranks("ddp", "unequal")
        self.assertEqual(failed["events"][4:6], ["registered", "deregistered"])
        self.assertEqual(failed["buffers"][0]["reason"], "rank 1: ncclCommWindowRegister: 801")
        self.assertIn("rank 1 has layout", unequal["buffers"][0]["reason"])
        self.assertNotIn("registered", unequal["events"])

    def test_copies_that_compression_hooks_send_get_places_and_results_stay(self) -> None:
        for words in (["bf16"], ["fp16", "views"], ["wrapper", "views"], ["bf16", "unused"]):
            plain, placed = ranks("ddp", "plain", *words), ranks("ddp", *words)
            copies = [entry for entry in placed["buffers"] if entry["what"] == "DDP compressed copies"]
            self.assertEqual([entry["state"] for entry in copies], ["registered"], words)
            # 6 layers of 64 x 64 weights and 64 biases, two bytes each.
            self.assertEqual(copies[0]["bytes"], 6 * (64 * 64 + 64) * 2)
            self.assertEqual(placed["digest"], plain["digest"], words)

    def test_slower_buckets_are_given_back_and_stay_where_they_are(self) -> None:
        plain, placed = ranks("ddp", "plain", "compared"), ranks("ddp", "compared")
        buckets = placed["buffers"][0]
        self.assertEqual((buckets["state"], buckets["compared"]), ("given back", "slower"))
        self.assertEqual((buckets["ordinary_ms"], buckets["symmetric_ms"]), (40.0, 41.0))
        self.assertEqual(placed["events"].count("deregistered"), 1)
        self.assertNotIn("released", placed["events"])
        self.assertEqual(placed["digest"], plain["digest"])

    def test_copies_are_given_back_where_memory_runs_short(self) -> None:
        plain, placed = ranks("ddp", "plain", "bf16", "retries"), ranks("ddp", "bf16", "retries")
        self.assertEqual(placed["buffers"][0]["reason"], "rank 1: the allocator had to retry")
        self.assertEqual(placed["events"].count("released"), 1)
        self.assertEqual(placed["digest"], plain["digest"])

    def test_a_hook_of_the_users_own_stays_as_it_is(self) -> None:
        plain, placed = ranks("ddp", "plain", "own"), ranks("ddp", "own")
        self.assertEqual([entry["what"] for entry in placed["buffers"]], ["DDP buckets"])
        self.assertEqual(placed["digest"], plain["digest"])


class Fsdp2Test(unittest.TestCase):
    def test_buffers_move_at_the_third_step_and_results_stay(self) -> None:
        for words in ([], ["mixed"], ["accumulate"]):
            plain, placed = ranks("fsdp2", "plain", *words), ranks("fsdp2", *words)
            self.assertEqual(placed["buffers"][0]["state"], "registered", words)
            self.assertEqual(placed["digest"], plain["digest"], words)
            self.assertEqual(placed["events"].count("registered"), 1)

    def test_slower_buffers_are_given_back_and_released_once_nothing_lies_there(self) -> None:
        plain, placed = ranks("fsdp2", "plain", "mixed", "compared"), ranks("fsdp2", "mixed", "compared")
        self.assertEqual((placed["buffers"][0]["state"], placed["buffers"][0]["compared"]), ("given back", "slower"))
        self.assertEqual([placed["events"].count(word) for word in ("registered", "deregistered", "released")], [1, 1, 1])
        self.assertEqual(placed["digest"], plain["digest"])

    def test_a_rank_that_cannot_sends_all_back(self) -> None:
        failed = ranks("fsdp2", "fails")
        self.assertEqual(failed["buffers"][0]["reason"], "rank 1: ncclCommWindowRegister: 801")
        self.assertEqual([event for event in failed["events"] if not event.startswith("step")], ["registered", "deregistered", "released"])


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
