"""One launch of a program: its command, its processes, what it printed."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catalog
import traces
from elbowroom import launched
from nvml import EnergyCounter

SKIPPED = 77
TAIL = 3000
KEPT = ("steps_ms", "cpu_ms", "loss", "digest", "device", "versions", "peak_gib")

Record = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What all launches have in common."""

    elbowroom: str
    raw: str
    gpus: int
    steps: int
    warm_up: int
    timeout: float
    skip: int = 0  # steps at the begin of a program that is not of the catalog, which takes no --warm-up


def program_command(program: catalog.Program, arm: catalog.Arm, plan: Plan) -> list[str]:
    """As its user would start it."""
    if program.command:
        return list(program.command)
    common = ["--steps", str(plan.steps), "--warm-up", str(plan.warm_up), *program.arguments, *arm.arguments]
    if not program.script:
        return [plan.raw, *([] if "--mode" in common else ["--mode", "plain"]), *common]
    script = str(catalog.PROGRAMS / program.script)
    if program.ranks:
        return [sys.executable, str(catalog.LAUNCHER), "-n", str(plan.gpus), *program.launcher, script, *common]
    return [sys.executable, script, "--gpus", str(plan.gpus), *common]


def full_command(program: catalog.Program, arm: catalog.Arm, plan: Plan, report: str) -> list[str]:
    command = program_command(program, arm, plan)
    if arm.elbowroom is None:
        return command
    # A launch that began with what the one before it found would say nothing of its own.
    return [plan.elbowroom, "run", "--no-memory", *arm.elbowroom, "--report", report, "--", *command]


def reason_not_to_run(program: catalog.Program, plan: Plan) -> str:
    if program.gpus not in (0, plan.gpus):
        return f"uses {program.gpus} GPUs, {plan.gpus} are asked for"
    if not program.script and not program.command and not plan.raw:
        return "--raw does not name the built examples/raw_overlap.cu"
    return ""


def line_of(output: str) -> Record | None:
    """What the program said of its steps: its last line that is such an object. Libraries may print too."""
    for text in reversed(output.splitlines()):
        if not text.startswith("{"):
            continue
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        if "steps_ms" in line:
            return line
        if "modes" in line:  # raw_overlap prints what the examples beside it print
            (mode,) = line["modes"].values()
            return line | {"steps_ms": mode["ms"], "digest": mode["digest"]}
    return None


def own_steps(output: str, step: str, skip: int) -> Record | None:
    """Those of a program that prints nothing for the yardstick."""
    found = launched.steps_in(output, step)[skip:]
    return {"steps_ms": found} if found else None


def reason_of(code: int, errors: str) -> str:
    """Why a launch failed, in one line: what it skipped for, the last exception, or its exit code."""
    for text in errors.splitlines():
        if code == SKIPPED and text.startswith("skipped: "):
            return text.removeprefix("skipped: ")
    raised = re.findall(r"^(?:\[rank\d+\]:\s*)?((?:[\w.]+(?:Error|Exception|Interrupt)|elbowroom)\b:.*)$", errors, re.MULTILINE)
    return f"exit code {code}" + (f": {raised[-1][:300]}" if raised else "")


def shown(word: str, folder: str) -> str:
    """As one would type it in the project's folder."""
    return word.replace(f"{catalog.ROOT}/", "").replace(sys.executable, "python3").replace(folder, "FOLDER")


def report_of(path: Path) -> Record | None:
    """The parts of a report of `elbowroom run` that tell what it did; none if there is none."""
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        total = {key: run["total"][key] for key in ("launches", "applied", "refused", "overhead") if key in run["total"]}
        parts = {key: [process[key] for process in run["processes"] if key in process] for key in ("ab", "symmetric_memory")}
        return total | parts
    except (OSError, ValueError, KeyError, TypeError):
        return None


def launch(program: catalog.Program, arm: catalog.Arm, plan: Plan, traced: bool, counter: EnergyCounter | None) -> Record:
    """The record of one launch, of one that failed too."""
    environment = os.environ | catalog.ALWAYS | dict(arm.environment)
    begin = time.time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report, trace = folder / "report.json", folder / "trace.json"
        command = full_command(program, arm, plan, str(report))
        command += ["--trace", str(trace)] if traced else []
        samples = counter.watch() if counter else None
        output, errors, code, stopped = launched.contained(command, environment, plan.timeout, folder)
        rows = samples.stop() if samples else []
        line = own_steps(output + errors, program.step, plan.skip) if program.command else line_of(output)
        record: Record = {
            "program": program.name,
            "arm": arm.name,
            "command": [shown(word, name) for word in command],
            "environment": dict(arm.environment),
            "began": round(begin, 3),
            "seconds": round(time.time() - begin, 2),
        }
        if code == SKIPPED and line is None:
            return record | {"skipped": reason_of(code, errors)}
        if line is None or ((stopped or code) and not traced):  # times stand without the trace that comes after them
            unread = "--step finds nothing in what it printed" if program.command and not code else ""
            return record | {"failure": stopped or unread or reason_of(code, errors), "stderr": errors[-TAIL:]}
        record |= {key: line[key] for key in KEPT if key in line}
        if counter:
            record |= counter.per_step(rows, line.get("span"), len(line["steps_ms"]))
        if arm.elbowroom is not None:
            record["report"] = report_of(report)
        if traced:
            record["busy_ms"] = traces.busy_ms(trace)
        return record
