"""One answer for all ranks: the ranks are threads, the store is a stand-in."""

from __future__ import annotations

import time
import unittest
from datetime import timedelta

from stand_ins import Store, on_ranks

from elbowroom.agreement import Agreement, difference

SHORT = timedelta(seconds=0.3)


class AgreementTest(unittest.TestCase):
    def answers(self, facts: list[dict], wait: timedelta = timedelta(seconds=20), late: dict[int, float] | None = None) -> list[str]:
        store = Store()

        def ask(rank: int) -> str:
            time.sleep((late or {}).get(rank, 0))
            return Agreement(store, rank, len(facts), "test", wait).refusal(facts[rank])

        return on_ranks(len(facts), ask)

    def test_equal_facts_are_accepted_by_all(self) -> None:
        self.assertEqual(self.answers([{"layout": [[0, 512]], "reason": ""}] * 4), [""] * 4)

    def test_one_reason_refuses_all_in_the_same_words(self) -> None:
        facts = [{"reason": ""}, {"reason": ""}, {"reason": "out of memory"}]
        self.assertEqual(self.answers(facts), ["rank 2: out of memory"] * 3)

    def test_a_difference_is_named(self) -> None:
        facts = [{"layout": [[0, 512]], "reason": ""}, {"layout": [[0, 512], [512, 512]], "reason": ""}]
        self.assertEqual(self.answers(facts), ["rank 1 has layout [[0, 512], [512, 512]], rank 0 has [[0, 512]]"] * 2)

    def test_a_rank_that_does_not_come_refuses_all_that_do_and_itself_later(self) -> None:
        answers = self.answers([{"reason": ""}] * 3, SHORT, late={1: 1.2})
        self.assertEqual(len(set(answers)), 1)
        self.assertIn("not all ranks answered within 0 s", answers[0])

    def test_the_deciding_rank_may_come_too_late(self) -> None:
        answers = self.answers([{"reason": ""}] * 2, SHORT, late={0: 1.5})
        self.assertEqual(answers[0], answers[1])
        self.assertIn("rank 1 got no answer", answers[0])

    def test_questions_do_not_mix(self) -> None:
        store = Store()

        def ask(rank: int) -> list[str]:
            agreement = Agreement(store, rank, 2, "test")
            return [agreement.refusal({"reason": ""}), agreement.refusal({"reason": "no" if rank else ""}), agreement.refusal({"reason": ""})]

        self.assertEqual(on_ranks(2, ask), [["", "rank 1: no", ""]] * 2)

    def test_a_field_that_one_rank_lacks_is_a_difference(self) -> None:
        self.assertEqual(difference([{"a": 1}, {}]), "rank 1 has a null, rank 0 has 1")


if __name__ == "__main__":
    unittest.main()
