#!/usr/bin/env python3
"""Pages of results, one for each machine, made of results/pages.json and the recorded documents that it names.

usage: results.py           writes the pages
       results.py --check   says in one line each which page is not what this would write
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import result_tables

ROOT = result_tables.ROOT
SAYS = "<!-- Made by scripts/results.py; edit results/pages.json. -->\n"


def section_of(section: dict[str, Any]) -> str:
    links = "".join(f"- [{Path(file).name}](../../results/{file})\n" for file in section["files"])
    command = "".join(f"    {line}\n" for line in section.get("commands", []))
    parts = [f"## {section['heading']}\n", command, f"{section['says']}\n" if "says" in section else "", result_tables.TABLES[section["table"]](section), f"Files:\n\n{links}"]
    return "\n".join(part for part in parts if part)


def page_of(page: dict[str, Any]) -> str:
    return "\n".join([SAYS, f"# {page['title']}\n", page["says"] + "\n", *(section_of(section) for section in page["sections"])])


def main(arguments: list[str]) -> int:
    stale = []
    for page in json.loads((ROOT / "results" / "pages.json").read_text(encoding="utf-8")):
        file, text = ROOT / page["page"], page_of(page)
        if arguments != ["--check"]:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(page["page"])
    for name in stale:
        print(f"{name}: not what scripts/results.py writes")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
