"""The kernel that copies and multiplies, compiled for this machine's processor and run thread by thread. Ends with 77 without a compiler."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import stand_ins  # noqa: F401  puts the package on the path

from elbowroom import scaled_copy

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
AROUND = """
#include <cstring>
struct Index { unsigned x, y, z; };
static Index blockIdx, threadIdx, blockDim, gridDim;
#define __device__
#define __global__
static float __uint_as_float(unsigned bits) { float x; std::memcpy(&x, &bits, 4); return x; }
static unsigned __float_as_uint(float x) { unsigned bits; std::memcpy(&bits, &x, 4); return bits; }
%s
extern "C" void run(Parts* parts, unsigned blocks, unsigned rows, unsigned threads) {
  gridDim = {blocks, rows, 1}; blockDim = {threads, 1, 1};
  for (blockIdx.y = 0; blockIdx.y < rows; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
      for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) elbowroom_scaled_copy(*parts);
}
extern "C" unsigned long size() { return sizeof(Parts); }
"""


class Tensor:
    """What the launcher asks of one, on the host; `lead` elements before it spoil its alignment."""

    def __init__(self, values: list[float], dtype: str, lead: int = 0) -> None:
        self.dtype, self._count, self._lead = dtype, len(values), lead
        kind = {"bf16": ctypes.c_uint16, "f32": ctypes.c_float}[dtype]
        raw = [0] * lead + [self.bits(value) if dtype == "bf16" else value for value in values]
        self._space = ctypes.create_string_buffer(16 + ctypes.sizeof(kind) * len(raw))
        start = -ctypes.addressof(self._space) % 16
        self._raw = (kind * len(raw)).from_buffer(self._space, start)
        self._raw[:] = raw

    @staticmethod
    def bits(value: float) -> int:
        """Of a bf16 that `value` is exactly."""
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16

    def numel(self) -> int:
        return self._count

    def data_ptr(self) -> int:
        return ctypes.addressof(self._raw) + self._lead * ctypes.sizeof(self._raw._type_)

    def values(self) -> list[float]:
        raw = self._raw[self._lead :]
        return raw if self.dtype == "f32" else [struct.unpack("<f", struct.pack("<I", bits << 16))[0] for bits in raw]


class ScaledCopyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        source, library = Path(cls.folder.name) / "kernel.cpp", Path(cls.folder.name) / "kernel.so"
        source.write_text(AROUND % scaled_copy.SOURCE)
        subprocess.run([COMPILER, "-std=c++17", "-shared", "-fPIC", "-O1", "-fno-strict-aliasing", str(source), "-o", str(library)], check=True)
        cls.host = ctypes.CDLL(str(library))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def copy(self, sources: list[Tensor], target: Tensor, rows: int, scale: float) -> list[float]:
        launches = []

        def launch(kernel: Any, x: int, y: int, z: int, threads: int, *rest: Any) -> int:
            launches.append((x, y))
            self.host.run(ctypes.c_void_p(rest[-2][0]), 2, y, 5)  # few threads, so that each goes round
            return 0

        made = scaled_copy.ScaledCopy.__new__(scaled_copy.ScaledCopy)
        cuda = SimpleNamespace(current_stream=lambda: SimpleNamespace(cuda_stream=0))
        made._torch, made._kernel = SimpleNamespace(bfloat16="bf16", cuda=cuda), SimpleNamespace(func=None)
        made._launch, made._blocks = launch, 16
        made(sources, target, rows, scale)
        self.launches = launches
        return target.values()

    def expected(self, sources: list[list[float]], rows: int, scale: float) -> list[float]:
        def part(source: list[float], row: int) -> list[float]:
            count = len(source) // rows
            return source[row * count : (row + 1) * count]

        return [scale * value for row in range(rows) for source in sources for value in part(source, row)]

    def test_the_structures_are_the_same_on_both_sides(self) -> None:
        # 32 parts of 24 bytes, a pointer, a count, three numbers and a factor.
        self.assertEqual(ctypes.sizeof(scaled_copy.Parts), 32 * 24 + 8 + 8 + 3 * 4 + 4)
        self.assertEqual(self.host.size(), ctypes.sizeof(scaled_copy.Parts))

    def test_every_element_comes_to_its_column(self) -> None:
        sizes = (48, 2, 200, 34)  # by two: 24, 1, 100 and 17 elements of a row, which eight do not divide
        for source_kind in ("f32", "bf16"):
            for target_kind in ("f32", "bf16"):
                for lead in (0, 1):
                    sources = [[float(i % 100 + j) for i in range(size)] for j, size in enumerate(sizes)]
                    target = Tensor([9.0] * sum(sizes), target_kind, lead)
                    found = self.copy([Tensor(source, source_kind, lead) for source in sources], target, 2, 0.5)
                    self.assertEqual(found, self.expected(sources, 2, 0.5), (source_kind, target_kind, lead))

    def test_more_tensors_than_a_launch_takes(self) -> None:
        sources = [[float(j), float(-j), 2.0 * j, 1.0] for j in range(65)]
        found = self.copy([Tensor(source, "f32") for source in sources], Tensor([0.0] * 260, "f32"), 4, 0.25)
        self.assertEqual(found, self.expected(sources, 4, 0.25))
        self.assertEqual(self.launches, [(4, 4)] * 3)  # 16 blocks over four rows; 32, 32 and 1 tensors

    def test_rounding_is_to_the_nearest_even_bf16(self) -> None:
        # bf16 keeps 8 bits: 257 lies between 256 and 258, 259 between 258 and 260. Half of them: 128 and 130.
        found = self.copy([Tensor([257.0, 259.0], "f32")], Tensor([0.0, 0.0], "bf16"), 1, 0.5)
        self.assertEqual(found, [128.0, 130.0])
        infinite, not_a_number = self.copy([Tensor([float("inf"), float("nan")], "f32")], Tensor([0.0, 0.0], "bf16"), 1, 0.5)
        self.assertEqual(infinite, float("inf"))
        self.assertNotEqual(not_a_number, not_a_number)


if __name__ == "__main__":
    if COMPILER is None:
        print("skipped: no C++ compiler", file=sys.stderr)
        sys.exit(77)
    unittest.main()
