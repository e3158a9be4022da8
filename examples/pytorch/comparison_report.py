"""The document and the tables of compare.py. Needs no torch.

`elbowroom.pytorch/1`: for each case (example and batch) its variants in the order of their first launch, with the times of every
step. A variant of Elbowroom keeps the local compute that was measured in its own launches beside its steps.
"""

from __future__ import annotations

from typing import Any

import kernel_records
import summary

BASE_MODES = ("local", "plain", "high_priority_nccl")
TITLES = {
    "local": "local compute only",
    "plain": "plain PyTorch",
    "high_priority_nccl": "its high-priority NCCL stream",
}
LINKS = {"direct": "direct links (NVLink where the machine has it)", "host": "links through host memory (NCCL_P2P_DISABLE=1)"}

Document = dict[str, Any]
Row = dict[str, Any]


def empty_document(link: str, deterministic: bool) -> Document:
    return {
        "schema": "elbowroom.pytorch/1",
        "provenance": "measured",
        "link": link,
        "deterministic": deterministic,
        "device": None,
        "gpus": None,
        "versions": {},
        "cases": [],
        "notes": [],
        "failures": [],
        "not_run": [],
    }


def run_summary(run: dict[str, Any]) -> dict[str, Any]:
    """What is kept of an `elbowroom.run/1` document: the sums that matter here and what each process found by comparing steps."""
    kept = ("launches", "collectives", "applied", "refused", "relaunched", "overhead")
    trials = [process["ab"] for process in run["processes"] if process.get("ab", {}).get("state", "off") != "off"]
    return {key: run["total"][key] for key in kept} | {"trials": trials}


def _case(document: Document, line: dict[str, Any]) -> dict[str, Any]:
    for case in document["cases"]:
        if (case["example"], case["batch"]) == (line["example"], line["batch"]):
            return case
    document["cases"].append({"example": line["example"], "batch": line["batch"], "variants": []})
    return document["cases"][-1]


def _variant(case: dict[str, Any], name: str, elbowroom: bool) -> Row:
    for row in case["variants"]:
        if row["variant"] == name:
            return row
    row = {"variant": name, "elbowroom": elbowroom, "ms": [], "local_ms": [], "digests": [], "kernels_ms": None}
    case["variants"].append(row | {"local_kernels_ms": None, "report": None})
    return case["variants"][-1]


def _add_mode(row: Row, measured: dict[str, Any]) -> None:
    row["ms"].append(measured["ms"])
    row["digests"].append(measured["digest"])
    row["kernels_ms"] = measured.get("kernels_ms", row["kernels_ms"])


def add_line(document: Document, variant: str, elbowroom: bool, line: dict[str, Any], report: dict[str, Any] | None) -> None:
    """Files one example's line of one launch. Each launch adds a list of times, so that launches can be told apart."""
    document["device"], document["gpus"] = line["device"], line["gpus"]
    # A program that is not PyTorch's knows fewer of them.
    document["versions"] |= line["versions"]
    case = _case(document, line)
    for mode, measured in line["modes"].items():
        if "no_records" in measured:
            document["notes"].append(f"{variant}, {line['example']}, {mode}: no kernel records: {measured['no_records']}")
    if not elbowroom:
        for mode in BASE_MODES:
            if mode in line["modes"]:
                _add_mode(_variant(case, mode, elbowroom), line["modes"][mode])
        return
    row = _variant(case, variant, elbowroom)
    _add_mode(row, line["modes"]["plain"])
    if "local" in line["modes"]:
        local = line["modes"]["local"]
        row["local_ms"].append(local["ms"])
        row["local_kernels_ms"] = local.get("kernels_ms", row["local_kernels_ms"])
    if report is not None:
        row["report"] = report


def _pooled(launches: list[list[float]]) -> list[float]:
    return [time for launch in launches for time in launch]


def _row(case: dict[str, Any], name: str) -> Row | None:
    return next((row for row in case["variants"] if row["variant"] == name), None)


def _local_of(case: dict[str, Any], row: Row) -> list[float]:
    """The local compute of the same launches: clocks differ a little from launch to launch."""
    if row["elbowroom"]:
        return _pooled(row["local_ms"])
    local = _row(case, "local")
    return _pooled(local["ms"]) if local else []


def _applied(row: Row) -> str:
    if row["report"] is None:
        return ""
    counts = ", ".join(f"{name} {count}" for name, count in row["report"]["applied"].items() if count) or "nothing"
    arms = sorted({trial["arm"] for trial in row["report"]["trials"] if trial.get("arm")})
    if not arms:
        return counts
    comparing = any(trial.get("state") == "trying" for trial in row["report"]["trials"])
    return f"{counts}; {'still comparing' if comparing else 'ended'} with {' / '.join(arms)}"


def _time_rows(case: dict[str, Any]) -> list[list[str]]:
    plain = _row(case, "plain")
    reference = _pooled(plain["ms"]) if plain else []
    rows = []
    for row in case["variants"]:
        times = _pooled(row["ms"])
        local = _local_of(case, row)
        against = gap = own_local = ""
        if reference and row["variant"] not in ("local", "plain"):
            difference = summary.difference_interval(times, reference)
            against = f"{difference.text(sign=True)}, {summary.verdict(difference)}"
        if local and row["variant"] != "local":
            gap = summary.difference_interval(times, local).text(sign=True)
        if row["elbowroom"] and local:
            own_local = summary.median_interval(local).text()
        rows.append(
            [_title(row), summary.median_interval(times).text(), against, gap, own_local, str(len(times)), _applied(row)]
        )
    return rows


def _title(row: Row) -> str:
    return f"`elbowroom run --policy {row['variant'].replace('+', ' ')}`" if row["elbowroom"] else TITLES[row["variant"]]


def _breakdown_rows(case: dict[str, Any]) -> list[list[str]]:
    local_row = _row(case, "local")
    rows = []
    for row in case["variants"]:
        alone = row["local_kernels_ms"] if row["elbowroom"] else (local_row or {}).get("kernels_ms")
        if row["variant"] == "local" or not row["kernels_ms"] or not alone:
            continue
        kernels = row["kernels_ms"]
        longer = kernel_records.inflation(kernels, alone)
        rows.append(
            [
                _title(row),
                f"{kernels['communication']:.2f}",
                f"{kernels['exposed_communication']:.2f}",
                f"{kernels['compute_busy'] - alone['compute_busy']:+.2f}",
                *(f"{longer[kind]:+.2f}" for kind in longer),
            ]
        )
    return rows


def _digest_rows(case: dict[str, Any]) -> list[list[str]]:
    rows = []
    for row in case["variants"]:
        digests = sorted(set(row["digests"]))
        rows.append([_title(row), " ".join(digest[:16] for digest in digests), "yes" if _agrees(case, row) else "**no**"])
    return rows


def _agrees(case: dict[str, Any], row: Row) -> bool:
    plain = _row(case, "plain")
    return plain is not None and set(row["digests"]) == set(plain["digests"]) and len(set(plain["digests"])) == 1


def digests_agree(document: Document) -> bool:
    """True when nothing was to be compared bitwise, or when every variant gave plain PyTorch's digest in every case."""
    if not document["deterministic"]:
        return True
    rows = [(case, row) for case in document["cases"] for row in case["variants"]]
    return bool(rows) and all(_agrees(case, row) for case, row in rows)


def _case_text(document: Document, case: dict[str, Any]) -> str:
    text = f"### {case['example']}, batch {case['batch']}, {LINKS[document['link']]}\n\n"
    if document["deterministic"]:
        return text + summary.markdown_table(["", "digest", "as plain PyTorch"], _digest_rows(case))
    headings = ["", "ms per step", "against plain", "gap to local", "local in the same launch", "steps", "applied in the launch"]
    text += summary.markdown_table(headings, _time_rows(case))
    breakdown = _breakdown_rows(case)
    if breakdown:
        classes = [f"{kind} longer" for kind in kernel_records.CLASS_NAMES if kind != kernel_records.COMMUNICATION]
        text += "\nFrom kernel records of rank 0, ms per step:\n\n"
        text += summary.markdown_table(["", "communication", "of it exposed", "compute longer", *classes], breakdown)
    return text


def markdown(document: Document) -> str:
    """Origin of the figures, then a section for each case; level 3 headings."""
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    what = "bitwise digests" if document["deterministic"] else "medians with 95 % bootstrap intervals over steps"
    text = f"Measured on {document['gpus']} x {document['device']}; {versions or 'versions unknown'}; {what}.\n"
    for case in document["cases"]:
        text += "\n" + _case_text(document, case)
    for title, key in (("Note", "notes"), ("Failed", "failures"), ("Not run, the budget was used", "not_run")):
        text += "".join(f"\n{title}: {line}\n" for line in document[key])
    return text
