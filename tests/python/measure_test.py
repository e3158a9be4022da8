"""`elbowroom measure` without a launch: which steps count, what a pair says, when pairs end."""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from elbowroom import launched, measure  # noqa: E402


class StepsTest(unittest.TestCase):
    def test_the_later_half_counts(self) -> None:
        self.assertEqual(measure.counted([9.0, 8.0, 7.0, 6.0, 5.0], None), [7.0, 6.0, 5.0])
        self.assertEqual(measure.counted([9.0, 8.0], 0), [9.0, 8.0])
        self.assertEqual(measure.counted([9.0, 8.0], 2), [])

    def test_units(self) -> None:
        self.assertEqual(launched.steps_in("t 0.25 s\nt 0.5 s\n", r"t (?P<s>[\d.]+) s"), [250.0, 500.0])
        # 4,000 a second: 0.25 ms each.
        self.assertEqual(launched.steps_in("4,000/s", r"(?P<per_second>[\d,]+)/s"), [0.25])
        with self.assertRaisesRegex(ValueError, "no number"):
            launched.steps_in("t x", r"t (?P<ms>\w+)")
        for text in ("(", r"(\d+)", r"(?P<ms>\d)(?P<s>\d)", r"(?P<hours>\d)"):
            with self.assertRaises(ValueError, msg=text):
                launched.check_expression(text)

    def test_steps_that_run_saw(self) -> None:
        # The longer stretch: 3 s of 60 repetitions are 50 ms each.
        processes = [
            {"steps": {"repetitions": 10, "begin_us": 0.0, "end_us": 1e6}},
            {"steps": {"repetitions": 60, "begin_us": 5e5, "end_us": 3.5e6}},
            {"steps": None},
        ]
        self.assertEqual(measure.seen_step_ms({"processes": processes}), 50.0)
        self.assertIsNone(measure.seen_step_ms({"processes": processes[2:]}))


class LaunchTest(unittest.TestCase):
    def test_a_rank_in_a_session_of_its_own_is_gone_after_the_time_limit(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = ["bash", "-c", "setsid sleep 60 & echo $!; wait"]
            output, _, _, stopped = launched.contained(command, os.environ, 1, Path(folder))
            self.assertIn("took longer", stopped)
            line = Path(f"/proc/{int(output)}/cmdline")  # empty where init has not taken its exit code yet
            end = time.monotonic() + 10
            while line.exists() and line.read_bytes() and time.monotonic() < end:
                time.sleep(0.01)
            self.assertLess(time.monotonic(), end)


class PairsTest(unittest.TestCase):
    def pairs(self, most: int, run_ms: list[float]) -> tuple[list[measure.Pair], list[str]]:
        launches: list[str] = []
        times = iter(run_ms)

        def step_ms(arm: str) -> float:
            launches.append(arm)
            return 100.0 if arm == measure.PLAIN else next(times)

        return measure.pairs_of(most, step_ms, lambda number, pair: None), launches

    def test_the_arms_take_turns_until_a_look_decides(self) -> None:
        pairs, launches = self.pairs(12, [90.0] * 12)
        self.assertEqual(launches, ["plain", "run", "run", "plain", "plain", "run"])
        self.assertEqual(len(pairs), 3)
        self.assertEqual(measure.verdict_of(pairs).verdict, "faster")

    def test_no_more_than_asked(self) -> None:
        pairs, launches = self.pairs(2, [90.0, 90.0])
        self.assertEqual(len(launches), 4)
        self.assertEqual(measure.verdict_of(pairs).verdict, "undecided")
        self.assertTrue(measure.in_words(pairs).startswith("undecided: 90.00 ms a step instead of 100.00 (-10.0 %)\n"))

    def test_words_and_document(self) -> None:
        pairs, _ = self.pairs(5, [103.0, 102.0, 101.0, 102.0, 102.0])
        # Logarithms of 1.03, 1.02, 1.01, 1.02, 1.02: mean 0.0197804, deviation 0.0069324, error 0.0031002.
        # 4.6041 and 6.7583 of these: 0.0342 above, -0.0012 below.
        words = measure.in_words(pairs).splitlines()
        self.assertEqual(words[0], "undecided: 102.00 ms a step instead of 100.00 (+2.0 %, -0.1 % to +3.5 %)")
        self.assertTrue(all(len(line) <= 80 for line in words), words)
        options = argparse.Namespace(command=["a", "b"], run=["--same-bits"], step="x")
        document = measure.document_of(options, pairs)
        self.assertEqual((document["plain_ms"], document["run_ms"], document["judged_pairs"]), (100.0, 102.0, 5))
        self.assertAlmostEqual(document["change"]["high"], math.expm1(0.0197804 + 4.6041 * 0.0031002), places=4)


if __name__ == "__main__":
    unittest.main()
