"""One launch of a command: its processes, its output, and the step times in that output."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

GRACE_SECONDS = 2.0
MILLISECONDS = {"ms": lambda value: value, "s": lambda value: 1000 * value, "per_second": lambda value: 1000 / value}


def with_descendants(process: int) -> list[int]:
    """The process and all below it, also those in sessions of their own, as torchrun starts its ranks."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
            children.setdefault(int(stat.read().rpartition(")")[2].split()[1]), []).append(int(name))
    whole = [process]
    for parent in whole:
        whole += children.get(parent, [])
    return whole


def kill(processes: Sequence[int]) -> None:
    for one in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)


def contained(command: Sequence[str], environment: Mapping[str, str], timeout: float, folder: Path) -> tuple[str, str, int, str]:
    """Output, errors, exit code, and why it was stopped. All its processes are gone when this returns or raises."""
    stopped = ""
    with open(folder / "output", "w+", encoding="utf-8", errors="replace") as output, open(
        folder / "errors", "w+", encoding="utf-8", errors="replace"
    ) as errors:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=errors, start_new_session=True)
        whole: list[int] = []
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            stopped = f"took longer than {timeout:.0f} s"
            whole = with_descendants(process.pid)  # before the first of them ends, and leaves the others to init
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_SECONDS)
        finally:
            if not whole and process.poll() is None:
                whole = with_descendants(process.pid)
            kill(whole)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        errors.seek(0)
        return output.read(), errors.read(), process.returncode, stopped


def check_expression(step: str) -> None:
    """ValueError with one line where `step` cannot find a step's time."""
    try:
        groups = set(re.compile(step).groupindex)
    except re.error as error:
        raise ValueError(f"--step: '{step}': {error}") from error
    if len(groups) != 1 or not groups <= MILLISECONDS.keys():
        raise ValueError(f"--step: '{step}', expected an expression with one group (?P<ms>...), (?P<s>...) or (?P<per_second>...)")


def steps_in(output: str, step: str) -> list[float]:
    """Milliseconds of each step that the output names. A rate stands for its inverse. None where a number is not above zero."""
    named = [next(iter(match.groupdict().items())) for match in re.finditer(step, output)]
    try:
        values = [(group, float(text.replace(",", ""))) for group, text in named]
    except (AttributeError, ValueError) as error:
        raise ValueError(f"--step: '{step}' found something that is no number") from error
    if any(value <= 0 for _, value in values):
        return []
    return [MILLISECONDS[group](value) for group, value in values]
