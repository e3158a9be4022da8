"""When a set is registered, compared and given back: ranks are threads, with a real page between them; PyTorch and NCCL are stand-ins."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import FakeRegistrations, Group, Store, fake_torch, on_ranks

from elbowroom import board, lifetime, placement, record

SEGMENT = SimpleNamespace(address=1 << 21, size=2 << 20)
REGISTERED_AT = lifetime.UNTIMED_BEFORE + lifetime.STEPS + 1


class Rank:
    """One rank of a program of equal steps; `step_ms` is asked for the time of each."""

    def __init__(self, rank: int, ranks: int, store: Store, step_ms: Callable[[bool], float], frees: bool) -> None:
        self.torch = fake_torch()
        self.torch.rank, self.step_ms = rank, step_ms
        self.failures = {"num_alloc_retries": 0, "num_ooms": 0}
        self.torch.cuda.memory_stats_as_nested_dict = lambda: dict(self.failures)
        self.group = group = Group(rank, ranks, store)
        with mock.patch.object(placement, "_lives", {}):  # each rank is a process of its own
            self.placed = placement.GroupPlacement(self.torch, group)
        group.placed = self.placed
        self.entry = record.Entry("buffers", "0", ranks)
        self.left: list[int] = []
        self.life = lifetime.Lifetime(self.torch, group, self.entry, self.register, lambda: self.left.append(self.life._number), frees)

    def register(self, boundary: int) -> Any:
        return self.placed.place(self.entry, [SEGMENT], [[0, 1]], "", boundary)

    def step(self, alike: bool = True) -> None:
        self.life.boundary(alike)
        self.group.collectives += 1
        self.torch.cuda.Event.now += self.step_ms(self.entry.state == "registered")


class LifetimeTest(unittest.TestCase):
    def setUp(self) -> None:
        for patch in (
            mock.patch.object(placement, "Registrations", FakeRegistrations),
            mock.patch.object(placement, "of_group", lambda torch, group: group.placed),
            mock.patch.object(record, "write", lambda: None),
            mock.patch.object(board, "FOLDER", self.enterContext(tempfile.TemporaryDirectory())),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        FakeRegistrations.failing, FakeRegistrations.mapped = set(), {}

    def ranks(self, step_ms: Callable[[bool], float] = lambda registered: 40.0, frees: bool = True) -> list[Rank]:
        store = Store()
        return [Rank(rank, 2, store, step_ms, frees) for rank in range(2)]

    def steps(self, ranks: list[Rank], count: int, pauses: dict[int, float] | None = None) -> None:
        together = threading.Barrier(len(ranks))

        def run(rank: int) -> None:
            for number in range(count):
                ranks[rank].step()
                time.sleep((pauses or {}).get(rank, 0.0005))
                if number % 4 == 3:  # a device lets no host run ahead for ever
                    together.wait(60)

        on_ranks(len(ranks), run)

    def test_a_set_is_registered_once_its_steps_were_timed(self) -> None:
        ranks = self.ranks()
        self.steps(ranks, REGISTERED_AT - 1)
        self.assertEqual({rank.entry.state for rank in ranks}, {"waiting"})
        self.steps(ranks, 1)
        self.assertEqual({rank.entry.state for rank in ranks}, {"registered"})
        self.assertEqual(os.listdir(board.FOLDER), [])  # the page has no name once all have it

    def test_faster_steps_stay_and_both_times_are_said(self) -> None:
        ranks = self.ranks(lambda registered: 38.0 if registered else 40.0)
        self.steps(ranks, 60)
        for rank in ranks:
            self.assertEqual((rank.entry.state, rank.entry.compared), ("registered", "not slower"))
            self.assertEqual((rank.entry.ordinary_ms, rank.entry.symmetric_ms), (40.0, 38.0))
        self.assertNotIn("deregistered", ranks[0].torch.events)

    def test_slower_steps_are_given_back_by_all_at_one_boundary(self) -> None:
        ranks = self.ranks(lambda registered: 41.0 if registered else 40.0)
        self.steps(ranks, 80, pauses={1: 0.002})  # rank 1 comes later
        for rank in ranks:
            self.assertEqual((rank.entry.state, rank.entry.compared), ("given back", "slower"))
            self.assertEqual(rank.entry.reason, "rank 0: steps became slower")
            self.assertEqual(rank.torch.events[-2:], ["device synchronized", "deregistered"])
        self.assertEqual(ranks[0].left, ranks[1].left)
        self.assertEqual(len(ranks[0].left), 1)
        # Nothing is registered with this group again.
        entries = [record.Entry("more", "0", 2) for _ in ranks]
        on_ranks(2, lambda rank: ranks[rank].placed.place(entries[rank], SEGMENT, [[0, 1]], ""))
        self.assertIn("or gave one back", entries[1].reason)

    def test_an_allocation_that_had_to_be_repeated_on_one_rank_makes_all_give_back(self) -> None:
        ranks = self.ranks()
        self.steps(ranks, 40)
        ranks[1].failures["num_alloc_retries"] = 1
        self.steps(ranks, 40)
        self.assertEqual([rank.entry.reason for rank in ranks], ["rank 1: the allocator had to retry"] * 2)
        self.assertEqual(ranks[0].left, ranks[1].left)
        self.assertEqual({rank.entry.state for rank in ranks}, {"given back"})

    def test_an_allocation_that_failed_is_named_as_such(self) -> None:
        ranks = self.ranks()
        self.steps(ranks, 40)
        ranks[0].failures |= {"num_alloc_retries": 1, "num_ooms": 1}
        self.steps(ranks, 40)
        self.assertEqual(ranks[1].entry.reason, "rank 0: an allocation failed")

    def test_failures_from_before_the_registration_do_not_count(self) -> None:
        ranks = self.ranks()
        ranks[0].failures["num_alloc_retries"] = 3
        self.steps(ranks, 60)
        self.assertEqual({rank.entry.state for rank in ranks}, {"registered"})

    def test_a_set_whose_memory_the_program_needs_anyway_stays(self) -> None:
        ranks = self.ranks(frees=False)
        self.steps(ranks, 40)
        ranks[1].failures["num_alloc_retries"] = 1
        self.steps(ranks, 40)
        self.assertEqual({rank.entry.state for rank in ranks}, {"registered"})

    def test_steps_that_are_not_alike_are_registered_at_once_and_not_compared(self) -> None:
        ranks = self.ranks()
        on_ranks(2, lambda rank: [ranks[rank].step(alike) for alike in (True, True, False)])
        for rank in ranks:
            self.assertEqual((rank.entry.state, rank.entry.compared), ("registered", lifetime.ACCUMULATES))

    def test_a_rank_without_the_page_keeps_all_registered(self) -> None:
        ranks = self.ranks(lambda registered: 41.0 if registered else 40.0)
        with mock.patch.object(ranks[1].placed._agreement, "told", lambda name: "/nowhere"):
            self.steps(ranks, 80)
        self.assertEqual({rank.entry.state for rank in ranks}, {"registered"})
        self.assertEqual(ranks[1].entry.compared, "not compared: the ranks share no page")
        self.assertEqual(ranks[0].left + ranks[1].left, [])

    def test_ranks_at_different_boundaries_refuse_and_go_on(self) -> None:
        ranks = self.ranks()
        ranks[1].life.boundary(True)  # one forward more than rank 0, and no collective
        self.steps(ranks, REGISTERED_AT)
        self.assertEqual({rank.entry.state for rank in ranks}, {"refused"})
        self.assertEqual(ranks[0].entry.reason, f"rank 1 has collectives {REGISTERED_AT - 2}, rank 0 has {REGISTERED_AT - 1}")

    def test_a_failure_here_is_said_and_the_program_goes_on(self) -> None:
        ranks = self.ranks()
        ranks[0].torch.cuda.Event = None
        for _ in range(3):
            ranks[0].life.boundary(True)
        self.assertIn("not callable", ranks[0].entry.reason)
        self.assertEqual(ranks[0].entry.state, "refused")

    def test_who_abandons_his_group_asks_nobody_and_stays_registered(self) -> None:
        ranks = self.ranks()
        self.steps(ranks, REGISTERED_AT)
        ranks[0].life.leave("gradients are kept")
        ranks[0].life.abandon("replaced")
        with mock.patch.object(ranks[0].placed, "give_back", mock.Mock(side_effect=AssertionError)):
            for _ in range(40):
                ranks[0].life.boundary(True)
            ranks[0].life.end("ranks join")
        self.assertEqual((ranks[0].entry.state, ranks[0].entry.reason), ("registered", "replaced"))

    def test_a_group_that_is_abandoned_before_is_not_registered(self) -> None:
        ranks = self.ranks()
        for rank in ranks:
            rank.life.boundary(True)
            rank.life.abandon("replaced")
        self.steps(ranks, REGISTERED_AT)
        self.assertEqual({(rank.entry.state, rank.entry.reason) for rank in ranks}, {("refused", "replaced")})

    def test_an_end_that_fails_is_said_too(self) -> None:
        ranks = self.ranks()
        self.steps(ranks, REGISTERED_AT)
        with mock.patch.object(ranks[0].placed, "give_back", mock.Mock(side_effect=RuntimeError("the store is gone"))):
            ranks[0].life.end("ranks join")
        self.assertEqual((ranks[0].entry.state, ranks[0].entry.reason), ("registered", "the store is gone"))

    def test_a_step_costs_less_than_20_microseconds(self) -> None:
        ranks = self.ranks()
        self.steps(ranks, 60)
        best = min(self.per_step(ranks[1].life) for _ in range(5))
        self.assertLess(best, 20e-6)

    def per_step(self, life: lifetime.Lifetime, count: int = 2000) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            life.boundary(True)
        return (time.perf_counter() - begin) / count


if __name__ == "__main__":
    unittest.main()
