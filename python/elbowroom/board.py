"""A page of memory that the ranks of one host share: at which boundary each rank is, and at which they act together.

A rank that wants something says so here. Rank 0 answers with a boundary that no rank has come to yet. Nobody waits, and a step costs a
few reads and writes.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

FOLDER = "/dev/shm"
AHEAD = 8  # boundaries between the furthest rank and the one at which all act: none may pass it before it is told
WISH, MEETING, VERDICT, RANKS = 0, 1, 2, 3  # places of 64-bit numbers; the ranks' boundaries begin at RANKS
NOT_SLOWER, SLOWER = 1, 2


class Board:
    def __init__(self, path: str, rank: int, ranks: int) -> None:
        self._rank, self._ranks = rank, ranks
        with open(path, "r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 8 * (RANKS + ranks))).cast("q")

    def arrive(self, boundary: int) -> bool:
        """This rank is at `boundary`. True: here all act together."""
        numbers = self._numbers
        numbers[RANKS + self._rank] = boundary  # before MEETING is read: rank 0 writes and reads in the other order
        if self._rank == 0 and numbers[WISH] and not numbers[MEETING]:
            self._meet()
        return numbers[MEETING] == boundary

    def _meet(self) -> None:
        """Only where all ranks look at this page: who has no page never arrives."""
        arrived = self._numbers[RANKS : RANKS + self._ranks].tolist()
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


def make_page(ranks: int) -> str:
    """A file for `Board`; it can be removed as soon as all ranks have opened it."""
    descriptor, path = tempfile.mkstemp(prefix="elbowroom-", dir=FOLDER)
    try:
        os.ftruncate(descriptor, 8 * (RANKS + ranks))
    finally:
        os.close(descriptor)
    return path


def remove_page(path: str) -> None:
    if path:
        Path(path).unlink(missing_ok=True)
