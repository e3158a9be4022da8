#!/usr/bin/env python3
"""Launches the DDP and the FSDP2 example, unchanged, plain and with their buffers on symmetric memory, in turns, and says for each
launch its median step and what was registered or why not. Needs two GPUs and PyTorch 2.9 or later.

usage: scripts/gpu/symmetric.py [--launches 20] [--seconds 225] [--elbowroom PROGRAM] [--json FILE]

With --elbowroom the second arm is `PROGRAM run --report FILE`; without, the hook alone, and no binary is needed. Exit code 1 where a
launch failed, where ranks of one launch disagree, or where the seconds ended before all launches were made.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import launched

ROOT = Path(__file__).resolve().parent.parent.parent
HOOK = ROOT / "python" / "elbowroom" / "hook"
EXAMPLES = ROOT / "examples" / "pytorch"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=20, help="with symmetric memory")
    parser.add_argument("--plain-every", type=int, default=3, help="a plain launch before every so many of the others")
    parser.add_argument("--seconds", type=float, default=225, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=60, help="of one launch, in seconds")
    parser.add_argument("--examples", default="ddp_step,fsdp2_step", help="in one launch; of examples/pytorch/suite.py")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=90, help="steps before them, in which memory and `run`'s choices are compared")
    parser.add_argument("--elbowroom", default="")
    parser.add_argument("--run-options", default="", help="of elbowroom run, one text")
    parser.add_argument("--json", default="")
    return parser.parse_args()


def command(options: argparse.Namespace) -> list[str]:
    suite = ["suite.py", "--mode", "plain", "--steps", str(options.steps), "--warm-up", str(options.warm_up), "--rounds", "1", "--examples", options.examples]
    return [sys.executable, str(EXAMPLES / "launch.py"), "-n", str(options.ranks), str(EXAMPLES / suite[0]), *suite[1:]]


def records_of(folder: Path, report: Path) -> list[dict]:
    """What each process says of its symmetric memory."""
    if report.exists():
        processes = json.loads(report.read_text())["processes"]
        return [process["symmetric_memory"] for process in processes if "symmetric_memory" in process]
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.symmetric"))]


def launch(options: argparse.Namespace, hooked: bool) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder, report = Path(name), Path(name) / "report.json"
        environment, line = dict(os.environ), command(options)
        if hooked and options.elbowroom:
            line = [options.elbowroom, "run", "--no-memory", "--report", str(report), *options.run_options.split(), "--", *line]
        elif hooked:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH")]))
            environment |= {"ELBOWROOM_RUN_SYMMETRIC": "1", "ELBOWROOM_RUN_REPORT_DIR": name}
        begin = time.monotonic()
        done = launched.run(line, environment, options.timeout)
        code, output, errors = done.code, done.output, done.errors
        result = {"arm": "symmetric" if hooked else "plain", "code": code, "seconds": round(time.monotonic() - begin, 1)}
        result["ms"] = {}
        for row in (json.loads(text) for text in output.splitlines() if text.startswith("{")):
            times = row["modes"]["plain"]["ms"]
            result["ms"][f"{row['example']}:{row['batch']}"] = round(statistics.median(times), 3)
        if hooked:
            result["records"] = records_of(folder, report)
        if code != 0:
            result["errors"] = errors[-3000:]
    return result


def said(result: dict) -> str:
    times = ", ".join(f"{name} {ms:.2f} ms" for name, ms in result["ms"].items())
    words = [f"{result['arm']:9} {result['seconds']:5.1f} s  {times}"]
    if result["code"]:
        words.append(f"EXIT CODE {result['code']}")
    for record in result.get("records", []):
        parts = [f"{part['what']} {part['state']} {part['bytes'] >> 20} MiB {part['reason']}".strip() for part in record.get("buffers", [])]
        parts += [f"{part['compared']}: {part['ordinary_ms']} -> {part['symmetric_ms']} ms" for part in record.get("buffers", []) if part.get("compared")]
        extra = [f"{part['copies']} copies, {part['waits']} waits" for part in record.get("buffers", []) if part["copies"] or part["waits"]]
        words.append(f"[{'; '.join(parts + extra + record.get('refused', [])) or 'nothing'}]")
    return "  ".join(words)


def outcome(result: dict) -> list[str]:
    """One word for each set of buffers: the same on all ranks, or mixed."""
    ranks = [[(part["what"], part["state"], part["reason"]) for part in record["buffers"]] for record in result["records"] if record.get("buffers")]
    if not ranks:
        return ["nothing"]
    if any(rank != ranks[0] for rank in ranks):
        return ["MIXED"]
    return [f"{what} {state}" for what, state, _ in ranks[0]]


def main() -> int:
    options = arguments()
    begin, results = time.monotonic(), []
    for number in range(options.launches):
        for hooked in ([False, True] if number % options.plain_every == 0 else [True]):
            if time.monotonic() - begin > options.seconds:
                break
            results.append(launch(options, hooked))
            print(said(results[-1]), flush=True)
            if results[-1]["code"]:
                print(results[-1]["errors"], flush=True)
    hooked = [result for result in results if result["arm"] == "symmetric"]
    counts: dict[str, int] = {}
    for result in hooked:
        for word in outcome(result):
            counts[word] = counts.get(word, 0) + 1
    print(f"# {len(hooked)} of {options.launches} launches with symmetric memory: {counts}; exit codes {[result['code'] for result in hooked]}")
    for name in dict.fromkeys(name for result in results for name in result["ms"]):
        arms = {arm: [r["ms"][name] for r in results if r["arm"] == arm and name in r["ms"]] for arm in ("plain", "symmetric")}
        if all(arms.values()):
            plain, symmetric = (statistics.median(times) for times in arms.values())
            print(f"# {name}: plain {plain:.2f} ms ({len(arms['plain'])}), symmetric {symmetric:.2f} ms ({len(arms['symmetric'])}): {100 * (symmetric / plain - 1):+.1f} %")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    failed = any(result["code"] for result in results) or "MIXED" in counts or len(hooked) < options.launches
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
