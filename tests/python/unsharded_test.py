"""Parameters that are gathered directly lie in slots that take turns: nobody writes what is still read, and nobody waits for more than that."""

from __future__ import annotations

import os
import random
import sys
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stream_model import Group, Operation, Program, Result, Segment, Stream, Views

from elbowroom import parts, seams, unsharded
from elbowroom.segment import MIB


def foreach_all_gather(
    fsdp_params: Any, group: Any, async_op: Any, all_gather_copy_in_stream: Any, all_gather_stream: Any, device: Any, all_gather_comm: Any
) -> None:
    """FSDP2's, as far as a seam looks at it."""


def foreach_all_gather_copy_out(all_gather_result: Any, fsdp_params: Any, group: Any) -> None:
    """FSDP2's as well."""


REAL_VIEWS = unsharded.Views


class UnshardedTest(unittest.TestCase):
    def setUp(self) -> None:
        stand_ins = {
            "Segment": Segment,
            "Views": Views,
            "check_peak": lambda torch, more: self.more.append(more),
            "_not_owned": lambda torch, whole: SimpleNamespace(device="cuda"),
        }
        patches = [
            mock.patch.multiple(unsharded, **stand_ins),
            mock.patch.object(unsharded.Slot, "check_order", lambda slot, sizes: self.orders.append(sizes)),
        ]
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(sys.modules.pop, parts.GROUPS, None)

    def program(self, flats: int = 2) -> Program:
        Segment.made, self.more, self.orders = [], [], []
        made = Program(flats)
        sys.modules[parts.GROUPS] = made.module
        return made

    def layers(self, program: Program, count: int) -> list[Group]:
        return [Group(program, [2 * MIB, 4 * MIB]) for _ in range(count)]

    def forward(self, program: Program, groups: list[Group]) -> list[Operation]:
        done = []
        for group in groups:
            group.unshard("FORWARD")
            group.wait("FORWARD")
            done.append(group.compute())
            if group._reshard_after_forward:
                group.reshard()
        program.both_wait(program.deferred)
        program.deferred = None
        return done

    def test_a_gather_waits_for_the_layer_before_the_last_and_no_later_one(self) -> None:
        program = self.program()
        groups = self.layers(program, 6)
        program.begin(groups)
        computed: list[Operation] = []
        for number, group in enumerate(groups):
            group.unshard("FORWARD")
            sent, gathered = next(segment for segment in Segment.made if segment.memory.tenant is group.key).memory.written
            self.assertEqual((sent.stream, gathered.stream), (program.copies, program.gathers))
            self.assertFalse(computed and gathered.follows(computed[-1]), number)
            self.assertTrue(number < 2 or sent.follows(computed[-2]), number)
            group.wait("FORWARD")
            computed.append(group.compute())
            group.reshard()
        self.assertEqual((program.entry.direct, program.turn, program.synchronized), (6, 0, 0))  # no flat buffer

    def test_memory_is_for_two_layers_of_the_largest(self) -> None:
        program = self.program()
        groups = [*self.layers(program, 2), Group(program, [2 * MIB, 100]), Group(program, [64 * MIB], comes_and_goes=False)]
        program.begin(groups)
        # The root's 64 MiB stay for the whole step and have no slot. 100 bytes are gathered into a buffer that is as small as the allocator
        # lets it be beside large ones: 1 MiB and 512 bytes. 2 + 4 MiB follow. One slot replaces what FSDP2 has for a layer.
        self.assertEqual([segment.size for segment in Segment.made], [7 * MIB + 512] * 2)
        self.assertEqual((program.direct.extra_bytes, self.more), (8 * MIB + 1024, [8 * MIB + 1024]))
        self.assertEqual(program.direct.layout, {0: [2 * MIB, 4 * MIB], 1: [2 * MIB, 4 * MIB], 2: [2 * MIB, 100]})
        self.assertEqual(sorted(self.orders), [[2 * MIB, 100]] * 2 + [[2 * MIB, 4 * MIB]] * 2)

    def test_what_has_no_slot_is_gathered_by_fsdp2(self) -> None:
        program = self.program(flats=4)
        groups = self.layers(program, 3)
        program.begin(groups)
        for group in groups:  # all are prefetched
            group.unshard("FORWARD")
        self.assertEqual((program.entry.direct, program.turn), (2, 1))
        self.forward(program, groups)
        groups[0].unshard("IDLE")  # by hand
        groups[0].wait("IDLE")
        groups[1].unshard("FORWARD", work="of an asynchronous gather")
        self.assertEqual((program.entry.direct, program.turn), (2, 3))

    def test_parameters_that_keep_their_memory_have_no_slot(self) -> None:
        """`set_keep_unsharded_storage` of PyTorch 2.15, before the slots are made and while one is in use."""
        program = self.program()
        groups = self.layers(program, 4)
        groups[3].fsdp_params[1].keep_unsharded_storage = True
        program.begin(groups)
        self.assertEqual(sorted(program.direct.layout), [0, 1, 2])
        groups[0].unshard("FORWARD")
        groups[0].wait("FORWARD")
        groups[0].compute()
        groups[0].fsdp_params[0].keep_unsharded_storage = True
        groups[0].is_sharded = True  # its memory is not given back
        unsharded.left(groups[0])
        self.forward(program, groups[1:3])
        # The first slot is lost with its parameters; the two others take turns in the second one.
        self.assertEqual((program.entry.direct, program.turn), (3, 0))
        self.assertEqual(sum(slot.vacant() for slot in program.direct.slots), 1)

    def test_a_program_that_copies_out_itself_has_flat_buffers(self) -> None:
        program = self.program()
        groups = self.layers(program, 3)
        program.begin(groups)
        own = object()
        with mock.patch.dict(sys.modules, {parts.COLLECTIVES: SimpleNamespace(_default_all_gather_output_fn=own)}):
            groups[0]._all_gather_output_fn, groups[1]._all_gather_output_fn = own, object()
            self.forward(program, groups)
        self.assertEqual((program.entry.direct, program.turn), (2, 1))

    def test_a_group_that_came_later_or_is_captured_has_none(self) -> None:
        program = self.program()
        groups = self.layers(program, 2)
        program.begin(groups)
        program.capturing = True
        self.forward(program, groups)
        self.assertEqual((program.entry.direct, program.entry.not_direct), (0, ""))
        program.capturing = False
        self.forward(program, self.layers(program, 2))
        self.assertEqual((program.entry.direct, program.entry.not_direct), (0, unsharded.LATER))
        self.forward(program, groups)
        self.assertEqual(program.entry.direct, 2)

    def test_a_group_whose_tensors_were_made_anew_has_none(self) -> None:
        program = self.program()
        groups = self.layers(program, 2)
        program.begin(groups)
        groups[0].fsdp_params = self.layers(program, 1)[0].fsdp_params
        self.forward(program, groups)
        self.assertEqual((program.entry.direct, program.turn), (1, 1))

    def test_views_know_the_tensors_that_they_were_made_for(self) -> None:
        groups = self.layers(self.program(), 2)
        views = object.__new__(REAL_VIEWS)
        views.outputs = unsharded.outputs_of(groups[0])
        self.assertEqual([views.fit(group) for group in groups], [True, False])

    def test_what_was_gathered_and_never_used_gives_its_slot_up(self) -> None:
        program = self.program()
        groups = self.layers(program, 3)
        program.begin(groups)
        groups[0].unshard("FORWARD")
        groups[0]._all_gather_result = None  # and nothing waits for it
        groups[1].unshard("FORWARD")  # the model raises where it does not wait for that gather
        self.assertEqual(Segment.made[0].memory.tenant, groups[1].key)
        groups[1]._all_gather_result = None
        groups[1].unshard("IDLE")
        groups[1].wait("IDLE")
        self.assertEqual([segment.live for segment in Segment.made], [set(), set()])

    def test_a_slot_that_a_graph_read_is_used_no_more(self) -> None:
        program = self.program()
        groups = self.layers(program, 2)
        program.begin(groups)
        groups[0].unshard("FORWARD")
        groups[0].wait("FORWARD")
        program.capturing = True
        groups[0].compute()
        groups[0].reshard()
        program.capturing = False
        for _ in range(2):
            self.forward(program, groups)
        self.assertEqual(len(Segment.made[0].memory.read), 2)  # one of each parameter
        program.direct.stop("")
        self.assertFalse(program.direct.released())

    def test_memory_goes_back_once_no_parameter_lies_there(self) -> None:
        program = self.program()
        groups = self.layers(program, 3)
        program.begin(groups)
        groups[0].unshard("FORWARD")
        groups[0].wait("FORWARD")
        self.assertFalse(program.direct.released())
        program.direct.stop("an allocation failed")
        self.assertFalse(program.direct.released())
        groups[0].compute()
        groups[0].reshard()
        self.assertTrue(program.direct.released())
        self.assertEqual(([segment.released for segment in Segment.made], program.entry.not_direct), ([True, True], "an allocation failed"))
        self.forward(program, groups)
        self.assertEqual(program.entry.direct, 1)

    def test_a_rank_whose_allocator_strays_gathers_as_the_others_and_copies(self) -> None:
        program = self.program()
        groups = self.layers(program, 3)
        program.begin(groups)
        Segment.made[0].begin = 1 * MIB
        self.forward(program, groups)
        # Of three gathers the first and the third take slot 0. It waits for the device: somebody has a part of that slot, nobody knows who.
        self.assertEqual((program.entry.direct, program.entry.copies, program.synchronized, program.turn), (3, 2, 2, 0))
        self.assertEqual([segment.memory.tenant for segment in Segment.made], [groups[2].key, groups[1].key])
        self.assertEqual((Segment.made[0].live, program.entry.not_direct), (set(), ""))

    def test_a_model_that_is_gone_in_the_middle_keeps_its_slot(self) -> None:
        program = self.program()
        groups = self.layers(program, 3)
        program.begin(groups)
        groups[0].unshard("FORWARD")
        groups[0].wait("FORWARD")
        groups[0].compute()
        for tensor in unsharded.outputs_of(groups.pop(0)):  # when this happens differs between ranks
            tensor.resize_(0)
        self.forward(program, groups)
        self.assertEqual((program.entry.direct, Segment.made[1].memory.tenant), (3, groups[1].key))

    def test_shards_of_columns_extensions_and_mixed_types_have_no_slot(self) -> None:
        program = self.program()
        groups = self.layers(program, 7)
        groups[0].fsdp_params[1].fsdp_placement = SimpleNamespace(dim=1)
        groups[1].fsdp_params[0]._sharded_local_tensor = SimpleNamespace(fsdp_pre_all_gather=None)
        groups[2].fsdp_params[0].all_gather_outputs[0].dtype = "fp8"
        groups[3].fsdp_params[0].offload_to_cpu = True
        groups[4].fsdp_params[0].all_gather_outputs[0].is_inference = lambda: True
        program.begin(groups)
        self.assertEqual(list(program.direct.layout), [5, 6])
        self.forward(program, groups)
        self.assertEqual(program.entry.direct, 2)

    def test_too_few_groups_too_little_memory_or_a_switch_is_said(self) -> None:
        program = self.program()
        with self.assertRaisesRegex(unsharded.Unusable, "come and go"):
            program.begin([*self.layers(program, 1), Group(program, [2 * MIB], comes_and_goes=False)])
        first = mock.Mock()
        with mock.patch.object(unsharded, "Slot", mock.Mock(side_effect=[first, unsharded.Unusable("out of memory")])):
            with self.assertRaisesRegex(unsharded.Unusable, "out of memory"):
                program.begin(self.layers(program, 2))
        first.release.assert_called_once()
        with mock.patch.dict(os.environ, {unsharded.SWITCH: "0"}), self.assertRaisesRegex(unsharded.Unusable, "DIRECT_GATHERS is 0"):
            program.begin(self.layers(program, 2))

    def seam_of_pytorch(self) -> dict[str, Any]:
        return {
            parts.GATHER: foreach_all_gather,
            parts.COPY_OUT: foreach_all_gather_copy_out,
            "AllGatherResult": Result,
        }

    def functions(self) -> dict[str, Any]:
        return {
            "_to_sharded": lambda self: setattr(self, "is_sharded", True),
            "unshard": lambda self: foreach_all_gather(None, None, None, None, None, None, None),
            "wait_for_unshard": lambda self: foreach_all_gather_copy_out(None, None, None),
        }

    def test_compiled_backwards_have_no_slots(self) -> None:
        torch = SimpleNamespace(compiler=SimpleNamespace(is_compiling=lambda: False))
        for flag in unsharded.COMPILED_BACKWARDS:
            for on in (False, True):
                with mock.patch.dict(sys.modules, {"torch._dynamo.compiled_autograd": SimpleNamespace(**{flag: on})}):
                    self.assertEqual(unsharded._traced(torch), on)

    def test_a_group_says_that_it_left_when_it_is_sharded_and_was_not_before(self) -> None:
        group = type("Group", (), self.functions())
        seams._gather_directly(SimpleNamespace(), SimpleNamespace(**self.seam_of_pytorch()), group)
        one, slot = group(), mock.Mock()
        one.is_sharded = True
        setattr(one, unsharded._SLOT, slot)
        one._to_sharded()
        slot.leave.assert_not_called()
        one.is_sharded = False
        one._to_sharded()
        slot.leave.assert_called_once()

    def test_any_program_reads_what_was_written_and_keeps_what_is_read(self) -> None:
        direct, copies = 0, 0
        for seed in range(150):
            with self.subTest(seed=seed):
                entry = self.any_program(random.Random(seed))
                direct, copies = direct + entry.direct, copies + entry.copies
        self.assertGreater(direct, 1000)
        self.assertGreater(copies, 50)

    def any_program(self, chance: random.Random) -> Any:
        program = self.program(flats=8)
        sizes = [[chance.choice([2, 3, 4]) * MIB for _ in range(chance.randint(1, 3))] for _ in range(chance.randint(2, 6))]
        groups = [Group(program, size, comes_and_goes=chance.random() < 0.9) for size in sizes]
        other, started = Stream(), False
        for _ in range(chance.randint(2, 5)):
            program.both_wait(program.current)
            if not started:
                started = sum(group._reshard_after_forward for group in groups) >= 2
                if started:
                    program.begin(groups)
                    Segment.made[0].begin = chance.choice([0, 0, 0, MIB])
            self.any_forward(program, groups, chance, other)
            if chance.random() < 0.8:
                self.any_backward(program, groups, chance, other)
            for number in range(len(groups)):
                groups[number].finalize()
            if len(groups) > 2 and chance.random() < 0.2:
                gone = groups.pop(chance.randrange(len(groups)))
                for parameter in gone.fsdp_params if chance.random() < 0.7 else []:  # else somebody holds them
                    parameter.all_gather_outputs[0].resize_(0)
                del gone
        self.assertEqual(program.entry.not_direct, "")
        return program.entry

    def any_forward(self, program: Program, groups: list[Group], chance: random.Random, other: Stream) -> None:
        depth = chance.randint(0, 2)
        for number, group in enumerate(groups):
            if chance.random() < 0.1:  # from here on the program computes on another stream
                new = other if program.current is program.compute else program.compute
                new.wait_stream(program.current)
                program.current = new
            group.unshard(chance.choice(["FORWARD"] * 9 + ["IDLE"]))
            group.wait("FORWARD")
            for later in groups[number + 1 : number + 1 + depth]:
                later.unshard("FORWARD")
            group.compute()
            if group._reshard_after_forward:
                group.reshard()

    def any_backward(self, program: Program, groups: list[Group], chance: random.Random, other: Stream) -> None:
        for number, group in reversed(list(enumerate(groups))):
            group.unshard("PRE_BACKWARD")
            group.wait("PRE_BACKWARD")
            target = chance.choice([number - 1] * 6 + [chance.randrange(len(groups))])  # some are mistaken
            if target >= 0:
                groups[target].unshard("PRE_BACKWARD")
            group.compute()
            if chance.random() < 0.9:
                with program.on(chance.choice([program.current] * 9 + [other])):
                    group.reshard()


if __name__ == "__main__":
    unittest.main()
