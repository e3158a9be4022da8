"""One page of results for one machine, in Markdown."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import catalog
import session
from elbowroom import pair_verdict

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "pytorch"))

from summary import markdown_table  # noqa: E402

NOTHING = "-"


def percent(share: float) -> str:
    return f"{100 * share:+.1f}"


def milliseconds(document: session.Document, program: str, arm: str) -> str:
    """The median over launches of the median over steps."""
    medians = [statistics.median(record["steps_ms"]) for record in session.good(session.of(document, program, arm))]
    return f"{statistics.median(medians):.2f}" if medians else NOTHING


def reason_of(document: session.Document, program: str, arm: str) -> str:
    reasons = [entry["reason"] for entry in document["excluded"] if (entry["program"], entry["arm"]) == (program, arm)]
    return reasons[0] if reasons else ""


def change(document: session.Document, program: str, arm: str) -> str:
    """Against the plain launches of the same rounds: the median, least and greatest ratio."""
    ratios = [
        statistics.median(other["steps_ms"]) / statistics.median(plain["steps_ms"]) - 1
        for plain, other in session.pairs(document, program, arm)
    ]
    if not ratios:
        return "does not run" if reason_of(document, program, arm) else NOTHING
    return f"{percent(statistics.median(ratios))} ({percent(min(ratios))}..{percent(max(ratios))})"


def judged(verdict: dict[str, Any]) -> str:
    """The change of the measure that decides, with its interval."""
    found = verdict["change"]
    if found is None:
        return NOTHING
    text = percent(found["estimate"])
    if found["low"] is not None:
        text += f" ({percent(found['low'])}..{percent(found['high'])})"
    return f"{text}, {pair_verdict.counted(verdict['pairs'])}"


def verdict_text(document: session.Document, verdict: dict[str, Any]) -> str:
    program, arm = verdict["program"], verdict["arm"]
    failed = session.failures(document, program, arm)
    if failed:
        return f"**failed**: {failed} of {len(session.of(document, program, arm))} launches"
    words = verdict["verdict"] + (", by host time" if verdict["measure"] == pair_verdict.HOST_TIME else "")
    return f"**{words}**" if verdict["verdict"] in (pair_verdict.FASTER, pair_verdict.SLOWER) else words


def time_rows(document: session.Document) -> list[list[str]]:
    rows = []
    for verdict in document["verdicts"]:
        program = verdict["program"]
        if reason_of(document, program, catalog.PLAIN) or not session.of(document, program, catalog.PLAIN):
            continue
        rows.append(
            [
                program,
                milliseconds(document, program, catalog.LOCAL),
                milliseconds(document, program, catalog.PLAIN),
                change(document, program, catalog.NCCL),
                change(document, program, catalog.OWN),
                verdict["arm"].removeprefix(catalog.RUN).strip() or "default",
                change(document, program, verdict["arm"]),
                judged(verdict),
                verdict_text(document, verdict),
            ]
        )
    return rows


def mean_ratio(document: session.Document, program: str, arm: str) -> str:
    """Of mean steps, which hold the steps that a median leaves out."""
    ratios = [
        statistics.fmean(other["steps_ms"]) / statistics.fmean(plain["steps_ms"]) - 1
        for plain, other in session.pairs(document, program, arm)
    ]
    return percent(statistics.median(ratios)) if ratios else NOTHING


def host_time(document: session.Document, program: str, arm: str) -> str:
    """CPU time that a step takes more than the plain one, of all threads of the slowest rank."""
    added = [
        statistics.median(other["cpu_ms"]) - statistics.median(plain["cpu_ms"])
        for plain, other in session.pairs(document, program, arm)
        if "cpu_ms" in plain and "cpu_ms" in other
    ]
    return f"{statistics.median(added):+.2f}" if added else NOTHING


def ended_with(document: session.Document, program: str, arm: str) -> str:
    """What `auto` had chosen when the launches ended, and in how many of them."""
    found: Counter[str] = Counter()
    for record in session.good(session.of(document, program, arm)):
        trials = [trial for trial in (record.get("report") or {}).get("ab", []) if trial.get("state") in ("trying", "settled")]
        arms = " / ".join(sorted({trial["arm"] for trial in trials}))
        comparing = any(trial["state"] == "trying" for trial in trials)
        found[(arms or "no choice") + (" (comparing)" if comparing else "")] += 1
    return ", ".join(f"{count} x {text}" for text, count in found.most_common()) or NOTHING


def joules(document: session.Document, program: str, arm: str) -> str:
    values = [record["joules"] for record in session.good(session.of(document, program, arm)) if "joules" in record]
    return f"{statistics.median(values):.1f}" if values else NOTHING


def why_no_joules(document: session.Document) -> list[str]:
    whole = document["machine"].get("no_joules")
    if whole:
        return [f"No joules: {whole}."]
    found = {(record["program"], record["no_joules"]) for record in session.good(document["launches"]) if "no_joules" in record}
    return [f"No joules in a launch of {program}: {reason}." for program, reason in sorted(found)]


def host_rows(document: session.Document) -> list[list[str]]:
    rows = []
    for verdict in document["verdicts"]:
        program, arm = verdict["program"], verdict["arm"]
        if not session.pairs(document, program, arm):
            continue
        idle = session.idle_of(document, program)
        rows.append(
            [
                program,
                arm.removeprefix(catalog.RUN).strip() or "default",
                NOTHING if idle is None else f"{100 * idle:.0f}",
                host_time(document, program, arm),
                mean_ratio(document, program, arm),
                joules(document, program, catalog.PLAIN),
                joules(document, program, arm),
                ended_with(document, program, arm),
            ]
        )
    return rows


def switches(document: session.Document) -> list[str]:
    measured = {record["program"] for record in document["launches"] if record["arm"] == catalog.OWN}
    return [f"{program.name}: {program.own.words}" for program in catalog.CATALOG if program.own and program.name in measured]


def not_run(document: session.Document) -> list[str]:
    lines = []
    for entry in document["excluded"]:
        arm = "" if entry["arm"] == catalog.PLAIN else f", {entry['arm']}"
        lines.append(f"Does not run: {entry['program']}{arm}: {entry['reason']}.")
    return lines


def origin(document: session.Document) -> str:
    machine, settings = document["machine"], document["settings"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(machine.get("versions", {}).items()))
    return (
        f"Measured on {settings.get('gpus', '?')} x {machine.get('device', 'unknown device')}; {versions or 'versions unknown'}; "
        f"{settings.get('steps', '?')} timed steps a launch. NCCL's settings: {settings.get('nccl') or 'none'}."
    )


def markdown(document: session.Document) -> str:
    """Times, then host time and energy, then what did not run and why; docs/programs.md says what the columns mean."""
    text = f"# The yardstick\n\n{origin(document)}\n\n"
    text += "".join(f"    {call}\n" for call in document["calls"]) + "\n"
    text += "Change of a step's time against plain, in percent: median over launches (least..greatest). "
    text += "`decides`: with its 95 % interval.\n\n"
    headings = ["program", "local ms", "plain ms", "NCCL's settings", "own switch", "`run`", "change", "decides", "verdict"]
    text += markdown_table(headings, time_rows(document))
    headings = ["program", "`run`", "idle %", "CPU ms added", "mean step %", "J plain", "J `run`", "ended with"]
    text += "\n" + markdown_table(headings, host_rows(document))
    own = switches(document)
    text += f"\nOwn switches: {'; '.join(own)}.\n" if own else ""
    for line in [*not_run(document), *why_no_joules(document)]:
        text += f"\n{line}\n"
    return text
