"""Whether steps became slower: the test's exact numbers, and that noise proves nothing."""

from __future__ import annotations

import random
import unittest
from itertools import pairwise

from stand_ins import fake_torch

from elbowroom import timing


class TimingTest(unittest.TestCase):
    def test_chances_worked_out_by_hand(self) -> None:
        # Two times and two: of the 6 orders one has both later ones last (4 pairs), two have 3 pairs or more.
        self.assertAlmostEqual(timing._chance(4, 2, 2), 1 / 6)
        self.assertAlmostEqual(timing._chance(3, 2, 2), 2 / 6)
        self.assertAlmostEqual(timing._chance(0, 8, 8), 1.0)
        # Eight and eight: 12,870 orders, one of which has all 64 pairs, one 63, two 62.
        self.assertAlmostEqual(timing._chance(62, 8, 8), 4 / 12870)

    def test_slower_by_more_than_the_margin_is_proven(self) -> None:
        before = [40.0, 40.1, 39.9, 40.0, 40.2, 40.0, 40.1, 39.9]
        self.assertTrue(timing.proven_slower(before, [time * 1.02 for time in before]))
        self.assertFalse(timing.proven_slower(before, [time * 1.004 for time in before]))  # below 0.5 %
        self.assertFalse(timing.proven_slower(before, [time * 0.95 for time in before]))

    def test_two_modes_of_a_program_that_waits_for_its_host_prove_nothing(self) -> None:
        self.assertFalse(timing.proven_slower([40, 52] * 4, [52, 40] * 3 + [52, 52]))
        self.assertFalse(timing.proven_slower([40.0] * 8, [40.0] * 6 + [90.0, 90.0]))  # rare long steps

    def test_equal_steps_are_seldom_called_slower(self) -> None:
        chance, wrong = random.Random(1), 0
        for _ in range(2000):
            times = [40 * (1 + chance.gauss(0, 0.02)) for _ in range(16)]
            wrong += timing.proven_slower(times[:8], times[8:])
        self.assertLessEqual(wrong / 2000, timing.MOST_ERROR)

    def test_a_clock_takes_the_steps_that_it_was_asked_for(self) -> None:
        torch = fake_torch()
        clock = timing.Clock(torch, 2)
        for now in (1.0, 3.0, 7.0, 20.0):
            self.assertEqual(clock.full(), now > 7.0)
            torch.cuda.Event.now = now
            clock.mark()
        self.assertTrue(clock.known())
        self.assertEqual(clock.milliseconds(), [late - early for early, late in pairwise([1.0, 3.0, 7.0])])

    def test_a_time_that_the_device_has_not_come_to_is_not_waited_for(self) -> None:
        torch = fake_torch()
        torch.cuda.Event.query = lambda self: False
        clock = timing.Clock(torch, 1)
        clock.mark()
        clock.mark()
        self.assertEqual((clock.full(), clock.known()), (True, False))


if __name__ == "__main__":
    unittest.main()
