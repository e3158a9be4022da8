"""A block that is stale, fails or is no document is noticed by blocks.py."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import blocks  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Blocks(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            runner = blocks.Runner(pathlib.Path("/bin/true"), SOURCE, folder)
            return [problem for block in blocks.blocks_of("page.md", text) if block.reason is None for problem in runner.problems(block)]

    def test_what_is_printed_is_compared(self):
        self.assertEqual(self.problems("Text.\n\n    $ echo one; echo two\n    one\n    two\n"), [])
        self.assertIn("+two", self.problems("Text.\n\n    $ echo one; echo two\n    one\n    three\n")[0])
        self.assertEqual(len(self.problems("Text.\n\n    $ echo one; echo two\n    one\n")), 1)

    def test_dots_are_any_lines(self):
        self.assertEqual(self.problems("Text.\n\n    $ seq 9\n    1\n    ...\n    9\n"), [])
        self.assertEqual(len(self.problems("Text.\n\n    $ seq 9\n    1\n    ...\n    8\n")), 1)

    def test_times_are_masked_and_counts_are_not(self):
        self.assertEqual(self.problems("Text.\n\n    $ echo 3 plans in 12.5 ms, 4 %\n    3 plans in 1.25 ms, 40.1 %\n"), [])
        self.assertEqual(len(self.problems("Text.\n\n    $ echo 3 plans in 12.5 ms\n    4 plans in 12.5 ms\n")), 1)

    def test_a_command_that_fails_is_named(self):
        self.assertEqual(self.problems("```\ntrue    # fine\nexit 3\n```\n"), ["exit 3: exit code 3\n"])
        self.assertEqual(self.problems("<!-- not run: for a reason -->\n\n    exit 3\n"), [])

    def test_a_document_is_validated(self):
        self.assertEqual(self.problems('Text.\n\n    {"schema": "elbowroom.none/1"}\n'), ["no schema of none"])
        self.assertEqual(len(self.problems('Text.\n\n    {"schema": ...}\n')), 1)


if __name__ == "__main__":
    unittest.main()
