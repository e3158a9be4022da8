"""Programs of others, in turns: local compute, plain, with NCCL's settings, with the framework's own switch, under `elbowroom run`.

usage: python3 scripts/yardstick --elbowroom build/release/bin/elbowroom --json FILE --page FILE [options]
       python3 scripts/yardstick --command NAME=COMMAND --step REGEX [options]      a program of yours, by the times that it prints

Each program is launched 3 to 12 times with and without, until it is known that it is faster, slower, or not slower than 0.3 %.
What was measured is written after every launch; a second call with the same --json goes on where the first was stopped.
docs/programs.md says how to read the page. Exit codes: 0, 1 when a program is slower or fails under `run`, 2 for bad input,
77 when no program runs here.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import catalog
import launches
import nvml
import page
import session
import smoke
from elbowroom import pair_verdict

NOTHING_RAN = 77


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="yardstick", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom", help="the program")
    parser.add_argument("--raw", default="", help="the built examples/raw_overlap.cu")
    parser.add_argument("--programs", default="", help=f"some of {', '.join(catalog.NAMES)}; by comma, all where absent")
    parser.add_argument("--command", action="append", help="NAME=COMMAND of a program of yours, in the place of --programs; several times")
    parser.add_argument("--step", default="", help="what it prints of a step: an expression with (?P<ms>...) or (?P<per_second>...)")
    parser.add_argument("--skip", type=int, default=0, help="steps at its begin that do not count")
    parser.add_argument("--run", action="append", help="options of `elbowroom run` joined by '+'; several times")
    parser.add_argument("--nccl", default="NCCL_MIN_CTAS=16,NCCL_MAX_CTAS=16", help="settings of the arm nccl; '' for no such arm")
    parser.add_argument("--gpus", type=int, default=0, help="0: all")
    parser.add_argument("--steps", type=int, default=60, help="timed steps of a launch")
    parser.add_argument("--warm-up", type=int, default=260, help="steps before them, of every arm: GPUs that worked for longer have lower clocks")
    parser.add_argument("--launches", type=int, default=max(pair_verdict.LOOKS), help="pairs of a program at most")
    parser.add_argument("--others", type=int, default=3, help="launches of the arms that are not judged")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no launch begins after them")
    parser.add_argument("--timeout", type=float, default=150, help="seconds of one launch")
    parser.add_argument("--json", default="", help="what was measured, and where a call goes on")
    parser.add_argument("--page", default="", help="the results as Markdown")
    parser.add_argument("--smoke", action="store_true", help="each arm once, a few steps, several at a time: finds what crashes")
    parser.add_argument("--arms", default="", help=f"with --smoke: some of {', '.join(smoke.ARMS)}, by comma; all where absent")
    parser.add_argument("--jobs", type=int, default=3, help="launches at a time with --smoke")
    return parser.parse_args()


def plan_of(options: argparse.Namespace) -> launches.Plan:
    for name in ("steps", "warm_up", "launches", "timeout", "seconds", "jobs"):
        if getattr(options, name) < 1:
            raise session.Refused(f"--{name.replace('_', '-')}: {getattr(options, name)}, expected 1 or more")
    if options.skip < 0:
        raise session.Refused(f"--skip: {options.skip}, expected 0 or more")
    if not shutil.which(options.elbowroom):
        raise session.Refused(f"--elbowroom: '{options.elbowroom}' is no program")
    return launches.Plan(
        elbowroom=options.elbowroom,
        raw=options.raw,
        gpus=options.gpus or max(nvml.gpus_here(), 2),
        steps=options.steps,
        warm_up=options.warm_up,
        timeout=options.timeout,
        skip=options.skip,
    )


def programs_of(options: argparse.Namespace) -> list[catalog.Program]:
    if not options.command:
        return catalog.chosen(options.programs)
    if options.programs:
        raise session.Refused(f"--programs: '{options.programs}', expected nothing beside --command")
    return [catalog.given(text, options.step) for text in options.command]


def settings_of(options: argparse.Namespace, plan: launches.Plan) -> dict[str, Any]:
    """What two calls must have in common so that their launches can be compared."""
    common = {"gpus": plan.gpus, "steps": plan.steps, "warm_up": plan.warm_up, "nccl": options.nccl}
    if not options.command:
        return common
    return common | {"commands": options.command, "step": options.step, "skip": plan.skip}


def told(record: session.Record) -> str:
    text = record.get("failure") or record.get("skipped") or f"{statistics.median(record['steps_ms']):.3f} ms"
    return f"{record['seconds']:6.1f} s  {record['program']}, {record['arm']}: {text}"


def note_machine(document: session.Document, record: session.Record) -> None:
    machine = document["machine"]
    for name, value in record.get("versions", {}).items():
        machine.setdefault("versions", {}).setdefault(name, value)
    if "device" in record:
        device = machine.setdefault("device", record["device"])
        if device != record["device"]:
            raise session.Refused(f"device was {device}, now {record['device']}; expected the same, or another file for --json")


def write(document: session.Document, options: argparse.Namespace) -> None:
    if options.json:
        session.save(document, Path(options.json))
    if options.page:
        Path(options.page).write_text(page.markdown(document), encoding="utf-8")


def energy_counter(document: session.Document, gpus: int) -> nvml.EnergyCounter | None:
    try:
        return nvml.EnergyCounter(gpus)
    except nvml.NoCounter as error:
        document["machine"]["no_joules"] = str(error)
        return None


def measure(options: argparse.Namespace, ends_at: float) -> session.Document:
    plan = plan_of(options)
    variants = options.run or [""]
    programs = programs_of(options)
    document = session.resumed(Path(options.json), settings_of(options, plan)) if options.json else session.new_document({})
    document["settings"] = settings_of(options, plan)
    document["machine"].setdefault("versions", {}).update(nvml.driver())
    call = session.call_of(sys.argv[1:])
    if call not in document["calls"]:
        document["calls"].append(call)
    known = {(entry["program"], entry["arm"]) for entry in document["excluded"]}
    for program in programs:
        reason = launches.reason_not_to_run(program, plan)
        if reason and (program.name, catalog.PLAIN) not in known:
            document["excluded"].append({"program": program.name, "arm": catalog.PLAIN, "reason": reason})
    counter = energy_counter(document, plan.gpus)
    running = session.Session(
        document,
        lambda program, arm, traced: launches.launch(program, arm, plan, traced, counter),
        lambda program: catalog.arms_of(program, options.nccl, variants),
        options.launches,
        options.others,
    )
    for record in running.launches(programs, ends_at):
        note_machine(document, record)
        print(told(record), file=sys.stderr, flush=True)
        write(document, options)
    write(document, options)
    return document


def exit_code(document: session.Document) -> int:
    if not session.good(document["launches"]):
        return NOTHING_RAN
    failed = any("failure" in record for record in document["launches"] if record["arm"].startswith(catalog.RUN))
    slower = any(verdict["verdict"] == pair_verdict.SLOWER for verdict in document["verdicts"])
    return 1 if failed or slower else 0


def main() -> int:
    options = parse()
    # A time limit around this program ends it so; the launch that runs is then ended as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        ends_at = time.monotonic() + options.seconds
        if options.smoke:
            return smoke.run(plan_of(options), programs_of(options), options, ends_at)
        document = measure(options, ends_at)
    except (session.Refused, ValueError) as error:
        print(f"yardstick: {error}", file=sys.stderr)
        return 2
    print(page.markdown(document), end="")
    return exit_code(document)


if __name__ == "__main__":
    sys.exit(main())
