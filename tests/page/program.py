"""The program under test, ELBOWROOM_BIN: pages of its documents."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path


def report(files: list[Path], page: Path) -> None:
    done = subprocess.run([os.environ["ELBOWROOM_BIN"], "report", *map(str, files), "--html", str(page)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def without_library(document: Path) -> str:
    """What the program says where it was built without d3; empty where it was built with it."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([os.environ["ELBOWROOM_BIN"], "report", str(document), "--html", f"{folder}/page.html"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode == 77 else ""


def large_trace(path: Path, spans: int) -> None:
    """One GPU, `spans` kernels of 3 us every 4 us on each of two streams: compute and communication."""
    begin = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "GPU 0 · large tuned"}}
    with path.open("w", encoding="utf-8") as file:
        file.write('{"schema": "elbowroom.trace/1", "otherData": {"provenance": "simulated", "device": "simulated for a test"}, "traceEvents": [\n' + json.dumps(begin))
        for at in range(spans):
            kind, tid = ("compute", 1) if at % 2 == 0 else ("communication", 2)
            file.write(f',\n{{"ph": "X", "cat": "{kind}", "name": "kernel {at % 5}", "pid": 1, "tid": {tid}, "ts": {at // 2 * 4}.0, "dur": 3.0, "args": {{}}}}')
        file.write("\n]}\n")
