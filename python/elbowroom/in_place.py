"""Gradients that stay in DDP's buckets, while the program drops them before the next ones come.

DDP copies every bucket back into the gradients behind the backward pass. PyTorch leaves out a copy to where the data are already. So at the
end of a backward pass, just before DDP's copies, gradients are given the buckets' memory. A gradient that is given none is copied as ever.

The next backward pass overwrites the buckets. It must not while somebody still has one of these gradients: then the buckets move to other
memory. Registered ones can do so on all ranks alone, so ranks tell each other before the first gradient of a pass is copied in.

A device has one thread for the backward passes of all models. Who waits there for another rank keeps the other models' passes from beginning,
and that rank may wait for one of these. So whoever waits tells for the other models of its process as well.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from elbowroom import placement, readers, record
from elbowroom.board import Board
from elbowroom.registrations import Unusable
from elbowroom.shares import Share, flat_buckets, references_alone, written

SWITCH = "ELBOWROOM_RUN_IN_PLACE"  # 0: gradients are copied back, on all ranks
WAIT = 600.0  # seconds for the slowest rank, where the process group does not say how long it waits
PAUSE = 20e-6  # seconds between two looks at the other ranks
OTHERS = 0.01  # seconds between two looks at the other models of the process, while a rank is waited for
DOUBT = 5.0  # seconds after which another model's gradients are taken for kept, if they are still there

_asking: weakref.WeakValueDictionary[int, InPlace] = weakref.WeakValueDictionary()  # those whose ranks tell each other
_telling = threading.RLock()  # a signal handler may come in between


class InPlace:
    """Of one reducer, whose buckets lie in a pool of their own. `expect` and `start` are called at the same points by all ranks."""

    def __init__(self, torch: Any, reducer: Any, parameters: list[Any], entry: record.Entry) -> None:
        self._torch, self._entry = torch, entry
        self._reducer, self._parameters = weakref.ref(reducer), parameters
        self._shares: list[Share] = []
        self._share_of: dict[int, Share] = {}  # by the parameter's id
        self._alone: tuple[int, ...] = ()
        self._flats: list[Any] = []
        self._copies: list[int] = []  # into each bucket, in one pass
        self._written: list[int] = []  # before the pass
        self._watched: list[Any] = []  # weak: storages of the gradients of the pass before `start`
        self._kept = self._dropped = False
        self._gives = True  # until a gradient cannot be looked at, or the program says when gradients are final
        self._sent = True  # and no gradient has come since
        self._passes = self._dropping = 0  # watched, and those that found no gradient of the pass before
        self._board: Board | None = None
        self._started = self._expected = self._told = self._moved = False
        self._step = self._left = 0
        self._patience: Any = None  # seconds that the process group waits
        self.on_leave: Any = None  # called with the reason once registered buckets have moved, on all ranks
        own = weakref.ref(self)

        def accumulated(parameter: Any) -> None:
            feature = own()
            if feature is not None:
                feature._accumulated(parameter)

        self._handles = [parameter.register_post_accumulate_grad_hook(accumulated) for parameter in parameters]
        weakref.finalize(self, _remove, self._handles)

    # --- what the reducer and its lifetime say -----------------------------------------------------------------------------------------------

    def expect(self) -> None:
        """At the end of a forward: the gradients of the next backward pass are sent."""
        with _telling:
            if self._left:  # an error has ended a pass
                self._left, self._told = 0, False
            self._expected = True
        self.tell_early(False)  # so that nobody waits in the backward pass

    def tell_early(self, in_doubt: bool) -> None:
        """Says whether the buckets are free for the expected pass, before it begins. `in_doubt`: also where the program may still drop its gradients."""
        with _telling:
            if self._board is None or not self._expected or self._told or self._left:
                return
            free = not self._in_use()
            if free or in_doubt:
                self._tell(self._step + 1, not free)
                self._told = True

    def start(self, placed: placement.GroupPlacement, held: placement.Held | None, problem: str) -> None:
        """From the next backward pass on gradients stay in the buckets. Registered buckets: on all ranks or on none.

        `problem`: why the buckets have no pool of their own.
        """
        try:
            if not problem:
                self._prepare(held)
        except Exception as error:
            problem = str(error)
        if held is not None:
            layout = [[share.bucket, share.offset] for share in self._shares]
            problem = placed.refusal(layout, problem)
            self._board, self._patience = held.board, placed.timeout
            _asking[id(self)] = self
        if problem:
            self._end(problem)
        self._started = not problem

    def each_for_itself(self) -> None:
        """The buckets are not registered any more. On all ranks at once."""
        with _telling:
            self._board, self._told = None, False

    def quit(self, reason: str) -> None:
        """Gradients are copied back from here on. At the same point of the program on all ranks."""
        if not self._handles:
            return
        in_use = self._in_use()
        if self._board is not None:  # all or none: registered buckets that only some ranks leave would hang
            with _telling:
                self._step, self._told = self._step + 1, self._told and not self._left  # inside a pass it has told of that one
                if in_use or not self._told:
                    self._tell(self._step, in_use)
                self._told = True
            in_use = self._keeping_rank() is not None
        if in_use:
            self._leave(reason)
        else:
            self._end(reason)

    def stop_giving(self, reason: str) -> None:
        """Gradients are copied back from here on, on this rank. The others go on asking it whether its buckets are free."""
        if not self._handles:
            return
        self._gives, self._entry.not_in_place = False, reason
        if self._started:
            record.write()
        else:
            self._end(reason)

    def abandon(self, reason: str) -> None:
        """Buckets that the other ranks do not use any more: this rank's affair, whether registered or not."""
        self.each_for_itself()
        self.quit(reason)

    def has_left(self) -> bool:
        """Whether the buckets have moved, and nothing of the program lies where they were."""
        if not self._moved or self._in_use():
            return False
        readers.forget(self._shares)
        self._shares = []
        return True

    def lent(self) -> list[Any]:
        """Weak: the storages of the gradients that lie in buckets. They do not keep the memory."""
        return _weak([share.gradient_storage() for share in self._shares])

    def _in_use(self) -> bool:
        return any(share.in_use() for share in self._shares)

    def _prepare(self, held: placement.Held | None) -> None:
        if not self._handles:
            raise Unusable(self._entry.not_in_place)
        if os.environ.get(SWITCH, "1") == "0":
            raise Unusable(f"{SWITCH} is 0")
        if held is not None and held.board is None:
            raise Unusable("the ranks share no page")
        if self._kept:
            raise Unusable("the program keeps gradients of the step before")
        if not self._dropping or self._dropping < self._passes:
            raise Unusable("the program does not drop its gradients before each step")
        self._flats, self._copies, self._shares = flat_buckets(self._torch, self._reducer())
        self._share_of = {id(share.parameter): share for share in self._shares}
        self._alone = references_alone(self._torch)
        readers.watch(self._torch, self._shares)

    # --- a backward pass ---------------------------------------------------------------------------------------------------------------------

    def _accumulated(self, parameter: Any) -> None:
        """A parameter has its gradient. Before the reducer copies it into the bucket, where it is to be sent."""
        if self._sent:
            self._guarded(self._look_for_dropped, parameter)
        if not self._expected:
            return
        if not self._left:
            with _telling:
                self._left = len(self._parameters)
            self._begin()
            self._guarded(self._withdraw, parameter)  # nobody knows whether the first one was dropped
        elif not self._dropped:
            self._guarded(self._withdraw, parameter)
        with _telling:
            self._left -= 1
            if not self._left:
                self._expected = self._told = False
        if not self._left:
            self._torch.autograd.Variable._execution_engine.queue_callback(self._finish)  # before the reducer queues its copies

    def _withdraw(self, parameter: Any) -> None:
        """What was accumulated in the bucket gets memory of its own before DDP sends it: the pass may end in the middle, or somebody read it."""
        share = self._share_of.get(id(parameter))
        if share is not None:
            share.withdraw()

    def _look_for_dropped(self, first: Any) -> None:
        """At the first gradient since gradients were sent, whose parameter may be any. More may be accumulated before they are sent again."""
        self._sent = self._dropped = False
        self._dropped = all(parameter.grad is None for parameter in self._parameters if parameter is not first)

    def _begin(self) -> None:
        """At the first gradient of a pass whose gradients are sent."""
        if not self._started:
            self._guarded(self._watch_begin)
            return
        self._step += 1
        self._written = written(self._flats)
        keeper = self._keeper()
        if keeper:
            self._leave(keeper)
        elif self._torch.cuda.is_current_stream_capturing():
            self.quit("a CUDA graph writes into the buckets")  # at any time from here on
        else:
            readers.wait(self._torch, self._shares)

    def _keeper(self) -> str:
        """Empty, or who has gradients of the step before; the same on all ranks that share registered buckets."""
        kept = not self._told and self._kept_any()
        if self._board is None:
            return "the program keeps gradients of the step before" if kept else ""
        if not self._told:
            self._tell(self._step, kept)
        rank = self._keeping_rank()
        return "" if rank is None else f"rank {rank}: the program keeps gradients of the step before"

    def _kept_any(self) -> bool:
        """What cannot be looked at counts as kept."""
        try:
            return any(share.kept() for share in self._shares)
        except Exception:
            return True

    def _tell(self, number: int, kept: bool) -> None:
        if kept:
            self._board.tell_kept(number)
        else:
            self._board.tell_free(number)

    def _keeping_rank(self) -> int | None:
        """The first rank whose buckets are not free. Waits until all have told."""
        wait = (self._patience() if self._patience is not None else 0.0) or WAIT
        begun = looked = time.monotonic()
        while (silent := self._board.silent(self._step)) is not None:
            now = time.monotonic()
            if now - begun > wait:
                raise RuntimeError(f"elbowroom: rank {silent} has not begun its backward pass within {wait:.0f} s")
            if now - looked > OTHERS:
                looked = now
                self._tell_of_others(now - begun > DOUBT)
            time.sleep(PAUSE)
        return self._board.keeper(self._step)

    def _tell_of_others(self, in_doubt: bool) -> None:
        for known in _asking.valuerefs():
            other = known()
            if other is not None and other is not self:
                other.tell_early(in_doubt)

    def _finish(self) -> None:
        """All gradients of the pass are there, and DDP has launched all buckets."""
        self._sent = True
        self._guarded(self._give if self._started else self._watch_end)

    def _give(self) -> None:
        """Lets gradients stay in the buckets."""
        # A parameter that was moved to another device or type has lost DDP's hook: then DDP has copied nothing.
        copied = all(now - then >= count for now, then, count in zip(written(self._flats), self._written, self._copies, strict=True))
        if self._dropped and copied and self._gives:
            for share in self._shares:
                self._entry.in_place += share.give(self._alone)

    def _guarded(self, look: Callable[..., None], *arguments: Any) -> None:
        """Programs may have gradients of kinds that nobody thought of. Where one cannot be looked at, no more are given on this rank."""
        try:
            look(*arguments)
        except Exception as error:
            self.stop_giving(record.words_of(error))

    # --- the program's habits ----------------------------------------------------------------------------------------------------------------

    def _watch_begin(self) -> None:
        if self._watched:
            self._passes += 1
            self._dropping += self._dropped
            own = {storage._cdata for storage in self._storages()}
            self._kept |= any(not storage.expired() and storage.cdata not in own for storage in self._watched)

    def _watch_end(self) -> None:
        self._watched = _weak(self._storages())

    def _storages(self) -> list[Any]:
        """Of the gradients that have one; sparse ones have several or none."""
        gradients = (parameter.grad for parameter in self._parameters)
        return [gradient.untyped_storage() for gradient in gradients if gradient is not None and gradient.layout is self._torch.strided]

    # --- the end -----------------------------------------------------------------------------------------------------------------------------

    def _leave(self, reason: str) -> None:
        """Moves the buckets to ordinary memory. What the program holds stays where it is."""
        for flat in self._flats:
            move(self._torch, flat)
        self._moved = True
        self._end(reason)
        if self.on_leave is not None:
            self.on_leave(reason)

    def _end(self, reason: str) -> None:
        self._entry.not_in_place = reason
        self._started = self._expected = False
        with _telling:
            self._board = None
        self._flats, self._watched, self._share_of = [], [], {}
        _remove(self._handles)
        record.write()


def move(torch: Any, flat: Any) -> None:
    """Gives a bucket other memory, under all of its views. Its pool keeps the memory that it leaves."""
    size = flat.nbytes
    room = torch.empty(size, dtype=torch.uint8, device=flat.device)  # an error here leaves the bucket as it is
    del room
    storage = flat.untyped_storage()
    storage.resize_(0)
    storage.resize_(size)


def _weak(storages: list[Any]) -> list[Any]:
    kind = sys.modules["torch.multiprocessing.reductions"].StorageWeakRef
    return [kind(storage) for storage in storages]


def _remove(handles: list[Any]) -> None:
    while handles:
        handles.pop().remove()
