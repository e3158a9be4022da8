"""A page of memory that the ranks of one host share: at which boundary each rank is, and at which they act together.

A rank that wants something says so here. Rank 0 answers with a boundary that no rank has come to yet. Nobody waits, and a step costs a
few reads and writes.

For each backward pass a rank also says whether its buckets are free. Passes are counted from 1, alike on all ranks.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

FOLDER = "/dev/shm"
AHEAD = 8  # boundaries between the furthest rank and the one at which all act: none may pass it before it is told
# Places of 64-bit numbers. The ranks' boundaries begin at RANKS; behind them come their passes.
WISH, MEETING, VERDICT, RANKS = 0, 1, 2, 3
NOT_SLOWER, SLOWER = 1, 2


class Board:
    def __init__(self, path: str, rank: int, ranks: int) -> None:
        self._rank, self._passes = rank, RANKS + ranks
        with open(path, "r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), _bytes(ranks))).cast("q")

    def arrive(self, boundary: int) -> bool:
        """This rank is at `boundary`. True: here all act together."""
        numbers = self._numbers
        numbers[RANKS + self._rank] = boundary  # before MEETING is read: rank 0 writes and reads in the other order
        if self._rank == 0 and numbers[WISH] and not numbers[MEETING]:
            self._meet()
        return numbers[MEETING] == boundary

    def _meet(self) -> None:
        """Only where all ranks look at this page: who has no page never arrives."""
        arrived = self._numbers[RANKS : self._passes].tolist()
        if all(arrived):
            self._numbers[MEETING] = max(arrived) + AHEAD

    def wish(self, reason: int) -> None:
        """The first wish stands; of two at once either may."""
        if not self._numbers[WISH]:
            self._numbers[WISH] = reason

    def wished(self) -> int:
        return self._numbers[WISH]

    def tell_verdict(self, verdict: int) -> None:
        self._numbers[VERDICT] = verdict

    def verdict(self) -> int:
        """0: rank 0 does not know it yet."""
        return self._numbers[VERDICT]

    def tell_free(self, number: int) -> None:
        """This rank's buckets are free for this pass."""
        self._numbers[self._passes + self._rank] = number

    def tell_kept(self, number: int) -> None:
        """They are not, from this pass on. A rank that has said so says nothing more."""
        self._numbers[self._passes + self._rank] = -number

    def silent(self, number: int) -> int | None:
        """A rank that has not spoken of this pass yet."""
        told = self._numbers[self._passes :].tolist()
        return next((rank for rank, value in enumerate(told) if abs(value) < number), None)

    def keeper(self, number: int) -> int | None:
        """The first rank whose buckets are not free for this pass. The same on all ranks, once none is silent."""
        told = self._numbers[self._passes :].tolist()
        return next((rank for rank, value in enumerate(told) if -number <= value < 0), None)


def _bytes(ranks: int) -> int:
    return 8 * (RANKS + 2 * ranks)


def make_page(ranks: int) -> str:
    """A file for `Board`; it can be removed as soon as all ranks have opened it.

    Its memory is there from the begin: in a full /dev/shm a write to a page without any would end the process (SIGBUS).
    """
    descriptor, path = tempfile.mkstemp(prefix="elbowroom-", dir=FOLDER)
    try:
        os.posix_fallocate(descriptor, 0, _bytes(ranks))
    except OSError:
        remove_page(path)
        raise
    finally:
        os.close(descriptor)
    return path


def remove_page(path: str) -> None:
    if path:
        Path(path).unlink(missing_ok=True)
