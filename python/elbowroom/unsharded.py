"""FSDP2's gathers straight into the parameters.

FSDP2 gathers a layer into one flat buffer and copies that into the parameters. Here each parameter is gathered where it is read, by one group
of all-gathers. The parameters lie in two slots that take turns, each registered with NCCL. Which gather takes which slot depends on the
program alone, so it is the same on all ranks. What has no slot is gathered by FSDP2 as ever.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
import os
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from elbowroom import parts, record
from elbowroom.segment import LARGE_BLOCK, Segment, check_peak
from elbowroom.registrations import Unusable

SWITCH = "ELBOWROOM_RUN_DIRECT_GATHERS"  # 0: flat buffers
SLOTS = 2
BLOCK = 512  # the allocator rounds to these
_SLOT = "_elbowroom_slot"  # of a parameter group whose parameters lie in one
COMPILED_BACKWARDS = ("compiled_autograd_enabled", "in_compiled_autograd_region")  # flags of PyTorch's
LATER = "layers that came later are gathered as ever"
GATHERED_BESIDE = ("FORWARD", "PRE_BACKWARD")  # states in which FSDP2 gathers on streams of its own


def outputs_of(owner: Any) -> list[Any]:
    """The whole tensors that a parameter group's shards are gathered to; their storages are empty while it is sharded."""
    return [tensor for parameter in owner.fsdp_params for tensor in parameter.all_gather_outputs]


def takes_turns(owner: Any) -> bool:
    """Whether the parameters of a group come and go with its layer."""
    return owner._reshard_after_forward and not owner._use_post_forward_mesh and not keeps_memory(owner)


def keeps_memory(owner: Any) -> bool:
    """Whether parameters stay where they are while they are sharded (`set_keep_unsharded_storage`, PyTorch 2.15)."""
    return any(getattr(parameter, "keep_unsharded_storage", False) for parameter in owner.fsdp_params)


def copies_out_itself(owner: Any) -> bool:
    """Whether something else than FSDP2's own function takes apart what was gathered (PyTorch 2.15)."""
    own = getattr(sys.modules.get(parts.COLLECTIVES), "_default_all_gather_output_fn", None)
    return getattr(owner, "_all_gather_output_fn", own) is not own


def _is_gathered_whole(parameter: Any) -> bool:
    """Whether it is nothing but what was gathered, in the order of the ranks."""
    own = any(hasattr(parameter._sharded_local_tensor, f"fsdp_{when}_all_gather") for when in ("pre", "post"))
    return len(parameter.all_gather_outputs) == 1 and parameter.fsdp_placement.dim == 0 and not own and not parameter.offload_to_cpu


def gathered_bytes(owner: Any) -> list[int]:
    """Of each parameter. Empty: the group gets no slot."""
    if not takes_turns(owner) or not all(map(_is_gathered_whole, owner.fsdp_params)):
        return []
    outputs = outputs_of(owner)
    alike = len({tensor.dtype for tensor in outputs}) == 1 and not any(tensor.is_inference() for tensor in outputs)
    sizes = [tensor.nbytes for tensor in outputs]
    return sizes if alike and max(sizes) > LARGE_BLOCK else []


def small_bytes(sizes: list[int]) -> int:
    """Of what the allocator puts elsewhere; it is gathered into a flat buffer in the slot."""
    return sum(size for size in sizes if size <= LARGE_BLOCK)


def rounded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


class Views:
    """One parameter group's memory in one slot, taken apart once for all its gathers."""

    def __init__(self, torch: Any, slot: Slot, owner: Any, rank: int, ranks: int) -> None:
        self._torch, self._rank, self._ranks = torch, rank, ranks
        self.outputs = outputs_of(owner)
        self.large = [tensor for tensor in self.outputs if tensor.nbytes > LARGE_BLOCK]
        small = [tensor for tensor in self.outputs if tensor.nbytes <= LARGE_BLOCK]
        dtype = self.outputs[0].dtype
        flat = slot.bytes[: sum(tensor.nbytes for tensor in small)].view(dtype)
        self._rows, self._parts = flat.view(ranks, flat.numel() // ranks), [tensor.numel() // ranks for tensor in small]
        self._small = [tensor.data.view(ranks, -1) for tensor in small]  # with versions of their own: autograd counts no gathers
        ends = list(itertools.accumulate((rounded(tensor.nbytes) for tensor in self.large), initial=slot.first))
        self.lie_at([slot.bytes[begin : begin + tensor.nbytes].view(dtype) for begin, tensor in zip(ends, self.large, strict=False)])

    def lie_at(self, whole: list[Any]) -> None:
        """`whole`: the memory of the large parameters."""
        self.whole, self.addresses = whole, [tensor.data_ptr() for tensor in whole]
        self.into = whole + [self._rows.view(-1)] * bool(self._small)  # gathered, each in place
        self.sent = [tensor.view(self._ranks, -1)[self._rank] for tensor in self.into]
        large_parts = iter(self.sent)
        small_parts = iter(self._rows[self._rank].split(self._parts) if self._small else ())
        self.shards = [next(large_parts if tensor.nbytes > LARGE_BLOCK else small_parts) for tensor in self.outputs]

    def fit(self, owner: Any) -> bool:
        """False where the program has made the group's tensors anew."""
        now = outputs_of(owner)
        return len(now) == len(self.outputs) and all(map(operator.is_, now, self.outputs))

    def spread(self) -> None:
        """Copies small parameters out of their flat buffer."""
        if self._small:
            self._torch.split_with_sizes_copy(self._rows, self._parts, dim=1, out=self._small)

    def copy_out(self) -> None:
        """For parameters that lie elsewhere."""
        self._torch._foreach_copy_([tensor.data for tensor in self.large], self.whole)
        self.spread()


class Slot:
    """Registered memory for the parameters of one group at a time: a flat buffer of the small ones, then the others one behind another."""

    def __init__(self, torch: Any, allocator: Any, first: int, size: int, turns: Iterator[int]) -> None:
        self._torch, self._turns = torch, turns
        self._stream = torch.cuda.Stream()  # the allocator gives memory of one stream to that stream alone; nothing runs there
        with torch.cuda.stream(self._stream):
            self.segment = Segment(torch, allocator, size)
        whole = self.segment.tensor()
        self.bytes = _not_owned(torch, whole)
        del whole
        self.segment.open()
        self.size, self.first = self.segment.size, first
        with self.allocating():
            self._flat = torch.empty(first, dtype=torch.uint8, device=self.bytes.device) if first else None
        self.left_at = next(turns)
        self._owner: Any = None  # kept alive: that a model is gone is noticed at another time on each rank
        self._views: Any = None
        self._moved = False
        self._gathered: Any = None
        self._reader: Any = None
        self._read: list[Any] = []  # events after which nobody uses what is there
        self._lost = False

    @contextlib.contextmanager
    def allocating(self) -> Iterator[None]:
        with self._torch.cuda.stream(self._stream), self.segment.allocating():
            yield

    def check_order(self, sizes: list[int]) -> None:
        """Unusable where the allocator would put a group's parameters elsewhere, say because of its settings."""
        with self.allocating():
            held = [self._torch.empty(size, dtype=self._torch.uint8, device="cuda") for size in sizes if size > LARGE_BLOCK]
        expected = itertools.accumulate(map(rounded, (tensor.nbytes for tensor in held)), initial=self.segment.address + self.first)
        if any(tensor.data_ptr() != address for tensor, address in zip(held, expected, strict=False)):
            raise Unusable("the allocator does not place parameters one behind another")

    def vacant(self) -> bool:
        """Also where a group was gathered and never used. By the program's order alone."""
        if self._lost or self._owner is None:
            return not self._lost
        if not self._owner.is_sharded or self._owner._all_gather_result is not None:
            return False
        self.abandon()
        return True

    def abandon(self) -> None:
        """Of a group whose parameters were gathered here and never read."""
        owner, self._owner = self._owner, None
        for tensor in self._views.outputs:
            tensor.untyped_storage().resize_(0)
        owner.__dict__.pop(_SLOT, None)
        self._read = [self._gathered]

    def take(self, owner: Any, views: Views, stream: Any) -> None:
        """Gives the group's parameters memory here; `stream` is the first to write. Where this rank's allocator has put a parameter
        elsewhere, the rank waits for its device, since it does not know who uses its place, and copies later."""
        for event in self._read:
            stream.wait_event(event)
        self._read, self._reader = [], None
        self._owner, self._views, owner.__dict__[_SLOT] = owner, views, self
        with self.allocating():
            for parameter in owner.fsdp_params:
                parameter.alloc_all_gather_outputs()
        self._moved = [tensor.data_ptr() for tensor in views.large] != views.addresses
        if self._moved:
            for tensor in views.outputs:
                tensor.untyped_storage().resize_(0)
            self._torch.cuda.synchronize()

    def gathered(self, stream: Any) -> Any:
        """On `stream`, behind the gathers. Their event."""
        if not self._moved:
            self._views.spread()
        self._gathered = stream.record_event()
        return self._gathered

    def read_by(self, stream: Any) -> bool:
        """Whether the parameters lie elsewhere and were copied there, as FSDP2 does it."""
        stream.wait_event(self._gathered)
        self._reader = stream
        if self._moved:
            for parameter in self._owner.fsdp_params:
                parameter.alloc_all_gather_outputs()
            self._views.copy_out()
        return self._moved

    def leave(self) -> None:
        """The group is sharded again. Who read is on the stream that waited for the gather, or ordered before the current one."""
        stay = keeps_memory(self._owner)
        self._owner, self.left_at = None, next(self._turns)
        if stay or self._torch.cuda.is_current_stream_capturing():
            self._lost = True  # a graph may read here at any time, or the parameters have stayed
            return
        current = self._torch.cuda.current_stream()
        self._read = [stream.record_event() for stream in {current, self._reader or current}]

    def release(self) -> None:
        """Waits for the readers: memory that is only unmapped would not."""
        for event in self._read:
            event.synchronize()
        self.bytes = self._flat = self._views = None
        self.segment.release()


class Direct:
    """The slots of one process group's parameter groups. Made and released by all ranks or none."""

    def __init__(self, torch: Any, group: Any, allocator: Any, owners: dict[int, Any], beside: int, entry: record.Entry) -> None:
        """`owners` by their numbers; `beside`: bytes that will be placed as well. Unusable where there is nothing to gain, or too little
        memory."""
        self._torch, self._group, self._entry = torch, group, entry
        if os.environ.get(SWITCH, "1") == "0":
            raise Unusable(f"{SWITCH} is 0")
        _check_seam()
        self.layout = {number: sizes for number, owner in owners.items() if (sizes := gathered_bytes(owner))}
        if len(self.layout) < SLOTS:
            raise Unusable("no parameters come and go with their layers")
        small = max(map(small_bytes, self.layout.values()))
        first = max(rounded(small), LARGE_BLOCK + BLOCK) if small else 0
        most = max(sum(rounded(size) for size in sizes if size > LARGE_BLOCK) for sizes in self.layout.values())
        check_peak(torch, beside + SLOTS * (first + most) - most)  # FSDP2 has memory for one layer's parameters already
        self._options = torch.distributed.distributed_c10d.AllgatherOptions()
        self._options.asyncOp = False
        self.slots: list[Slot] = []
        self._over = False
        self._here = weakref.WeakSet(owners.values())
        try:
            self._make_slots(allocator, owners, first, most)
        except Exception:
            self.release()
            raise
        self.extra_bytes = SLOTS * self.slots[0].size - most

    def _make_slots(self, allocator: Any, owners: dict[int, Any], first: int, most: int) -> None:
        turns = itertools.count()
        for _ in range(SLOTS):
            self.slots.append(Slot(self._torch, allocator, first, first + most, turns))
            for sizes in {tuple(sizes) for sizes in self.layout.values()}:
                self.slots[-1].check_order(list(sizes))
        rank, ranks = self._group.rank(), self._group.size()
        with self._torch.inference_mode(False), self._torch.no_grad():
            self._views = {
                (id(owners[number]), slot): Views(self._torch, slot, owners[number], rank, ranks) for number in self.layout for slot in self.slots
            }

    def gathered(self, owner: Any, async_op: bool, copy_in: Any, gathers: Any) -> Any:
        """The result of the group's gather, launched on these streams. None: FSDP2 gathers into its flat buffer, on all ranks."""
        before = owner.__dict__.get(_SLOT)
        if before is not None:
            before.abandon()
        if self._over or async_op or owner._training_state.name not in GATHERED_BESIDE or not takes_turns(owner) or copies_out_itself(owner):
            return None
        if _traced(self._torch) or self._torch.cuda.is_current_stream_capturing():
            return None
        slot = self._slot_for(owner)
        if slot is None:
            return None
        views = self._views[id(owner), slot]
        slot.take(owner, views, copy_in)
        torch = self._torch
        with torch.no_grad():
            with torch.cuda.stream(copy_in):
                torch._foreach_copy_(views.shards, [parameter._sharded_param_data for parameter in owner.fsdp_params])
            gathers.wait_stream(copy_in)
            with torch.cuda.stream(gathers):
                work = self._group.allgather_into_tensor_coalesced(views.into, views.sent, self._options)
                if work is not None:
                    work.wait()
                event = slot.gathered(gathers)
        self._entry.direct += 1
        return _result(event, slot, self._entry)

    def _slot_for(self, owner: Any) -> Slot | None:
        """The one that was left the longest ago, so that the gather waits for the oldest reader."""
        known = self._views.get((id(owner), self.slots[0])) if self.slots else None
        if owner not in self._here and not self._entry.not_direct:
            self._entry.not_direct = LATER
            record.write()
        if known is None or not known.fit(owner):
            return None
        return min((slot for slot in self.slots if slot.vacant()), key=lambda slot: slot.left_at, default=None)

    def stop(self, reason: str) -> None:
        """No direct gathers from here on, on any rank. Parameters stay where they are until they are sharded."""
        self._over, self._entry.not_direct = True, reason

    def released(self) -> bool:
        """At the start of a step: whether all memory is given back, after `stop`."""
        if self._over and not self._torch.cuda.is_current_stream_capturing() and all(slot.vacant() for slot in self.slots):
            self.release()
        return not self.slots

    def release(self) -> None:
        self._views: dict[Any, Views] = {}
        while self.slots:
            self.slots.pop().release()


class Gather:
    """In the place of FSDP2's function that gathers, which `plain` is."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def __call__(self, fsdp_params: Any, group: Any, async_op: bool, copy_in: Any, gathers: Any, device: Any, comm: Any, **named: Any) -> Any:
        direct = None if named else getattr(comm, "direct", None)
        result = None if direct is None else direct(async_op, copy_in, gathers)
        return self._plain(fsdp_params, group, async_op, copy_in, gathers, device, comm, **named) if result is None else result


class CopyOut:
    """In the place of FSDP2's function that copies out, which `plain` is."""

    def __init__(self, torch: Any, plain: Any) -> None:
        self._torch, self._plain = torch, plain

    def __call__(self, all_gather_result: Any, fsdp_params: Any, group: Any, **named: Any) -> None:
        slot = getattr(all_gather_result, "slot", None)
        if slot is None:
            self._plain(all_gather_result, fsdp_params, group, **named)
            return
        with self._torch.no_grad():
            if slot.read_by(self._torch.cuda.current_stream()):
                all_gather_result.entry.copies += 1


def _not_owned(torch: Any, whole: Any) -> Any:
    """The same bytes. Gathers write there wherever parameters lie, at offsets that are those of all ranks."""
    storage = torch._C._construct_storage_from_data_pointer(whole.data_ptr(), whole.device, whole.nbytes)
    return torch.empty(0, dtype=torch.uint8, device=whole.device).set_(storage, 0, (whole.nbytes,))


def left(owner: Any) -> None:
    """A parameter group is sharded again, and was not before."""
    slot = owner.__dict__.pop(_SLOT, None)
    if slot is not None:
        slot.leave()


def _check_seam() -> None:
    if not isinstance(getattr(sys.modules.get(parts.GROUPS), parts.GATHER, None), Gather):
        raise Unusable("this PyTorch gathers parameters in another way")


def _traced(torch: Any) -> bool:
    """Compiled backwards make the parameters' tensors anew for each gather."""
    backwards = sys.modules.get("torch._dynamo.compiled_autograd")
    return torch.compiler.is_compiling() or any(getattr(backwards, name, False) for name in COMPILED_BACKWARDS)


def _result(event: Any, slot: Slot, entry: record.Entry) -> Any:
    kind = _with_slot(sys.modules[parts.GROUPS].AllGatherResult)
    result = kind._make([event if field == "all_gather_event" else None for field in kind._fields])
    result.slot, result.entry = slot, entry
    return result


@functools.cache
def _with_slot(kind: type) -> Any:
    return type(kind.__name__, (kind,), {})
