#!/usr/bin/env python3
"""Makes the pictures of docs/report.md from recorded documents, with `elbowroom` on the path and a Chromium: page_pictures.py [FOLDER]"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/page"))
import chromium

RECORDED = ROOT / "results/h200"
# Picture, documents, what it begins with, height, dark.
PICTURES = [
    ("report-light", ["quick-2gpu.trace.json.gz", "quick-2gpu.json"], "body", 540, False),
    ("report-dark", ["timelines-copies-controls-2gpu.trace.json.gz"], "#d0s1", 290, True),
    ("report-search", ["tune-2gpu.json"], "#d0s1", 460, False),
    ("report-grid", ["controls-2gpu.json"], "#d0s1", 230, True),
]


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    with tempfile.TemporaryDirectory() as work:
        page = Path(work) / "page.html"
        for name, documents, begin, height, dark in PICTURES:
            subprocess.run(["elbowroom", "report", *documents, "--html", str(page)], check=True, cwd=RECORDED)
            with chromium.Page(page, width=1180, height=height, dark=dark) as shown:
                shown.run(f"document.querySelector('{begin}').scrollIntoView()")
                shown.picture(folder / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
