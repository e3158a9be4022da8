#!/usr/bin/env python3
"""The page of `elbowroom report` in a headless Chromium: it renders, zooms, sorts, copies, prints, and its console stays empty.

Skipped (77) where no Chromium is found, or where the program was built without d3. ELBOWROOM_BIN is the program.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import chromium
import figures

TESTS = Path(__file__).resolve().parents[1]
UNIT = TESTS / "unit"
DOCUMENTS = [UNIT / "report/golden/trace.json", UNIT / "report/golden/result.json", *(UNIT / "page/documents" / f"{kind}.json" for kind in ("tune", "run", "validation", "explain", "sweep", "transfer"))]
FIRST = "document.querySelector('svg.timelines')"


def report(files: list[Path], page: Path) -> None:
    done = subprocess.run([os.environ["ELBOWROOM_BIN"], "report", *map(str, files), "--html", str(page)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


def without_library() -> str:
    """What the program says where it was built without d3; empty where it was built with it."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([os.environ["ELBOWROOM_BIN"], "report", str(DOCUMENTS[-1]), "--html", f"{folder}/page.html"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode == 77 else ""


def large_trace(path: Path, spans: int) -> None:
    """One GPU, `spans` kernels of 3 us every 4 us on each of two streams: compute and communication."""
    begin = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "GPU 0 · large tuned"}}
    with path.open("w", encoding="utf-8") as file:
        file.write('{"schema": "elbowroom.trace/1", "otherData": {"provenance": "simulated", "device": "simulated for a test"}, "traceEvents": [\n' + json.dumps(begin))
        for at in range(spans):
            kind, tid = ("compute", 1) if at % 2 == 0 else ("communication", 2)
            file.write(f',\n{{"ph": "X", "cat": "{kind}", "name": "kernel {at % 5}", "pid": 1, "tid": {tid}, "ts": {at // 2 * 4}.0, "dur": 3.0, "args": {{}}}}')
        file.write("\n]}\n")


def off_by_one(found: re.Match[str]) -> str:
    """The number with its last digit one higher."""
    decimals = len(found[0].partition(".")[2])
    return f"{float(found[0]) + 10.0**-decimals:.{decimals}f}"


class PageTest(unittest.TestCase):
    """All on one page of every kind of document."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.html = Path(cls.folder.name) / "page.html"
        report(DOCUMENTS, cls.html)
        cls.page = chromium.Page(cls.html).__enter__()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.page.__exit__()
        cls.folder.cleanup()

    def tearDown(self) -> None:
        self.assertEqual(self.page.complaints, [])

    def view(self) -> tuple[float, float]:
        return tuple(self.page.run(f"[+{FIRST}.dataset.from, +{FIRST}.dataset.to]"))

    def middle(self) -> tuple[float, float]:
        self.page.run(f"{FIRST}.scrollIntoView({{block: 'center'}})")
        return tuple(self.page.run(f"(({{x, y, width, height}}) => [x + width * 0.6, y + height / 2])({FIRST}.getBoundingClientRect())"))

    def test_asks_for_nothing_but_itself(self) -> None:
        self.assertEqual(self.page.requests, [self.html.resolve().as_uri()])

    def test_has_every_document_with_its_provenance_the_pictures_first(self) -> None:
        headings = self.page.run("[...document.querySelectorAll('h2')].map((one) => one.textContent)")
        self.assertEqual(len(headings), len(DOCUMENTS))
        self.assertIn("trace.json simulated", headings[0])
        self.assertTrue(self.page.run("[...document.querySelectorAll('figure figcaption')].every((one) => one.querySelector('.badge'))"))
        self.assertIn("figures of several kinds", self.page.run("document.querySelector('header p').textContent"))

    def test_every_figure_is_in_a_document(self) -> None:
        known = set().union(*(figures.numbers_of(json.loads(path.read_text(encoding="utf-8"))) for path in DOCUMENTS))
        shown = self.page.run("[...document.querySelectorAll('[data-exact]')].map((one) => Number(one.dataset.exact))")
        self.assertGreater(len(shown), 100)
        self.assertEqual([one for one in shown if one not in known], [])

    def test_draws_compute_above_communication(self) -> None:
        lanes = self.page.run(f"[...{FIRST}.querySelectorAll('.labels text')].map((one) => [one.lastChild.textContent, +one.getAttribute('y')])")
        names = [name for name, _ in lanes]
        self.assertIn("sequential", names)
        self.assertIn("shaped_priority", names)
        places = dict(lanes[-2:])
        self.assertLess(places["compute"], places["comm"])
        self.assertTrue(self.page.run(f"Boolean({FIRST}.querySelector('path.compute') && {FIRST}.querySelector('path.communication'))"))

    def test_zooms_by_wheel_keyboard_button_and_drag(self) -> None:
        whole = self.view()
        x, y = self.middle()
        self.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)
        self.page.until(f"+{FIRST}.dataset.to < {whole[1]}")
        near = self.view()
        self.assertGreater(near[0], whole[0])
        self.page.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.page.mouse("mouseMoved", x - 40, y, button="left", buttons=1)
        self.page.mouse("mouseReleased", x - 40, y, button="left", clickCount=1)
        self.page.until(f"+{FIRST}.dataset.from > {near[0]}")
        self.page.run(f"{FIRST}.focus()")
        self.page.press("0", "0")
        self.page.until(f"+{FIRST}.dataset.to === {whole[1]}")
        self.page.press("+", "+")
        self.page.until(f"+{FIRST}.dataset.to < {whole[1]}")
        self.page.run("[...document.querySelectorAll('figure .tools button')].find((one) => one.textContent === 'whole').click()")
        self.page.until(f"+{FIRST}.dataset.to === {whole[1]}")

    def test_a_click_right_after_a_drag_counts(self) -> None:
        whole = self.view()
        x, y = self.middle()
        self.page.run(f"{FIRST}.focus()")
        self.page.press("+", "+")
        self.page.until(f"+{FIRST}.dataset.to < {whole[1]}")
        near = self.view()
        # A busy browser runs timers late. Here none runs at all.
        self.page.run("window.timer = setTimeout, window.setTimeout = () => 0")
        self.page.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.page.mouse("mouseMoved", x - 40, y, button="left", buttons=1)
        self.page.mouse("mouseReleased", x - 40, y, button="left", clickCount=1)
        self.page.until(f"+{FIRST}.dataset.from > {near[0]}")
        self.page.run("[...document.querySelectorAll('figure .tools button')].find((one) => one.textContent === 'whole').click()")
        seen = self.view()
        self.page.run("window.setTimeout = timer")
        self.assertEqual(seen, whole)

    def test_the_wheel_scrolls_until_the_picture_is_meant(self) -> None:
        self.page.run("document.activeElement.blur()")
        whole = self.view()
        x, y = self.middle()
        self.page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-100)
        self.page.run("new Promise((done) => setTimeout(done, 200))")
        self.assertEqual(self.view(), whole)

    def test_says_name_and_times_under_pointer_and_cursor(self) -> None:
        self.page.run(f"{FIRST}.focus()")
        self.page.press("ArrowRight")
        self.page.press("ArrowDown")
        words = self.page.run("document.querySelector('.tip.on').textContent")
        self.assertIn("all_reduce", words)
        self.assertIn("from 100 us, 80 us", words)
        self.page.press("Escape")
        self.assertFalse(self.page.run("Boolean(document.querySelector('.tip.on'))"))
        x, y = self.page.run(f"(({{x, y}}) => [x, y])({FIRST}.getBoundingClientRect())")
        at = self.page.run(f"(() => {{ const box = {FIRST}.querySelector('path.compute').getBoundingClientRect(); return [box.x + 5, box.y + 5]; }})()")
        self.assertGreater(at[0], x)
        self.assertGreater(at[1], y)
        self.page.mouse("mouseMoved", *at)
        self.page.until("document.querySelector('.tip.on')?.textContent.includes('gelu')")
        self.page.mouse("mouseMoved", 1, 1)

    def test_shows_another_device(self) -> None:
        press = "[...document.querySelectorAll('figure .tools button')].find((one) => one.textContent === '{}').click()"
        self.page.run(press.format("all"))
        self.assertEqual(self.page.run(f"{FIRST}.querySelectorAll('.track').length"), 4)
        self.page.run(press.format("GPU 0"))
        self.assertEqual(self.page.run(f"{FIRST}.querySelectorAll('.track').length"), 2)

    def test_sorts_up_down_and_back(self) -> None:
        table = "[...document.querySelectorAll('figure.table')].find((one) => one.textContent.startsWith('Every figure')).querySelector('table')"
        self.page.run(f"window.table = {table}")
        head = "[...table.querySelectorAll('th')].findIndex((one) => one.textContent.startsWith('time'))"
        column = f"[...table.querySelectorAll('tbody tr')].map((one) => +one.children[{head}].dataset.exact)"
        before = self.page.run(column)
        self.assertNotEqual(before, sorted(before))
        for expected, direction in ((sorted(before), "ascending"), (sorted(before, reverse=True), "descending"), (before, "none")):
            self.page.run(f"table.querySelectorAll('th button')[{head}].click()")
            self.assertEqual(self.page.run(column), expected)
            self.assertEqual(self.page.run(f"table.querySelectorAll('th')[{head}].getAttribute('aria-sort')"), direction)

    def test_copies_csv_with_the_documents_numbers_and_markdown_as_shown(self) -> None:
        figure = "[...document.querySelectorAll('figure.table')].find((one) => one.textContent.startsWith('Every candidate'))"
        csv, markdown = self.page.run(f"[...{figure}.querySelectorAll('.tools button')].map((one) => (one.click(), one.dataset.copied))")
        self.assertIn("\n\"3 blocks/SM, priority\",capped,18100,18000,17990,18010.5,6,", csv)
        self.assertIn("| 3 blocks/SM, priority | capped | 18.100 | 18.000 | 17.990 | 18.011 | 6 |", markdown)

    def test_shows_numbers_as_the_documents_have_them(self) -> None:
        cells = "[...document.querySelectorAll('td[data-exact]')].map((one) => one.textContent)"
        self.assertNotIn("18010.5", self.page.run(cells))
        self.page.run("document.getElementById('exact').click()")
        self.assertIn("18010.5", self.page.run(cells))
        self.page.run("document.getElementById('exact').click()")

    def test_a_grid_without_a_unit_says_nothing_of_one(self) -> None:
        notes = self.page.run("[...document.querySelectorAll('figure.table span.note')].map((one) => one.textContent)")
        self.assertIn("* least; deeper is less", notes)
        self.assertFalse([note for note in notes if note.startswith(";")])

    def test_is_dark_where_that_is_wanted_and_prints(self) -> None:
        light = self.page.run("getComputedStyle(document.body).backgroundColor")
        self.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertNotEqual(self.page.run("getComputedStyle(document.body).backgroundColor"), light)
        self.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        paper = Path(self.folder.name) / "page.pdf"
        self.page.print_pdf(paper)
        self.assertTrue(paper.read_bytes().startswith(b"%PDF"))

    def test_fits_a_narrow_window(self) -> None:
        self.page.call("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=1, mobile=False)
        self.page.until(f"{FIRST}.getBoundingClientRect().width <= 420")
        self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), 420)
        self.page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
        self.page.until(f"{FIRST}.getBoundingClientRect().width > 420")


class QuickSuiteTest(unittest.TestCase):
    """The page of `elbowroom bench --suite quick` in the simulator, as the README makes it."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        folder = Path(cls.folder.name)
        cls.result, cls.trace, cls.html = folder / "quick.json", folder / "quick.trace.json", folder / "quick.html"
        command = [os.environ["ELBOWROOM_BIN"], "bench", "--backend", "sim", "--suite", "quick", "-g", "2", "--json", str(cls.result), "--trace", str(cls.trace)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_every_figure_that_is_shown_is_in_the_document(self) -> None:
        report([self.result], self.html)
        document = json.loads(self.result.read_text(encoding="utf-8"))
        known = figures.Known(document)
        with chromium.Page(self.html) as page:
            shown = page.run(figures.SHOWN)
        said = [one for one in shown if one["figure"] and figures.NUMBER.search(one["text"])]
        # Of 15 schedules: median, low and high in pictures, and a row of nine numbers or more.
        self.assertGreater(len(said), 15 * 12)
        self.assertEqual([(one["text"], known.lacks(one)) for one in shown if known.lacks(one)], [])
        # The test itself: a figure that is off by one of its last digit is in no document.
        wrong = [{**one, "text": figures.NUMBER.sub(off_by_one, one["text"])} for one in said if "." in one["text"]]
        unseen = [one["text"] for one in wrong if not known.lacks(one)]
        self.assertLess(len(unseen), len(wrong) / 20, unseen)

    def test_takes_less_than_a_megabyte(self) -> None:
        report([self.result, self.trace], self.html)
        self.assertLess(self.html.stat().st_size, 1_000_000)


class LargeTraceTest(unittest.TestCase):
    def test_stays_small_and_usable_and_says_that_it_was_decimated(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trace, html = Path(folder) / "trace.json", Path(folder) / "page.html"
            large_trace(trace, 260_000)
            report([trace], html)
            self.assertLess(html.stat().st_size, 12_000_000)
            with chromium.Page(html) as page:
                self.assertIn("Decimated: of 260000 spans", page.run("document.querySelector('.decimated').textContent"))
                self.assertTrue(page.run(f"Boolean({FIRST}.querySelector('path.several'))"))
                spent = page.run(f"(() => {{ {FIRST}.focus(); const begin = performance.now(); for (let at = 0; at < 10; ++at) {FIRST}.dispatchEvent(new KeyboardEvent('keydown', {{key: '+'}})); return performance.now() - begin; }})()")
                self.assertLess(spent, 5000)
                self.assertEqual(page.complaints, [])


if __name__ == "__main__":
    if chromium.find() is None:
        print("skipped: no chromium, chromium-browser or google-chrome is on the path (Debian: chromium)")
        sys.exit(77)
    if missing := without_library():
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main(verbosity=1)
