#!/usr/bin/env python3
"""The pages of docs/reference that are generated: commands, documents, controls, devices, environment variables.

usage: reference.py PROGRAM            writes them
       reference.py PROGRAM --check    names those that are stale
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))
from elbowroom import parts  # noqa: E402

FOLDER = ROOT / "docs" / "reference"
SAYS = "<!-- Made by scripts/reference.py. -->\n\n"
Schema = dict[str, Any]

WRITTEN_BY = {
    "choices": "`run` in `$XDG_CACHE_HOME/elbowroom/choices.json`", "device": "users, for `--device`", "doctor": "`doctor --json`", "explain": "`explain --json`",
    "kernels": "`plan FILE --json`", "list": "`list --json`", "machine": "users, for `--machine`", "measure": "`measure --json`", "plan": "`plan --json`",
    "profile": "`tune --profile`, `profile export`", "result": "`bench --json`", "run": "`run --report`", "scenario": "users, for `--scenario`",
    "step": "`step --json`, and users", "step_validation": "`validate steps --json`", "sweep": "`bench --sweep --json`", "trace": "`bench --trace`",
    "transfer": "`bench --transfer --json`", "tune": "`tune --json`", "validation": "`validate rows --json`",
}  # fmt: skip


def help_of(program: str, command: list[str]) -> str:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run([program, *command, "--help"], env=environment, capture_output=True, text=True, check=True).stdout


def commands_below(program: str, command: list[str]) -> list[list[str]]:
    section = re.search(r"^Subcommands:\n(.*?)(?:\n\n|\Z)", help_of(program, command), re.M | re.S)
    names = re.findall(r"^  ([a-z]\S*)", section[1], re.M) if section else []
    return [command, *(below for name in names for below in commands_below(program, [*command, name]))]


def commands_page(program: str) -> str:
    parts = [SAYS + "# Commands\n\nThe output of `--help`, 80 columns wide.\n"]
    for command in commands_below(program, []):
        lines = help_of(program, command).rstrip().splitlines()
        parts.append(f"## {' '.join(['elbowroom', *command])}\n\n" + "\n".join(f"    {line}".rstrip() for line in lines) + "\n")
    return "\n".join(parts)


def type_words(schema: Schema) -> str:
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    types = schema.get("type", "any")
    return " or ".join([types] if isinstance(types, str) else types)


def members(schema: Schema, path: str = "") -> list[str]:
    rows = []
    for name, one in schema.get("properties", {}).items():
        here = f"{path}{name}"
        rows.append(f"| `{here}` | {type_words(one)} | {'always' if name in schema.get('required', []) else '-'} |")
        below = one
        while "items" in below:
            here, below = f"{here}[]", below["items"]
        if "items" in one and "properties" not in below:
            rows.append(f"| `{here}` | {type_words(below)} | - |")
        rows += members(below, f"{here}.")
    return rows


def documents_page() -> str:
    parts = [SAYS + "# Documents\n\nThe member `schema` names the kind. Other members may come with a version; none changes its meaning. \"Always\" means that each document, or each object that has it, has the member.\n"
             "Numbers in `_us` are microseconds, shares are fractions.\n"]  # fmt: skip
    for kind, by in WRITTEN_BY.items():
        file = "../device.schema.json" if kind == "device" else f"../schemas/{kind}-1.json"
        schema = json.loads((FOLDER / file).read_text(encoding="utf-8"))
        parts.append(f"## elbowroom.{kind}/1\n\nWritten by {by}. [Schema]({file}), [example](../schemas/examples/{kind}-1.json).\n\n| member | type | |\n| --- | --- | --- |\n" + "\n".join(members(schema)) + "\n")
    return "\n".join(parts)


def devices_page() -> str:
    rows = []
    for file in sorted((ROOT / "data" / "devices").glob("*.json")):
        device = json.loads(file.read_text(encoding="utf-8"))
        limits, rates = device["limits"], device.get("rates", {})
        cells = [f"`{device['name']}`", device["title"], device["architecture"], limits["sms"], limits["registers_per_sm"], limits["shared_per_sm"],
                 rates.get("bf16_tflops", "-"), rates.get("memory_gb_per_s", "-"), rates.get("link_gb_per_s", "-"), "yes" if "simulator" in device else "no"]  # fmt: skip
        rows.append("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |")
    head = "| name | device | architecture | SMs | registers of an SM | shared memory of an SM (B) | bf16 TFLOP/s | memory GB/s | link GB/s | simulated |"
    return SAYS + "# Devices of the catalog\n\n[How to add one](../devices.md). Rates are those of data sheets; links are one direction.\n\n" + "\n".join([head, "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", *rows]) + "\n"


def controls_page(program: str) -> str:
    listed = json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, check=True).stdout)["controls"]
    rows = [f"| `{one['name']}` | {one['purpose']} | {one['values']} | {one['refused']} | {'yes' if one['searched'] else 'no'} |" for one in listed]
    head = "| control | | values | refused | searched |\n| --- | --- | --- | --- | --- |"
    return SAYS + "# Controls\n\nNames of `--plan`, `--sweep`, `--without` and `plan` in JSON. [How they are chosen](../tuning.md).\n\n" + "\n".join([head, *rows]) + "\n"


def pytorch_page() -> str:
    return SAYS + "# Parts by version of PyTorch\n\n[Their purpose](../symmetric-memory.md). `./dev seams` compares this table with PyPI's versions.\n\n" + "\n".join(parts.support_table()) + "\n"


# Variables that users set, and that the Python part reads.
OF_PYTHON = {
    "ELBOWROOM_RUN_DIRECT_GATHERS": "0: FSDP2's parameters are gathered into flat buffers, on all ranks",
    "ELBOWROOM_RUN_IN_PLACE": "0: DDP copies its buckets back into gradients, on all ranks",
}


# Groups of variables, each by the first that fits.
FOR_USERS = {
    "Libraries": "_LIBRARY$",
    "Ranks started one by one": "_(RANKS?|LOCAL_RANK|HOST|PORT|JOB|TOKEN|TOKEN_FILE)$",
    "Files, Python and simulator": "_(PROFILE|DEVICE_PATH|PYTHON|SIM_NOISE)$",
    "PyTorch under `run`": "_RUN_",
}
BETWEEN_PROCESSES = {"`run`": "_RUN_", "`run --record`, `explain`": "_RECORD_", "`doctor`": "_DOCTOR_"}


def grouped(names: list[str], groups: dict[str, str]) -> dict[str, list[str]]:
    of = {name: next(title for title, pattern in groups.items() if re.search(pattern, name)) for name in names}
    return {title: [name for name in names if of[name] == title] for title in groups}


def environment_page() -> str:
    """Names that environment.hpp has no words for are between processes."""
    header = (ROOT / "include/elbowroom/base/environment.hpp").read_text(encoding="utf-8")
    known = dict(re.findall(r'EnvironmentVariable k\w+\{"(ELBOWROOM_\w+)",\s*"([^"]+)"\}', header)) | OF_PYTHON
    files = [file for folder in ("src", "tools", "python") for file in (ROOT / folder).rglob("*") if file.suffix in {".cpp", ".hpp", ".py"}]
    found = {name for file in files for name in re.findall(r'"(ELBOWROOM_[A-Z0-9_]+)"', file.read_text(encoding="utf-8"))}
    tables = [
        f"## {title}\n\n| variable | meaning |\n| --- | --- |\n" + "\n".join(f"| `{name}` | {known[name]} |" for name in names)
        for title, names in grouped(sorted(known), FOR_USERS).items()
    ]
    between = [f"| {command} | {', '.join(f'`{name}`' for name in names)} |" for command, names in grouped(sorted(found - set(known)), BETWEEN_PROCESSES).items()]
    own = "## Between processes\n\nCommands set these for the processes that they start.\n\n| command | variables |\n| --- | --- |\n" + "\n".join(between)
    return SAYS + "# Environment variables\n\nAn option of a command goes before its variable.\n\n" + "\n\n".join([*tables, own]) + "\n"


def main(arguments: list[str]) -> int:
    pages = {"commands.md": commands_page(arguments[0]), "documents.md": documents_page(), "devices.md": devices_page(), "controls.md": controls_page(arguments[0]), "pytorch.md": pytorch_page(), "environment.md": environment_page()}
    problems = []
    for name, text in pages.items():
        file = FOLDER / name
        if arguments[1:] != ["--check"]:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            problems.append(f"docs/reference/{name}: not what `scripts/reference.py PROGRAM` writes")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
