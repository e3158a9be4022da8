"""The yardstick's statistics: numbers worked out by hand, error rates by simulation."""

from __future__ import annotations

import math
import random
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from elbowroom import pair_verdict  # noqa: E402


class DecideTest(unittest.TestCase):
    def test_interval(self) -> None:
        # -2, -1, 0 %: mean -1, standard deviation 1, so its error is 1 / sqrt(3) = 0.57735.
        # 9.9248 of these are 5.7301 %, 19.9625 are 11.5254 %.
        mean, low, high = pair_verdict.interval([-0.02, -0.01, 0.0])
        self.assertAlmostEqual(mean, -0.01)
        self.assertAlmostEqual(low, -0.125254, places=6)
        self.assertAlmostEqual(high, 0.047301, places=6)

    def test_quantiles(self) -> None:
        for error, three, five in (
            (0.04 / 8, pair_verdict.LOOKS[3].above, pair_verdict.LOOKS[5].above),
            (0.01 / 8, pair_verdict.LOOKS[3].below, pair_verdict.LOOKS[5].below),
        ):
            # Student's t has closed forms. Two degrees of freedom: (1 - 2e) / sqrt(2 e (1 - e)).
            self.assertAlmostEqual(three, (1 - 2 * error) / math.sqrt(2 * error * (1 - error)), places=4)
            # Four: with a = 4 e (1 - e) and q = cos(arccos(sqrt(a)) / 3) / sqrt(a) it is 2 sqrt(q - 1).
            root = math.sqrt(4 * error * (1 - error))
            self.assertAlmostEqual(five, 2 * math.sqrt(math.cos(math.acos(root) / 3) / root - 1), places=4)
        # From a table of Student's t: 1 % at 7 degrees of freedom, 0.5 % at 11.
        self.assertAlmostEqual(pair_verdict.LOOKS[8].above, 2.998, places=3)
        self.assertAlmostEqual(pair_verdict.LOOKS[12].below, 3.106, places=3)
        self.assertEqual(list(pair_verdict.LOOKS), [3, 5, 8, 12])

    def test_verdicts(self) -> None:
        def said(low: float, high: float, measure: str = pair_verdict.STEP_TIME) -> str:
            return pair_verdict.said_of(pair_verdict.Change((low + high) / 2, low, high), measure)

        self.assertEqual(said(-0.02, -0.001), "faster")
        self.assertEqual(said(-0.02, 0.003), "not slower")
        self.assertEqual(said(0.001, 0.0029), "not slower")
        self.assertEqual(said(0.0031, 0.02), "slower")
        self.assertEqual(said(-0.02, 0.0031), "undecided")
        self.assertEqual(said(0.003, 0.0301), "undecided")
        # Less work for the host is not a faster step.
        self.assertEqual(said(-0.02, -0.001, pair_verdict.HOST_TIME), "not slower")
        self.assertEqual(pair_verdict.said_of(pair_verdict.Change(-0.5), pair_verdict.STEP_TIME), "undecided")

    def test_the_first_look_that_decides_decides(self) -> None:
        clear = [-0.0201, -0.02, -0.0199]
        verdict = pair_verdict.judge([*clear, 0.5], pair_verdict.STEP_TIME)
        self.assertEqual((verdict.pairs, verdict.verdict), (3, "faster"))
        self.assertAlmostEqual(verdict.change.estimate, math.expm1(-0.02))
        # Four pairs are one more than a look takes: the fourth is not looked at.
        verdict = pair_verdict.judge([-0.02, -0.01, 0.0, 0.4], pair_verdict.STEP_TIME)
        self.assertEqual((verdict.pairs, verdict.verdict), (3, "undecided"))
        self.assertAlmostEqual(verdict.change.estimate, math.expm1(-0.01))
        self.assertEqual(pair_verdict.judge([], pair_verdict.STEP_TIME), pair_verdict.Verdict("step time", 0, None, "undecided"))
        self.assertIsNone(pair_verdict.judge([-0.02, -0.02], pair_verdict.STEP_TIME).change.low)

    def test_values(self) -> None:
        # Medians 40 and 38.
        self.assertAlmostEqual(pair_verdict.step_time_value([40.0, 41.0, 39.0], [38.0, 99.0, 1.0]), math.log(0.95))
        # 0.2 ms more CPU time in a step of 40 ms.
        self.assertAlmostEqual(pair_verdict.host_time_value([10.0, 10.0], [10.2, 10.2], [40.0]), 0.005)
        self.assertAlmostEqual(pair_verdict.idle_share(30.0, [40.0]), 0.25)
        self.assertEqual(pair_verdict.idle_share(41.0, [40.0]), 0.0)
        self.assertIsNone(pair_verdict.idle_share(None, [40.0]))


def noise(kind: str, generator: random.Random) -> list[float]:
    """Twelve values of pairs that differ by nothing but noise of about 0.5 %."""
    if kind == "normal":
        return [generator.gauss(0, 0.005) for _ in range(12)]
    if kind == "wide":  # beside which the bound of 0.3 % is nothing
        return [generator.gauss(0, 0.05) for _ in range(12)]
    if kind == "heavy tails":  # Student's t with three degrees of freedom
        return [0.003 * generator.gauss(0, 1) / math.sqrt(generator.gammavariate(1.5, 2) / 3) for _ in range(12)]
    if kind == "two speeds":  # a launch in five is 2 % slower or faster
        return [generator.gauss(0, 0.002) + 0.02 * generator.choice((-1, 0, 0, 0, 0, 0, 0, 0, 0, 1)) for _ in range(12)]
    drift = generator.gauss(0, 0.001)  # the machine grows slower from launch to launch: the second of a pair pays, in turns
    return [generator.gauss(0, 0.003) + (drift if number % 2 else -drift) for number in range(12)]


class ErrorRateTest(unittest.TestCase):
    TRIALS = 2000

    def rate(self, kind: str, shift: float, wrong: tuple[str, ...]) -> float:
        generator = random.Random(f"{kind} {shift}")
        verdicts = [
            pair_verdict.judge([value + shift for value in noise(kind, generator)], pair_verdict.STEP_TIME).verdict for _ in range(self.TRIALS)
        ]
        return sum(verdict in wrong for verdict in verdicts) / self.TRIALS

    def test_equal_programs_are_seldom_called_different(self) -> None:
        for kind in ("normal", "wide", "heavy tails", "two speeds", "drift"):
            with self.subTest(kind):
                self.assertLessEqual(self.rate(kind, 0.0, (pair_verdict.FASTER, pair_verdict.SLOWER)), 0.05)

    def test_a_slower_program_seldom_passes(self) -> None:
        # Slower by just more than the bound: only the end above can err, in 4 % of cases.
        for kind in ("normal", "heavy tails", "drift"):
            with self.subTest(kind):
                self.assertLessEqual(self.rate(kind, math.log1p(pair_verdict.BOUND) + 1e-6, pair_verdict.PASSING), 0.04)

    def test_the_simulation_can_fail(self) -> None:
        # All of the 4 % at every look, as if there were one look, errs more often than it says.
        greedy = {3: pair_verdict.Look(3.320, 20), 5: pair_verdict.Look(2.333, 7), 8: pair_verdict.Look(2.046, 4), 12: pair_verdict.Look(1.928, 3)}
        with mock.patch.object(pair_verdict, "LOOKS", greedy):
            self.assertGreater(self.rate("normal", math.log1p(pair_verdict.BOUND) + 1e-6, pair_verdict.PASSING), 0.04)

    def test_a_gain_is_found(self) -> None:
        # Some end as "not slower", which is known before "faster" is.
        self.assertGreater(self.rate("normal", -0.02, pair_verdict.PASSING), 0.99)
        self.assertGreater(self.rate("normal", -0.02, (pair_verdict.FASTER,)), 0.85)


if __name__ == "__main__":
    unittest.main()
