"""Where FSDP2's staging buffers lie and when they move; PyTorch is a stand-in."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import Group, Store, fake_torch

from elbowroom import lifetime, places, record, staging, steps

GIB = 1 << 30
BYTE = SimpleNamespace(itemsize=1)


class Buffer:
    def __init__(self, size: int, place: Any = None) -> None:
        self.nbytes, self.place, self.copied = size, place, None

    def copy_(self, other: Any) -> None:
        self.copied = other


class FakePlace:
    def __init__(self, torch: Any, whole: Any, offset: int, size: int) -> None:
        self.offset, self.size, self.is_busy, self.evicted = offset, size, False, 0

    def fits(self, size: int) -> bool:
        return size <= self.size

    def busy(self) -> bool:
        return self.is_busy

    def evict(self) -> None:
        self.evicted, self.is_busy = self.evicted + 1, False

    def hand_out(self, count: int, dtype: Any) -> Buffer:
        return Buffer(count, self)


class PlainGather:
    def allocate(self, size: Any, *, dtype: Any, device: Any) -> Buffer:
        return Buffer(places.numel(size))


class PlainScatter(PlainGather):
    def __call__(self, output_tensor: Any, input_tensor: Any, group: Any, op: Any, async_op: bool = False) -> Any:
        return ("scatter", output_tensor)


class StagingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.torch = fake_torch()
        self.torch._C._construct_storage_from_data_pointer = True
        self.group = Group(0, 2, Store())
        self.segments: list[Any] = []
        self.asked: list[tuple] = []
        self.registers = True
        self.context = SimpleNamespace(all_gather_state=None)
        self.held = SimpleNamespace(board=None)

        def place(entry: Any, segments: Any, layout: Any, problem: str, boundary: int) -> Any:
            self.asked.append((layout, problem))
            self.placed = segments
            return self.held if self.registers and not problem else None

        def segment(torch: Any, allocator: Any, size: int) -> Any:
            made = SimpleNamespace(size=size, tensor=lambda: "whole", released=False)
            made.release = lambda: setattr(made, "released", True)
            self.segments.append(made)
            return made

        def direct(torch: Any, group: Any, allocator: Any, owners: Any, beside: int, entry: Any) -> Any:
            if isinstance(self.direct, str):
                raise staging.Unusable(self.direct)
            return self.direct

        placed = SimpleNamespace(allocator=lambda: "NCCL's", place=place, refusal=lambda layout, problem: problem or self.elsewhere, averages=lambda: self.averages, unknown=lambda: "")
        self.averages = False  # whether NCCL has means on symmetric memory
        self.direct: Any = "no parameters come and go"
        self.elsewhere = ""  # why another rank has no slots
        for patch in (
            mock.patch.object(places, "Place", FakePlace),
            mock.patch.object(staging, "Segment", segment),
            mock.patch.object(staging.unsharded, "Direct", direct),
            mock.patch.object(staging.placement, "of_group", lambda torch, group: placed),
            mock.patch.object(record, "write", lambda: None),
            mock.patch.multiple(lifetime, STEPS=0, UNTIMED_BEFORE=0),  # nothing is timed
            mock.patch.object(staging, "_stagings", {}),
            mock.patch.object(steps, "_optimizer_steps", 0),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        self.gather = staging.gather_class(self.torch, PlainGather)
        self.scatter = staging.scatter_class(self.torch, PlainScatter)

    def owner(self, dtype: Any = BYTE, **more: Any) -> Any:
        made = type("Owner", (), {})()
        values = dict(_orig_dtype=dtype, fsdp_params=[], _all_reduce_hook=None, _all_gather_result=None, comm_ctx=self.context, _partial_reduce_output=None, mesh_info=SimpleNamespace())
        values |= {"force_sum_reduction_for_comms": False, "gradient_divide_factor": None, "_reduce_scatter_comm": SimpleNamespace(divides=True)}
        made.__dict__ |= values | {"_all_gather_process_group": self.group, "_reduce_scatter_process_group": self.group} | more
        made.gather, made.scatter = self.gather(made), self.scatter(made)
        return made

    def pass_begins(self, optimizer: bool = True) -> None:
        """`optimizer`: one has stepped before."""
        if optimizer:
            steps._note_optimizer()
        staging.pass_begins()

    def step(self, owners: list[Any], size: int = 64 << 20, optimizer: bool = True) -> list[Any]:
        """A forward and a backward; what was handed out, gathers first."""
        self.pass_begins(optimizer)
        handed = []
        for owner in owners:
            handed.append(owner.gather.allocate((size,), dtype=BYTE, device="cuda"))
            owner._all_gather_result = handed[-1]
        for owner in reversed(owners):
            owner._all_gather_result = None
            source = owner.scatter.allocate((size,), dtype=BYTE, device="cuda")
            result = owner.scatter.allocate((size // 2,), dtype=BYTE, device="cuda")
            handed += [source, result]
            owner.scatter(result, source, self.group, "sum")
        return handed

    def settled(self, count: int = 3, **more: Any) -> list[Any]:
        owners = [self.owner(**more) for _ in range(count)]
        self.step(owners, optimizer=False)
        self.step(owners)
        return owners

    def test_buffers_move_once_the_program_has_all_its_memory(self) -> None:
        owners = self.settled()
        self.assertEqual(self.asked, [])
        moved = self.step(owners)
        self.assertEqual(len(self.asked), 1)
        self.assertTrue(all(buffer.place is not None for buffer in moved))
        self.assertTrue(all(owner.force_sum_reduction_for_comms for owner in owners))
        self.step(owners)
        self.assertEqual(len(self.asked), 1)

    def test_a_program_with_an_optimizer_of_its_own_is_settled_after_a_while(self) -> None:
        owners = [self.owner()]
        for _ in range(staging.UNHURRIED + 1):  # the first one is not seen: there are no buffers yet
            self.step(owners, optimizer=False)
        self.assertEqual(len(self.asked), 1)

    def test_a_group_without_a_name_is_watched_like_any_other(self) -> None:
        del self.group.group_name
        self.step(self.settled())
        self.assertEqual(staging.of_group(self.torch, self.group).entry.group, "")

    def test_gathers_take_turns_whatever_is_free(self) -> None:
        owners = self.settled()
        first = [buffer.place.offset for buffer in self.step(owners)[:3]]
        again = [buffer.place.offset for buffer in self.step(owners)[:3]]
        # Three were alive at once, so there are three places: the order repeats.
        self.assertEqual((first, again), ([0, 64 << 20, 128 << 20], [0, 64 << 20, 128 << 20]))

    def test_places_are_counted_by_what_fsdp2_holds_and_not_by_who_else_does(self) -> None:
        """Threads of a backend let buffers go a little later, at another time on each rank."""
        owners, held = [self.owner() for _ in range(3)], []
        owners.append(self.owner(comm_ctx=SimpleNamespace()))  # has had no forward yet
        for optimizer in (False, True, True):
            self.pass_begins(optimizer)
            for owner in owners:
                held.append(owner.gather.allocate((64 << 20,), dtype=BYTE, device="cuda"))
                self.context.all_gather_state = "until the next one"  # as in a forward
            self.context.all_gather_state = None
            source, result = (owners[0].scatter.allocate((size << 20,), dtype=BYTE, device="cuda") for size in (64, 32))
            owners[0].scatter(result, source, self.group, "sum")
        self.assertEqual(self.asked[0][0][2], [64 << 20] * 3 + [32 << 20] * 2)  # two gathers, an input, two results

    def test_means_stay_where_nccl_has_them_and_factors_of_the_program_become_sums(self) -> None:
        self.averages = True
        owners = self.settled()
        owners[1].gradient_divide_factor = 2  # as many as there are ranks
        owners[2].gradient_divide_factor = 8.0
        self.step(owners)
        self.assertEqual([bool(owner.force_sum_reduction_for_comms) for owner in owners], [False, False, True])
        self.assertEqual(self.asked[0][0][3:], [1, False])

    def test_a_place_still_in_use_is_cleared_and_the_turn_kept(self) -> None:
        owners = self.settled()
        place = self.step(owners)[0].place
        place.is_busy = True
        self.assertIs(self.step(owners)[0].place, place)
        self.assertEqual((place.evicted, staging.of_group(self.torch, self.group).entry.waits), (1, 1))

    def test_a_result_whose_place_holds_gradients_is_written_elsewhere_and_copied(self) -> None:
        owners = self.settled(1)
        own = self.step(owners)[2].place
        own.is_busy = True  # gradients are accumulated
        owner = owners[0]
        source = owner.scatter.allocate((64 << 20,), dtype=BYTE, device="cuda")
        result = owner.scatter.allocate((32 << 20,), dtype=BYTE, device="cuda")
        self.assertIsNone(result.place)
        _, written = owner.scatter(result, source, self.group, "sum")
        self.assertIsNotNone(written.place)  # NCCL sees registered memory on this rank as on the others
        self.assertIs(result.copied, written)

    def test_results_of_another_type_share_a_place(self) -> None:
        owners = self.settled(2, dtype=SimpleNamespace(itemsize=2))
        handed = self.step(owners)
        self.assertIs(handed[3].place, handed[5].place)

    def test_a_larger_buffer_than_any_before_stays_on_ordinary_memory(self) -> None:
        owners = self.settled()
        handed = self.step(owners, size=65 << 20)
        self.assertEqual([buffer.place for buffer in handed], [None] * 9)

    def test_a_program_at_its_limit_is_left_alone(self) -> None:
        for free, peak in ((GIB // 2, 79 * GIB), (70 * GIB, 79 * GIB)):
            self.asked.clear()
            staging._stagings.clear()
            self.torch.cuda.mem_get_info = lambda free=free: (free, 80 * GIB)
            self.torch.cuda.memory_reserved = lambda free=free: 79 * GIB - free
            self.torch.cuda.max_memory_reserved = lambda peak=peak: peak
            handed = self.step(self.settled())
            self.assertIn("the program's peak leaves", self.asked[0][1])
            self.assertEqual({buffer.place for buffer in handed}, {None})
        self.assertEqual(self.segments, [])

    def test_what_is_not_placed_compiles_no_kernel(self) -> None:
        compiled: list[str] = []
        with mock.patch.object(staging.division, "problem", lambda: compiled.append("once") or ""):
            with mock.patch.object(staging, "Segment", mock.Mock(side_effect=staging.Unusable("no such allocator"))):
                self.step(self.settled())
            self.assertEqual((self.asked[-1][1], compiled), ("no such allocator", []))

    def test_a_refusal_gives_the_memory_back_and_changes_nothing(self) -> None:
        self.registers = False
        owners = self.settled()
        handed = self.step(owners)
        self.assertEqual(({buffer.place for buffer in handed}, self.segments[0].released), ({None}, True))
        self.assertFalse(any(owner.force_sum_reduction_for_comms for owner in owners))

    def test_what_is_given_back_stays_until_the_program_holds_nothing_of_it(self) -> None:
        owners = self.settled()
        last = self.step(owners)[-1]
        last.place.is_busy = True
        staging.of_group(self.torch, self.group)._leave()
        self.assertEqual({buffer.place for buffer in self.step(owners)}, {None})
        self.assertFalse(any(owner.force_sum_reduction_for_comms for owner in owners))
        self.assertFalse(self.segments[0].released)
        last.place.is_busy = False
        self.step(owners)
        self.assertTrue(self.segments[0].released)

    def test_groups_whose_results_wait_keep_what_they_are_and_a_hook_of_the_program_sees_means(self) -> None:
        owners = self.settled()
        owners[0]._partial_reduce_output = owners[2]._all_reduce_hook = "the program's"
        self.step(owners)
        summing = lambda: [bool(owner.force_sum_reduction_for_comms) for owner in owners]  # noqa: E731
        self.assertEqual(summing(), [False, True, False])
        owners[1]._all_reduce_hook = "set later"
        self.step(owners)
        self.assertEqual(summing(), [False] * 3)

    def test_memory_that_cannot_be_given_back_ends_nobody(self) -> None:
        owners = self.settled()
        self.step(owners)
        self.segments[0].release = mock.Mock(side_effect=RuntimeError("an earlier kernel has failed"))
        staging.of_group(self.torch, self.group)._leave()
        with mock.patch.object(record, "_record", record._Record(0, [], [])):
            for _ in range(3):
                self.step(owners)
            self.assertEqual(record.as_document()["refused"], ["FSDP2: an earlier kernel has failed"])
        self.segments[0].release.assert_called_once()

    def test_sums_end_with_the_buffers_unless_results_wait_or_the_program_has_chosen_since(self) -> None:
        owners = self.settled(4, force_sum_reduction_for_comms=False)
        owners[3].force_sum_reduction_for_comms = True
        self.step(owners)
        owners[0]._partial_reduce_output = "sums"
        owners[1].force_sum_reduction_for_comms = True
        staging.of_group(self.torch, self.group)._leave()
        self.assertEqual([bool(owner.force_sum_reduction_for_comms) for owner in owners], [True, True, False, True])

    def test_steps_that_scatter_unequally_are_registered_without_a_comparison(self) -> None:
        with mock.patch.multiple(lifetime, STEPS=8, UNTIMED_BEFORE=0):
            owners = self.settled()
            self.step(owners)
            self.step(owners[:2])  # a third of the parameters is left out
            self.assertEqual(self.asked, [])
            self.step(owners)
        self.assertEqual(len(self.asked), 1)
        self.assertEqual(staging.of_group(self.torch, self.group).entry.compared, "not compared: steps are not alike")

    def slots(self) -> Any:
        """Of the first two groups."""
        return mock.Mock(layout={0: [64 << 20], 1: [64 << 20]}, slots=[SimpleNamespace(segment="first"), SimpleNamespace(segment="second")], extra_bytes=5)

    def test_slots_are_registered_with_the_segment_and_their_groups_need_no_flat_buffer(self) -> None:
        self.direct = self.slots()
        owners = [self.owner() for _ in range(3)]
        for optimizer in (False, True):
            self.pass_begins(optimizer)
            for owner, size in zip(owners, (64 << 20, 64 << 20, 16 << 20), strict=True):
                owner.gather.allocate((size,), dtype=BYTE, device="cuda")
            source, result = (owners[0].scatter.allocate((size << 20,), dtype=BYTE, device="cuda") for size in (16, 8))
            owners[0].scatter(result, source, self.group, "sum")
        self.pass_begins()
        self.assertEqual(self.placed, [self.segments[0], "first", "second"])
        # One gather of 16 MiB, an input of 16, a result that passes of 8, one that stays of 8. The program had one gather of 64 and an input of 16.
        self.assertEqual(self.asked[0][0][2], [16 << 20] * 2 + [8 << 20] * 2)
        entry = staging.of_group(self.torch, self.group).entry
        self.assertEqual((entry.extra_bytes, entry.not_direct), (0, ""))
        gathered = owners[2].gather.direct(False, "copies", "gathers")
        self.assertIs(gathered, self.direct.gathered.return_value)
        self.direct.gathered.assert_called_once_with(owners[2], False, "copies", "gathers")

    def test_a_rank_without_slots_keeps_the_others_from_them_alone(self) -> None:
        self.direct, self.elsewhere = self.slots(), "rank 1: out of memory"
        owners = self.settled()
        handed = self.step(owners)
        self.direct.release.assert_called_once()
        self.assertEqual((len(self.placed), None in {buffer.place for buffer in handed}), (1, False))
        self.assertEqual(staging.of_group(self.torch, self.group).entry.not_direct, "rank 1: out of memory")
        self.assertIsNone(owners[0].gather.direct(False, "copies", "gathers"))

    def test_slots_go_with_a_segment_that_is_refused_or_given_back(self) -> None:
        self.registers, self.direct = False, self.slots()
        self.step(self.settled())
        self.direct.release.assert_called_once()
        self.registers, self.direct = True, self.slots()
        staging._stagings.clear()
        owners = self.settled()
        self.step(owners)
        staging.of_group(self.torch, self.group)._leave()
        self.direct.stop.assert_called_once()
        self.step(owners)
        self.direct.released.assert_called_once()

    def test_a_destroyed_group_leaves_its_parameter_groups_on_ordinary_memory(self) -> None:
        owners = self.settled()
        self.step(owners)
        staging.close(None)
        self.assertEqual({buffer.place for buffer in self.step(owners)}, {None})

    def test_ranks_see_the_same_layout(self) -> None:
        layouts = []
        for _ in range(2):
            self.asked.clear()
            staging._stagings.clear()
            self.step(self.settled())
            layouts.append(self.asked[0][0])
        self.assertEqual(layouts[0], layouts[1])
        # 3 gathers of 64 MiB, an input of 64 MiB, a result of 32 MiB that passes, three that stay.
        self.assertEqual(layouts[0], [6, 6, [64 << 20] * 4 + [32 << 20] * 4, 3, False])  # sums for all; the stand-in copies nothing


if __name__ == "__main__":
    unittest.main()
