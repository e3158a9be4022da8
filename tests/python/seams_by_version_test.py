"""Libraries that only have names, and what is said of a version. Ends with 77 where there is no compiler."""

from __future__ import annotations

import contextlib
import ctypes
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import seams_by_version
import torch_environment

from elbowroom import parts


class LibrariesTest(unittest.TestCase):
    def test_a_library_loads_whose_needs_are_names_alone(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "of.c").write_text("long cudaMake(void) { return 1; } const char* cudaGetErrorString(int code) { return 0; }")
            (folder / "of.map").write_text("libcudamade.so.13 { global: *; };")
            (folder / "needs.c").write_text(
                "long cudaMake(void); const char* cudaGetErrorString(int);"
                "long makes(void) { return cudaMake(); } const char* says(void) { return cudaGetErrorString(1); }"
            )
            compiled = ["cc", "-w", "-shared", "-fPIC", "-fno-builtin"]
            made, needs = folder / "libcudamade.so.13", folder / "libneeds.so"
            subprocess.run([*compiled, "-Wl,-soname,libcudamade.so.13,--version-script=" + str(folder / "of.map"), "-o", made, folder / "of.c"], check=True)
            subprocess.run([*compiled, "-Wl,-rpath,$ORIGIN", "-o", needs, folder / "needs.c", made], check=True)
            made.unlink()
            torch_environment.add_libraries(folder)
            library = ctypes.CDLL(str(needs))
            library.says.restype = ctypes.c_char_p
            self.assertEqual((library.makes(), library.says()), (torch_environment.NO_DEVICE, b"no CUDA device here"))


class ReportTest(unittest.TestCase):
    def said(self, version: str, **reasons: str) -> tuple[bool, str]:
        held = {part.name: "" for part in parts.PARTS} | {parts.BUCKETS.name: reasons.get("buckets", ""), parts.DIRECT_GATHERS.name: reasons.get("gathers", "")}
        out = io.StringIO()
        with mock.patch.object(torch_environment, "output_of", lambda *command: version + "\n"), mock.patch.object(seams_by_version, "held", lambda python: held):
            with contextlib.redirect_stdout(out):
                right = seams_by_version.report(Path("python"))
        return right, out.getvalue()

    def test_a_version_of_the_table_must_hold_what_the_table_says(self) -> None:
        self.assertTrue(self.said("2.15.0+cu132")[0])
        right, said = self.said("2.15.0+cu132", gathers="PyTorch lacks a name")
        self.assertFalse(right)
        self.assertIn("no: PyTorch lacks a name (the table says otherwise)", said)
        with mock.patch.object(parts, "MISSING", {(parts.DIRECT_GATHERS.name, "2.15"): "other names"}):
            self.assertTrue(self.said("2.15.0", gathers="PyTorch lacks a name")[0])
            self.assertFalse(self.said("2.15.0")[0])

    def test_an_unknown_version_may_lack_parts_but_not_buffers(self) -> None:
        right, said = self.said("2.16.0", gathers="PyTorch lacks a name")
        self.assertTrue(right)
        self.assertIn("which no test knows", said)
        self.assertFalse(self.said("2.16.0", buckets="PyTorch lacks a name")[0])


if __name__ == "__main__":
    if not all(map(shutil.which, ("cc", "readelf"))):
        print("skipped: there is no cc or no readelf", file=sys.stderr)
        sys.exit(77)
    unittest.main()
