#!/usr/bin/env python3
"""The page of `elbowroom report` in a headless Chromium: it renders, zooms, sorts, copies, prints, and its console stays empty.

Skipped (77) where no Chromium is found, or where the program was built without d3. ELBOWROOM_BIN is the program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import chromium
import figures
import looks
import program

TESTS = Path(__file__).resolve().parents[1]
UNIT = TESTS / "unit"
DOCUMENTS = [UNIT / "report/golden/trace.json", UNIT / "report/golden/result.json", *(UNIT / "page/documents" / f"{kind}.json" for kind in ("tune", "run", "validation", "explain", "sweep", "transfer"))]
RECORDED = [TESTS.parent / "results" / name for name in ("h200/tune-2gpu.json", "sim/sweep-cb-ar-blocks.json", "sim/transfer-gelu-ar.json")]
FIRST = "document.querySelector('svg.timelines')"


class PageTest(unittest.TestCase):
    """All on one page of every kind of document."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.html = Path(cls.folder.name) / "page.html"
        program.report(DOCUMENTS, cls.html)
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

    def test_a_document_begins_with_its_verdict(self) -> None:
        verdicts = self.page.run("[...document.querySelectorAll('article')].map((one) => [one.children[0].textContent, one.children[1].className, one.children[1].textContent])")
        words = {heading.split()[0]: text for heading, kind, text in verdicts if kind == "verdict"}
        explained = json.loads((UNIT / "page/documents/explain.json").read_text(encoding="utf-8"))
        self.assertEqual(next(text for name, text in words.items() if name.endswith("explain.json")), explained["sentence"])
        result = next(text for name, text in words.items() if name.endswith("result.json"))
        self.assertIn("shaped_priority in example", result)

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

    def test_the_cursor_of_the_keyboard_stays_in_view_with_its_words(self) -> None:
        self.page.size_to(1280, 120)
        self.page.run(f"scrollTo(0, 0), {FIRST}.focus({{preventScroll: true}})")
        for _ in range(3):
            self.page.press("ArrowDown")
        # Scrolling is said at the next frame, and what is under a pointer goes with it.
        self.page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        box = self.page.run(f"(({{top, bottom}}) => [top, bottom])({FIRST}.querySelector('.highlight').getBoundingClientRect())")
        said = self.page.run("Boolean(document.querySelector('.tip.on'))")
        self.page.press("Escape")
        self.page.size_to(1280, 900)
        self.assertGreater(box[0], -4)
        self.assertLess(box[1], 124)
        self.assertTrue(said)

    def test_the_words_under_the_pointer_keep_their_shape_at_the_edge(self) -> None:
        shape = "(showTip({}, 10, ['{}']), document.querySelector('.tip').getBoundingClientRect().toJSON())"
        name = "a kernel with a name of some length"
        first, _, at_edge, _, again = [self.page.run(shape.format(x, words)) for x, words in ((10, name), (1275, "gelu"), (1275, name), (1275, "gelu"), (10, name))]
        self.page.run("hideTip()")
        self.assertLess(at_edge["right"], 1280)
        for one in (at_edge, again):
            self.assertEqual((one["width"], one["height"]), (first["width"], first["height"]))

    def test_focus_can_be_seen(self) -> None:
        for what in ("svg.timelines", "svg.search", ".scroll", "th button", ".tools button", "#exact", "nav a"):
            self.page.run(f"document.querySelector('{what}').scrollIntoView({{block: 'center'}})")
            pictures = []
            for act in ("blur()", "focus({focusVisible: true, preventScroll: true})"):
                self.page.run(f"document.querySelector('{what}').{act}")
                self.page.picture(Path(self.folder.name) / "focus.png")
                pictures.append((Path(self.folder.name) / "focus.png").read_bytes())
            self.page.run("document.activeElement.blur()")
            self.assertFalse(pictures[0] == pictures[1], what)

    def test_no_word_of_a_picture_is_cut_or_lies_on_another(self) -> None:
        found = {}
        for width in (1280, 700, 400):
            self.page.size_to(width, 900)
            found[width] = self.page.run(looks.CROWDED)
        self.page.size_to(1280, 900)
        self.assertEqual(found, {1280: [], 700: [], 400: []})

    def test_a_column_off_the_edge_makes_no_row_tall(self) -> None:
        self.assertLess(max(self.page.run("[...document.querySelectorAll('.scroll tr')].map((one) => one.getBoundingClientRect().height)")), 70)

    def test_names_of_rows_stay_when_a_table_is_scrolled(self) -> None:
        wide = "[...document.querySelectorAll('.scroll')].find((one) => one.scrollWidth > one.clientWidth + 50)"
        places = self.page.run(f"(() => {{ const one = {wide}; one.scrollLeft = 50; const at = [one, one.querySelector('td')].map((it) => it.getBoundingClientRect().x); one.scrollLeft = 0; return at; }})()")
        self.assertAlmostEqual(*places, delta=1)

    def test_saves_a_picture_with_its_title_and_provenance(self) -> None:
        self.page.run("window.link = HTMLAnchorElement.prototype.click, HTMLAnchorElement.prototype.click = function () { window.file = this.download; }")
        self.page.run("window.url = URL.createObjectURL, URL.createObjectURL = (blob) => { window.saved = blob.text(); return 'blob:none'; }")
        for what in ("timelines", "times", "search"):
            figure = f"document.querySelector('svg.{what}').closest('figure')"
            said = self.page.run(f"[...{figure}.querySelectorAll('.title, figcaption .badge')].map((one) => one.textContent).join(', ')")
            self.page.run(f"[...{figure}.querySelectorAll('.tools button')].find((one) => one.textContent === 'SVG').click()")
            self.assertIn(f">{said}</text>", self.page.run("saved"))
            self.assertRegex(self.page.run("file"), r"(measured|simulated)[\w-]*\.svg$")
        self.page.run("HTMLAnchorElement.prototype.click = link, URL.createObjectURL = url")

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

    def test_copies_a_grid_and_shows_its_numbers_as_the_document_has_them(self) -> None:
        figure = "document.querySelector('table.heat').closest('figure')"
        csv, markdown = self.page.run(f"[...{figure}.querySelectorAll('.tools button')].map((one) => (one.click(), one.dataset.copied))")
        cells = self.page.run(f"[...{figure}.querySelectorAll('td')].map((one) => one.dataset.exact ?? '')")
        self.assertEqual([cell for line in csv.splitlines()[1:] for cell in line.split(",")[1:]], cells)
        self.assertEqual(len(markdown.splitlines()), len(csv.splitlines()) + 1)
        self.page.run("document.getElementById('exact').click()")
        shown = self.page.run(f"[...{figure}.querySelectorAll('td[data-exact]')].map((one) => one.textContent.replace('* ', ''))")
        self.page.run("document.getElementById('exact').click()")
        self.assertEqual(shown, [cell for cell in cells if cell])

    def test_a_button_that_copied_twice_has_its_name_again(self) -> None:
        self.page.run("""(async () => {
          window.copier = document.querySelector('figure.table .tools button');
          copier.click();
          while (copier.textContent === 'CSV') await new Promise((done) => setTimeout(done, 5));
          copier.click();
        })()""")
        self.page.until("copier.textContent === 'CSV'", 10)

    def test_says_the_numbers_of_single_runs(self) -> None:
        table = "[...document.querySelectorAll('figure.table')].find((one) => one.textContent.startsWith('Timed afresh, each run, in numbers'))"
        self.assertEqual(self.page.run(f"[...{table}.querySelectorAll('td[data-exact]')].map((one) => +one.dataset.exact)"), [18000, 18010.5, 17990, 20000, 20020, 19980])

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
        # Paper is white: pale colours for a dark ground could not be read on it.
        colours = "['--ground', '--mark', '--compute', '--name'].map((one) => getComputedStyle(document.body).getPropertyValue(one))"
        on_paper = []
        for scheme in ("dark", "light"):
            self.page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": scheme}])
            on_paper.append(self.page.run(colours))
        self.page.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "light"}])
        self.assertEqual(*on_paper)
        paper = Path(self.folder.name) / "page.pdf"
        self.page.print_pdf(paper)
        self.assertTrue(paper.read_bytes().startswith(b"%PDF"))

    def test_fits_a_narrow_window(self) -> None:
        self.page.size_to(420, 800)
        self.assertLessEqual(self.page.run("document.documentElement.scrollWidth"), 420)
        self.page.size_to(1280, 900)


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
        program.report([self.result], self.html)
        with chromium.Page(self.html) as page:
            words = figures.Words(self.result, page)
        # Of 15 schedules: median, low and high in pictures, and a row of nine numbers or more.
        self.assertGreater(len(words.figures), 15 * 12)
        self.assertEqual(words.lacking, [])
        self.assertLess(len(words.unseen), len(words.wrong) / 20, words.unseen)

    def test_takes_less_than_a_megabyte(self) -> None:
        program.report([self.result, self.trace], self.html)
        self.assertLess(self.html.stat().st_size, 1_000_000)


class EveryKindTest(unittest.TestCase):
    """Documents of every kind but traces, which show times under the pointer alone: small ones made for tests, and recorded ones."""

    def test_every_figure_that_is_shown_is_in_the_document(self) -> None:
        pages = {}
        with tempfile.TemporaryDirectory() as folder:
            html = Path(folder) / "page.html"
            program.report(DOCUMENTS[1:2], html)
            with chromium.Page(html) as page:
                for document in DOCUMENTS[1:] + RECORDED:
                    program.report([document], html)
                    page.open()
                    pages[document] = figures.Words(document, page)
        for document, words in pages.items():
            with self.subTest(document.name):
                self.assertGreater(len(words.figures), 10)
                self.assertEqual(words.lacking, [])
        unseen = [text for words in pages.values() for text in words.unseen]
        self.assertLess(len(unseen), sum(len(words.wrong) for words in pages.values()) / 20, unseen)


class LargeTraceTest(unittest.TestCase):
    def test_stays_small_and_usable_and_says_that_it_was_decimated(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trace, html = Path(folder) / "trace.json", Path(folder) / "page.html"
            program.large_trace(trace, 260_000)
            program.report([trace], html)
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
    if missing := program.without_library(DOCUMENTS[-1]):
        print(f"skipped: {missing}")
        sys.exit(77)
    unittest.main(verbosity=1)
