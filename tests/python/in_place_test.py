"""When gradients stay in the buckets, and when the buckets move: ranks are threads, with a real page between them; PyTorch is a stand-in."""

from __future__ import annotations

import gc
import itertools
import tempfile
import time
import unittest
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import Group, Store, fake_torch, on_ranks

from elbowroom import board, in_place, placement, readers, record

PARAMETERS = 3


class Parameter:
    def __init__(self) -> None:
        self.grad: Any = None
        self.hooks: list[Callable[[Any], None]] = []

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        self.hooks.append(hook)
        return SimpleNamespace(remove=lambda: self.hooks.remove(hook))


class Share:
    """`holders`: whoever has the gradient that was given, but for the parameter."""

    bucket = offset = 0

    def __init__(self, parameter: Parameter, storage: int) -> None:
        self.parameter, self.storage, self.holders = parameter, storage, 0

    def in_use(self) -> bool:
        return self.kept() or self.parameter.grad == "given"

    def kept(self) -> bool:
        return self.holders > 0

    def withdraw(self) -> None:
        self.parameter.grad = "own" if self.parameter.grad == "given" else self.parameter.grad

    def give(self, alone: Any) -> bool:
        self.parameter.grad = "given"
        return True


class Rank:
    """One rank's program: it drops its gradients before each step, unless a step says otherwise."""

    def __init__(self, rank: int, ranks: int, store: Store, page: str) -> None:
        self.torch, self.moved, self.callbacks = fake_torch(), [], []
        self.torch.autograd = SimpleNamespace(Variable=SimpleNamespace(_execution_engine=SimpleNamespace(queue_callback=self.callbacks.append)))
        self.parameters = [Parameter() for _ in range(PARAMETERS)]
        self.shares = [Share(parameter, 100 * rank + number) for number, parameter in enumerate(self.parameters)]
        self.entry = record.Entry("buckets", "0", ranks)
        self.reducer = SimpleNamespace(flat=f"bucket of {rank}", rank=self)
        self.feature = in_place.InPlace(self.torch, type("Reducer", (), {"rank": self})(), self.parameters, self.entry)
        self.left: list[str] = []
        self.feature.on_leave = self.left.append
        with mock.patch.object(placement, "_lives", {}):
            self.placed = placement.GroupPlacement(self.torch, Group(rank, ranks, store))
        self.held = SimpleNamespace(board=board.Board(page, rank, ranks)) if page else None

    def start(self, problem: str = "") -> None:
        self.feature._passes = self.feature._dropping = 1
        self.feature.start(self.placed, self.held, problem)

    def step(self, drops: bool = True, expected: bool = True) -> None:
        if drops:
            for parameter in self.parameters:
                parameter.grad = None
        if expected:
            self.feature.expect()
        self.run_pass()

    def run_pass(self) -> None:
        for parameter in self.parameters:
            parameter.grad = parameter.grad or "own"
            for hook in list(parameter.hooks):
                hook(parameter)
        while self.callbacks:
            self.callbacks.pop(0)()


class InPlaceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.writes = itertools.count()
        for patch in (
            mock.patch.object(in_place, "flat_buckets", lambda torch, reducer: (["first", "second"], [1, 2], self.shares_of(torch))),
            mock.patch.object(in_place, "written", lambda flats: [2 * next(self.writes)] * len(flats)),
            mock.patch.object(in_place, "references_alone", lambda torch: (2, 2)),
            mock.patch.object(in_place, "move", lambda torch, flat: self.rank_of(torch).moved.append(flat)),
            mock.patch.object(in_place.InPlace, "_watch_begin", lambda self: None),
            mock.patch.object(in_place.InPlace, "_watch_end", lambda self: None),
            mock.patch.object(in_place, "WAIT", 5.0),  # a rank that has failed is not waited for longer
            mock.patch.object(in_place.readers, "watch", lambda torch, shares: None),
            mock.patch.object(record, "write", lambda: None),
            mock.patch.object(board, "FOLDER", self.enterContext(tempfile.TemporaryDirectory())),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def rank_of(self, torch: Any) -> Rank:
        return next(rank for rank in self.all if rank.torch is torch)

    def shares_of(self, torch: Any) -> list[Share]:
        return self.rank_of(torch).shares

    def ranks(self, count: int = 2, registered: bool = True) -> list[Rank]:
        store, page = Store(), board.make_page(count) if registered else ""
        self.all = [Rank(rank, count, store, page) for rank in range(count)]
        return self.all

    def started(self, count: int = 2) -> list[Rank]:
        ranks = self.ranks(count)
        on_ranks(count, lambda rank: ranks[rank].start())
        return ranks

    def test_gradients_of_sent_passes_stay_from_the_start_on(self) -> None:
        ranks = self.ranks()
        on_ranks(2, lambda rank: ranks[rank].step())
        self.assertEqual([rank.entry.in_place for rank in ranks], [0, 0])
        on_ranks(2, lambda rank: ranks[rank].start())

        def steps(rank: int) -> None:
            ranks[rank].step()
            ranks[rank].step(expected=False)  # accumulated, not sent: nobody is asked
            ranks[rank].step()

        on_ranks(2, steps)
        self.assertEqual([rank.entry.in_place for rank in ranks], [2 * PARAMETERS] * 2)
        self.assertEqual([rank.moved for rank in ranks], [[], []])

    def test_what_is_not_dropped_is_given_nothing(self) -> None:
        ranks = self.started()
        for rank in ranks:
            for parameter in rank.parameters:
                parameter.grad = "old"
        on_ranks(2, lambda rank: ranks[rank].step(drops=False))
        self.assertEqual([rank.entry.in_place for rank in ranks], [0, 0])
        self.assertEqual({parameter.grad for rank in ranks for parameter in rank.parameters}, {"old"})

    def test_what_is_accumulated_leaves_the_bucket_before_it_is_sent(self) -> None:
        rank = self.ranks(1, registered=False)[0]
        rank.start()
        rank.step()
        sent: list[Any] = []
        for parameter in rank.parameters:
            parameter.hooks.append(lambda parameter: sent.append(parameter.grad))  # behind the one of the feature, as DDP's
        rank.step(drops=False)
        self.assertEqual(sent, ["own"] * PARAMETERS)

    def test_one_rank_that_keeps_a_gradient_moves_all_buckets_before_the_next_pass(self) -> None:
        for keeper in range(3):
            ranks = self.started(3)

            def steps(rank: int, keeper: int = keeper, ranks: list[Rank] = ranks) -> None:
                for number in range(6):
                    time.sleep(0.002 * rank)
                    if (rank, number) == (keeper, 3):
                        ranks[rank].shares[1].holders = 1
                    ranks[rank].step()

            on_ranks(3, steps)
            # Steps 0 to 2; what the third has left is kept, so the fourth finds the buckets in use.
            self.assertEqual([rank.entry.in_place for rank in ranks], [3 * PARAMETERS] * 3)
            self.assertEqual([rank.moved for rank in ranks], [["first", "second"]] * 3)
            reason = f"rank {keeper}: the program keeps gradients of the step before"
            self.assertEqual([rank.left for rank in ranks], [[reason]] * 3)
            self.assertEqual([rank.entry.not_in_place for rank in ranks], [reason] * 3)
            self.assertEqual([parameter.hooks for rank in ranks for parameter in rank.parameters], [[]] * 3 * PARAMETERS)
            self.assertFalse(ranks[keeper].feature.has_left(), "the gradient is still there")
            ranks[keeper].shares[1].holders = 0
            for parameter in ranks[keeper].parameters:
                parameter.grad = None
            self.assertTrue(ranks[keeper].feature.has_left())

    def test_nobody_waits_for_a_rank_that_has_told_at_its_forward(self) -> None:
        ranks = self.started()
        ranks[1].feature.expect()
        begun = time.monotonic()
        ranks[0].step()
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(ranks[0].entry.in_place, PARAMETERS)

    def two_models_at_once(self, drops: bool) -> list[list[Rank]]:
        """Each rank has one thread for all passes. What one rank begins with comes last on the other, and gradients are there behind the forwards."""
        models = [self.started(), self.started()]
        self.all = [rank for model in models for rank in model]
        for model in models:
            on_ranks(2, lambda rank, model=model: model[rank].step())

        def passes(rank: int) -> None:
            mine = [model[rank] for model in models]
            for model in mine:
                model.feature.expect()
                for parameter in model.parameters if drops else ():
                    parameter.grad = None
            for model in mine[:: -1 if rank else 1]:
                model.run_pass()

        on_ranks(2, passes)
        return models

    def test_who_waits_for_a_rank_keeps_no_other_model_from_its_pass(self) -> None:
        for model in self.two_models_at_once(drops=True):
            self.assertEqual([rank.entry.in_place for rank in model], [2 * PARAMETERS] * 2)
            self.assertEqual([rank.moved for rank in model], [[], []])

    def test_gradients_that_are_there_behind_a_long_wait_for_another_model_are_taken_for_kept(self) -> None:
        with mock.patch.object(in_place, "DOUBT", 0.05):
            models = self.two_models_at_once(drops=False)
        moved = [[rank.moved for rank in model] for model in models]
        self.assertIn([["first", "second"]] * 2, moved, "nobody would have begun")
        for model in models:
            self.assertEqual(model[0].moved, model[1].moved, "all ranks or none")
            self.assertEqual(model[0].left, model[1].left)

    def test_a_rank_that_does_not_come_is_named(self) -> None:
        ranks = self.started()
        with mock.patch.object(in_place, "WAIT", 0.01), self.assertRaisesRegex(RuntimeError, "rank 1 has not begun its backward pass"):
            ranks[0].step()

    def test_a_group_with_more_patience_is_waited_for(self) -> None:
        ranks = self.started()
        for rank in ranks:
            rank.feature._patience = lambda: 60.0
        with mock.patch.object(in_place, "WAIT", 0.01):
            on_ranks(2, lambda rank: (time.sleep(0.1 * rank), ranks[rank].step()))
        self.assertEqual([rank.entry.in_place for rank in ranks], [PARAMETERS] * 2)

    def test_what_ddp_has_not_copied_is_given_nothing(self) -> None:
        ranks = self.started()
        with mock.patch.object(in_place, "written", lambda flats: [7] * len(flats)):
            on_ranks(2, lambda rank: ranks[rank].step())
        self.assertEqual([rank.entry.in_place for rank in ranks], [0, 0])

    def test_one_rank_that_cannot_keeps_all_from_it(self) -> None:
        ranks = self.ranks()
        on_ranks(2, lambda rank: ranks[rank].start("no pool" if rank == 1 else ""))
        self.assertEqual([rank.entry.not_in_place for rank in ranks], ["rank 1: no pool"] * 2)
        with mock.patch.dict(in_place.os.environ, {in_place.SWITCH: "0"}):
            ranks = self.started()
        self.assertEqual([rank.entry.not_in_place for rank in ranks], [f"rank 0: {in_place.SWITCH} is 0"] * 2)

    def test_buckets_that_are_not_registered_are_each_ranks_own(self) -> None:
        ranks = self.ranks(registered=False)
        for rank in ranks:
            rank.start()
        ranks[1].step()
        ranks[1].shares[0].holders = 1
        ranks[1].step()
        ranks[0].step()
        self.assertEqual([rank.entry.in_place for rank in ranks], [PARAMETERS] * 2)
        self.assertEqual([rank.moved for rank in ranks], [[], ["first", "second"]])

    def test_ranks_that_have_given_back_ask_nobody(self) -> None:
        ranks = self.started()
        ranks[0].feature.expect()
        ranks[0].feature.each_for_itself()
        ranks[0].step()
        self.assertEqual(ranks[0].entry.in_place, PARAMETERS)

    def test_another_way_moves_registered_buckets_on_all_ranks_or_on_none(self) -> None:
        for told in (False, True):
            ranks = self.started()
            on_ranks(2, lambda rank, ranks=ranks: ranks[rank].step())
            for rank in ranks:
                for parameter in rank.parameters:
                    parameter.grad = None
            ranks[1].shares[0].holders = 1
            if told:
                ranks[0].feature.expect()
            on_ranks(2, lambda rank, ranks=ranks: ranks[rank].feature.quit("a graph"))
            self.assertEqual([rank.moved for rank in ranks], [["first", "second"]] * 2)
            self.assertEqual([rank.left for rank in ranks], [["a graph"]] * 2)
        ranks = self.started()
        on_ranks(2, lambda rank: ranks[rank].feature.quit("a graph"))
        self.assertEqual([rank.moved for rank in ranks], [[], []])

    def test_another_way_moves_other_buckets_only_where_gradients_lie_there(self) -> None:
        ranks = self.ranks(registered=False)
        for rank in ranks:
            rank.start()
            rank.step()
        ranks[0].feature.quit("a graph")
        for parameter in ranks[1].parameters:
            parameter.grad = None
        ranks[1].feature.quit("a graph")
        self.assertEqual([rank.moved for rank in ranks], [["first", "second"], []])
        self.assertEqual([rank.entry.not_in_place for rank in ranks], ["a graph"] * 2)
        ranks[0].feature.quit("another")
        self.assertEqual(ranks[0].entry.not_in_place, "a graph")

    def test_a_rank_that_abandons_its_group_asks_nobody(self) -> None:
        ranks = self.started()
        on_ranks(2, lambda rank: ranks[rank].step())
        begun = time.monotonic()
        ranks[0].feature.abandon("replaced")
        self.assertLess(time.monotonic() - begun, 1)
        self.assertEqual((ranks[0].moved, ranks[0].entry.not_in_place), (["first", "second"], "replaced"))

    def test_a_capture_ends_it(self) -> None:
        ranks = self.started()
        for rank in ranks:
            rank.torch.cuda.is_current_stream_capturing = lambda: True
        on_ranks(2, lambda rank: ranks[rank].step())
        self.assertEqual([rank.entry.in_place for rank in ranks], [0, 0])
        self.assertIn("CUDA graph", ranks[0].entry.not_in_place)

    def test_an_unexpected_gradient_of_one_rank_ends_it_there_and_breaks_nothing(self) -> None:
        ranks = self.started()
        ranks[1].shares[2].give = mock.Mock(side_effect=RuntimeError("a strange gradient"))
        on_ranks(2, lambda rank: [ranks[rank].step() for _ in range(3)])
        self.assertEqual([rank.entry.not_in_place for rank in ranks], ["", "a strange gradient"])
        self.assertEqual([rank.entry.in_place for rank in ranks], [3 * PARAMETERS, 2])
        self.assertEqual([rank.moved for rank in ranks], [[], []])

    def test_gradients_that_the_program_finishes_itself_are_copied_on_its_rank(self) -> None:
        ranks = self.started()
        on_ranks(2, lambda rank: ranks[rank].step())
        ranks[1].feature.stop_giving("finished later")
        on_ranks(2, lambda rank: [ranks[rank].step() for _ in range(2)])
        self.assertEqual([rank.entry.not_in_place for rank in ranks], ["", "finished later"])
        self.assertEqual([rank.entry.in_place for rank in ranks], [3 * PARAMETERS, PARAMETERS])
        self.assertEqual([rank.moved for rank in ranks], [[], []])

    def test_one_that_finishes_them_itself_from_the_beginning_keeps_all_from_it(self) -> None:
        ranks = self.ranks()
        ranks[1].feature.stop_giving("finished later")
        on_ranks(2, lambda rank: ranks[rank].start())
        self.assertEqual([rank.entry.not_in_place for rank in ranks], ["rank 1: finished later"] * 2)

    def test_a_gradient_that_cannot_be_looked_at_is_kept(self) -> None:
        ranks = self.started()
        on_ranks(2, lambda rank: ranks[rank].step())
        ranks[1].shares[0].kept = mock.Mock(side_effect=RuntimeError("a strange gradient"))
        ranks[1].shares[0].in_use = lambda: True
        on_ranks(2, lambda rank: ranks[rank].step(drops=False))
        self.assertEqual([rank.moved for rank in ranks], [["first", "second"]] * 2)

    def test_a_program_that_cannot_be_watched_has_copies(self) -> None:
        ranks = self.ranks()
        with mock.patch.object(in_place.InPlace, "_watch_begin", mock.Mock(side_effect=RuntimeError("a strange gradient"))):
            ranks[1].step()
        on_ranks(2, lambda rank: ranks[rank].start())
        self.assertEqual([rank.entry.not_in_place for rank in ranks], ["rank 1: a strange gradient"] * 2)
        self.assertEqual([parameter.hooks for parameter in ranks[1].parameters], [[]] * PARAMETERS)

    def test_hooks_go_with_their_reducer(self) -> None:
        rank = self.ranks(1)[0]
        del rank.feature
        gc.collect()
        self.assertEqual([parameter.hooks for parameter in rank.parameters], [[]] * PARAMETERS)


class ReadersTest(unittest.TestCase):
    def test_who_overwrites_waits_once_for_streams_that_were_told(self) -> None:
        class Tensor:
            def __init__(self, storage: int) -> None:
                self._storage = SimpleNamespace(_cdata=storage)

            def untyped_storage(self) -> Any:
                return self._storage

            def record_stream(self, s: Any) -> None:
                """PyTorch's own."""
                noted.append(s)

        noted: list[Any] = []
        torch = fake_torch()
        torch.Tensor = Tensor
        shares = [SimpleNamespace(storage=1), SimpleNamespace(storage=2)]
        readers.watch(torch, shares)
        readers.watch(torch, [SimpleNamespace(storage=3)])
        for storage, stream in ((1, "side"), (2, "side"), (2, "other"), (4, "unknown")):
            Tensor(storage).record_stream(s=stream)
        self.assertEqual(noted, ["side", "side", "other", "unknown"])
        self.assertEqual(Tensor.record_stream.__doc__, "PyTorch's own.")
        readers.wait(torch, shares)
        self.assertEqual(torch.events, ["wait", "wait"])
        readers.wait(torch, shares)
        self.assertEqual(torch.events, ["wait", "wait"])
        readers.forget(shares)
        Tensor(1).record_stream("side")
        readers.wait(torch, shares)
        self.assertEqual(torch.events, ["wait", "wait"])


if __name__ == "__main__":
    unittest.main()
