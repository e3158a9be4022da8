"""links.py finds what leads nowhere, and nothing else."""

import pathlib
import tempfile
import unittest

import links


class Links(unittest.TestCase):
    def pages(self, **texts):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / "docs").mkdir()
        for name, text in texts.items():
            (root / ("README.md" if name == "README" else f"docs/{name}.md")).write_text(text)
        return root

    def test_accepts_files_headings_names_and_addresses(self):
        root = self.pages(
            README="[a](docs/a.md) [b](docs/a.md#what-run-remembers) [c](docs/a.md#named) [d](#top) [e](https://x.invalid/y#z)\n# Top\n",
            a="## What `run` remembers\n<a id=\"named\"></a>\n[up](../README.md#top) `[no](link)`\n```\n# no heading\n```\n",
        )
        self.assertEqual(links.broken(root), [])

    def test_names_what_is_not_there(self):
        root = self.pages(README="[a](docs/b.md) [b](docs/a.md#gone) [c](docs/a.md#no-heading)\n", a="```\n# no heading\n```\n")
        self.assertEqual(
            links.broken(root),
            [
                "README.md: docs/b.md: no such file",
                "README.md: docs/a.md#gone: no such heading",
                "README.md: docs/a.md#no-heading: no such heading",
            ],
        )


if __name__ == "__main__":
    unittest.main()
