#!/usr/bin/env python3
"""Simulated steps on 2 to 4,096 ranks, under baselines and `tuned`, as the tables of docs/results/scale.md.

usage: scale.py [ELBOWROOM [TABLE...]]     weak, strong, machines, measured; all by default
       scale.py picture [--check]          docs/results/scale.svg from the page's table of weak scaling, or whether it is that

Ranks are H100s, 8 a host with 8 x 400 Gb/s (h100-8x400), but for the table of machines.
"""

import json
import os
import math
import pathlib
import re
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/results/scale.md"
SCHEMES = ("sequential", "concurrent", "priority", "tuned")
LLAMA_8B = ("--preset", "llama-3-8b", "--recompute", "full")
OF_59B = ("--layers", "80", "--hidden", "8192", "--ffn", "28672", "--heads", "64", "--sequence", "4096", "--tokens", "65536")
MIXTRAL = ("--preset", "mixtral-8x7b", "--layers", "8", "--tokens", "8192", "--capacity", "1.25", "--ep", "8")
WAYS = {
    "data, 8B": lambda ranks: (*LLAMA_8B, "--tokens", "8192", "--zero", "1", "--dp", str(ranks)),
    "data, 8B, fp8 gradients": lambda ranks: (*LLAMA_8B, "--tokens", "8192", "--zero", "1", "--dp", str(ranks), "--compress", "fp8"),
    "sharded, 8B": lambda ranks: (*LLAMA_8B, "--tokens", "8192", "--fsdp", str(ranks)),
    "sharded in hosts of 8, 8B": lambda ranks: (*LLAMA_8B, "--tokens", "8192", "--fsdp", "8", "--dp", str(ranks // 8)),
    "experts, 12B": lambda ranks: (*MIXTRAL, "--zero", "1", "--dp", str(ranks // 8)),
    "pipeline, 59B": lambda ranks: (*OF_59B, "--tp", "8", "--pp", "8", "--micro", "16", "--dp", str(ranks // 64)),
}
# The batch is 1,048,576 tokens, whatever the ranks.
STRONG = {
    f"{way}, strong": lambda ranks, share=share: (*LLAMA_8B, "--sequence", "2048", "--tokens", str(2**20 // ranks), *share(ranks))
    for way, share in {
        "data, 8B": lambda ranks: ("--zero", "1", "--dp", str(ranks)),
        "sharded in hosts of 8, 8B": lambda ranks: ("--fsdp", "8", "--dp", str(ranks // 8)),
    }.items()
}
# Measured on 2 x H100 (results/h100/steps-2gpu.json).
SHAPE = ("--layers", "2", "--hidden", "4096", "--ffn", "11008", "--tokens", "4096", "--repeats", "2")
EXPERTS = ("--layers", "2", "--hidden", "2048", "--ffn", "8192", "--experts", "4", "--tokens", "4096", "--repeats", "2")
MEASURED = {
    "dp": lambda ranks: (*SHAPE, "--dp", str(ranks)),
    "dp-fp8": lambda ranks: (*SHAPE, "--dp", str(ranks), "--compress", "fp8"),
    "dp-powersgd": lambda ranks: (*SHAPE, "--dp", str(ranks), "--compress", "powersgd=8"),
    "fsdp": lambda ranks: (*SHAPE, "--fsdp", str(ranks)),
    "ep": lambda ranks: (*EXPERTS, "--ep", "2", *(("--dp", str(ranks // 2)) if ranks > 2 else ())),
}
TABLES = {
    "weak": [(way, options, "h100-8x400", ranks) for way, options in WAYS.items() for ranks in (64, 256, 1024, 4096)],
    "strong": [(way, options, "h100-8x400", ranks) for way, options in STRONG.items() for ranks in (64, 128, 256, 512)],
    "machines": [(f"{way}, {machine}", WAYS[way], machine, ranks) for way in ("sharded in hosts of 8, 8B", "experts, 12B")
                 for machine in ("a100-8x200", "h100-8x400", "b200-8x400") for ranks in (64, 1024)],
    "measured": [(f"two layers, {way}", options, "h100-8x400", ranks) for way, options in MEASURED.items() for ranks in (2, 64, 1024)],
}  # fmt: skip


def run(*command: str) -> tuple[float, float]:
    """Processor time in seconds and greatest memory in MB of a command that succeeds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"scale.py: {' '.join(command)}: failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def times(result: str) -> dict[str, float]:
    results = json.loads(pathlib.Path(result).read_text())["cases"][0]["results"]
    return {row["scheme"]: row["time_us"]["median"] / 1000 for row in results}


def gains(page: str) -> dict[str, list[float]]:
    """Percent of the sequential time that `tuned` saves, by step of the table of weak scaling and by ranks."""
    table = re.search(r"^Weak scaling:\n\n.*\n\| ---.*\n((?:\|.*\n)+)", page, re.MULTILINE)
    if table is None:
        sys.exit(f"scale.py: {PAGE}: no table of weak scaling")
    made = {}
    for row in table[1].splitlines():
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        took = [[float(one.replace(",", "")) for one in cell.split("/")] for cell in cells]
        made[name] = [100 * (1 - tuned / sequential) for sequential, _, tuned in took]
    return made


def picture(rows: dict[str, list[float]]) -> str:
    """Lines of the rows over 64, 256, 1,024 and 4,096 ranks, with their names at the right."""
    left, top, width, height = 50, 30, 420, 270
    most = 10 * math.ceil(max(max(row) for row in rows.values()) / 10)
    across = [left + width * at / 3 for at in range(4)]
    colours = ("#1b6ca8", "#6aa9d8", "#c0392b", "#e08e45", "#2e8b57", "#7d4fa0")
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {top + height + 50}" font-family="sans-serif" font-size="13" fill="#333">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{left}" y="18">Time saved by tuned (%), against ranks</text>',
    ]
    for percent in range(0, most + 1, 10):
        y = top + height * (1 - percent / most)
        lines.append(f'<path d="M{left} {y:.0f}H{left + width}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{percent}</text>')
    lines += [f'<text x="{x:.0f}" y="{top + height + 20}" text-anchor="middle">{ranks}</text>' for x, ranks in zip(across, ("64", "256", "1,024", "4,096"))]
    # Names that would lie on each other move down.
    lowest = -math.inf
    for (name, row), colour in sorted(zip(rows.items(), colours, strict=True), key=lambda one: -one[0][1][-1]):
        heights = [top + height * (1 - gain / most) for gain in row]
        lowest = max(lowest + 16, heights[-1] + 4)
        points = " ".join(f"{x:.0f},{y:.1f}" for x, y in zip(across, heights))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="{left + width + 10}" y="{lowest:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def draw(check: bool) -> int:
    file = PAGE.with_suffix(".svg")
    made = picture(gains(PAGE.read_text()))
    if not check:
        file.write_text(made)
    elif not file.exists() or file.read_text() != made:
        print(f"{file}: not what the table of {PAGE.name} gives; scripts/scale.py picture makes it", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    if sys.argv[1:2] == ["picture"]:
        return draw(check="--check" in sys.argv)
    binary = sys.argv[1] if len(sys.argv) > 1 else "elbowroom"
    print("| step | ranks |", " | ".join(f"{scheme} (ms)" for scheme in SCHEMES), "| reduction (%) | bench (s) | (MB) |")
    print("| --- | ---: |" + " ---: |" * (len(SCHEMES) + 3))
    for table in sys.argv[2:] or TABLES:
        for way, options, machine, ranks in TABLES[table]:
            with tempfile.TemporaryDirectory() as folder:
                step, profile, result = (str(pathlib.Path(folder) / name) for name in ("step.json", "profile.json", "result.json"))
                run(binary, "step", "transformer", *options(ranks), "--json", step)
                on = ("--scenario", step, "--backend", "sim", "--machine", machine)
                taken, memory = run(binary, "bench", *on, "--scheme", ",".join(SCHEMES[:3]), "--json", result)
                run(binary, "tune", *on, "--budget", "20", "--profile", profile)
                run(binary, "bench", *on, "--scheme", ",".join(SCHEMES), "--profile", profile, "--json", result)
                took = times(result)
            reduction = 100 * (1 - min(took.values()) / took["sequential"])
            print(f"| {way} | {ranks:,} |", " | ".join(f"{took[scheme]:,.1f}" if took["sequential"] < 100 else f"{took[scheme]:,.0f}" for scheme in SCHEMES),
                  f"| {reduction:.0f} | {taken:.1f} | {memory:.0f} |", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
