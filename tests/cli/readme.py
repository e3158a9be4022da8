#!/usr/bin/env python3
"""The commands of README.md run as they stand, in one folder, in their order; a line that is neither run nor named below fails the test.

usage: readme.py PROGRAM SOURCE
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Not run here, and why.
ELSEWHERE = {
    "apt-get install g++ libcli11-dev libfmt-dev nlohmann-json3-dev rapidjson-dev": "the build names what is missing",
    "pip install .": "install.wheel builds it",
    "elbowroom run -- torchrun --nproc-per-node 2 train.py": "needs two GPUs and a user's program; tests/python and tests/interposer run its parts",
    "elbowroom measure -- torchrun --nproc-per-node 2 train.py": "the same; cli.measure has a program that prints its steps",
    "elbowroom explain trace.json.gz": "needs a trace; cli.explain has some",
    "./dev demo": "builds all; dev_help compares its words",
    "./dev test": "runs this test",
}
CODES = {"elbowroom doctor": (0, 1)}
CLOSING = re.compile(r"elbowroom: (about )?[\d.]+ ms a step instead of [\d.]+ \(-[\d.]+ %\): ")


def lines_of_blocks(text: str) -> list[str]:
    return [re.sub(r"\s+#.*", "", line).strip() for line in re.findall(r"^ {4}(.+)$", text, re.M)]


def main() -> int:
    program, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    lines = lines_of_blocks((source / "README.md").read_text())
    problems = [f"README.md: no block has '{line}' any more" for line in ELSEWHERE if line not in lines]
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": folder + "/cache"}
        environment["CUDA_VISIBLE_DEVICES"] = ""  # GPUs would be measured for minutes
        for line in lines:
            if line in ELSEWHERE or CLOSING.match(line):
                continue
            if not line.startswith("elbowroom "):
                problems.append(f"README.md: '{line}' is no command of this program, and no reason is known why it is not run")
                continue
            done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            ran += 1
            if done.returncode not in CODES.get(line, (0,)):
                problems.append(f"README.md: {line}: exit code {done.returncode}\n{done.stdout[-800:]}{done.stderr[-800:]}")
        if ran < 5:
            problems.append(f"README.md: only {ran} commands were run")
        page = Path(folder) / "quick.html"
        if not page.exists() or page.stat().st_size < 10_000:
            problems.append("README.md: no page was written")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
