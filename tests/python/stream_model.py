"""A model of streams, of memory on a device and of FSDP2's parameter groups: each operation knows what is ordered before it, and memory raises
where something is written while it may be read, or read before it is written.
"""

from __future__ import annotations

import contextlib
import itertools
import weakref
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import stand_ins  # puts the package on the path

from elbowroom import parts, record, unsharded

assert stand_ins.PYTHON


@dataclass(eq=False)
class Operation:
    stream: Any
    number: int
    before: dict[Any, int]  # of each stream the last operation that is ordered before this one

    def follows(self, other: Operation) -> bool:
        return self.before.get(other.stream, 0) >= other.number


class Stream:
    cuda_stream = 1
    host: dict[Any, int] = {}  # what the host has waited for

    def __init__(self, priority: int = 0) -> None:
        self.before: dict[Any, int] = {}

    def launch(self) -> Operation:
        number = self.before.get(self, 0) + 1
        self.before[self] = number
        return Operation(self, number, dict(self.before))

    def record_event(self) -> Any:
        before = dict(self.before)
        return SimpleNamespace(before=before, synchronize=lambda: Stream.host.update(before))

    def wait_event(self, event: Any) -> None:
        for stream, number in event.before.items():
            self.before[stream] = max(number, self.before.get(stream, 0))

    def wait_stream(self, other: Stream) -> None:
        self.wait_event(other)


@dataclass(eq=False)
class Memory:
    """What one tenant at a time writes and reads."""

    tenant: Any = None
    written: list[Operation] = field(default_factory=list)
    read: list[Operation] = field(default_factory=list)

    def write(self, operation: Operation, tenant: Any) -> None:
        for earlier in self.read + ([] if tenant is self.tenant else self.written):
            if not operation.follows(earlier):
                raise AssertionError("written while it is read")
        if tenant is not self.tenant:
            self.tenant, self.written, self.read = tenant, [], []
        self.written.append(operation)

    def look(self, operation: Operation, tenant: Any) -> None:
        if tenant is not self.tenant or not all(operation.follows(write) for write in self.written):
            raise AssertionError("read before it is written")
        self.read.append(operation)


class Segment:
    inside: Segment | None = None
    made: list[Segment] = []

    def __init__(self, torch: Any, allocator: Any, size: int) -> None:
        self.size, self.address, self.begin, self.end = size, (1 + len(Segment.made)) << 30, 0, 0
        self.memory, self.live, self.released = Memory(), set(), False
        Segment.made.append(self)

    def tensor(self) -> Segment:
        return self

    def open(self) -> None:
        pass

    @contextlib.contextmanager
    def allocating(self) -> Any:
        if self.live:
            raise AssertionError("two groups in one slot")
        Segment.inside, self.end = self, self.begin
        try:
            yield
        finally:
            Segment.inside = None

    def release(self) -> None:
        self.released = all(Stream.host.get(read.stream, 0) >= read.number for read in self.memory.read)


class Tensor:
    """Of a parameter; its storage comes and goes."""

    dtype = "bf16"

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.segment, self.offset, self.allocated = nbytes, None, 0, False

    def is_inference(self) -> bool:
        return False

    def untyped_storage(self) -> Tensor:
        return self

    def resize_(self, size: int) -> None:
        if size and not self.allocated:
            self.segment = Segment.inside
            if self.segment is not None:
                self.offset, self.segment.end = self.segment.end, self.segment.end + size
                self.segment.live.add(self)
        elif not size and self.segment is not None:
            self.segment.live.discard(self)
            self.segment = None
        self.allocated = size > 0

    def data_ptr(self) -> int:
        return 0 if self.segment is None else self.segment.address + self.offset


class Parameter:
    fsdp_placement = SimpleNamespace(dim=0)
    offload_to_cpu = False
    _sharded_local_tensor = _sharded_param_data = None

    def __init__(self, nbytes: int) -> None:
        self.all_gather_outputs = [Tensor(nbytes)]

    def alloc_all_gather_outputs(self) -> None:
        for tensor in self.all_gather_outputs:
            tensor.resize_(tensor.nbytes)


class Views:
    """One group's memory in a slot, which is the slot's memory as a whole."""

    def __init__(self, torch: Any, slot: unsharded.Slot, owner: Group, rank: int, ranks: int) -> None:
        self.outputs = self.large = unsharded.outputs_of(owner)
        self.program, self.group, self.memory = owner.program, weakref.ref(owner), slot.segment.memory
        offsets = itertools.accumulate((tensor.nbytes for tensor in self.large), initial=slot.segment.address)
        self.addresses = [offset for offset, _ in zip(offsets, self.large, strict=False)]
        self.shards = self.into = self.sent = self

    def write(self) -> None:
        self.memory.write(self.program.current.launch(), self.group().key)

    def fit(self, owner: Group) -> bool:
        return unsharded.outputs_of(owner) == self.outputs

    def spread(self) -> None:
        pass

    def copy_out(self) -> None:
        self.memory.look(self.program.current.launch(), self.group().key)


class Result(NamedTuple):
    all_gather_output: Any
    all_gather_event: Any
    all_gather_work: Any


class Program:
    """FSDP2's streams, flat buffers in turn, and its way to wait for them. It is the process group, too."""

    def __init__(self, flats: int) -> None:
        self.compute, self.copies, self.gathers = Stream(), Stream(), Stream()
        self.current, self.capturing = self.compute, False
        self.flats, self.turn = [Memory() for _ in range(flats)], 0
        self.deferred: Any = None
        self.torch = SimpleNamespace(
            compiler=SimpleNamespace(is_compiling=lambda: False),
            no_grad=contextlib.nullcontext,
            inference_mode=contextlib.nullcontext,
            empty=lambda size, **of: size,
            uint8=None,
            _foreach_copy_=lambda views, shards: views.write(),
            distributed=SimpleNamespace(distributed_c10d=SimpleNamespace(AllgatherOptions=SimpleNamespace)),
            cuda=SimpleNamespace(
                Stream=Stream, stream=self.on, current_stream=lambda: self.current, is_current_stream_capturing=lambda: self.capturing,
                synchronize=self.synchronize,
            ),
        )
        self.gather_seam = unsharded.Gather(self.gather)
        self.seam = unsharded.CopyOut(self.torch, self.copy_out)
        self.module = SimpleNamespace(
            AllGatherResult=Result, **{parts.GATHER: self.gather_seam, parts.COPY_OUT: self.seam}
        )
        self.direct: Any = None
        self.synchronized = 0
        self.entry = record.Entry("", "", 2)

    rank, size = staticmethod(lambda: 0), staticmethod(lambda: 2)

    @contextlib.contextmanager
    def on(self, stream: Stream) -> Any:
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def synchronize(self) -> None:
        """The host waits for the device: what it launches from here on follows all."""
        self.synchronized += 1
        streams = [self.compute, self.copies, self.gathers]
        for stream in streams:
            for other in streams:
                stream.wait_stream(other)

    def allgather_into_tensor_coalesced(self, into: Views, sent: Views, options: Any) -> None:
        assert not options.asyncOp
        into.write()

    def gather(self, parameters: Any, group: Any, work: Any, copy_in: Stream, gathers: Stream, device: Any, comm: Any) -> Result:
        flat = self.flats[self.turn % len(self.flats)]
        self.turn += 1
        gathers.wait_stream(copy_in)
        flat.write(gathers.launch(), object())
        return Result(flat, gathers.record_event(), work or None)

    def copy_out(self, result: Result, parameters: list[Parameter], group: Any) -> None:
        self.current.wait_event(result.all_gather_event)
        for parameter in parameters:
            parameter.alloc_all_gather_outputs()
        result.all_gather_output.look(self.current.launch(), result.all_gather_output.tenant)

    def begin(self, owners: list[Group]) -> None:
        self.both_wait(self.current)
        if self.direct is None:
            self.direct = unsharded.Direct(self.torch, self, None, dict(enumerate(owners)), 0, self.entry)

    def both_wait(self, event: Any) -> None:
        self.copies.wait_event(event)
        self.gathers.wait_event(event)


class Group:
    """FSDPParamGroup."""

    _use_post_forward_mesh = False

    def __init__(self, program: Program, sizes: list[int], comes_and_goes: bool = True) -> None:
        self.program, self._reshard_after_forward = program, comes_and_goes
        self.key = object()  # of a gather: what a slot has of another one is not this group's either
        self.fsdp_params = [Parameter(size) for size in sizes]
        self.is_sharded, self._all_gather_result, self._training_state = True, None, SimpleNamespace(name="IDLE")
        self._all_gather_comm = SimpleNamespace(direct=self.direct)

    def direct(self, work: Any, copy_in: Stream, gathers: Stream) -> Any:
        return None if self.program.direct is None else self.program.direct.gathered(self, work, copy_in, gathers)

    def unshard(self, state: str, work: Any = False) -> None:
        if self._all_gather_result is not None or not self.is_sharded:
            return
        program, before = self.program, self._training_state
        self._training_state, self.key = SimpleNamespace(name=state), object()
        beside = state in unsharded.GATHERED_BESIDE and not work
        streams = (program.copies, program.gathers) if beside else (program.current, program.current)
        self._all_gather_result = program.gather_seam(self.fsdp_params, program, work, *streams, None, self._all_gather_comm)
        self._training_state = before

    def wait(self, state: str) -> None:
        if self._all_gather_result is None:
            return
        program = self.program
        if state == "FORWARD" and program.deferred is not None:
            program.both_wait(program.deferred)
            program.deferred = None
        program.seam(self._all_gather_result, self.fsdp_params, program)
        self.is_sharded = False
        copied = program.current.record_event()
        if state == "FORWARD":
            program.deferred = copied
        else:
            program.both_wait(copied)
        self._all_gather_result = None

    def compute(self) -> Operation:
        operation = self.program.current.launch()
        for parameter in self.fsdp_params:
            tensor = parameter.all_gather_outputs[0]
            assert tensor.allocated
            if tensor.segment is not None:
                tensor.segment.memory.look(operation, self.key)
        return operation

    def reshard(self) -> None:
        held, self.is_sharded = not self.is_sharded, True
        if held:
            for tensor in unsharded.outputs_of(self):
                tensor.resize_(0)
            unsharded.left(self)

    def finalize(self) -> None:
        if self._all_gather_result is not None:
            self.program.current.wait_event(self._all_gather_result.all_gather_event)
            self._all_gather_result = None
