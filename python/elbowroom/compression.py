"""What PyTorch's compression hooks of DistributedDataParallel send, on symmetric memory.

Such a hook sends a copy of the bucket in a shorter type. Each bucket's copy gets a place of its own in one segment. The arithmetic, the
future and what happens to the bucket are PyTorch's. A hook of the user's own is left as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from elbowroom import placement, record
from elbowroom.lifetime import Lifetime
from elbowroom.places import Place, aligned, check_tensors
from elbowroom.segment import LEAST_TOTAL, Segment, check_peak
from elbowroom.registrations import Unusable

HOOKS = "torch.distributed.algorithms.ddp_comm_hooks.default_hooks"


class Copies:
    """Of the buckets of one reducer. Two steps that sent the same begin their lifetime; once registered, each has its place."""

    def __init__(self, torch: Any, group: Any) -> None:
        self._torch, self.group = torch, group
        self._sent: dict[int, tuple[int, Any]] = {}  # by bucket: elements and type
        self._sent_before: dict[int, tuple[int, Any]] = {}
        self._places: dict[int, Place] = {}
        self._watching = True
        self._segment: Segment | None = None
        self._lifetime: Lifetime | None = None
        self.entry = record.Entry("DDP compressed copies", record.name_of(group), group.size())

    def of(self, bucket: Any, dtype: Any) -> Any:
        """The bucket's buffer as `dtype`: the buffer itself where it has this type."""
        buffer = bucket.buffer()
        if buffer.dtype == dtype:
            return buffer
        place = self._places.get(bucket.index())
        if place is not None and place.fits(buffer.numel() * dtype.itemsize) and not self._torch.cuda.is_current_stream_capturing():
            return place.hand_out(buffer.numel(), dtype).copy_(buffer)
        if self._watching:
            self._sent[bucket.index()] = (buffer.numel(), dtype)
        return buffer.to(dtype)

    def step_begins(self, alike: bool) -> None:
        """At the first forward of a step, on all ranks. `alike`: the step before had as many passes as the one before it."""
        if self._lifetime is not None:
            self._lifetime.boundary(alike)
        elif self._sent and self._sent == self._sent_before:
            self._lifetime = Lifetime(self._torch, self.group, self.entry, self._place, self._end)
            record.add(self.entry)
        elif self._sent:
            self._sent, self._sent_before = {}, self._sent

    def _layout(self) -> list[list[Any]]:
        """In the order of the buckets."""
        return [[index, count, str(dtype)] for index, (count, dtype) in sorted(self._sent.items())]

    def _place(self, boundary: int) -> placement.Held | None:
        problem, sizes = "", [count * dtype.itemsize for count, dtype in self._sent.values()]
        self._watching = False
        self.entry.buffers, self.entry.bytes = len(sizes), sum(sizes)
        placed = placement.of_group(self._torch, self.group)
        try:
            self._segment = self._allocated(placed.allocator(), sizes)
            self.entry.extra_bytes = self._segment.size - max(sizes)  # one copy at least was there at a time
        except Exception as error:
            problem = str(error)
        held = placed.place(self.entry, [self._segment], self._layout(), problem, boundary)
        if held is not None:
            self._use()
        else:
            self._end()
        return held

    def _end(self) -> None:
        """The copies are on ordinary memory from here on. Gradients were taken from them at the end of the step before."""
        self._places.clear()
        if self._segment is not None:
            self._segment.release()
            self._segment = None

    def _allocated(self, allocator: Any, sizes: list[int]) -> Segment:
        check_tensors(self._torch)
        if sum(sizes) < LEAST_TOTAL:
            raise Unusable(f"{sum(sizes)} bytes are too few to gain")
        needed = sum(aligned(size) for size in sizes)
        check_peak(self._torch, needed - max(sizes))
        return Segment(self._torch, allocator, needed)

    def _use(self) -> None:
        offset = 0
        for index, (count, dtype) in sorted(self._sent.items()):
            size = count * dtype.itemsize
            # A storage of its own: the reducer takes the offsets of gradients from the beginning of the storage.
            self._places[index] = Place(self._torch, self._segment.tensor(), offset, aligned(size))
            offset += aligned(size)


def placed_hook(torch: Any, reducer: Any, state: Any, hook: Callable[..., Any]) -> Callable[..., Any]:
    """`hook`, or what does the same by way of `reducer`'s copies where `hook` is one of PyTorch's that compress."""
    hooks = sys.modules.get(HOOKS)
    group = torch.distributed.group.WORLD if state is None else state
    if hooks is None or group is not reducer.group or not reducer.on_gpus():
        return hook
    compressed = _compressing(torch, hooks)
    inner, dtype = None, compressed.get(hook)
    if dtype is None:
        inner, dtype = _wrapped(torch, hooks, hook)
    if dtype is None or reducer.dtypes() == {dtype}:
        return hook
    reducer.copies = Copies(torch, group)
    return _sending(torch, reducer.copies, dtype, hook) if inner is None else _wrapping(reducer.copies, dtype, inner)


def _compressing(torch: Any, hooks: Any) -> dict[Any, Any]:
    known = {"bf16_compress_hook": torch.bfloat16, "fp16_compress_hook": torch.float16}
    return {getattr(hooks, name): dtype for name, dtype in known.items() if hasattr(hooks, name)}


def _wrapped(torch: Any, hooks: Any, hook: Any) -> tuple[Any, Any]:
    """The hook inside one of PyTorch's wrappers, and the wrapper's type. Only the inner hook that sends the bucket as it is."""
    known = {"bf16_compress_wrapper": torch.bfloat16, "fp16_compress_wrapper": torch.float16}
    code, plain = getattr(hook, "__code__", None), getattr(hooks, "allreduce_hook", None)
    for name, dtype in known.items():
        wrapper = getattr(getattr(hooks, name, None), "__code__", None)
        if code is not None and wrapper is not None and code in wrapper.co_consts and "hook" in code.co_freevars:
            inner = hook.__closure__[code.co_freevars.index("hook")].cell_contents
            return (inner, dtype) if plain is not None and inner is plain else (None, None)
    return None, None


def _sending(torch: Any, copies: Copies, dtype: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    def compress(state: Any, bucket: Any) -> Any:
        if isinstance(bucket, tuple) or torch.compiler.is_compiling():
            return plain(state, bucket)
        buffer = bucket.buffer()
        copy = copies.of(bucket, dtype).div_(copies.group.size())
        future = torch.distributed.all_reduce(copy, group=copies.group, async_op=True).get_future()
        return future.then(lambda sent: buffer.copy_(sent.value()[0]))

    return compress


def _wrapping(copies: Copies, dtype: Any, inner: Callable[..., Any]) -> Callable[..., Any]:
    def compress(state: Any, bucket: Any) -> Any:
        bucket.set_buffer(copies.of(bucket, dtype))
        return inner(state, bucket).then(lambda sent: bucket.buffer().copy_(sent.value()))

    return compress
