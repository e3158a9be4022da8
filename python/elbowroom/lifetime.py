"""One set of buffers, from the first step that is timed to the end.

Some steps are timed on ordinary memory, then the set is registered, then as many are timed again. Where they are proven slower all ranks
give the set back. They do so too where memory runs short, if giving back frees any. All ranks call `boundary` at the same points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elbowroom import placement, record, timing
from elbowroom.board import NOT_SLOWER, SLOWER, Board
from elbowroom.placement import Held

STEPS = 8  # timed before the registration, and after it
UNTIMED_BEFORE = 1
UNTIMED_AFTER = 2  # kernels are loaded at their first launch
LOOK_EVERY = 8  # boundaries between two looks at the allocator's counts
# Why a set is given back: what stands on the board is the rank times this, plus one of the reasons.
REASONS = 8
PROVEN_SLOWER, RETRIED, RAN_OUT = 1, 2, 3
WORDS = {PROVEN_SLOWER: "steps became slower", RETRIED: "the allocator had to retry", RAN_OUT: "an allocation failed"}
ACCUMULATES = "not compared: steps are not alike"


class Lifetime:
    def __init__(
        self,
        torch: Any,
        group: Any,
        entry: record.Entry,
        register: Callable[[int], Held | None],  # takes the number of the boundary, registers on all ranks or on none
        give_back: Callable[[], None],  # called when the set is deregistered
        frees: bool = True,  # whether that frees memory
    ) -> None:
        self._torch, self._group, self._entry = torch, group, entry
        self._register, self._give_back, self._frees = register, give_back, frees
        self._number = 0
        self._held: Held | None = None
        self._board: Board | None = None
        self._before, self._after = timing.Clock(torch, STEPS), timing.Clock(torch, STEPS)
        self._untimed = UNTIMED_BEFORE
        self._failures = (0, 0)
        self._left = ""  # why no rank uses the set any more
        self._phase: Callable[[Lifetime, bool], None] = Lifetime._timed_before  # not bound: it would keep this object alive

    def boundary(self, alike: bool) -> None:
        """At the start of a step. `alike`: the step before did what the others did, on all ranks."""
        if self._torch.cuda.is_current_stream_capturing():
            return
        self._number += 1
        try:
            if self._board is not None and self._board.arrive(self._number):
                rank, reason = divmod(self._board.wished(), REASONS)
                self._end(f"rank {rank}: {WORDS[reason]}")
            elif self._left and self._held is not None:
                self._end(self._left)
            self._phase(self, alike)
        except Exception as error:
            self._fail(error)

    def leave(self, reason: str) -> None:
        """No rank uses the set any more: it is given back at the next boundary. Called by all ranks between the same boundaries."""
        self._left = reason

    def end(self, reason: str) -> None:
        """Gives the set back at once, where it is registered. Called by all ranks at the same point of the program."""
        self._phase = Lifetime._over
        try:
            if self._held is not None:
                self._end(reason)
        except Exception as error:
            self._fail(error)

    def abandon(self, reason: str) -> None:
        """Ranks of the group may have gone: nobody is asked any more. What is registered stays so until the group is destroyed."""
        self._board = self._held = None
        self._stay(reason)

    def _fail(self, error: Exception) -> None:
        """The program goes on, with the set as it is."""
        self._stay(record.words_of(error))

    def _stay(self, reason: str) -> None:
        self._phase = Lifetime._over
        self._entry.reason = self._entry.reason or reason
        if self._entry.state == "waiting":
            self._entry.state = "refused"
        record.write()

    def _timed_before(self, alike: bool) -> None:
        if self._untimed:
            self._untimed -= 1
            return
        if not alike:
            self._entry.compared = ACCUMULATES
            return self._registered()
        self._before.mark()
        if self._before.full():
            self._registered()

    def _registered(self) -> None:
        self._phase = Lifetime._over
        self._held = self._register(self._number)
        if self._held is None:
            return
        self._board = self._held.board
        if self._board is None:
            self._entry.compared = self._entry.compared or "not compared: the ranks share no page"
            return
        self._board.arrive(self._number)
        self._failures = self._counted()
        self._untimed = UNTIMED_AFTER
        self._phase = Lifetime._watched if self._entry.compared else Lifetime._timed_after

    def _timed_after(self, alike: bool) -> None:
        if self._untimed:
            self._untimed -= 1
            return
        self._after.mark()
        if self._after.full():
            self._phase = Lifetime._judged

    def _judged(self, alike: bool) -> None:
        """Rank 0 judges; the others report its verdict with times of their own."""
        if not (self._before.known() and self._after.known()):
            return
        before, after = self._before.milliseconds(), self._after.milliseconds()
        if self._group.rank() == 0:
            self._board.tell_verdict(SLOWER if timing.proven_slower(before, after) else NOT_SLOWER)
        verdict = self._board.verdict()
        if not verdict:
            return
        self._entry.ordinary_ms, self._entry.symmetric_ms = timing.median(before), timing.median(after)
        self._entry.compared = "slower" if verdict == SLOWER else "not slower"
        if verdict == SLOWER:
            self._board.wish(PROVEN_SLOWER)
        record.write()
        self._phase = Lifetime._watched

    def _watched(self, alike: bool) -> None:
        if not self._frees or self._number % LOOK_EVERY:
            return
        retried, ran_out = (now > then for now, then in zip(self._counted(), self._failures, strict=True))
        if retried or ran_out:
            self._board.wish(REASONS * self._group.rank() + (RAN_OUT if ran_out else RETRIED))

    def _over(self, alike: bool) -> None:
        pass

    def _end(self, reason: str) -> None:
        self._board = None
        self._phase = Lifetime._over
        placed = placement.of_group(self._torch, self._group)
        if placed.give_back(self._entry, self._held, self._number, reason):
            self._give_back()
        self._held = None
        record.write()

    def _counted(self) -> tuple[int, int]:
        """How often an allocation of the program failed at first, and for good."""
        counts = self._torch.cuda.memory_stats_as_nested_dict()
        return counts.get("num_alloc_retries", 0), counts.get("num_ooms", 0)
