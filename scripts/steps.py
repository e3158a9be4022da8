#!/usr/bin/env python3
"""Training steps of a small decoder, each way to share it: run under every scheme, and predictions beside measurements.

usage: steps.py run OUT.json --ranks 2|4 [--only REGEX] [--tune-seconds S] [--trials N] [BENCH OPTION...]     with `elbowroom` on the path
       steps.py compare PREDICTED.json MEASURED.json                          a table in Markdown
       steps.py gains RUN.json                                                what the tuned schedule gains, in Markdown

`run` tunes each step, then runs it under the baselines, the plan that was found and two fixed plans in turns. It keeps what is there: a call
that was ended goes on. `compare` takes what both files have of a step, by scheme: |predicted / measured - 1|, and whether the least predicted
time was the least measured one. The tuned plan of one file is another in the other, so it is no part of the errors.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Two layers of 4096 columns: some tens of milliseconds on two GPUs, and every kind of operation that a longer step has.
SHAPE = ["--layers", "2", "--hidden", "4096", "--ffn", "11008", "--tokens", "4096", "--repeats", "2"]
EXPERTS = ["--layers", "2", "--hidden", "2048", "--ffn", "8192", "--experts", "4", "--tokens", "4096", "--repeats", "2"]


def in_pairs(shape: list[str]) -> list[str]:
    """Two micro-batches side by side, each of as many tokens as the step has without them."""
    at = shape.index("--tokens") + 1
    return [*shape[:at], str(2 * int(shape[at])), *shape[at + 1:], "--micro", "2", "--two-batch"]


STEPS = {
    2: {
        "dp": [*SHAPE, "--dp", "2"],
        "dp-f32": [*SHAPE, "--dp", "2", "--gradients", "f32"],
        "dp-bf16": [*SHAPE, "--dp", "2", "--gradients", "f32", "--compress", "bf16"],
        "dp-fp8": [*SHAPE, "--dp", "2", "--compress", "fp8"],
        "dp-powersgd": [*SHAPE, "--dp", "2", "--compress", "powersgd=8"],
        "dp-topk": [*SHAPE, "--dp", "2", "--compress", "topk=0.01"],
        "fsdp": [*SHAPE, "--fsdp", "2"],
        "tp": [*SHAPE, "--tp", "2"],
        "tp-sequence": [*SHAPE, "--tp", "2", "--sequence-parallel"],
        "pp": [*SHAPE, "--pp", "2", "--micro", "4"],
        "ep": [*EXPERTS, "--ep", "2"],
        "ep-uneven": [*EXPERTS, "--ep", "2", "--imbalance", "1.5"],
        "ep-two-batch": [*in_pairs(EXPERTS), "--ep", "2"],
        "ep-uneven-two-batch": [*in_pairs(EXPERTS), "--ep", "2", "--imbalance", "1.5"],
        "tp-two-batch": [*in_pairs(SHAPE), "--tp", "2"],
    },
    4: {
        "dp4": [*SHAPE, "--dp", "4"],
        "fsdp4": [*SHAPE, "--fsdp", "4"],
        "dp-tp": [*SHAPE, "--dp", "2", "--tp", "2"],
        "fsdp-tp": [*SHAPE, "--fsdp", "2", "--tp", "2", "--sequence-parallel"],
        "pp-dp": [*SHAPE, "--pp", "2", "--dp", "2", "--micro", "4"],
        "ep4": [*EXPERTS, "--ep", "4"],
    },
}
BASELINES = ("sequential", "concurrent", "priority")
PLANS = ["priority,symmetric,comm_blocks=16", "priority,copy_engine"]


def call(*arguments: str) -> None:
    done = subprocess.run(["elbowroom", *arguments], capture_output=True, text=True, check=False)
    # 1: a plan cannot act in this step, which its document says.
    if done.returncode not in (0, 1):
        sys.exit(f"elbowroom {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.strip()}")


def ran(name: str, options: list[str], tune_seconds: float, trials: list[str], bench: list[str]) -> dict:
    """One step under every scheme."""
    with tempfile.TemporaryDirectory() as folder:
        step, profile, tuned, result = (f"{folder}/{file}" for file in ("step.json", "profile.json", "tuned.json", "result.json"))
        call("step", "transformer", "--name", name, *options, "--json", step)
        call("tune", "--scenario", step, "--profile", profile, "--budget", str(tune_seconds), "--json", tuned, *bench)
        plans = [word for plan in PLANS for word in ("--plan", plan)]
        call("bench", "--scenario", step, "--scheme", "sequential,concurrent,priority,tuned", "--profile", profile, *plans,
             "--json", result, *trials, *bench)
        document = json.loads(Path(result).read_text(encoding="utf-8"))
        found = json.loads(Path(tuned).read_text(encoding="utf-8"))["cases"][0]
    case = document["cases"][0]
    return {
        "name": name,
        "options": options,
        "provenance": document["provenance"],
        "device": document["device"]["name"],
        "versions": document["versions"],
        "critical_path_us": case["critical_path_us"],
        "hardware_limit_us": case["hardware_limit_us"],
        "schemes": {one["scheme"]: {"time_us": one["time_us"], "plan": one["plan"], "ratio": one["time_ratio"],
                                    "overlap_efficiency": one["overlap_efficiency"]} for one in case["results"]},
        "found": {field: found[field] for field in ("scheme", "baseline", "ratio", "rounds", "reason")},
        "refusals": case["refusals"],
    }


def run(out: Path, ranks: int, only: str, tune_seconds: float, trials: list[str], bench: list[str]) -> None:
    done = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    known = {one["name"] for one in done}
    for name, options in STEPS[ranks].items():
        if name in known or not re.search(only, name):
            continue
        done.append(ran(name, options, tune_seconds, trials, bench))
        out.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
        times = {scheme: one["time_us"]["median"] / 1000 for scheme, one in done[-1]["schemes"].items()}
        print(name, "  ".join(f"{scheme} {time:.3f} ms" for scheme, time in times.items()), flush=True)


def compare(predicted_file: Path, measured_file: Path) -> None:
    predicted = {one["name"]: one for one in json.loads(predicted_file.read_text(encoding="utf-8"))}
    errors, right, steps = [], 0, 0
    print("| step | scheme | predicted (ms) | measured (ms) | error (%) |\n| --- | --- | ---: | ---: | ---: |")
    for one in json.loads(measured_file.read_text(encoding="utf-8")):
        other = predicted.get(one["name"])
        if other is None:
            continue
        if other["options"] != one["options"]:
            sys.exit(f"{one['name']}: another step in {predicted_file} than in {measured_file}")
        both = [scheme for scheme in one["schemes"] if scheme in other["schemes"] and scheme != "tuned"]
        told = {scheme: other["schemes"][scheme]["time_us"]["median"] for scheme in both}
        seen = {scheme: one["schemes"][scheme]["time_us"]["median"] for scheme in both}
        for scheme in both:
            errors.append(abs(told[scheme] / seen[scheme] - 1))
            print(f"| {one['name']} | {scheme} | {told[scheme] / 1000:.3f} | {seen[scheme] / 1000:.3f} | "
                  f"{100 * (told[scheme] / seen[scheme] - 1):+.1f} |")
        steps += 1
        right += min(told, key=told.get) == min(seen, key=seen.get)
    if not steps:
        sys.exit("no step is in both files")
    print(f"\n{len(errors)} times: median error {100 * statistics.median(errors):.1f} %, worst {100 * max(errors):.1f} %; "
          f"best scheme right in {right} of {steps} steps")


def spread(time: dict) -> str:
    return f"{time['median'] / 1000:.3f} ({time['low'] / 1000:.3f}..{time['high'] / 1000:.3f})"


def in_turns(found: dict | None) -> str:
    """What the search's own rounds say, in which the choice and the baseline took turns: percent, with the 95 % interval."""
    if not found or not found["ratio"]:
        return "-"
    change = {end: f"{100 * (found['ratio'][end] - 1):+.1f}" for end in ("median", "low", "high")}
    return f"{change['median']} ({change['low']}..{change['high']})"


def gains(file: Path) -> None:
    """Beside the best baseline: apart where the intervals of both have nothing in common."""
    print("| step | best baseline | its time (ms) | tuned (ms) | change (%) | apart | in turns (%) | of the critical path (%) | of the hardware limit (%) |\n"
          "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |")
    for one in json.loads(file.read_text(encoding="utf-8")):
        times = {scheme: of["time_us"] for scheme, of in one["schemes"].items()}
        best = min((scheme for scheme in BASELINES if scheme in times), key=lambda scheme: times[scheme]["median"])
        base, tuned = times[best], times["tuned"]
        apart = tuned["high"] < base["low"] or tuned["low"] > base["high"]
        print(f"| {one['name']} | {best} | {spread(base)} | {spread(tuned)} | {100 * (tuned['median'] / base['median'] - 1):+.1f} | "
              f"{'yes' if apart else 'no'} | {in_turns(one.get('found'))} | {100 * one['critical_path_us'] / tuned['median']:.0f} | "
              f"{100 * one['hardware_limit_us'] / tuned['median']:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("out", type=Path)
    running.add_argument("--ranks", type=int, choices=sorted(STEPS), default=2)
    running.add_argument("--only", default="")
    running.add_argument("--tune-seconds", type=float, default=60, help="for the search of a step")
    running.add_argument("--trials", type=int, help="rounds of the comparison behind the search; bench's own number by default")
    comparing = commands.add_parser("compare")
    comparing.add_argument("predicted", type=Path)
    comparing.add_argument("measured", type=Path)
    commands.add_parser("gains").add_argument("file", type=Path)
    arguments, bench = parser.parse_known_args()
    if arguments.command == "run":
        trials = ["--trials", str(arguments.trials)] if arguments.trials else []
        run(arguments.out, arguments.ranks, arguments.only, arguments.tune_seconds, trials, bench)
    elif bench:
        parser.error(f"unknown: {' '.join(bench)}")
    elif arguments.command == "gains":
        gains(arguments.file)
    else:
        compare(arguments.predicted, arguments.measured)


if __name__ == "__main__":
    main()
