"""Runs a launcher of ranks with a limit of time, and leaves no rank behind: one that hangs would hold its GPU."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMED_OUT = 124
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Done:
    code: int  # TIMED_OUT: it was killed with all its processes
    output: str
    errors: str  # paths of the repository and of installed packages begin at these


def without_machine(text: str) -> str:
    """What is kept of a run does not say where the repository and the packages lie on the machine."""
    return re.sub(r"[^\s\"']*/site-packages/", "", text).replace(f"{REPOSITORY}/", "")


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as stat:
            parent = int(stat.read().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(name))
    return found


def kill_with_children(process: int) -> None:
    """Also those in sessions of their own, as torchrun starts its ranks."""
    children, whole = _children(), [process]
    for parent in whole:
        whole += children.get(parent, [])
    for one in whole:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def run(command: Sequence[str], environment: Mapping[str, str], timeout: float) -> Done:
    process = subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = process.communicate(timeout=timeout)
        return Done(process.returncode, output, without_machine(errors))
    except subprocess.TimeoutExpired:
        kill_with_children(process.pid)
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
