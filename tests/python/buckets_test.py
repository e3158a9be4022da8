"""When the buckets of a reducer are made inside a segment: PyTorch's reducer and the segment are stand-ins."""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import Group, Store, fake_torch

from elbowroom import buckets, lifetime, record, steps

LARGE = 16 << 20


class FakeSegment:
    made: list["FakeSegment"] = []
    full = False

    def __init__(self, torch: Any, allocator: Any, size: int) -> None:
        if self.full:
            raise buckets.Unusable("out of memory")
        self.size, self.inside, self.released, self.events = size, False, False, torch.events
        self.registered, self.owner, self.occupied = False, None, False
        FakeSegment.made.append(self)

    @contextlib.contextmanager
    def allocating(self) -> Iterator[None]:
        self.events.append("in")
        yield
        self.events.append("out")

    def open(self) -> None:
        pass

    def placed(self) -> list[list[int]]:
        return [[0, LARGE]]

    def dropped(self) -> bool:
        return self.owner is not None and self.owner() is None and not self.occupied

    def release(self) -> None:
        self.released = True
        self.events.append("released")


class PlainReducer:
    """Makes its buckets when it is constructed, and again in the call of `_rebuild_buckets` after the first backward."""

    def __init__(self, params: Any, indices: Any, limits: Any, group: Any, sparse: Any = (), cap: int = 0, unused: bool = False, view: bool = False, *later: Any):
        self.ready = False
        group.events.append("buckets")
        self._events = group.events

    def prepare_for_forward(self) -> None:
        pass

    def _rebuild_buckets(self) -> bool:
        rebuilt, self.ready = self.ready, False
        if rebuilt:
            self._events.append("buckets")
        return rebuilt

    def _set_static_graph(self) -> None:
        self._events.append("static")

    def _update_process_group(self, group: Any) -> None:
        self._events.append("replaced")


def forward(reducer: Any) -> bool:
    """Whose gradients are sent."""
    reducer.prepare_for_forward()
    return reducer._rebuild_buckets()


class BucketsTest(unittest.TestCase):
    def setUp(self) -> None:
        FakeSegment.made, FakeSegment.full = [], False
        self.torch = fake_torch()
        self.group = Group(0, 2, Store())
        self.group.events = self.torch.events
        self.placed: list[tuple] = []
        self.removed: list[Any] = []  # hooks of parameters
        self.given_back: list[list[bool]] = []  # which segments ranks were asked about, whenever they were
        placement = SimpleNamespace(
            allocator=lambda: "NCCL's",
            give_back_dropped=lambda: self.given_back.append([segment.dropped() for segment in FakeSegment.made]),
            place=lambda entry, segment, layout, problem, boundary: self.placed.append((layout, problem)),
        )
        for patch in (
            mock.patch.object(buckets, "Segment", FakeSegment),
            mock.patch.object(buckets.placement, "of_group", lambda torch, group: placement),
            mock.patch.object(record, "write", lambda: None),
            mock.patch.object(buckets, "_segments", []),
            mock.patch.multiple(lifetime, STEPS=0, UNTIMED_BEFORE=0),  # nothing is timed
        ):
            patch.start()
            self.addCleanup(patch.stop)
        self.reducer = buckets.reducer_class(self.torch, PlainReducer)

    def parameter(self, device: str = "cuda:0", size: int = LARGE) -> SimpleNamespace:
        kind, _, index = device.partition(":")
        return SimpleNamespace(
            device=self.torch.device(kind, index or 0),
            numel=lambda: size,
            element_size=lambda: 1,
            register_post_accumulate_grad_hook=lambda hook: SimpleNamespace(remove=lambda: self.removed.append(hook)),
        )

    def made(self, *rest: Any, **named: Any) -> Any:
        return self.reducer([self.parameter()], [[0]], [LARGE], self.group, *rest, **named)

    def test_the_second_buckets_are_made_inside_and_placed_once(self) -> None:
        reducer = self.made([], 25 << 20, False)
        self.assertFalse(forward(reducer))  # the first forward: nothing is allocated
        self.assertEqual(FakeSegment.made, [])
        reducer.ready = True
        self.assertTrue(forward(reducer))
        self.assertEqual(self.torch.events, ["buckets", "in", "buckets", "out", "cache emptied"])
        self.assertEqual(self.placed, [])  # a step is timed first, of no length here
        for _ in range(2):
            self.assertFalse(forward(reducer))
            self.assertEqual(self.placed, [([[0, LARGE]], "")])
        self.assertEqual(len(FakeSegment.made), 1)

    def test_nothing_is_allocated_while_no_gradients_were_sent(self) -> None:
        reducer = self.made()
        self.assertEqual([reducer._rebuild_buckets() for _ in range(5)], [False] * 5)
        self.assertFalse(forward(reducer))
        self.assertEqual(FakeSegment.made, [])
        reducer.ready = True
        self.assertTrue(reducer._rebuild_buckets(), "at the next forward, whatever it is")
        self.assertEqual(len(FakeSegment.made), 1)

    def test_steps_of_several_passes_are_timed_from_step_to_step(self) -> None:
        """Two passes that accumulate and one that sends: four times 3 of 40 ms."""
        with mock.patch.multiple(lifetime, STEPS=4, UNTIMED_BEFORE=0), mock.patch.object(steps, "_optimizer_steps", 0):
            reducer = self.made()
            for step in range(8):
                self.assertEqual(self.placed == [], step < 7, step)  # made with the second one, timed from the third one on
                for sends in (False, False, True):
                    self.torch.cuda.Event.now += 40.0
                    reducer.ready = step == 1 and not sends and len(FakeSegment.made) == 0
                    forward(reducer) if sends else reducer._rebuild_buckets()
                steps._note_optimizer()
            self.assertEqual(reducer._lifetime._before.milliseconds(), [120.0] * 4)
            self.assertEqual(reducer._lifetime._entry.compared, "")

    def test_buckets_that_each_backward_pass_allocates_get_no_segment(self) -> None:
        for lazily in ((False, True), (False, False)):
            reducer = self.made([], 25 << 20, False, False, {}, 1 << 20, False, False, [], *lazily)
            self.assertFalse(forward(reducer))
            reducer.ready = True
            self.assertTrue(forward(reducer))
            self.assertEqual(len(FakeSegment.made), int(not lazily[1]))

    def test_gradients_that_are_not_ready_give_the_segment_back(self) -> None:
        """As where a forward has had no backward."""
        reducer = self.made()
        self.assertEqual([forward(reducer) for _ in range(2)], [False, False])
        self.assertEqual([segment.released for segment in FakeSegment.made], [True])
        reducer.ready = True
        self.assertTrue(forward(reducer))
        forward(reducer)
        self.assertEqual(len(self.placed), 1)

    def test_a_reducer_that_finds_unused_parameters_keeps_its_first_buckets(self) -> None:
        for how in (lambda: self.made([], 25 << 20, True), lambda: self.made(unused=True)):
            self.torch.events.clear()
            with contextlib.suppress(TypeError):
                reducer = how()
        self.torch.events.clear()
        reducer = self.made([], 25 << 20, True)
        self.assertEqual([event for event in self.torch.events if event != "released"], ["in", "buckets", "out", "cache emptied"])
        reducer.ready = True
        self.assertTrue(forward(reducer))

    def test_a_static_graph_makes_buckets_again_which_are_placed_in_place_of_the_first(self) -> None:
        with mock.patch.object(record, "_record", record._Record(0, [], [])):
            reducer = self.made([], 25 << 20, True)
            reducer._set_static_graph()
            self.assertEqual([forward(reducer) for _ in range(2)], [False, False])
            self.assertEqual([segment.released for segment in FakeSegment.made], [False])
            reducer.ready = True
            self.assertTrue(forward(reducer))
            self.assertEqual([segment.released for segment in FakeSegment.made], [True, False])
            self.assertEqual(self.placed, [])
            forward(reducer)
            self.assertEqual(self.placed, [([[0, LARGE]], "")])
            self.assertEqual(len(record.as_document()["buffers"]), 1)

    def test_a_static_graph_of_an_ordinary_reducer_changes_nothing(self) -> None:
        reducer = self.made()
        reducer._set_static_graph()
        self.assertEqual([forward(reducer) for _ in range(2)], [False, False])
        reducer.ready = True
        forward(reducer)
        self.assertEqual([segment.released for segment in FakeSegment.made], [False])

    def test_out_of_memory_makes_ordinary_buckets_and_says_so_to_the_other_ranks(self) -> None:
        FakeSegment.full = True
        reducer = self.made()
        forward(reducer)
        reducer.ready = True
        self.assertTrue(forward(reducer))
        self.assertEqual(self.torch.events, ["buckets", "buckets"])
        forward(reducer)
        self.assertEqual(self.placed, [([], "out of memory")])

    def test_memory_that_the_buckets_have_left_goes_with_its_last_gradient(self) -> None:
        reducer = self.made()
        forward(reducer)
        reducer.ready = True
        forward(reducer)
        left = [False, True]
        with mock.patch.object(reducer._in_place, "has_left", lambda: left.pop(0)):
            forward(reducer)
            self.assertFalse(FakeSegment.made[0].released)
            for _ in range(2):
                forward(reducer)
        self.assertEqual(self.torch.events.count("released"), 1)

    def test_models_on_cpus_or_too_small_are_left_alone(self) -> None:
        for parameter in (self.parameter("cpu"), self.parameter(size=1024)):
            reducer = self.reducer([parameter], [[0]], [LARGE], self.group)
            forward(reducer)
            reducer.ready = True
            self.assertTrue(forward(reducer))
        self.assertEqual(FakeSegment.made + self.placed, [])

    def trained(self, group: Any, parameter: Any) -> Any:
        """A reducer, and whether it has made its buckets twice, as without us."""
        reducer = self.reducer([parameter], [[0]], [LARGE], group)
        forward(reducer)
        reducer.ready = True
        self.assertTrue(forward(reducer))
        forward(reducer)
        return reducer

    def test_a_group_that_answers_nothing_is_left_alone(self) -> None:
        events = self.torch.events

        class Silent:
            """As groups that are written in Python, before somebody has named them."""

            @property
            def group_name(self) -> str:
                raise ValueError("no name")

            size = rank = property(lambda self: self.group_name)

        silent = Silent()
        silent.events = events
        with mock.patch.object(record, "_record", record._Record(0, [], [])):
            self.trained(silent, self.parameter("cpu"))
            self.trained(silent, self.parameter())
            self.assertEqual(record.as_document()["refused"], ["DDP buckets: parameters are on cpu", "DDP buckets: ValueError: no name"])
        self.assertEqual(events, ["buckets"] * 4)

    def test_a_group_without_a_name_says_so_and_its_buckets_are_plain(self) -> None:
        def of_group(torch: Any, group: Any) -> Any:
            raise buckets.Unusable("the process group has no name")

        del self.group.group_name
        with mock.patch.object(record, "_record", record._Record(0, [], [])), mock.patch.object(buckets.placement, "of_group", of_group):
            reducer = self.trained(self.group, self.parameter())
            said = record.as_document()["buffers"]
        self.assertEqual([(entry["state"], entry["reason"], entry["not_in_place"]) for entry in said], [("refused", *["the process group has no name"] * 2)])
        self.assertEqual((self.torch.events, self.removed != []), (["buckets"] * 2, True))
        reducer.leave("ranks join")

    def test_a_group_that_is_replaced_is_not_asked_and_later_buckets_are_plain(self) -> None:
        other = Group(0, 1, Store(), "other")
        for forwards in (1, 2, 3):
            FakeSegment.made.clear()
            self.placed.clear()
            reducer = self.made()
            for _ in range(forwards):
                forward(reducer)
                reducer.ready = True
            with mock.patch.object(buckets.InPlace, "quit", lambda self, reason: self.each_for_itself()):
                reducer._update_process_group(other)
            self.assertIs(reducer.group, other)
            reducer.ready = True
            self.assertTrue(forward(reducer))
            forward(reducer)
            self.assertEqual((len(FakeSegment.made), len(self.placed)), (int(forwards > 1), int(forwards > 2)))

    def test_memory_that_cannot_be_given_back_ends_nobody(self) -> None:
        def release(segment: Any) -> None:
            raise RuntimeError("an earlier kernel has failed")

        with mock.patch.object(FakeSegment, "release", release), mock.patch.object(record, "_record", record._Record(0, [], [])):
            reducer = self.made()
            self.assertEqual([forward(reducer) for _ in range(2)], [False, False])
            self.assertEqual(record.as_document()["refused"], ["DDP buckets: an earlier kernel has failed"])

    def test_a_pool_that_takes_nothing_makes_ordinary_buckets(self) -> None:
        def allocating(segment: Any) -> Any:
            raise RuntimeError("no pool")

        with mock.patch.object(FakeSegment, "allocating", allocating):
            self.trained(self.group, self.parameter())
        self.assertEqual(self.placed, [([], "no pool")])

    def dropped_model(self) -> FakeSegment:
        self.trained(self.group, self.parameter())
        return FakeSegment.made[-1]

    def test_a_dropped_models_memory_goes_when_the_next_buckets_are_made(self) -> None:
        left = self.dropped_model()
        self.assertTrue(left.dropped())
        self.trained(self.group, self.parameter())
        self.assertEqual([segment.released for segment in FakeSegment.made], [True, False])
        self.assertEqual(buckets._segments, FakeSegment.made[1:])

    def test_a_dropped_models_memory_stays_while_it_is_registered_or_something_lies_in_it(self) -> None:
        for name in ("registered", "occupied"):
            left = self.dropped_model()
            setattr(left, name, True)
            self.trained(self.group, self.parameter())
            self.assertFalse(left.released, name)
            setattr(left, name, False)

    def test_a_segment_knows_which_gradients_lie_in_it(self) -> None:
        with mock.patch.object(buckets.InPlace, "lent", lambda self: ["a gradient's storage"]):
            self.dropped_model()
        self.assertEqual(FakeSegment.made[0].lent, ["a gradient's storage"])

    def test_a_dropped_models_memory_stays_where_a_graph_was_captured(self) -> None:
        reducer = self.trained(self.group, self.parameter())
        with mock.patch.object(self.torch.cuda, "is_current_stream_capturing", lambda: True):
            forward(reducer)
        del reducer
        self.trained(self.group, self.parameter())
        self.assertFalse(FakeSegment.made[0].released)

    def test_ranks_are_asked_for_dropped_models_only_where_buckets_were_made(self) -> None:
        """A forward that follows no backward makes none, and other ranks may not come to it."""
        self.dropped_model()
        reducer = self.made()
        self.assertEqual([forward(reducer) for _ in range(3)], [False] * 3)
        self.assertEqual(self.given_back, [[False]] * 2)  # of the first model, when its buckets were made and when they were placed
        reducer.ready = True
        self.assertTrue(forward(reducer))
        self.assertEqual(len(self.given_back), 3)

    def test_two_models_have_a_segment_each(self) -> None:
        for _ in range(2):
            reducer = self.made()
            forward(reducer)
            reducer.ready = True
            forward(reducer)
            forward(reducer)
        self.assertEqual((len(FakeSegment.made), len(self.placed)), (2, 2))


if __name__ == "__main__":
    unittest.main()
