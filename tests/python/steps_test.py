"""A step begins with the first forward after gradients were sent and an optimizer stepped, however many passes it has."""

from __future__ import annotations

import sys
import unittest
from types import SimpleNamespace
from unittest import mock

import stand_ins

from elbowroom import steps

assert stand_ins.PYTHON


class StepsTest(unittest.TestCase):
    def setUp(self) -> None:
        for patch in (mock.patch.object(steps, "_optimizer_steps", 0), mock.patch.object(steps, "_watching", False)):
            patch.start()
            self.addCleanup(patch.stop)
        self.steps = steps.Steps()

    def passes(self, sent: str, optimizer: bool = True) -> str:
        """Of one step: `sent` has a + for each pass that sends its gradients. A B for each forward that began a step."""
        begun = ""
        for one in sent:
            begun += "B" if self.steps.begins() else "-"
            if one == "+":
                self.steps.sent()
        if optimizer:
            steps._note_optimizer()
        return begun

    def test_passes_that_only_accumulate_begin_nothing(self) -> None:
        self.assertEqual([self.passes("..+") for _ in range(3)], ["---", "B--", "B--"])
        self.assertTrue(self.steps.alike)

    def test_passes_that_all_send_are_one_step_where_an_optimizer_steps(self) -> None:
        self.assertEqual([self.passes("+++") for _ in range(3)], ["-BB", "B--", "B--"])  # none had stepped before
        self.assertEqual(self.passes("+++", optimizer=False), "B--")
        self.assertEqual(self.passes("+++"), "---")

    def test_without_an_optimizer_each_pass_that_sent_ends_a_step(self) -> None:
        self.assertEqual([self.passes(".+", optimizer=False) for _ in range(3)], ["--", "B-", "B-"])

    def test_an_optimizer_that_steps_no_more_is_waited_for_once(self) -> None:
        self.passes("+")
        begun = "".join(self.passes("+", optimizer=False) for _ in range(steps.MOST_SENT + 4))
        self.assertEqual(begun, "B" + "-" * (steps.MOST_SENT - 1) + "BBBB")
        self.passes("+")
        self.assertEqual(self.passes("+++"), "B--", "it steps again")

    def test_a_step_that_is_traced_counts_nothing(self) -> None:
        with mock.patch.dict(sys.modules, {"torch.compiler": SimpleNamespace(is_compiling=lambda: True)}):
            steps._note_optimizer()
        self.assertFalse(steps.optimizers_have_stepped())

    def test_steps_of_other_numbers_of_passes_are_not_alike(self) -> None:
        said = []
        for sent in ("..+", "..+", ".+", "..+", "..+", "..+"):
            self.passes(sent)
            said.append(self.steps.alike)
        # Each is said at the beginning of the next one, against the one before: 3; 3 and 3; 2 and 3; 3 and 2; 3 and 3.
        self.assertEqual(said, [True, True, True, False, False, True])

    def test_optimizers_are_watched_once_and_as_soon_as_there_are_any(self) -> None:
        register = mock.Mock()
        with mock.patch.dict(sys.modules, {"torch.optim.optimizer": None}):
            steps.watch_optimizers()
        with mock.patch.dict(sys.modules, {"torch.optim.optimizer": SimpleNamespace(register_optimizer_step_post_hook=register)}):
            steps.watch_optimizers()
            steps.watch_optimizers()
        register.assert_called_once_with(steps._note_optimizer)


if __name__ == "__main__":
    unittest.main()
