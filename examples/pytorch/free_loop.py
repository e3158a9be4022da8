"""The layers of overlap_loop.py with all eight all-reduces in flight: nothing is waited for before the end of the step."""

from __future__ import annotations

import sys

import common
from overlap_loop import LAYERS, OverlapLoop


def prepare(settings: common.Settings, mode: str) -> OverlapLoop:
    return OverlapLoop(settings, mode, in_flight=LAYERS)


EXAMPLE = common.Example("free_loop", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
