#!/usr/bin/env python3
"""Pages stay short, and what strangers read first has short sentences: prose.py ROOT prints a line for each rule that is broken."""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path

# The most words of each page, as `wc -w` counts them without comments, and of all pages that are written by hand.
MOST_WORDS = {"README.md": 700, "CHANGELOG.md": 1500, "docs/run.md": 2500, "docs/deadlock.md": 1500}
MOST_WORDS_IN_ALL = 40_000
GENERATED = {"docs/pad-ranges.md", "docs/results/h100.md", "docs/results/h200.md", "docs/results/simulated.md",
             *(f"docs/reference/{name}.md" for name in ("commands", "controls", "pytorch", "documents", "devices", "environment"))}  # fmt: skip
# What users read: all of docs but the decisions, the results, and pages for people who change the program.
GUIDE = ("README.md", "CONTRIBUTING.md", *(f"docs/{name}.md" for name in (
    "amd", "budgets", "cases", "devices", "doctor", "explain", "glossary", "index", "kernels", "library", "metrics", "outputs", "programs", "ranks", "report", "run",
    "steps", "symmetric-memory", "troubleshooting", "tuning")))  # fmt: skip
MOST_IN_MEDIAN = 16
MOST_IN_ONE = 30
# A sentence that begins so has no noun as its subject.
WITHOUT_SUBJECT = re.compile(r"(What|Who|Of what|Whether)\b(?!.*\?$)")

LINE = re.compile(r"^(?: {4}|\t)[^\n]*$|^\|[^\n]*$|^#[^\n]*$|^!\[[^\n]*$", re.M)
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def words(text: str) -> int:
    return len(re.sub(r"<!--.*?-->", "", text, flags=re.S).split())


def sentences(text: str) -> list[str]:
    """Of paragraphs and items of lists; headings, tables, pictures and code are none."""
    text = LINE.sub("", FENCE.sub("", re.sub(r"<!--.*?-->", "", text, flags=re.S)))
    text = re.sub(r"`([^`]*)`", lambda code: " ".join(["Code"] * len(code[1].split())), text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*- )", text):
        paragraph = re.sub(r"^\s*- ", "", " ".join(paragraph.split()))
        found += [one for one in re.split(r"(?<=[.?!:])\s+(?=[A-Z*(])", paragraph) if re.search(r"\w", one)]
    return found


def broken_by_sentences(name: str, text: str) -> list[str]:
    all_of_it = sentences(text)
    if not all_of_it:
        return []
    median = statistics.median(map(words, all_of_it))
    found = [f"{name}: the median sentence has {median:g} words, expected at most {MOST_IN_MEDIAN}"] if median > MOST_IN_MEDIAN else []
    found += [f"{name}: {words(one)} words, expected at most {MOST_IN_ONE}: {one}" for one in all_of_it if words(one) > MOST_IN_ONE]
    return found


def broken_by_subjects(name: str, text: str) -> list[str]:
    return [f"{name}: no noun as the subject: {one}" for one in sentences(text) if WITHOUT_SUBJECT.match(one)]


def broken(root: Path) -> list[str]:
    found = []
    pages = {str(page.relative_to(root)): page.read_text() for page in sorted([*root.glob("*.md"), *root.glob("*/README.md"), *(root / "docs").rglob("*.md")])}
    for name, most in MOST_WORDS.items():
        if name in pages and words(pages[name]) > most:
            found.append(f"{name}: {words(pages[name])} words, expected at most {most}")
    for name, text in pages.items():
        found += broken_by_subjects(name, text)
    for name in GUIDE:
        found += broken_by_sentences(name, pages.get(name, ""))
    in_all = sum(words(text) for name, text in pages.items() if name not in GENERATED)
    if in_all > MOST_WORDS_IN_ALL:
        found.append(f"all pages: {in_all} words, expected at most {MOST_WORDS_IN_ALL}")
    return found


if __name__ == "__main__":
    lines = broken(Path(sys.argv[1]))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
