"""`python -m elbowroom` becomes the wheel's program, with its arguments; without one it says so in a line."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import stand_ins


class CommandTest(unittest.TestCase):
    def run_package(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-B", "-m", "elbowroom", *arguments], cwd=folder, capture_output=True, text=True, check=False)

    def test_the_module_becomes_the_program(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "elbowroom"
            shutil.copytree(stand_ins.PYTHON / "elbowroom", package)
            said = self.run_package(Path(folder), "list")
            self.assertEqual((said.returncode, said.stderr.count("\n")), (1, 1), said)
            self.assertIn("expected a wheel that was built for this machine", said.stderr)
            program = package / "native" / "bin" / "elbowroom"
            program.parent.mkdir(parents=True)
            program.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
            program.chmod(0o755)
            said = self.run_package(Path(folder), "run", "--", "a b")
            self.assertEqual((said.returncode, said.stdout), (7, "run -- a b\n"))


if __name__ == "__main__":
    unittest.main()
