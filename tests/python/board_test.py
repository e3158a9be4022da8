"""The page that ranks share is there as memory before anybody writes to it."""

from __future__ import annotations

import errno
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from stand_ins import on_ranks  # noqa: F401, finds the package

from elbowroom import board


class BoardTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(board, "FOLDER", self.folder))

    def test_a_page_has_its_memory_when_it_is_made(self) -> None:
        page = Path(board.make_page(2))
        # 8 bytes for each of 3 numbers of all and 2 of each rank
        self.assertEqual(page.stat().st_size, 56)
        self.assertGreater(page.stat().st_blocks, 0)
        first, second = (board.Board(str(page), rank, 2) for rank in range(2))
        self.assertFalse(first.arrive(1))
        second.wish(board.NOT_SLOWER)
        self.assertEqual(first.wished(), board.NOT_SLOWER)

    def test_without_room_no_page_is_made_and_none_is_left(self) -> None:
        full = mock.patch.object(os, "posix_fallocate", side_effect=OSError(errno.ENOSPC, "full"))
        with full, self.assertRaises(OSError):
            board.make_page(2)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
