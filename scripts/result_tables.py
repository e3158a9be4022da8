"""Tables of recorded documents for scripts/results.py: each function takes the documents of a section and gives Markdown."""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import packed
import paper
import steps

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts" / "yardstick"), str(ROOT / "python")]
import page as yardstick  # noqa: E402

Document = Any
Section = dict[str, Any]

# Of a plan's members: its words, where it is on or has a number.
CONTROLS = {
    "blocks_per_sm": "{} blocks per SM", "priority": "priority", "launch_gate": "gate", "comm_blocks": "{} comm blocks", "cluster": "cluster {}",
    "sm_target": "SM target {}", "comm_threads": "{} comm threads", "symmetric": "symmetric", "copy_engine": "copy engines",
    "peer_detour": "detour", "windows_only": "in windows",
}  # fmt: skip


def load(name: str) -> Document:
    return json.loads(packed.read(ROOT / "results" / name))


def stem(file: str) -> str:
    return Path(file).name.removesuffix(".gz").removesuffix(".json")


def controls(plan: dict[str, Any]) -> str:
    return ", ".join(words.format(plan[name]) for name, words in CONTROLS.items() if plan.get(name)) or "none"


def ms(time: dict[str, float]) -> str:
    return " ".join([f"{time['median'] / 1000:.2f}", *([interval(time, 1000)] if time["low"] < time["high"] else [])])


def interval(of: dict[str, float], unit: float) -> str:
    return f"({of['low'] / unit:.2f}..{of['high'] / unit:.2f})"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def schemes(section: Section) -> str:
    """Of `bench`: each scheme of each case."""
    rows = []
    for document in map(load, section["files"]):
        for case in document.get("table", document)["cases"]:
            name = case["scenario"]["name"]
            rows += [[name, one["scheme"], str(one["plan"]["blocks_per_sm"] or "-"), ms(one["time_us"]), percent(one["reduction"]),
                      percent(one["overlap_efficiency"]), percent(one["overlap_rate"])]
                     for one in case["results"] if one["scheme"] in section.get("schemes", [one["scheme"]])]  # fmt: skip
    return paper.table(["case", "scheme", "cap", "ms", "reduction (%)", "critical path (%)", "overlap (%)"], rows, left=2)


def best_schemes(section: Section) -> str:
    """Of `bench`: sequential and the fastest scheme of each case."""
    rows = []
    for case in (case for document in map(load, section["files"]) for case in document["cases"]):
        known = {one["scheme"]: one for one in case["results"]}
        best = min(case["results"], key=lambda one: one["time_us"]["median"])
        rows.append([case["scenario"]["name"], ms(known["sequential"]["time_us"]) if "sequential" in known else "-", best["scheme"], controls(best["plan"]),
                     ms(best["time_us"]), percent(best["reduction"]), percent(best["overlap_efficiency"])])  # fmt: skip
    return paper.table(["case", "sequential, ms", "fastest", "its controls", "ms", "reduction (%)", "critical path (%)"], rows, left=1)


def energy(section: Section) -> str:
    rows = []
    for case in (case for document in map(load, section["files"]) for case in document["table"]["cases"]):
        rows += [[case["scenario"]["name"], one["scheme"], ms(one["time_us"]), f"{one['energy']['joules']:.2f} {interval(one['energy'], 1)}",
                  f"{one['energy']['idle_joules']:.2f}"] for one in case["results"]]  # fmt: skip
    return paper.table(["case", "scheme", "ms", "joules of an iteration", "idle"], rows, left=2)


def tuned(section: Section) -> str:
    """Of `tune`: the stored choice beside the best baseline, from the same rounds."""
    rows = []
    for case in (case for document in map(load, section["files"]) for case in document["cases"]):
        rows.append([case["scenario"]["name"], controls(case["plan"]), f"{case['time_us'] / 1000:.2f}", f"{case['baseline']} {case['baseline_time_us'] / 1000:.2f}",
                     paper.with_interval(tuple(case["ratio"][end] for end in ("median", "low", "high")) if case.get("ratio") else None),
                     percent(case["overlap_efficiency"])])  # fmt: skip
    return paper.table(["case", "stored", "ms", "best baseline, ms", "stored / best baseline", "critical path (%)"], rows, left=2)


def transferred(section: Section) -> str:
    """Regret of plans chosen elsewhere: a row for each profile and baseline, a column for each case."""
    cases = [case for document in map(load, section["files"]) for case in document["cases"]]
    found: dict[str, dict[str, str]] = {}
    for case in cases:
        plans = [(one["profile"].removesuffix(".profile"), one) for one in case["transferred"]] + [(f"no choice: `{one['scheme']}`", one) for one in case["baselines"]]
        for name, one in plans:
            ratio = one.get("ratio")
            text = "refused" if ratio is None else f"{100 * (ratio['median'] - 1):.1f}"
            if ratio and ratio["low"] < ratio["high"]:
                text += f" ({100 * (ratio['low'] - 1):.1f}..{100 * (ratio['high'] - 1):.1f})"
            found.setdefault(name, {})[case["scenario"]["name"]] = text
    names = [case["scenario"]["name"] for case in cases]
    rows = [[name, *(of.get(case, "-") for case in names)] for name, of in found.items()]
    rows.append(["the best, ms", *(ms(case["best"]["time_us"]) for case in cases)])
    return paper.table(["chosen for", *names], rows)


def flatness(section: Section) -> str:
    """Of sweeps: the best cell of each case, and how far one can miss it."""
    rows = []
    for case in (case for document in map(load, section["files"]) for case in document["cases"]):
        axes = case["axes"]
        cells = {tuple(cell["at"]): cell for cell in case["cells"]}

        def words(at: list[int], axes: list[dict[str, Any]] = axes) -> str:
            return ", ".join(f"{axis['name']} {axis['values'][index]}" for axis, index in zip(axes, at, strict=True))

        for one in case["flatness"]:
            best = cells[tuple(one["best"])]
            near = [f"{slack['axis']}: {slack['from']}..{slack['to']}" for slack in one["slack"] if slack["loss"] == 0.03]
            rows.append([case["scenario"]["name"], words(one["best"]), ms(best["time_us"]), f"{best['ratio']['median']:.3f}", words(one["second"]),
                         f"{100 * one['second_loss']:.2f}", "; ".join(near)])  # fmt: skip
    return paper.table(["case", "best", "ms", "of two plain streams", "second best", "costs more (%)", "within 3 %"], rows, left=2)


def printed(function: Any, *arguments: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*arguments)
    return out.getvalue()


def training_steps(section: Section) -> str:
    return "\n".join(printed(steps.gains, ROOT / "results" / file) for file in section["files"])


def predicted_steps(section: Section) -> str:
    """Only the sums: each step's times stand in the files."""
    return printed(steps.compare, *(ROOT / "results" / file for file in section["files"])).splitlines()[-1] + "\n"


def papers_cells(section: Section) -> str:
    cells = [cell for file in section["files"] for cell in load(file)]
    text = paper.page(cells, load(section["predicted"]) if "predicted" in section else None)
    return text[text.index("## ") :].replace("## ", "### ")


def pairs(section: Section) -> str:
    """Of the yardstick: programs plain and under `run` in turns."""
    rows = []
    for file in section["files"]:
        document = load(file)
        versions = document["machine"]["versions"] | next((one["versions"] for one in document["launches"] if "versions" in one), {})
        rows += [[one[0], str(document["settings"]["gpus"]), versions.get("nccl", "-"), one[2], yardstick.milliseconds(document, one[0], verdict["arm"]),
                  one[6], one[7], one[8], stem(file)]
                 for one, verdict in zip(yardstick.time_rows(document), document["verdicts"], strict=True)]  # fmt: skip
    return paper.table(["program", "GPUs", "NCCL", "plain, ms a step", "`run`", "change of pairs (%), least, greatest", "judged (%), 95 %", "verdict", "file"], rows)


def turns(section: Section) -> str:
    """Launches in turns, one line each: medians, the least and the greatest of an arm."""
    rows = []
    for file in section["files"]:
        found: dict[tuple[str, ...], list[float]] = {}
        for one in load(file):
            arm = one.get("what") or " ".join([one.get("arm", ""), one.get("policy", "")]).strip()
            times = one["ms"] if isinstance(one.get("ms"), dict) else {one.get("program", one.get("example", "")): one.get("ms")}
            for program, time in times.items():
                if one["code"] == 0 and time is not None:
                    found.setdefault((program, one.get("nccl", "-"), arm), []).append(time)
        rows += [[*key, str(len(of)), f"{statistics.median(of):.2f} ({min(of):.2f}..{max(of):.2f})", stem(file)] for key, of in sorted(found.items())]
    return paper.table(["program", "NCCL", "as", "launches", "ms a step", "file"], rows)


TABLES = {
    "schemes": schemes, "best schemes": best_schemes, "energy": energy, "tune": tuned, "transfer": transferred, "sweep": flatness,
    "steps": training_steps, "predicted steps": predicted_steps, "paper": papers_cells, "pairs": pairs, "turns": turns,
}  # fmt: skip
