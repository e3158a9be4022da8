"""Cases of a script that each run in a process of their own, as they are and under `elbowroom run`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping


def run_cases(
    script: str, description: str | None, cases: Mapping[str, object], run_case: Callable[[str], int], *, policy: str, timeout: float,
    words: tuple[str, str]
) -> int:
    """The exit code of `script`, whose command line this reads: 1 where a case ends with another code than 0. `timeout`: of one run, in
    seconds. `words`: what is said of a case that ends with 0, and of another one.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--timeout", type=float, default=timeout, help="of one run, in seconds")
    parser.add_argument("--case", choices=tuple(cases), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        return run_case(options.case)
    failed = False
    under = [options.elbowroom, "run", "--no-memory", "--quiet", "--policy", policy, "--"]
    for name in cases:
        for arm, before in (("as it is", []), (policy, under)):
            command = [*before, sys.executable, "-B", script, "--case", name]
            try:
                code: int | str = subprocess.run(command, timeout=options.timeout, check=False).returncode
            except subprocess.TimeoutExpired:
                code = "not over"
            failed = failed or code != 0
            print(f"{name:18} {arm:9} {words[0] if code == 0 else f'{words[1]}: {code}'}", flush=True)
    return 1 if failed else 0
