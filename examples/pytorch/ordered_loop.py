"""The layers of overlap_loop.py with nothing to overlap: each all-reduce is waited for before the next layer is launched.

What acts on overlap has nothing to act on here, and must not cost anything.
"""

from __future__ import annotations

import sys

import common
from overlap_loop import OverlapLoop


def prepare(settings: common.Settings, mode: str) -> OverlapLoop:
    return OverlapLoop(settings, mode, in_flight=0)


EXAMPLE = common.Example("ordered_loop", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
