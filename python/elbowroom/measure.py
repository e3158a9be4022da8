"""`elbowroom measure`: a command plain and under `elbowroom run` in turns, and how much a step's time changes."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shlex
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from elbowroom import launched, pair_verdict

SCHEMA = "elbowroom.measure/1"
PLAIN, RUN = "plain", "run"
FAILED, BAD_INPUT, NOTHING_RAN = 1, 2, 77
SHOWN_LINES = 5  # of what a launch that failed wrote last

WORDS = {
    pair_verdict.FASTER: "the whole interval lies below zero",
    pair_verdict.NOT_SLOWER: f"the interval ends at or below {100 * pair_verdict.BOUND:.1f} %",
    pair_verdict.SLOWER: f"the whole interval lies above {100 * pair_verdict.BOUND:.1f} %",
    pair_verdict.UNDECIDED: "more pairs or longer launches may tell",
}


class Stopped(Exception):
    """In one line, with the exit code."""

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.code = code


@dataclass(frozen=True)
class Pair:
    """One launch plain and one under `run`. Times are milliseconds of a step."""

    first: str
    plain_ms: float
    run_ms: float

    def value(self) -> float:
        return pair_verdict.step_time_value([self.plain_ms], [self.run_ms])


def counted(steps: list[float], skip: int | None) -> list[float]:
    """Programs warm up and `auto` compares in the first steps: without a number the later half counts."""
    return steps[len(steps) // 2 if skip is None else skip :]


def seen_step_ms(report: dict[str, Any]) -> float | None:
    """The mean step of the process whose repetition of collectives lasted longest."""
    stretches = [process["steps"] for process in report["processes"] if process.get("steps")]
    if not stretches:
        return None
    longest = max(stretches, key=lambda steps: steps["end_us"] - steps["begin_us"])
    return (longest["end_us"] - longest["begin_us"]) / longest["repetitions"] / 1000


def no_driver() -> str:
    """Where no GPU can be used, that is why nothing was seen."""
    for library in ("libcuda.so.1", "libamdhip64.so"):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        return ""
    return "no CUDA driver here (libcuda.so.1), so run changes nothing; "


def order_of(number: int) -> tuple[str, str]:
    """What comes second meets a warmer machine: the arms take turns."""
    return (PLAIN, RUN) if number % 2 == 0 else (RUN, PLAIN)


def pairs_of(most: int, step_ms: Callable[[str], float], tell: Callable[[int, Pair], None]) -> list[Pair]:
    """Until a look decides, and `most` at most."""
    pairs: list[Pair] = []
    for number in range(most):
        order = order_of(number)
        times = {arm: step_ms(arm) for arm in order}
        pairs.append(Pair(order[0], times[PLAIN], times[RUN]))
        tell(number, pairs[-1])
        if verdict_of(pairs).verdict != pair_verdict.UNDECIDED:
            break
    return pairs


def verdict_of(pairs: list[Pair]) -> pair_verdict.Verdict:
    return pair_verdict.judge([pair.value() for pair in pairs], pair_verdict.STEP_TIME)


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def in_words(pairs: list[Pair]) -> str:
    """The result first."""
    verdict = verdict_of(pairs)
    plain, run = (statistics.median(times) for times in zip(*((pair.plain_ms, pair.run_ms) for pair in pairs)))
    change = verdict.change
    interval = f", {percent(change.low)} to {percent(change.high)}" if change.low is not None else ""
    lines = [
        f"{verdict.verdict}: {run:.2f} ms a step instead of {plain:.2f} ({percent(change.estimate)}{interval})",
        f"{pair_verdict.counted(verdict.pairs)} of launches, {100 * pair_verdict.CONFIDENCE:.0f} % interval: {WORDS[verdict.verdict]}",
        "",
        f"  {'pair':4}  {'plain ms':>10}  {'run ms':>10}  {'change':>8}",
    ]
    for number, pair in enumerate(pairs, 1):
        lines.append(f"  {number:4}  {pair.plain_ms:10.2f}  {pair.run_ms:10.2f}  {percent(pair.run_ms / pair.plain_ms - 1):>8}")
    return "\n".join(lines) + "\n"


def document_of(options: argparse.Namespace, pairs: list[Pair]) -> dict[str, Any]:
    verdict = verdict_of(pairs)
    return {
        "schema": SCHEMA,
        "provenance": "measured",
        "command": options.command,
        "run_options": options.run,
        "steps": "printed" if options.step else "seen",
        "plain_ms": statistics.median(pair.plain_ms for pair in pairs),
        "run_ms": statistics.median(pair.run_ms for pair in pairs),
        "change": asdict(verdict.change) if verdict.change else None,
        "confidence": pair_verdict.CONFIDENCE,
        "judged_pairs": verdict.pairs,
        "verdict": verdict.verdict,
        "pairs": [asdict(pair) for pair in pairs],
    }


class Launcher:
    """Launches the command, and says how long a step lasted."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def _command(self, arm: str, report: Path) -> list[str]:
        options = self._options
        if arm == PLAIN and options.step:
            return options.command
        # A launch that began with the choices of the one before it would say nothing of its own.
        run = [options.elbowroom, "run", "--no-memory", "--quiet", "--report", str(report)]
        return [*run, *(["--policy", "observe"] if arm == PLAIN else options.run), "--", *options.command]

    def _step_ms(self, output: str, report: Path) -> float | None:
        if not self._options.step:
            return seen_step_ms(json.loads(report.read_text(encoding="utf-8")))
        steps = counted(launched.steps_in(output, self._options.step), self._options.skip)
        return statistics.median(steps) if steps else None

    def step_ms(self, arm: str) -> float:
        with tempfile.TemporaryDirectory() as name:
            report = Path(name) / "report.json"
            output, errors, code, stopped = launched.contained(self._command(arm, report), os.environ, self._options.timeout, Path(name))
            if stopped or code:
                tail = "".join(f"\n  {line}" for line in errors.splitlines()[-SHOWN_LINES:])
                line = f"{arm}: the command {stopped or f'ended with exit code {code}'}{tail}"
                raise Stopped(line, NOTHING_RAN if code == NOTHING_RAN else FAILED)
            milliseconds = self._step_ms(output + errors, report)
        if milliseconds is None:
            missing = "--step finds no step in what it printed" if self._options.step else f"{no_driver()}no sequence of collectives was repeated"
            raise Stopped(f"{arm}: {missing}; expected --step with an expression for the line that names a step's time", BAD_INPUT)
        return milliseconds


def save(document: dict[str, Any], path: str) -> None:
    text = json.dumps(document, indent=2) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=Path(path).resolve().parent, prefix=".elbowroom-", suffix=".partial", delete=False) as partial:
        partial.write(text)
    os.chmod(partial.name, 0o644)
    os.replace(partial.name, path)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The program has checked these already."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--elbowroom", required=True)
    parser.add_argument("--pairs", type=int, required=True)
    parser.add_argument("--step", default="")
    parser.add_argument("--skip", type=int)
    parser.add_argument("--timeout", type=float, required=True)
    parser.add_argument("--run", action="append", default=[])
    parser.add_argument("--json", default="")
    parser.add_argument("command", nargs="+")
    return parser.parse_args(arguments)


def tell(number: int, pair: Pair) -> None:
    change = percent(pair.run_ms / pair.plain_ms - 1)
    print(f"elbowroom measure: pair {number + 1}: {pair.plain_ms:.2f} ms plain, {pair.run_ms:.2f} ms under run ({change})", file=sys.stderr)


def measured(options: argparse.Namespace) -> int:
    if options.step:
        launched.check_expression(options.step)
    print(f"elbowroom measure: {shlex.join(options.command)}: {pair_verdict.counted(options.pairs)} at most", file=sys.stderr)
    pairs = pairs_of(options.pairs, Launcher(options).step_ms, tell)
    if options.json:
        save(document_of(options, pairs), options.json)
    print(in_words(pairs), end="", file=sys.stderr if options.json == "-" else sys.stdout)
    return FAILED if verdict_of(pairs).verdict == pair_verdict.SLOWER else 0


def main() -> NoReturn:
    # The launch that runs is ended as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(measured(parse(sys.argv[1:])))
    except Stopped as stopped:
        code, line = stopped.code, str(stopped)
    except (ValueError, OSError) as error:
        code, line = BAD_INPUT, str(error)
    except KeyboardInterrupt:
        code, line = 128 + signal.SIGINT, "interrupted"
    print(f"elbowroom measure: {line}", file=sys.stderr)
    sys.exit(code)
