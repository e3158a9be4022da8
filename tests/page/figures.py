"""What a page shows as text, and whether its documents say the same: every number at the precision at which it is shown, ticks of axes aside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from chromium import Page

NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:\.\d+)?")
FACTORS = {"ms": 1e-3, "%": 100.0}

# Cells with the unit of their column, words of pictures with that of their axis, and what is written around both. A unit that stands behind
# a number goes before these. `given` is the unit that the document has, where the page says it.
SHOWN = """[...document.querySelectorAll('figure')].flatMap((figure) => {
  const own = (one) => [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join('');
  const units = [...figure.querySelectorAll('thead th')].map((head) => head.querySelector('small')?.textContent.trim() ?? '');
  const axis = [...figure.querySelectorAll('.axis text')].at(-1)?.textContent ?? '';
  const note = figure.querySelector('span.note')?.textContent.split(';')[0] ?? '';
  const cells = [...figure.querySelectorAll('tbody td')].map((cell) => ({text: cell.textContent, figure: 'exact' in cell.dataset, exact: cell.dataset.exact ?? null,
    given: cell.title.split(' ')[1] ?? '', unit: figure.querySelector('table.heat') ? note : units[cell.cellIndex] ?? ''}));
  const words = [...figure.querySelectorAll('svg text')].filter((one) => !one.closest('.axis'))
    .map((one) => ({text: own(one), figure: Boolean(one.closest('.reference')) || ['value', 'interval'].includes(one.getAttribute('class')), exact: null, given: one.closest('svg').dataset.unit ?? '', unit: axis}));
  const rest = [...figure.querySelectorAll('.title, th[scope=row], table.heat thead th, .decimated')].map((one) => ({text: one.textContent, figure: false, exact: null, given: '', unit: ''}));
  return [...cells, ...words, ...rest];
}).concat([...document.querySelectorAll('main dd, main h3, main > article > p')].map((one) => ({text: one.textContent, figure: false, exact: null, given: '', unit: ''})))"""


def numbers_of(value: Any) -> set[float]:
    """Every number of a document."""
    if isinstance(value, dict):
        return set().union(*map(numbers_of, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(numbers_of, value)) if value else set()
    return {float(value)} if isinstance(value, (int, float)) and not isinstance(value, bool) else set()


def lengths_of(value: Any) -> set[float]:
    """How long the lists of a document are."""
    if isinstance(value, dict):
        return set().union(*map(lengths_of, value.values()))
    return {float(len(value))}.union(*map(lengths_of, value)) if isinstance(value, list) else set()


def texts_of(value: Any) -> str:
    """Every text and name of a document, one after the other."""
    if isinstance(value, dict):
        return " ".join([*value, *map(texts_of, value.values())])
    if isinstance(value, list):
        return " ".join(map(texts_of, value))
    return value if isinstance(value, str) else ""


class Known:
    """The numbers of documents, those that stand in their texts ("4G", "h200"), and how long their lists are."""

    def __init__(self, *documents: Any) -> None:
        self.numbers = numbers_of(list(documents))
        self.counts = lengths_of(list(documents))
        self.in_texts = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", texts_of(list(documents)))}

    def shows(self, text: str, given: str, unit: str, numbers: set[float]) -> bool:
        """Whether the number, in that unit, is one of them, in the unit that is given, as far as it goes."""
        decimals = len(text.partition(".")[2])
        factor = 1.0 if unit == given else FACTORS.get(unit, 1.0)
        # A whole number is no rounded one, but where a unit was changed.
        slack = 0.0 if decimals == 0 and factor == 1.0 else 0.5 * 10.0**-decimals * (1 + 1e-6)
        return any(abs(number * factor - float(text)) <= slack for number in numbers)

    def lacks(self, shown: dict[str, Any]) -> list[str]:
        """The numbers of one text that no document has."""
        if shown["exact"] is not None:
            if float(shown["exact"]) not in self.numbers:
                return [shown["exact"]]
            numbers = {float(shown["exact"])}
        else:
            numbers = self.numbers if shown["figure"] else self.numbers | self.in_texts | self.counts
        lacking = []
        for found in NUMBER.finditer(shown["text"]):
            behind = re.match(r" (ms|us|%)(?!\w)", shown["text"][found.end():])
            unit = behind[1] if behind else shown["unit"]
            if not self.shows(found[0], shown["given"], unit, numbers) and not (not shown["figure"] and self.shows(found[0], "", "", numbers)):
                lacking.append(f"{found[0]} {unit}".strip())
        return lacking


def off_by_one(found: re.Match[str]) -> str:
    """The number with its last digit one higher."""
    decimals = len(found[0].partition(".")[2])
    return f"{float(found[0]) + 10.0**-decimals:.{decimals}f}"


class Words:
    """What the page of one document says: texts with numbers of figures, and those that its document does not have."""

    def __init__(self, document: Path, page: Page) -> None:
        known = Known(json.loads(document.read_text(encoding="utf-8")))
        shown = page.run(SHOWN)
        self.figures = [one for one in shown if one["figure"] and NUMBER.search(one["text"])]
        self.lacking = [(one["text"], known.lacks(one)) for one in shown if known.lacks(one)]
        # The test itself: a figure that is off by one of its last digit is in no document.
        self.wrong = [{**one, "text": NUMBER.sub(off_by_one, one["text"])} for one in self.figures if "." in one["text"]]
        self.unseen = [one["text"] for one in self.wrong if not known.lacks(one)]
