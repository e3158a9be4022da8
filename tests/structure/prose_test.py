"""Each rule of prose.py fails on a planted page."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import prose  # noqa: E402


class Prose(unittest.TestCase):
    def of(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            for name, text in pages.items():
                (root / f"{name}.md").write_text(text)
            return prose.broken(root)

    def test_a_short_page_is_fine(self):
        self.assertEqual(self.of(README="# What it is\n\nThe gate waits. Is that all?\n\n| What | is not read |\n\n    What a command prints\n"), [])

    def test_words_are_counted(self):
        self.assertEqual(self.of(README="Word. " * 701), ["README.md: 701 words, expected at most 700"])
        self.assertEqual(self.of(other="word " * (prose.MOST_WORDS_IN_ALL + 1))[0].split(":")[0], "all pages")

    def test_a_long_sentence_is_named(self):
        # 31 words in one sentence, three short ones beside it: the median is 2.
        text = "The " + "word " * 29 + "ends. It ends. It ends. It ends."
        self.assertEqual([line[:42] for line in self.of(README=text)], ["README.md: 31 words, expected at most 30: "])
        # A command of three words in place of three of them.
        self.assertEqual(self.of(README=text.replace("word word word", "`elbowroom run --quiet`", 1))[0][:19], "README.md: 31 words")

    def test_the_median_counts(self):
        # Two sentences of 17 words each.
        self.assertEqual(self.of(README=("The " + "word " * 15 + "ends. ") * 2), ["README.md: the median sentence has 17 words, expected at most 16"])

    def test_a_noun_is_the_subject(self):
        for begin in ("What is launched", "Whether it waits", "Who asks", "Of what it waits"):
            self.assertEqual(self.of(README=f"{begin} is known."), [f"README.md: no noun as the subject: {begin} is known."])
        self.assertEqual(self.of(README="What is launched?"), [])
        self.assertEqual(len(self.of(other="Whether it waits is known.")), 1)

    def test_items_of_lists_are_sentences_of_their_own(self):
        self.assertEqual(prose.sentences("- The gate waits.\n- [The stream](a.md) `runs` on.\n"), ["The gate waits.", "The stream Code on."])


if __name__ == "__main__":
    unittest.main()
