"""Steps of the examples side by side: local compute, plain PyTorch, its high-priority NCCL stream, and Elbowroom's policies.

One launch measures local compute, plain PyTorch and the high-priority stream in turns; one launch for each variant of Elbowroom
measures local compute and then its own step. Rounds repeat all launches in turns. Results are written after every launch.

usage: python3 compare.py --elbowroom build/release/bin/elbowroom --json FILE --markdown FILE [options]

A variant is a policy, or a policy and options of `elbowroom run` joined by '+': auto, gate, 'shape+--cap=elementwise=2'.
With --deterministic the digests of plain PyTorch and of each variant are compared instead, bit for bit (exit 1 on a difference).
Needs no torch itself; ends with exit code 77 where the examples skip themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import comparison_report

HERE = Path(__file__).resolve().parent
SKIPPED = 77
DEFAULT_EXAMPLES = "overlap_loop,free_loop,ddp_step:1,fsdp2_step:1"
RAW_EXAMPLE = "raw_overlap"
DEFAULT_VARIANTS = "observe,priority,gate,shape+--cap=elementwise=8,auto,auto+--sm-target=108"


@dataclass(frozen=True)
class Variant:
    """One kind of launch; `policy` is empty without Elbowroom."""

    name: str
    policy: str
    options: tuple[str, ...] = ()


@dataclass
class Launch:
    """What one launch gave: a line for each example, a summary of Elbowroom's report, or why it failed."""

    variant: Variant
    round: int
    lines: list[dict[str, Any]] = field(default_factory=list)
    report: dict[str, Any] | None = None
    failure: str = ""
    seconds: float = 0.0
    skipped: bool = False


def variant_of(text: str) -> Variant:
    policy, *options = text.split("+")
    return Variant(text, policy, tuple(options))


def example_lines(output: str) -> Iterator[dict[str, Any]]:
    """Other libraries may print too: a line is ours when it is an object with our schema."""
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            continue
        if document.get("schema") == "elbowroom.example/1":
            yield document


def step_command(variant: Variant, options: argparse.Namespace, examples: str) -> list[str]:
    """The program itself, as it runs without Elbowroom."""
    modes = "plain" if options.deterministic else "local,plain"
    common = ["--steps", str(options.steps), "--warm-up", str(options.warm_up)]
    if examples == RAW_EXAMPLE:
        return [options.raw, "--mode", modes, *common]
    rounds = 1
    if not variant.policy and not options.deterministic:
        modes += ",high_priority_nccl"
        rounds = options.rows
    command = [sys.executable, str(HERE / "launch.py"), "-n", str(options.gpus), str(HERE / "suite.py")]
    command += ["--examples", examples, "--mode", modes, *common, "--rounds", str(rounds)]
    if options.deterministic:
        command += ["--deterministic"]
    elif options.profile_steps:
        command += ["--profile-steps", str(options.profile_steps)]
    return command


def command_of(variant: Variant, options: argparse.Namespace, examples: str, report: Path) -> list[str]:
    command = step_command(variant, options, examples)
    if not variant.policy:
        return command
    return [options.elbowroom, "run", "--no-memory", "--policy", variant.policy, "--report", str(report), *variant.options, "--", *command]


def environment_of(options: argparse.Namespace) -> dict[str, str]:
    environment = os.environ | {"NCCL_NVLS_ENABLE": "0", "PYTHONUNBUFFERED": "1"}
    environment.pop("NCCL_P2P_DISABLE", None)
    if options.link == "host":
        environment["NCCL_P2P_DISABLE"] = "1"
    return environment


def output_of(command: list[str], options: argparse.Namespace) -> tuple[str, int, str]:
    """What the command wrote, its exit code and why it was stopped. All its processes are gone when this returns or raises."""
    stopped = ""
    process = subprocess.Popen(command, env=environment_of(options), stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        stopped = f"took longer than {options.timeout:.0f} s"
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return output, process.returncode, stopped


def run_launch(variant: Variant, number: int, options: argparse.Namespace, examples: str) -> Launch:
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        output, code, stopped = output_of(command_of(variant, options, examples, report), options)
        launch = Launch(variant, number, list(example_lines(output)), failure=stopped, skipped=code == SKIPPED)
        if code and not stopped:
            launch.failure = f"exit code {code}"
        if report.exists():
            launch.report = comparison_report.run_summary(json.loads(report.read_text(encoding="utf-8")))
    launch.seconds = time.monotonic() - begin
    return launch


def launches_of(options: argparse.Namespace) -> Iterator[tuple[Variant, int, str]]:
    variants = [Variant("plain", "")] + [variant_of(text) for text in options.policies.split(",") if text]
    groups = options.examples.split(",") if options.separate else [options.examples]
    if options.raw:
        groups = [*groups, RAW_EXAMPLE]
    for number in range(options.rounds):
        for examples in groups:
            for variant in variants:
                yield variant, number, examples


def write_results(options: argparse.Namespace, document: dict[str, Any]) -> None:
    if options.json:
        Path(options.json).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(comparison_report.markdown(document), encoding="utf-8")


def measure(options: argparse.Namespace) -> tuple[dict[str, Any], bool]:
    """All launches that the budget allows; true when each of them gave all its lines."""
    document = comparison_report.empty_document(options.link, options.deterministic)
    begin = time.monotonic()
    complete = True
    for variant, number, examples in launches_of(options):
        label = f"{variant.name}, round {number + 1}: {examples}"
        if options.budget and time.monotonic() - begin > options.budget:
            document["not_run"].append(label)
            continue
        launch = run_launch(variant, number, options, examples)
        print(f"{launch.seconds:6.1f} s  {label}  {launch.failure or 'ok'}", file=sys.stderr, flush=True)
        if launch.skipped and not launch.lines:
            sys.exit(SKIPPED)
        if launch.failure:
            complete = False
            document["failures"].append(f"{label}: {launch.failure}")
        for line in launch.lines:
            comparison_report.add_line(document, variant.name, bool(variant.policy), line, launch.report)
        write_results(options, document)
    write_results(options, document)
    return document, complete


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom", help="the program")
    parser.add_argument("--examples", default=DEFAULT_EXAMPLES, help="NAME or NAME:BATCH, by comma")
    parser.add_argument("--raw", default="", help="the built examples/raw_overlap.cu, to be measured as well")
    parser.add_argument("--policies", default=DEFAULT_VARIANTS, help="variants of Elbowroom, by comma")
    parser.add_argument("--link", choices=("direct", "host"), default="direct", help="host: NCCL_P2P_DISABLE=1")
    parser.add_argument("--rounds", type=int, default=1, help="how often all launches are repeated, in turns")
    parser.add_argument("--rows", type=int, default=2, help="rows of steps that take turns in the launch without Elbowroom")
    parser.add_argument("--steps", type=int, default=0, help="timed steps of each mode in a launch; 0: 30, deterministic 6")
    parser.add_argument("--warm-up", type=int, default=0, help="steps before them, in which auto compares; 0: 400, deterministic 60")
    parser.add_argument("--profile-steps", type=int, default=3, help="recorded steps after them; 0: none")
    parser.add_argument("--separate", action="store_true", help="one launch for each example instead of one for all")
    parser.add_argument("--deterministic", action="store_true", help="compare digests, time nothing")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one launch")
    parser.add_argument("--budget", type=float, default=0, help="seconds after which no launch begins; 0: none")
    parser.add_argument("--json", default="")
    parser.add_argument("--markdown", default="")
    options = parser.parse_args()
    options.steps = options.steps or (6 if options.deterministic else 30)
    # Clocks settle over hundreds of steps, and digests are of equally many: all launches warm up alike.
    options.warm_up = options.warm_up or (60 if options.deterministic else 400)
    # A time limit around this program ends it so; the launch that runs is then ended as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    document, complete = measure(options)
    print(comparison_report.markdown(document), end="")
    same = comparison_report.digests_agree(document)
    return 0 if complete and same else 1


if __name__ == "__main__":
    sys.exit(main())
