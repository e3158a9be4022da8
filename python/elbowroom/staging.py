"""FSDP2's staging buffers on symmetric memory.

Gathers and the inputs of scatters take places in turn, as their order in the program has it: NCCL's kernels want the same offset on all
ranks, and what is free at the moment may differ between ranks. The result of a scatter is written by its own rank alone, so its
place is that rank's affair; NCCL only wants it inside registered memory on all ranks.
"""

from __future__ import annotations

import weakref
from typing import Any

from elbowroom import division, placement, proof, record, steps, unsharded
from elbowroom.host_lead import HostLead
from elbowroom.lifetime import Lifetime
from elbowroom.places import Places, Seen, check_tensors, numel, total_bytes
from elbowroom.segment import LEAST_TOTAL, Segment, check_peak
from elbowroom.registrations import Unusable

SUMS = True  # whether this PyTorch lets groups have sums
UNHURRIED = 32  # root forwards after which a program without an optimizer of PyTorch's is taken for settled


class GroupStaging:
    """The buffers of one process group: watched on ordinary memory for a step, then placed once, at the start of a step."""

    def __init__(self, torch: Any, group: Any) -> None:
        self._torch, self._group = torch, group
        self.seen = Seen()
        self.places: Places | None = None
        self._left: Places | None = None  # deregistered, and perhaps still in use
        self.watching = True
        self._owners: list[Any] = []  # weak: parameter groups in the order of their first collective
        self._forwards = 0
        self.steps = steps.Steps()
        self._scatters_without_states: int | None = None
        self._segment: Segment | None = None
        self._lifetime: Lifetime | None = None
        self.direct: unsharded.Direct | None = None
        self.proof: proof.Proof | None = None  # while a step is taken on both memories
        self.lead = HostLead()  # until the buffers are placed
        self._work: tuple[int, int] | None = None  # gathers and scatters of the step before
        self._work_before = (0, 0)  # of all steps before it
        self.entry = record.Entry("FSDP2 staging buffers", record.name_of(group), group.size())

    def number(self, owner: Any) -> int:
        """Of a parameter group: the same on all ranks."""
        for index, known in enumerate(self._owners):
            if known() is owner:
                return index
        self._owners.append(weakref.ref(owner))
        return len(self._owners) - 1

    def gathers_alive(self) -> int:
        """Flat buffers that FSDP2 holds, with the next one. By the program's order alone: a backend may hold a buffer longer on one rank."""
        owners = self._alive()
        contexts = {id(context): context for owner in owners if (context := getattr(owner, "comm_ctx", None)) is not None}.values()
        waiting = sum(getattr(owner, "_all_gather_result", None) is not None for owner in owners)
        # A context has no such state before the first forward.
        return 1 + waiting + sum(getattr(context, "all_gather_state", None) is not None for context in contexts)

    def pass_begins(self) -> None:
        """At the start of a root's forward. The buffers' lifetime begins with a step, once the program has had all that it ever has in memory."""
        self._keep_divisions()
        begun = self.steps.begins()
        if self._lifetime is not None:
            if begun and self.proof is not None:
                self._end_proof()
            if begun:
                self._lifetime.boundary(self._alike())
            self._release_when_free()
            return
        self._forwards += 1
        if steps.optimizers_have_stepped() and self._scatters_without_states is None:
            self._scatters_without_states = self.seen.scatters
        settled = self._scatters_without_states is not None and self.seen.scatters > self._scatters_without_states
        if begun and self.watching and self.seen.scatters and (settled or self._forwards >= UNHURRIED):
            record.add(self.entry)
            self._lifetime = Lifetime(self._torch, self._group, self.entry, self._place, self._leave)
            self._work_before = (self.seen.gathers, self.seen.scatters)
            self._lifetime.boundary(True)

    def _alike(self) -> bool:
        """Whether the step before gathered and scattered as often as the one before it. Counted until the buffers are placed."""
        done = (self.seen.gathers - self._work_before[0], self.seen.scatters - self._work_before[1])
        alike = self._work in (None, done)
        self._work, self._work_before = done, (self.seen.gathers, self.seen.scatters)
        return alike

    def _place(self, boundary: int) -> placement.Held | None:
        problem, self.watching = "", False
        placed = placement.of_group(self._torch, self._group)
        replaced = self.seen.replaced()
        self.direct = self._agreed_slots(placed)
        slots = self.direct.slots if self.direct is not None else []
        try:
            self._segment = self._allocated(placed.allocator(), replaced)
            self.entry.extra_bytes = max(self._segment.size + (0 if self.direct is None else self.direct.extra_bytes) - replaced, 0)
        except Exception as error:
            problem = str(error)
        self.entry.buffers, self.entry.bytes = len(self.seen.sizes()), total_bytes(self.seen)
        summed = self._summed(placed)
        undivided = problem or not summed or division.problem()  # what is not placed compiles nothing
        layout = [self.seen.gathers, self.seen.scatters, self.seen.sizes(), len(summed), not undivided]
        held = placed.place(self.entry, [self._segment, *(slot.segment for slot in slots)], layout, problem, boundary)
        if held is not None:
            self._begin_use(placed, summed, not undivided)
        else:
            self._release()
        return held

    def _release(self) -> None:
        if self._segment is not None:
            self._segment.release()
            self._segment = None
        if self.direct is not None:
            self.direct.release()
            self.direct = None

    def _agreed_slots(self, placed: placement.GroupPlacement) -> unsharded.Direct | None:
        """A rank that cannot have slots keeps the others from them, and nobody from symmetric memory."""
        direct, problem, layout = None, "", {}
        try:
            if unknown := placed.unknown():
                raise Unusable(unknown)
            if self.lead.short():
                raise Unusable("the host is the limit")
            owners = {number: owner() for number, owner in enumerate(self._owners) if owner() is not None}
            beside = max(total_bytes(self.seen) - self.seen.replaced(), 0)
            direct = unsharded.Direct(self._torch, self._group, placed.allocator(), owners, beside, self.entry)
            layout = direct.layout
        except Exception as error:
            problem = str(error)
        self.entry.not_direct = placed.refusal(sorted(layout.items()), problem)
        if not self.entry.not_direct:
            if self.seen.together <= unsharded.SLOTS:  # else some of these groups are gathered into flat buffers
                self.seen.without(layout)
            return direct
        if direct is not None:
            direct.release()
        return None

    def _allocated(self, allocator: Any, replaced: int) -> Segment:
        check_tensors(self._torch)
        needed = total_bytes(self.seen)
        if needed < LEAST_TOTAL:
            raise Unusable(f"{needed} bytes are too few to gain")
        check_peak(self._torch, needed - replaced + (0 if self.direct is None else self.direct.extra_bytes))
        self._torch.cuda.current_stream().synchronize()
        self._torch.cuda.empty_cache()  # the buffers that these replace
        return Segment(self._torch, allocator, needed)

    def _summed(self, placed: placement.GroupPlacement) -> list[Any]:
        """The parameter groups that are to have sums: there are symmetric kernels for sums, and from NCCL 2.30 on for plain means."""
        own = {None, self.entry.ranks} if placed.averages() else set()
        return [owner for owner in self._alive() if SUMS and getattr(owner, "gradient_divide_factor", None) not in own]

    def _begin_use(self, placed: placement.GroupPlacement, summed: list[Any], divides: bool) -> None:
        """At once, or after a step that proves it."""
        if placed.unknown():
            self.proof = proof.Proof(self._torch, Places(self._torch, self._segment.tensor(), self.seen), self.entry.ranks)
        else:
            self._use(summed, divides)

    def _end_proof(self) -> None:
        """At the start of the step behind it, on all ranks."""
        placed, ended, self.proof = placement.of_group(self._torch, self._group), self.proof, None
        refusal = placed.refusal("a step on both memories", ended.verdict())
        if refusal:
            self.places = ended.places  # to be left
            self._lifetime.end(refusal)
        else:
            self._use(self._summed(placed), False)

    def _use(self, summed: list[Any], divides: bool) -> None:
        self.places = Places(self._torch, self._segment.tensor(), self.seen)
        for owner in summed:
            if division.sum_up(owner) and divides:
                division.take_over(self._torch, owner, self.entry.ranks)

    def _alive(self) -> list[Any]:
        """The parameter groups that are still there."""
        return [owner for known in self._owners if (owner := known()) is not None]

    def _keep_divisions(self) -> None:
        """A program may have put a scatter of its own in our place, which divides nothing, or a hook that expects means."""
        for owner in self._alive() if SUMS else ():
            if owner._all_reduce_hook is not None:
                division.average(owner)
            elif not hasattr(owner._reduce_scatter_comm, "divides"):
                division.give_back(owner)

    def _leave(self) -> None:
        """From here on buffers are on ordinary memory. Gradients that lie in the segment stay until the program drops them."""
        self._left, self.places = self.places, None
        if self.direct is not None:
            self.direct.stop(self.entry.reason)
        for owner in self._alive():
            division.average(owner)

    def _release_when_free(self) -> None:
        try:
            if self._left is not None and not self._left.busy():
                self._left, segment, self._segment = None, self._segment, None
                segment.release()
            if self.direct is not None and self.direct.released():
                self.direct = None
        except Exception as error:  # say of an earlier kernel; what is left of the memory stays allocated
            self._left = self.direct = None
            record.refuse_all(f"FSDP2: {record.words_of(error)}")


_stagings: dict[Any, GroupStaging] = {}


def of_group(torch: Any, group: Any) -> GroupStaging:
    if group not in _stagings:
        _stagings[group] = GroupStaging(torch, group)
    return _stagings[group]


def pass_begins() -> None:
    for staging in list(_stagings.values()):
        staging.pass_begins()


def close(group: Any) -> None:
    """Before a process group is destroyed: its parameter groups go on with ordinary memory."""
    for known in list(_stagings) if group is None else [group]:
        staging = _stagings.pop(known, None)
        if staging is not None:
            staging.watching, staging.places = False, None
            if staging.direct is not None:
                staging.direct.stop("the process group was destroyed")


def gather_class(torch: Any, plain: type) -> type:
    class PlacedAllGather(plain):  # type: ignore[misc]
        """Of one parameter group. A subclass, so that what asks for the default class finds it."""

        def __init__(self, owner: Any) -> None:
            super().__init__()
            self._owner = weakref.ref(owner)
            self._staging: GroupStaging | None = None
            self._number = -1

        def allocate(self, size: Any, *, dtype: Any, device: Any) -> Any:
            staging = self._staging
            if staging is None:
                staging = self._staging = of_group(torch, self._owner()._all_gather_process_group)
                self._number = staging.number(self._owner())
            if staging.places is not None:
                count = numel(size)
                place = staging.places.next_gather()
                if place.fits(count * dtype.itemsize) and not torch.cuda.is_current_stream_capturing():
                    if place.busy():
                        staging.entry.waits += 1
                        place.evict()
                    return place.hand_out(count, dtype)
            tensor = super().allocate(size, dtype=dtype, device=device)
            if staging.watching:
                staging.seen.gather(self._number, tensor.nbytes, staging.gathers_alive())
            return tensor

        def __call__(self, output_tensor: Any, input_tensor: Any, group: Any, async_op: bool = False) -> Any:
            work = super().__call__(output_tensor, input_tensor, group, async_op)
            proof = None if self._staging is None else self._staging.proof
            if proof is not None and not async_op and not torch.cuda.is_current_stream_capturing():
                proof.gather(output_tensor, input_tensor, group, super().__call__)
            return work

        def direct(self, async_op: bool, copy_in: Any, gathers: Any) -> Any:
            """The result of this group's gather, straight into its parameters. None: into a flat buffer."""
            staging = self._staging
            if staging is not None and staging.watching and not torch.cuda.is_current_stream_capturing():
                staging.lead.gather(torch.cuda.current_stream())
            if staging is None or staging.direct is None:
                return None
            return staging.direct.gathered(self._owner(), async_op, copy_in, gathers)

    return PlacedAllGather


def scatter_class(torch: Any, plain: type) -> type:
    class PlacedReduceScatter(plain):  # type: ignore[misc]
        """Of one parameter group. FSDP2 allocates the input, then the result, then calls it."""

        divides = True

        def __init__(self, owner: Any) -> None:
            super().__init__()
            self._owner = weakref.ref(owner)
            self._staging: GroupStaging | None = None
            self._number = -1
            self._placed_input = False
            self._input_count = 0  # not 0: the result comes next
            self._by_way_of: Any = None  # where the collective writes what is then copied to the result

        def allocate(self, size: Any, *, dtype: Any, device: Any) -> Any:
            if self._staging is None:
                self._staging = of_group(torch, self._owner()._reduce_scatter_process_group)
                self._number = self._staging.number(self._owner())
            count = numel(size)
            if self._input_count != 0:
                placed = self._result(count, dtype)
                return super().allocate(size, dtype=dtype, device=device) if placed is None else placed
            self._input_count = count
            placed = self._input(count, dtype)
            tensor = super().allocate(size, dtype=dtype, device=device) if placed is None else placed
            return division.due(self._owner(), tensor, self._staging.entry.ranks)

        def _input(self, count: int, dtype: Any) -> Any:
            staging, size = self._staging, count * dtype.itemsize
            staging.steps.sent()
            self._placed_input = False
            if staging.watching:
                staging.seen.scatter(size)
            if staging.places is None or torch.cuda.is_current_stream_capturing() or keeps_inputs(self._owner()):
                return None
            place = staging.places.scatter_input
            if not place.fits(size) or not staging.places.passing.fits(size // staging.entry.ranks):
                return None
            if place.busy():
                staging.entry.waits += 1
                place.evict()
            self._placed_input = True
            return place.hand_out(count, dtype)

        def _result(self, count: int, dtype: Any) -> Any:
            """None: ordinary memory. With a placed input NCCL still writes to registered memory, the same way on all ranks."""
            staging, size = self._staging, count * dtype.itemsize
            stays = result_stays(self._owner(), dtype)
            if staging.watching:
                staging.seen.result(self._number, size, bool(stays))
            if not self._placed_input or staging.places is None:
                return None
            own = staging.places.staying(self._number)
            if stays and own is not None and own.fits(size) and not own.busy():
                return own.hand_out(count, dtype)
            passing = staging.places.passing.hand_out(count, dtype)
            if stays is False and is_read_in_order(self._owner()):
                return passing
            self._by_way_of = passing
            return None

        def __call__(self, output_tensor: Any, input_tensor: Any, group: Any, op: Any, async_op: bool = False) -> Any:
            self._input_count = 0
            division.settle(input_tensor)
            target, self._by_way_of = self._by_way_of, None
            if target is None:
                work = super().__call__(output_tensor, input_tensor, group, op, async_op)
                if self._staging.proof is not None and not async_op and not torch.cuda.is_current_stream_capturing():
                    self._staging.proof.scatter(output_tensor, input_tensor, group, op, super().__call__)
                return work
            work = super().__call__(target, input_tensor, group, op, False)
            output_tensor.copy_(target)
            self._staging.entry.copies += 1
            return work

    return PlacedReduceScatter


def result_stays(owner: Any, dtype: Any) -> bool | None:
    """Whether a scatter's result is the memory of gradients; else it is cast or copied and gone. None: nobody knows."""
    types = division.kept_types(owner)
    if not types:
        return None
    return any(kept in (dtype, None) for kept in types) and not any(parameter.offload_to_cpu for parameter in owner.fsdp_params)


def is_read_in_order(owner: Any) -> bool:
    """Whether only the scatters' own stream reads a result that does not stay."""
    return getattr(owner, "_all_reduce_hook", owner) is None and getattr(owner.mesh_info, "replicate_process_group", None) is None


def keeps_inputs(owner: Any) -> bool:
    """Whether the program lets several inputs of scatters wait at once (`set_reduce_scatter_max_input_buffers`, PyTorch 2.15). There is one place."""
    return getattr(getattr(owner, "comm_ctx", None), "reduce_scatter_max_input_buffers", 1) > 1
