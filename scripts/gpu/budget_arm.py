#!/usr/bin/env python3
"""Whether `auto` compares block budgets of collectives on two GPUs, what the ranks agree on, and what it is worth. Under four minutes.

    python3 scripts/gpu/budget_arm.py [--elbowroom build/release/bin/elbowroom] [--raw build/gpu/example_raw_overlap] [--seconds 230]

Runs the raw C++ example (two ranks in one process) and the DDP program on ordinary memory (two processes), each without a comparison of budgets
and with it, in turns; the DDP program once more, with what the run before remembered. Prints a line for each launch and a JSON line at the end.
Exit code 1: a launch failed, ranks could not agree, no budget was ever in force, or not exactly one process decided. 77: nothing to run here.
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
SKIPPED = 77


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default=str(ROOT / "build" / "release" / "bin" / "elbowroom"))
    parser.add_argument("--raw", default=str(ROOT / "build" / "gpu" / "example_raw_overlap"))
    parser.add_argument("--command", default="", help="one program in the place of both, to try this script out")
    parser.add_argument("--warm-up", type=int, default=700, help="steps of a launch in which it compares")
    parser.add_argument("--short", type=int, default=90, help="the same of the launch that remembers")
    parser.add_argument("--steps", type=int, default=40, help="steps that are timed after them")
    parser.add_argument("--seconds", type=float, default=230, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=90, help="of one launch, in seconds")
    return parser.parse_args()


def programs(options: argparse.Namespace) -> dict[str, list[str]]:
    if options.command:
        return {"command": options.command.split()}
    ddp = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(ROOT / "examples" / "programs" / "ddp.py")]
    return {"raw": [options.raw, "--mode", "plain"], "ddp": ddp}


def median_ms(output: str) -> float | None:
    """Of the timed steps, as the example and the programs print them."""
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        document = json.loads(line)
        times = document.get("steps_ms") or document.get("modes", {}).get("plain", {}).get("ms")
        if isinstance(times, list):
            return round(statistics.median(times), 3)
    return None


def budgets_of(report: dict) -> dict:
    """What the processes say of their budgets."""
    trials = [process.get("ab", {}).get("budget") for process in report["processes"]]
    total = report["total"]["nccl"]
    return {
        "deciding": [trial for trial in trials if trial and trial["decides"] == "this process" and "blocks" in trial],
        "following": [trial.get("blocks") for trial in trials if trial and trial["decides"] == "another process"],
        "reasons": sorted({trial["reason"] for trial in trials if trial and trial["reason"]}),
        "agreement": total.get("agreement", {}),
        "lowered": sum(of["lowered"] for of in total.get("budgets", {}).values()),
    }


def launch(options: argparse.Namespace, program: list[str], what: str, cache: str) -> dict:
    warm_up = options.short if what == "remembered" else options.warm_up
    sizes = [] if options.command else ["--warm-up", str(warm_up), "--steps", str(options.steps)]
    with tempfile.TemporaryDirectory(prefix="elbowroom-budget-") as name:
        report = Path(name) / "report.json"
        off = "symmetric,budget" if what == "without" else "symmetric"
        line = [options.elbowroom, "run", "--off", off, "--report", str(report), "--", *program, *sizes]
        environment = dict(os.environ, NCCL_NVLS_ENABLE="0", XDG_CACHE_HOME=cache)
        begin = time.monotonic()
        done = launched.run(line, environment, options.timeout)
        result = {"what": what, "code": done.code, "seconds": round(time.monotonic() - begin, 1), "ms": median_ms(done.output)}
        result["closing"] = [text for text in done.errors.splitlines() if text.startswith("elbowroom run:")][-1:]
        if done.code not in (0, SKIPPED):
            result["errors"] = done.errors[-3000:]
        elif report.exists():
            result |= budgets_of(json.loads(report.read_text()))
    return result


def faults(name: str, result: dict) -> list[str]:
    if result["code"] != 0:
        return [f"{name} {result['what']}: exit code {result['code']}\n{result['errors']}"]
    if result["what"] == "without":
        return [f"{name}: a budget was in force with --off budget"] if result["lowered"] else []
    wrong = []
    if not result["agreement"].get("possible"):
        wrong.append(f"the ranks could not agree: {result['agreement']}")
    kept_none = result["what"] == "remembered" and all(trial["blocks"] == 0 for trial in result["deciding"])
    if not result["lowered"] and not kept_none:
        wrong.append(f"no budget was ever in force: {result['reasons']}")
    if len(result["deciding"]) != 1:
        wrong.append(f"{len(result['deciding'])} processes decided, expected 1")
    elif any(blocks != result["deciding"][0]["blocks"] for blocks in result["following"]):
        wrong.append(f"kept {result['deciding'][0]['blocks']} here, {result['following']} there")
    return [f"{name} {result['what']}: {line}" for line in wrong]


def said(name: str, result: dict) -> str:
    kept = [f"{trial['blocks']} blocks kept; " + ", ".join(arm_text(arm) for arm in trial["arms"]) for trial in result.get("deciding", [])]
    return f"{name:8} {result['what']:10} {result['seconds']:6.1f} s  {result['ms']} ms a step  {'; '.join(kept)}\n    {' '.join(result['closing'])}"


def arm_text(arm: dict) -> str:
    gain = f", {arm['gain_percent']:.2f} % less ({arm['low']:.2f}..{arm['high']:.2f})" if "gain_percent" in arm else ""
    return f"{arm['blocks'] or 'own'}: {arm['us'] / 1000:.3f} ms{gain}"


def main() -> int:
    options = arguments()
    begin, results, wrong = time.monotonic(), [], []
    for name, program in programs(options).items():
        whats = ["without", "with"] if name == "raw" else ["without", "with", "remembered"]
        with tempfile.TemporaryDirectory(prefix="elbowroom-cache-") as cache:
            for what in whats:
                if time.monotonic() - begin > options.seconds:
                    wrong.append(f"{name} {what}: not run, {options.seconds} s are over")
                    break
                result = launch(options, program, what, cache)
                if result["code"] == SKIPPED:
                    print(f"{name}: nothing to run it on", file=sys.stderr)
                    return SKIPPED
                print(said(name, result), flush=True)
                wrong += faults(name, result)
                results.append({"program": name} | result)
    print(json.dumps(results))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
