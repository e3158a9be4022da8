"""The command `elbowroom` of an installed wheel: becomes the program that was built with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent / "native" / "bin" / "elbowroom"


def main() -> None:
    os.environ["ELBOWROOM_PYTHON"] = sys.executable  # the one that `doctor` asks
    try:
        os.execv(PROGRAM, ["elbowroom", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"elbowroom: {PROGRAM}: {error.strerror}; expected a wheel that was built for this machine")
