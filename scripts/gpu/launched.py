"""Runs a launcher of ranks with a limit of time, and leaves no rank behind: one that hangs would hold its GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]

# By its path: ranks import this file too, and theirs is the package of the build that is measured.
_spec = importlib.util.spec_from_file_location("_launched", REPOSITORY / "python" / "elbowroom" / "launched.py")
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)

TIMED_OUT = 124
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]


@dataclass(frozen=True)
class Done:
    code: int  # TIMED_OUT: it was killed with all its processes
    output: str
    errors: str  # paths of the repository and of installed packages begin at these


def without_machine(text: str) -> str:
    """What is kept of a run does not say where the repository and the packages lie on the machine."""
    return re.sub(r"[^\s\"']*/site-packages/", "", text).replace(f"{REPOSITORY}/", "")


def run(command: Sequence[str], environment: Mapping[str, str], timeout: float) -> Done:
    process = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = process.communicate(timeout=timeout)
        return Done(process.returncode, output, without_machine(errors))
    except subprocess.TimeoutExpired:
        _shared.kill(_shared.with_descendants(process.pid))
        output, errors = process.communicate()
        return Done(TIMED_OUT, output, without_machine(errors))


def own_device(rank: int, torch: Any) -> int:
    """The GPU of a rank. Where there are fewer than ranks, ranks share one, and NCCL takes them for hosts of their own."""
    count = torch.cuda.device_count()
    if count < int(os.environ["WORLD_SIZE"]):
        os.environ |= {"NCCL_HOSTID": f"node-{rank}", "NCCL_SOCKET_IFNAME": "lo"}
    return rank % count


def closing(results: list[dict[str, Any]], passed: int, what: str, begin: float, json_file: str) -> int:
    """Prints the counts, writes the results where a file is named, and gives the exit code."""
    print(f"# {passed} of {len(results)} {what} pass, {time.monotonic() - begin:.0f} s", flush=True)
    if json_file:
        Path(json_file).write_text(json.dumps(results, indent=1))
    return 0 if passed == len(results) else 1
