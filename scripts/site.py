#!/usr/bin/env python3
"""Builds a site of README, docs and the pages beside them into build/site/html, with Debian's mkdocs-material, and checks its links and anchors.

Exit code 77 where mkdocs or its theme is not installed. Links to sources become plain text, because the site has pages alone.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "site" / "pages"
SYSTEM_PYTHON = "/usr/bin/python3"  # whose packages apt installs
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def sources() -> list[Path]:
    docs = [file for file in (ROOT / "docs").rglob("*") if file.suffix in {".md", ".png", ".svg", ".json"}]
    return [*ROOT.glob("*.md"), ROOT / "data/README.md", ROOT / "results/README.md", *docs]


def with_links_of_pages(file: Path, known: set[Path]) -> str:
    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if not target or urlparse(target).scheme:
            return found[0]
        return f"[{text}]({target}{anchor})" if Path(os.path.normpath(file.parent / target)) in known else text

    return LINK.sub(link, file.read_text(encoding="utf-8"))


def stage() -> None:
    shutil.rmtree(PAGES, ignore_errors=True)
    files = sources()
    for file in files:
        place = PAGES / file.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            place.write_text(with_links_of_pages(file, set(files)), encoding="utf-8")
        else:
            shutil.copy(file, place)


def anchor_of(heading: str, _separator: str) -> str:
    """As GitHub names headings, so that links hold in both."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        of = dict(attributes)
        self.names |= {value for name in ("id", "name") if (value := of.get(name))}
        if tag == "a" and (link := of.get("href")):
            self.links.append(link)
        if tag == "img" and (image := of.get("src")):
            self.links.append(image)


def broken(site: Path) -> list[str]:
    pages = {}
    for file in site.rglob("*.html"):
        pages[file] = Anchors()
        pages[file].feed(file.read_text(encoding="utf-8"))
    found = []
    for file, page in pages.items():
        for link in page.links:
            address = urlparse(link)
            if address.scheme or file.name == "404.html":
                continue
            target = (file.parent / unquote(address.path)).resolve() if address.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{file.relative_to(site)}: {link}: no such page")
            elif address.fragment and target in pages and unquote(address.fragment) not in pages[target].names:
                found.append(f"{file.relative_to(site)}: {link}: no such anchor")
    return found


def main() -> int:
    try:
        from mkdocs.commands import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import Abort
        from mkdocs.utils import get_theme_names

        installed = "material" in get_theme_names()
    except ImportError:
        installed = False
    if not installed and Path(sys.executable).resolve() != Path(SYSTEM_PYTHON).resolve() and Path(SYSTEM_PYTHON).exists():
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", __file__])
    if not installed:
        print("mkdocs is not installed (Debian: mkdocs mkdocs-material): no site was built")
        return 77
    stage()
    try:
        config = load_config(str(ROOT / "mkdocs.yml"), strict=True, markdown_extensions=["tables", "fenced_code", {"toc": {"slugify": anchor_of, "permalink": True}}])
        build.build(config)
    except Abort as error:
        print(f"no site was built: {error}")
        return 1
    problems = sorted(set(broken(Path(config["site_dir"]))))
    print("\n".join([*problems, f"build/site/html: {len(list(Path(config['site_dir']).rglob('*.html')))} pages"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
