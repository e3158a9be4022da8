#!/usr/bin/env python3
"""What includes.py finds in a small tree, and what it leaves alone."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import includes

HEADERS = {
    "include/p/base/size.hpp": "#include <string>\nnamespace p {\nstruct Size { int bytes; };\nconstexpr int kMost = 4;\nSize parse_size(const std::string& text);\n}",
    "src/base/words.hpp": '#include "p/base/size.hpp"\nnamespace p { int count_words(); }',
}


def missing(source: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        for path, text in (HEADERS | {"src/base/x.cpp": source}).items():
            file = Path(name) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        tree = includes.Tree(Path(name).resolve())
        return [line for path in tree.sources for line in tree.missing(path)]


class Includes(unittest.TestCase):
    def test_names_of_headers_that_are_not_included(self) -> None:
        self.assertIn("Size is declared in include/p/base/size.hpp", missing("p::Size size;")[0])
        self.assertIn("kMost is declared in", missing("int most = p::kMost;")[0])
        self.assertIn("parse_size is declared in", missing("namespace p { int f() { return parse_size(text).bytes; } }")[0])
        self.assertIn("std::vector needs <vector>", missing('#include "base/words.hpp"\nstd::vector<int> list;')[0])

    def test_what_a_header_brings_along_is_there(self) -> None:
        self.assertEqual(missing('#include "base/words.hpp"\np::Size size = p::parse_size(std::string("4"));'), [])

    def test_names_of_its_own_are_no_headers(self) -> None:
        self.assertEqual(missing("namespace { struct Size {}; Size size; int count_words() { return 1; } }"), [])
        self.assertEqual(missing("int f(int count_words) { return count_words; }  // Size, kMost"), [])


if __name__ == "__main__":
    unittest.main()
