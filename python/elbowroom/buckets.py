"""DistributedDataParallel's buckets on symmetric memory.

Its reducer makes the buckets in C++: once when it is constructed, and once more at the first forward after the first backward, when it
knows the order of the gradients. Where the graph is static that is one forward later. The last making is the one that counts. Both happen
on all ranks together.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable
from typing import Any

from elbowroom import placement, proof, record, steps
from elbowroom.in_place import InPlace
from elbowroom.lifetime import Lifetime
from elbowroom.segment import LEAST_TOTAL, Segment
from elbowroom.registrations import Unusable


VIEWS_VARIABLE = "ELBOWROOM_RUN_GRADIENT_VIEWS"  # set by `elbowroom run --gradient-views`
# Of a reducer's arguments behind the process group, in PyTorch 2.9 and later.
POSITIONS = {"find_unused_parameters": 2, "gradient_as_bucket_view": 3, "lazy_bucket_allocation": 10}

# What a reducer is told that has its gradients reduced or copied in another way, and why they do not stay in buckets then.
OTHER_WAYS = {
    "_set_optimizer_in_backward": "the optimizer runs in the backward pass",
    "_set_mixed_precision_param_dtype": "parameters have two types",
    "_remove_autograd_hooks": "the reducer was set aside",
    "_delay_all_reduce": "gradients are sent after the backward pass",
}
STATIC = "the graph is static"
REPLACED = "the process group was replaced"
JOINS = "ranks with fewer inputs join"
LAZY = "each backward pass allocates buckets of its own"
FINAL_LATER = "the program says when gradients are final"


def asked_for(name: str, rest: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Whether a reducer is made with this argument. Older PyTorch has not all of them."""
    position = POSITIONS[name]
    return bool(rest[position] if len(rest) > position else named.get(name, False))


def with_views(rest: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A reducer's arguments behind the process group, with gradients as views of buckets where the user allowed them."""
    if os.environ.get(VIEWS_VARIABLE) != "1":
        return rest, named
    position = POSITIONS["gradient_as_bucket_view"]
    if len(rest) > position:
        return (*rest[:position], True, *rest[position + 1 :]), named
    return rest, named | {"gradient_as_bucket_view": True}


class BucketPlacer:
    """Makes the buckets of one reducer inside a segment of their own."""

    def __init__(self, torch: Any, parameters: list[Any], group: Any) -> None:
        self._torch, self._group = torch, group
        self._bytes = sum(parameter.numel() * parameter.element_size() for parameter in parameters)
        self._room = self._bytes + 512 * len(parameters)
        self._devices = {parameter.device for parameter in parameters}
        self._entry = record.Entry("DDP buckets", record.name_of(group), group.size(), bytes=self._bytes)
        self._segment: Segment | None = None
        self._replaced: Segment | None = None  # what the buckets leave when they are made again
        self._layout: list[list[int]] = []
        self._problem = ""

    def make(self, construct: Callable[[], Any]) -> Any:
        """Calls `construct`, which makes the buckets if it returns anything but False, as it does on all ranks or on none."""
        with contextlib.ExitStack() as pool:
            try:
                _release_dropped()
                self._segment = self._opened()
                self._segment.owner = weakref.ref(self)
                _segments.append(self._segment)
                pool.enter_context(self._segment.allocating())
            except Exception as error:
                self._give_back()
                self._problem = record.words_of(error)
            made = construct()
        if made is False:
            self._give_back()
            return made
        replaced, self._replaced = self._replaced, None
        _release(replaced)
        record.add(self._entry)
        self._give_back_dropped()
        try:
            if self._segment is not None:
                self._layout = self._segment.placed()
                self._torch.cuda.empty_cache()  # the buckets that these replace
                self._entry.extra_bytes = self._segment.size - self._bytes
        except Exception as error:
            self._problem = str(error)
        self._entry.buffers = len(self._layout)
        record.write()
        return made

    def lifetime(self, in_place: InPlace | None) -> Lifetime:
        """Of the buckets that were made. They stay where they are when they are deregistered, which frees nothing."""

        def register(boundary: int) -> placement.Held | None:
            placed = held = None
            self._give_back_dropped()  # again: what was sent last was still known to PyTorch
            try:
                placed = placement.of_group(self._torch, self._group)
                held = self._proven(placed, placed.place(self._entry, [self._segment], self._layout, self._problem, boundary), boundary)
            except Exception as error:
                self._problem = self._problem or record.words_of(error)
                self.refuse(self._problem)
            if in_place is not None:
                in_place.start(placed, held, self._problem or ("" if held is None else placed.unknown()))
                if self._segment is not None:
                    self._segment.lent = in_place.lent()
            return held

        def given_back() -> None:
            if in_place is not None:
                in_place.each_for_itself()

        made = Lifetime(self._torch, self._group, self._entry, register, given_back, frees=False)
        if in_place is not None:
            in_place.on_leave = _weakly(made.leave)
        return made

    def _proven(self, placed: placement.GroupPlacement, held: placement.Held | None, boundary: int) -> placement.Held | None:
        """Where nobody has measured: None where a sum in the registered memory is not what it is elsewhere, on all ranks."""
        if held is None or not placed.unknown():
            return held
        refusal = placed.refusal("a sum on both memories", proof.sums_differ(self._torch, self._group, self._segment.first(proof.SAMPLE)))
        if refusal:
            placed.give_back(self._entry, held, boundary, refusal)
        return None if refusal else held

    def in_place(self, reducer: Any, parameters: list[Any]) -> InPlace | None:
        try:
            return InPlace(self._torch, reducer, parameters, self._entry)
        except Exception as error:  # say of a parameter that takes no hooks
            self._entry.not_in_place = record.words_of(error)
            return None

    def refuse(self, reason: str) -> None:
        """Of buckets that are not placed after all."""
        self._entry.state, self._entry.reason = "refused", reason
        record.add(self._entry)
        record.write()

    def release_when_free(self, in_place: InPlace) -> None:
        """The segment, once the buckets have left it and the program has none of its memory any more."""
        if self._segment is not None and self._entry.state != "registered" and in_place.has_left():
            self._give_back()

    def begin_again(self) -> None:
        """The buckets that were made are not those that count. They stay where they are until they are made again."""
        self._replaced, self._segment, self._layout, self._problem = self._segment, None, [], ""

    def _give_back_dropped(self) -> None:
        """Where ranks come together: not every call of `make` makes buckets, and a rank that asks there could wait for others."""
        try:
            placement.of_group(self._torch, self._group).give_back_dropped()
        except Exception as error:
            self._problem = self._problem or record.words_of(error)
        _release_dropped()

    def _give_back(self) -> None:
        """The memory, to be asked for again by the next making."""
        segment, self._segment, self._problem = self._segment, None, ""
        _release(segment)

    def _opened(self) -> Segment:
        if self._devices != {self._torch.device("cuda", self._torch.cuda.current_device())}:
            raise Unusable("the parameters are not on the current device")
        placed = placement.of_group(self._torch, self._group)
        segment = Segment(self._torch, placed.allocator(), self._room)
        segment.open()
        return segment

    def keep(self) -> None:
        """The segment, also when the model has gone: a CUDA graph has addresses in it."""
        if self._segment is not None:
            self._segment.owner = None


_segments: list[Segment] = []  # that buckets were made in; one whose model was dropped goes when the next buckets are made


def _release_dropped() -> None:
    for segment in [segment for segment in _segments if not segment.registered and segment.dropped()]:
        _release(segment)


def _release(segment: Segment | None) -> None:
    try:
        if segment is not None:
            if segment in _segments:
                _segments.remove(segment)
            segment.release()
    except Exception as error:  # say of an earlier kernel
        record.refuse_all(f"DDP buckets: {error}")


def _weakly(method: Callable[[str], None]) -> Callable[[str], None]:
    """Calls `method` while its object is there. A model that is dropped goes at once, without the garbage collector."""
    found = weakref.WeakMethod(method)

    def call(reason: str) -> None:
        alive = found()
        if alive is not None:
            alive(reason)

    return call


def not_worth_it(parameters: list[Any], group: Any) -> str:
    """Empty, or why nothing is placed: the same on all ranks, since they have the same parameters. Nothing is asked of a group whose parameters are elsewhere."""
    devices = {parameter.device.type for parameter in parameters}
    if devices != {"cuda"}:
        return f"parameters are on {', '.join(sorted(devices))}"
    if group.size() < 2:
        return "the process group has one rank"
    size = sum(parameter.numel() * parameter.element_size() for parameter in parameters)
    return "" if size >= LEAST_TOTAL else f"{size} bytes are too few to gain"


def _placer(torch: Any, parameters: list[Any], group: Any) -> BucketPlacer | None:
    """None: the buckets are PyTorch's alone. Process groups may be of any class, and raise what they like."""
    try:
        reason = not_worth_it(parameters, group)
        if not reason:
            return BucketPlacer(torch, parameters, group)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    record.refuse_all(f"DDP buckets: {reason}")
    return None


def reducer_class(torch: Any, plain: type, stays: bool = True) -> type:
    """`plain`, with its buckets on symmetric memory. Made once, since PyTorch may compare the class. `stays`: gradients may stay in buckets."""

    class Reducer(plain):  # type: ignore[misc]
        def __init__(self, params: Any, bucket_indices: Any, per_bucket_size_limits: Any, process_group: Any, *rest: Any, **named: Any):
            def construct() -> None:
                plain.__init__(self, params, bucket_indices, per_bucket_size_limits, process_group, *rest, **named)

            self.group = process_group
            self.copies: Any = None  # what a compression hook sends instead of the buckets
            self._parameters = list(params)
            self._placer: BucketPlacer | None = None
            self._made: BucketPlacer | None = None
            self._constructed: BucketPlacer | None = None
            self._lifetime: Lifetime | None = None
            self._in_place: InPlace | None = None
            self._synchronizes = False
            self._steps = steps.Steps()
            steps.watch_optimizers()
            self._forwards, self._too_early = 0, 1  # forwards whose gradients are sent, until the order of gradients is known
            placer = _placer(torch, self._parameters, process_group)
            if placer is None:
                return construct()
            rest, named = with_views(rest, named)
            if asked_for("lazy_bucket_allocation", rest, named):  # a segment would be held for nothing
                placer.refuse(LAZY)
                return construct()
            if asked_for("find_unused_parameters", rest, named):  # such a reducer keeps the buckets of its construction, unless the graph is static
                placer.make(construct)
                self._constructed, self._lifetime = placer, placer.lifetime(None)
                return None
            construct()
            self._placer = placer
            if stays and not asked_for("gradient_as_bucket_view", rest, named):
                self._in_place = placer.in_place(self, self._parameters)

        def on_gpus(self) -> bool:
            """The same on all ranks: whether its gradients can be sent by NCCL."""
            return {parameter.device.type for parameter in self._parameters} == {"cuda"} and self.group.size() > 1

        def dtypes(self) -> set[Any]:
            return {parameter.dtype for parameter in self._parameters}

        def prepare_for_forward(self) -> None:
            """At each forward whose gradients are sent, before `_rebuild_buckets`; not while gradients are accumulated."""
            self._synchronizes = True
            plain.prepare_for_forward(self)

        def prepare_for_backward(self, *outputs: Any) -> None:
            """At the end of each forward whose gradients are sent."""
            plain.prepare_for_backward(self, *outputs)
            if self._in_place is not None:
                self._in_place.expect()

        def in_another_way(self, reason: str) -> None:
            """Gradients are not just the sums that buckets hold. At the same point of the program on all ranks."""
            if self._in_place is not None:
                self._in_place.quit(reason)

        def _set_static_graph(self) -> None:
            """Before the first forward. From here on buckets are rebuilt, also where unused parameters are found."""
            self.in_another_way(STATIC)
            plain._set_static_graph(self)
            self._too_early = 2  # the first backward counts gradients, the second one notes their order
            if self._constructed is not None:
                self._constructed.begin_again()
                self._placer, self._constructed, self._lifetime = self._constructed, None, None

        def _update_process_group(self, group: Any) -> None:
            """Ranks of the old group may have gone, so none is asked."""
            if self._in_place is not None:
                self._in_place.abandon(REPLACED)
            if self._lifetime is not None:
                self._lifetime.abandon(REPLACED)
            self._refuse(REPLACED)
            plain._update_process_group(self, group)
            self.group = group

        def _set_manual_finalization_required(self, required: bool) -> None:
            """Gradients are final before or behind the end of the backward pass, and until then not what the buckets hold."""
            if required and self._in_place is not None:
                self._in_place.stop_giving(FINAL_LATER)
            plain._set_manual_finalization_required(self, required)

        def leave(self, reason: str) -> None:
            """The buckets are on ordinary memory from here on. At the same point of the program on all ranks."""
            self.in_another_way(reason)
            if self._lifetime is not None:
                self._lifetime.end(reason)
            self._refuse(reason)

        def _refuse(self, reason: str) -> None:
            """Buckets that are still to be made are PyTorch's alone."""
            if self._placer is not None:
                self._placer.refuse(reason)
            self._placer = self._constructed = None

        def _rebuild_buckets(self) -> bool:
            """At each forward that is followed by a backward."""
            sends, self._synchronizes = self._synchronizes, False
            begun = self._steps.begins()
            if sends:
                self._steps.sent()
            made = self._made or self._constructed
            if made is not None and torch.cuda.is_current_stream_capturing():
                made.keep()
            if self._lifetime is not None:
                if begun:
                    self._lifetime.boundary(self._steps.alike)
                if self._in_place is not None and self._made is not None:
                    self._made.release_when_free(self._in_place)
            if self.copies is not None:
                if begun:
                    self.copies.step_begins(self._steps.alike)
                return plain._rebuild_buckets(self)
            placer = self._placer
            if placer is None:
                return plain._rebuild_buckets(self)
            before, self._forwards = self._forwards, self._forwards + sends
            if before < self._too_early:  # not while gradients are accumulated, however long that is
                return plain._rebuild_buckets(self)
            made = placer.make(lambda: plain._rebuild_buckets(self))
            if made:
                self._placer, self._made, self._lifetime = None, placer, placer.lifetime(self._in_place)
            return made

    for name, reason in OTHER_WAYS.items():
        if hasattr(plain, name):
            setattr(Reducer, name, _quitting(getattr(plain, name), reason))
    Reducer.__name__, Reducer.__qualname__, Reducer.__module__ = plain.__name__, plain.__qualname__, plain.__module__
    return Reducer


def _quitting(plain: Callable[..., Any], reason: str) -> Callable[..., Any]:
    def told(self: Any, *arguments: Any, **named: Any) -> Any:
        self.in_another_way(reason)
        return plain(self, *arguments, **named)

    return told
