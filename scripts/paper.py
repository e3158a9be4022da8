#!/usr/bin/env python3
"""The paper's cells, a logarithmic grid of block counts around them, and the page of both beside the paper's statements.

usage: paper.py run OUT.json [--page PAGE.md] [--predicted OTHER.json] [--only REGEX] [BENCH OPTION...]    with `elbowroom` on the path
       paper.py page OUT.json [--predicted OTHER.json]                                                     to standard output
       paper.py cells OUT.json                                                                             one row for each cell

`run` takes the cells of the suite `paper`, then the same products with each power of two as number of blocks. It keeps what is there: a call that
was ended goes on. The page is written after each cell. `--predicted` names an earlier OUT.json, of the simulator, whose times are put beside
these. On a machine with two H100:

    scripts/paper.py run paper-2gpu.json --predicted results/sim/paper-h100-2gpu.json.gz --backend cuda -g 2
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
from typing import Any

import packed

Cell = dict[str, Any]

SCHEMES = ["concurrent", "priority", "shaped", "shaped_priority"]
# Fewer blocks take a second and more for each product.
LEAST_BLOCKS = {"cb": 16, "mb": 64}
PAPERS_GAIN = 0.255
PAPERS_OVERLAP = 0.9
MANY_BLOCKS = 4096


# --- running ---------------------------------------------------------------------------------------------------------------------------------


def call(*arguments: str) -> str:
    done = subprocess.run(["elbowroom", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"elbowroom {' '.join(arguments)}: exit {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def grid_of(blocks: int, tiles_along_m: int) -> list[int]:
    """As square as powers of two are: blocks along n, then along m."""
    along_m = min(2 ** ((blocks.bit_length() - 1) // 2), tiles_along_m)
    return [blocks // along_m, along_m]


def grid_around(cell: Cell) -> list[dict[str, Any]]:
    """The cell's scenario with each power of two below one block for each tile."""
    group, compute = cell["name"].rsplit("-", 1)[0], cell["scenario"]["compute"]
    tiles_along_m = compute["m"] // compute["tile_m"]
    tiles = tiles_along_m * (compute["n"] // compute["tile_n"])
    blocks = LEAST_BLOCKS[group.split("-")[0]]
    scenarios = []
    while blocks < tiles:
        grid = {"compute": compute | {"grid": grid_of(blocks, tiles_along_m)}}
        scenarios.append(cell["scenario"] | {"name": f"{group}-{blocks}"} | grid)
        blocks *= 2
    return scenarios


def measured(selection: list[str], bench: list[str], folder: str) -> Cell:
    result = f"{folder}/result.json"
    call("bench", *selection, "--scheme", ",".join(["sequential", *SCHEMES]), "--json", result, *bench)
    document = json.loads(Path(result).read_text(encoding="utf-8"))
    case = document["cases"][0]
    kept = ("time_us", "time_ratio", "overlap_rate", "compute_inflation", "comm_inflation")
    return {
        "name": case["scenario"]["name"],
        "provenance": document["provenance"],
        "device": document["device"]["name"],
        "gpus": case["scenario"]["gpus"],
        "versions": document["versions"],
        "scenario": case["scenario"],
        "compute_us": case["compute_alone_us"]["median"],
        "comm_us": case["comm_alone_us"]["median"],
        "critical_path_us": case["critical_path_us"],
        "hardware_limit_us": case["hardware_limit_us"],
        "schemes": {one["scheme"]: {"cap": one["plan"]["blocks_per_sm"]} | {name: one[name] for name in kept} for one in case["results"]},
        "refusals": case["refusals"],
    }


def write(file: Path, text: str) -> None:
    """Whoever ends the script leaves the file complete or as it was."""
    partial = file.with_name(file.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


class Cells:
    """A file of cells that grows, and its page."""

    def __init__(self, out: Path, page: Path | None, predicted: list[Cell] | None) -> None:
        self.out, self.page_file, self.predicted = out, page, predicted
        self.cells = read(out) if out.exists() else []

    def find(self, name: str) -> Cell | None:
        return next((cell for cell in self.cells if cell["name"] == name), None)

    def add(self, cell: Cell) -> None:
        for what in ("provenance", "device", "gpus", "versions"):
            if self.cells and self.cells[0][what] != cell[what]:
                sys.exit(f"{self.out}: {what}: {self.cells[0][what]}, expected {cell[what]} (this machine's)")
        self.cells.append(cell)
        write(self.out, "[\n" + ",\n".join(map(json.dumps, self.cells)) + "\n]\n")
        self.write_page()
        times = {scheme: one["time_us"]["median"] / 1000 for scheme, one in cell["schemes"].items()}
        print(cell["name"], "  ".join(f"{scheme} {time:.3f} ms" for scheme, time in times.items()), flush=True)

    def write_page(self) -> None:
        if self.page_file is not None:
            write(self.page_file, page(self.cells, self.predicted))


def run(cells: Cells, only: str, bench: list[str]) -> None:
    suite = [line.split(":")[0] for line in call("bench", "--suite", "paper", "--dry-run").splitlines() if not line.startswith("#")]
    with tempfile.TemporaryDirectory() as folder:
        for name in suite:
            if cells.find(name) is None and re.search(only, name):
                cells.add(measured(["--suite", "paper", "--only", f"^{name}$"], bench, folder))
        for cell in [cell for cell in cells.cells if cell["name"] in suite]:
            for scenario in grid_around(cell):
                if cells.find(scenario["name"]) is not None or not re.search(only, scenario["name"]):
                    continue
                file = Path(folder) / "scenario.json"
                file.write_text(json.dumps(scenario), encoding="utf-8")
                cells.add(measured(["--scenario", str(file), "--trials", "6"], bench, folder))
    cells.write_page()


# --- figures ---------------------------------------------------------------------------------------------------------------------------------


def read(file: Path) -> list[Cell]:
    try:
        cells = json.loads(packed.read(file))
        if all({"name", "schemes", "scenario"} <= set(cell) for cell in cells):
            return cells
    except (OSError, ValueError, TypeError):
        pass
    sys.exit(f"{file}: cannot be read, expected what paper.py run writes")


def group_of(cell: Cell) -> str:
    return cell["name"].rsplit("-", 1)[0]


def blocks_of(cell: Cell) -> int:
    return int(cell["name"].rsplit("-", 1)[1])


def time_of(cell: Cell, scheme: str) -> dict[str, float] | None:
    return cell["schemes"][scheme]["time_us"] if scheme in cell["schemes"] else None


def over(cell: Cell, scheme: str, other: str) -> tuple[float, float, float] | None:
    """One scheme's time over another's, with the outer interval."""
    one, base = time_of(cell, scheme), time_of(cell, other)
    if one is None or base is None:
        return None
    ratio = one["median"] / base["median"]
    # Intervals as wide as a model may be off are of both times at once, and none of their ratio.
    if one.get("confidence") == 0 and cell["provenance"] == "simulated":
        return ratio, ratio, ratio
    return ratio, one["low"] / base["high"], one["high"] / base["low"]


def optimized_over_baseline(cell: Cell) -> tuple[float, float, float] | None:
    return over(cell, "shaped_priority", "shaped")


def by_group(cells: list[Cell]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {group_of(cell): [] for cell in cells}
    for cell in sorted(cells, key=blocks_of):
        groups[group_of(cell)].append(cell)
    return groups


def is_faster(ratio: tuple[float, float, float] | None) -> bool:
    return ratio is not None and ratio[2] < 1


def is_slower(ratio: tuple[float, float, float] | None) -> bool:
    return ratio is not None and ratio[1] > 1


# --- the paper's statements ------------------------------------------------------------------------------------------------------------------


def greatest_gain(cells: list[Cell]) -> tuple[str, str]:
    ratios = [(ratio, cell["name"]) for cell in cells if (ratio := optimized_over_baseline(cell)) is not None]
    apart = [one for one in ratios if is_faster(one[0])]
    if not apart:
        return "no cell is faster with intervals apart", "no"
    (ratio, low, high), name = min(apart)
    return f"{100 * (1 - ratio):.1f} % ({name}; t_opt / t_base {ratio:.3f}, {low:.3f}..{high:.3f})", "yes" if 1 - ratio >= PAPERS_GAIN else "no"


def greatest_overlap(cells: list[Cell]) -> tuple[str, str]:
    rates = [(cell["schemes"]["shaped_priority"], cell) for cell in cells if "shaped_priority" in cell["schemes"]]
    rates = [(one["overlap_rate"], one["comm_inflation"], cell) for one, cell in rates if one["overlap_rate"] is not None]
    if not rates:
        return "nothing was recorded", "-"
    rate, inflation, cell = max(rates, key=lambda one: one[0])
    longer = f"; communication {100 * inflation:+.0f} %" if inflation is not None else ""
    count = cell["scenario"]["iterations"]
    return f"{100 * rate:.0f} % ({cell['name']}: {count} iterations{longer})", "yes" if rate >= PAPERS_OVERLAP else "no"


def share(hits: list[bool], what: str) -> tuple[str, str]:
    if not hits:
        return f"no {what}", "-"
    return f"{sum(hits)} of {len(hits)} {what}", "yes" if all(hits) else "no" if not any(hits) else "in part"


def decay(cells: list[Cell]) -> tuple[str, str]:
    """The baseline's ratio to sequential at the most blocks over that at the fewest."""
    hits = []
    for group in by_group(cells).values():
        few, many = over(group[0], "shaped", "sequential"), over(group[-1], "shaped", "sequential")
        if few is not None and many is not None and len(group) > 1:
            hits.append(many[1] > few[2])
    return share(hits, "groups: the most blocks against the fewest, intervals apart")


def repair(cells: list[Cell]) -> tuple[str, str]:
    hits = [is_faster(optimized_over_baseline(group[-1])) for group in by_group(cells).values()]
    return share(hits, "groups at the most blocks, intervals apart")


def larger_tile(cells: list[Cell]) -> tuple[str, str]:
    known = {cell["name"]: cell for cell in cells}
    hits = []
    for name, cell in known.items():
        other = known.get(name.replace("-opt1-", "-opt2-"))
        if not name.startswith("mb-") or "-opt1-" not in name or other is None:
            continue
        first, second = (over(one, "shaped_priority", "sequential") for one in (cell, other))
        if first is not None and second is not None:
            hits.append(second[0] < first[0])
    return share(hits, "pairs of `mb` cells: `opt2` has the lower ratio to sequential")


def slower_at_many(cells: list[Cell]) -> tuple[str, str]:
    hits = [is_slower(optimized_over_baseline(cell)) for cell in cells if blocks_of(cell) >= MANY_BLOCKS]
    figure, verdict = share(hits, f"cells of {MANY_BLOCKS:,} blocks and more, intervals apart")
    return figure, "yes" if any(hits) else verdict


STATEMENTS = [
    ("Optimized overlap takes up to 25.5 % less time than baseline overlap (`cb-ar` on A40)", greatest_gain),
    ("Overlap rates reach 90 %", greatest_overlap),
    ("Baseline overlap is good with few blocks and decays as they become more", decay),
    ("Priority repairs that", repair),
    ("A larger TILE_K helps the memory-bound cases", larger_tile),
    ("With many blocks optimized overlap can be slower than the baseline (MI250X)", slower_at_many),
]


# --- the page --------------------------------------------------------------------------------------------------------------------------------


def table(head: list[str], rows: list[list[str]], left: int = 1) -> str:
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows]) + "\n"


def number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def with_interval(ratio: tuple[float, float, float] | None) -> str:
    return "-" if ratio is None else f"{ratio[0]:.3f} ({ratio[1]:.3f}..{ratio[2]:.3f})"


def cell_row(cell: Cell) -> list[str]:
    sequential = cell["schemes"]["sequential"]["time_us"]["median"]
    capped = cell["schemes"].get("shaped_priority", {})
    best = min(cell["schemes"], key=lambda scheme: cell["schemes"][scheme]["time_us"]["median"])
    ratios = [number(cell["schemes"].get(scheme, {}).get("time_ratio")) for scheme in SCHEMES]
    times = [number(time / 1000, 1) for time in (cell["compute_us"], cell["comm_us"], sequential)]
    return [cell["name"], *times, number(cell["critical_path_us"] / sequential), *ratios, str(capped.get("cap") or "-"),
            with_interval(optimized_over_baseline(cell)), best]


def cells_table(cells: list[Cell]) -> str:
    head = ["cell", "comp.", "comm", "t_seq", "crit. path", *SCHEMES, "cap", "t_opt / t_base", "best"]
    return table(head, [cell_row(cell) for group in by_group(cells).values() for cell in group])


def counts_table(cells: list[Cell], scheme: str, other: str) -> str:
    groups = by_group(cells)
    known = {cell["name"]: cell for cell in cells}
    rows = []
    for blocks in sorted({blocks_of(cell) for cell in cells}):
        ratios = [over(known[f"{group}-{blocks}"], scheme, other) if f"{group}-{blocks}" in known else None for group in groups]
        rows.append([f"{blocks:,}", *(number(ratio[0] if ratio else None) for ratio in ratios)])
    return table(["blocks", *groups], rows, left=0)


def beside_predicted(cells: list[Cell], predicted: list[Cell]) -> str:
    known = {cell["name"]: cell for cell in predicted}
    errors, right, both = [], 0, 0
    for cell in cells:
        other = known.get(cell["name"])
        if other is None or other["scenario"] != cell["scenario"]:
            continue
        schemes = [scheme for scheme in cell["schemes"] if scheme in other["schemes"]]
        told, seen = ({scheme: one["schemes"][scheme]["time_us"]["median"] for scheme in schemes} for one in (other, cell))
        errors += [abs(told[scheme] / seen[scheme] - 1) for scheme in schemes]
        both += 1
        right += min(told, key=told.get) == min(seen, key=seen.get)
    if not both:
        return "No cell is in both files.\n"
    return (f"{len(errors)} times of {both} cells: median error {100 * statistics.median(errors):.1f} %, worst {100 * max(errors):.1f} %; "
            f"the best scheme is right in {right} of {both} cells. Predicted on {predicted[0]['device']}, {predicted[0]['gpus']} GPUs.\n")


def page(cells: list[Cell], predicted: list[Cell] | None) -> str:
    if not cells:
        return ""
    first = cells[0]
    simulated = first["provenance"] == "simulated"
    versions = ", ".join(f"{name} {value}" for name, value in first["versions"].items())
    says = [[statement, *verdict(cells)] for statement, verdict in STATEMENTS]
    parts = [
        f"# The paper's cells on {first['gpus']} x {first['device']}\n",
        ("**Everything on this page is simulated.** Nothing was measured.\n" if simulated else "Measured with `elbowroom bench`.\n")
        + f"Made by `scripts/paper.py` of {len(cells)} cells: those of the suite `paper`, and their products with other numbers of\n"
        f"blocks. Versions: {versions}. What each figure means: [metrics](../metrics.md).\n",
        "## Beside the paper's statements\n",
        "`t_opt / t_base` is `shaped_priority` over `shaped`, the paper's optimized over its baseline overlap, with the outer interval.\n"
        "A group is the cells of one product and one collective.\n",
        table(["the paper", "here", "holds"], says, left=3),
        "## By number of blocks\n",
        "`t_opt / t_base`:\n",
        counts_table(cells, "shaped_priority", "shaped"),
        "`shaped`, the paper's baseline overlap, over sequential:\n",
        counts_table(cells, "shaped", "sequential"),
    ]
    if predicted is not None:
        parts += ["## Predicted beside " + ("another prediction" if simulated else "measured") + "\n", beside_predicted(cells, predicted)]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    running, showing, listing = (commands.add_parser(name) for name in ("run", "page", "cells"))
    for one in (running, showing, listing):
        one.add_argument("out", type=Path)
        one.add_argument("--predicted", type=Path)
    running.add_argument("--page", type=Path)
    running.add_argument("--only", default="")
    arguments, bench = parser.parse_known_args()
    predicted = read(arguments.predicted) if arguments.predicted else None
    if arguments.command == "run":
        run(Cells(arguments.out, arguments.page, predicted), arguments.only, bench)
    elif bench:
        parser.error(f"unknown: {' '.join(bench)}")
    elif arguments.command == "cells":
        print("Times in ms, schemes as ratio to sequential.\n\n" + cells_table(read(arguments.out)), end="")
    else:
        sys.stdout.write(page(read(arguments.out), predicted))


if __name__ == "__main__":
    main()
