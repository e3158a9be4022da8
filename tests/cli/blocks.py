#!/usr/bin/env python3
"""Every block of commands or output in README and the pages of docs runs as it stands, or says in a comment above it why it does not.

usage: blocks.py PROGRAM SOURCE [PAGE...]

- A line `$ COMMAND` is run in its page's folder, and the lines below it are what it prints; `...` stands for any lines. Times are masked.
- A block without `$` is commands alone: each line ends with exit code 0.
- A block that is JSON is validated by the schema that it names, where python3-jsonschema is installed.
- `<!-- not run: REASON -->` above a block leaves it out; these are counted.
"""

from __future__ import annotations

import difflib
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

GENERATED = re.compile(r"<!-- Made by |^# Pad ranges")
REASON = re.compile(r"<!-- not run: (.+) -->")
MOST_LEFT_OUT = 40
LEAST_RUN = 25
CODES = {"elbowroom doctor": (0, 1), "elbowroom doctor --json": (0, 1)}

CASE = """{"schema": "elbowroom.scenario/1", "name": "case", "gpus": 2, "iterations": 2, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "relu", "dtype": "bf16", "bytes": "256M"},
 "collective": {"op": "all_reduce", "bytes": "64M", "dtype": "bf16"}}"""
PTXAS = "ptxas info    : Compiling entry function 'gemm' for 'sm_90'\nptxas info    : Used 56 registers, used 1 barriers, 4096 bytes smem\n"
ROWS = "gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tp,dp,pp,iteration_ms\n8,8,2,1024,16,4,1024,2,2,2,100\n"
SAYS = {"nvcc": f"cat >&2 <<'END'\n{PTXAS}END"}
# Programs of users' that pages name. They end at once.
STAND_INS = ("torchrun", "program", "nvcc")


@dataclass
class Block:
    page: str
    line: int
    lines: list[str]
    reason: str | None


def blocks_of(page: str, text: str) -> list[Block]:
    """Indented and fenced blocks; what is indented below an item of a list is none."""
    lines, found, at = text.split("\n"), [], 0
    while at < len(lines):
        begins = lines[at].startswith("    ") and not lines[at - 1].strip() if at else False
        fence = lines[at].startswith("```")
        if not begins and not fence:
            at += 1
            continue
        end = at + 1
        while end < len(lines) and (not lines[end].startswith("```") if fence else lines[end].startswith("    ") or (not lines[end].strip() and lines[end + 1 : end + 2] and lines[end + 1].startswith("    "))):
            end += 1
        above = next((line for line in reversed(lines[:at]) if line.strip()), "")
        reason = REASON.fullmatch(above)
        language = lines[at][3:].strip() if fence else ""
        inside = lines[at + 1 : end] if fence else [line[4:] for line in lines[at:end]]
        if language not in ("cpp", "cmake"):  # examples/ compiles these
            found.append(Block(page, at + 1, inside, reason[1] if reason else None))
        at = end + (1 if fence else 0)
    return found


def masked(text: str) -> list[str]:
    """Without times and shares of times, which vary from run to run."""
    text = re.sub(r"[-+]?\d[\d.,]*(?=( (ms|us|s|min|%)\b| %))", "N", text)
    return [re.sub(r"\s+", " ", line).strip() for line in text.strip().splitlines()]


def differs(expected: list[str], printed: list[str]) -> str | None:
    """Where the printed lines are not the expected ones; `...` stands for any number of lines."""
    pattern = "\n".join(".*?" if line == "..." else re.escape(line) for line in masked("\n".join(expected)))
    if re.fullmatch(pattern.replace("\n.*?", "(?:\n.*?)?"), "\n".join(masked("\n".join(printed))), re.S):
        return None
    return "\n".join(difflib.unified_diff(masked("\n".join(expected)), masked("\n".join(printed)), "the page", "printed", lineterm="", n=1))


def schema_problem(document: dict[str, object], source: Path) -> str | None:
    try:
        import jsonschema
    except ImportError:
        return None
    kind = str(document.get("schema", "")).removeprefix("elbowroom.").removesuffix("/1")
    file = source / "docs" / ("device.schema.json" if kind == "device" else f"schemas/{kind}-1.json")
    if not file.exists():
        return f"no schema of {kind}"
    errors = list(jsonschema.Draft202012Validator(json.loads(file.read_text())).iter_errors(document))
    return errors[0].message if errors else None


class Runner:
    def __init__(self, program: Path, source: Path, folder: str) -> None:
        self.source, self.folder = source, folder
        for name, text in (("case.json", CASE), ("ptxas.log", PTXAS), ("rows.csv", ROWS), ("mine.json", (source / "data/devices/h200.json").read_text().replace('"h200"', '"mine"'))):
            (Path(folder) / name).write_text(text)
        (Path(folder) / "devices").mkdir()
        (Path(folder) / "devices/board.json").write_text((source / "data/devices/h200.json").read_text().replace('"h200"', '"board"').replace('"NVIDIA H200 SXM"', '"My board"'))
        tools = Path(folder) / "bin"
        tools.mkdir()
        for name in STAND_INS:
            (tools / name).write_text(f"#!/bin/sh\n{SAYS.get(name, 'exit 0')}\n")
            (tools / name).chmod(0o755)
        (Path(folder) / "program").symlink_to("bin/program")
        (Path(folder) / "tests").symlink_to(self.source / "tests")  # recordings
        self.trace()
        self.environment = {**os.environ, "PATH": f"{program.parent}:{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": folder + "/cache", "HOME": folder, "CUDA_VISIBLE_DEVICES": ""}
        for name in ("ELBOWROOM_PROFILE", "ELBOWROOM_DEVICE_PATH"):
            self.environment.pop(name, None)

    def trace(self) -> None:
        """Three steps of one rank: two kernels, and an all-reduce that the second one waits for."""
        events = []
        for step in range(3):
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 7, "ts": 1000 * step, "dur": 1000, "args": {}})
            for name, stream, begin, end in (("gemm_a", 7, 100, 300), ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 20, 200, 600), ("gemm_b", 7, 602, 900)):
                arguments = {"device": 0, "stream": stream, "correlation": 1000 * step + begin}
                events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": 1000 * step + begin, "dur": end - begin, "args": arguments})
        document = {"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceEvents": events}
        (Path(self.folder) / "trace.json.gz").write_bytes(gzip.compress(json.dumps(document).encode()))

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False)

    def problems(self, block: Block) -> list[str]:
        text = "\n".join(block.lines)
        if text.lstrip().startswith("{"):
            try:
                wrong = schema_problem(json.loads(text), self.source)
            except ValueError as error:
                wrong = str(error)
            return [wrong] if wrong else []
        return self.consoles(block.lines) if any(line.startswith("$ ") for line in block.lines) else self.commands(block.lines)

    def consoles(self, lines: list[str]) -> list[str]:
        found, at = [], 0
        while at < len(lines):
            end = next((index for index in range(at + 1, len(lines)) if lines[index].startswith("$ ")), len(lines))
            expected = [line for line in lines[at + 1 : end] if line.strip()]
            printed = [line for line in self.shell(lines[at][2:]).stdout.splitlines() if line.strip()]
            if lines[at].startswith("$ elbowroom launch"):  # ranks print in any order
                expected, printed = sorted(expected), sorted(printed)
            difference = differs(expected, printed) if expected else None
            if difference:
                found.append(f"{lines[at]}\n{difference}")
            at = end
        return found

    def commands(self, lines: list[str]) -> list[str]:
        found = []
        for line in lines:
            command = re.sub(r"\s+#.*", "", line).strip()
            if not command:
                continue
            done = self.shell(command)
            if done.returncode not in CODES.get(command, (0,)):
                found.append(f"{command}: exit code {done.returncode}\n{done.stdout[-600:]}")
        return found


def main(arguments: list[str]) -> int:
    program, source, only = Path(arguments[0]).resolve(), Path(arguments[1]).resolve(), arguments[2:]
    pages = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").glob("*.md")), *sorted((source / "docs/results").glob("*.md"))]
    problems, ran, left_out = [], 0, 0
    for page in pages:
        name, text = str(page.relative_to(source)), page.read_text()
        if GENERATED.search(text) or (only and name not in only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(program, source, folder)
            for block in blocks_of(name, text):
                left_out += block.reason is not None
                if block.reason is None:
                    ran += 1
                    problems += [f"{name}:{block.line}: {problem}" for problem in runner.problems(block)]
    if not only and left_out > MOST_LEFT_OUT:
        problems.append(f"{left_out} blocks are left out, expected at most {MOST_LEFT_OUT}")
    if not only and ran < LEAST_RUN:
        problems.append(f"{ran} blocks ran, expected at least {LEAST_RUN}")
    print("\n".join([*problems, f"{ran} blocks ran, {left_out} are left out with their reason"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
