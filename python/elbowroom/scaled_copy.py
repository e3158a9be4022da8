"""One kernel that copies tensors into the columns of another and multiplies them: FSDP2's chunk_cat with a factor.

PyTorch's own operations copy many tensors at once, or multiply, not both. The kernel is compiled by NVRTC, which PyTorch brings along.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from elbowroom import own_kernel

MOST_PARTS = 32  # in one launch
THREADS = 256
BLOCKS_PER_SM = 8

SOURCE = """
struct Part { const void* from; long long count, begin; };
struct Parts {
  Part part[32];
  void* to;
  long long columns;
  int number, from_is_bf16, to_is_bf16;
  float scale;
};

struct Bf16 { unsigned short bits; };
__device__ inline float value(float x) { return x; }
__device__ inline float value(Bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
__device__ inline void set(float& to, float x) { to = x; }
__device__ inline void set(Bf16& to, float x) {
  const unsigned bits = __float_as_uint(x);
  to.bits = x != x ? 0x7fff : (unsigned short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T> struct alignas(16) Eight { T of[8]; };
template <class T> __device__ inline bool aligned(const T* at) { return (unsigned long long)at % 16 == 0; }

template <class From, class To> __device__ void copy(const Parts& parts) {
  const long long row = blockIdx.y, thread = (long long)blockIdx.x * blockDim.x + threadIdx.x, threads = (long long)gridDim.x * blockDim.x;
  for (int p = 0; p < parts.number; ++p) {
    const Part& part = parts.part[p];
    const From* from = (const From*)part.from + row * part.count;
    To* to = (To*)parts.to + row * parts.columns + part.begin;
    const long long by_eight = aligned(from) && aligned(to) ? part.count / 8 : 0;
    for (long long i = thread; i < by_eight; i += threads) {
      const Eight<From> eight = ((const Eight<From>*)from)[i];
      Eight<To> scaled;
      for (int k = 0; k < 8; ++k) set(scaled.of[k], parts.scale * value(eight.of[k]));
      ((Eight<To>*)to)[i] = scaled;
    }
    for (long long i = 8 * by_eight + thread; i < part.count; i += threads) set(to[i], parts.scale * value(from[i]));
  }
}

extern "C" __global__ void elbowroom_scaled_copy(Parts parts) {
  if (parts.from_is_bf16) {
    if (parts.to_is_bf16) copy<Bf16, Bf16>(parts); else copy<Bf16, float>(parts);
  } else {
    if (parts.to_is_bf16) copy<float, Bf16>(parts); else copy<float, float>(parts);
  }
}
"""


class Part(ctypes.Structure):
    _fields_ = [("source", ctypes.c_void_p), ("count", ctypes.c_longlong), ("begin", ctypes.c_longlong)]


class Parts(ctypes.Structure):
    _fields_ = [
        ("part", Part * MOST_PARTS),
        ("target", ctypes.c_void_p),
        ("columns", ctypes.c_longlong),
        ("number", ctypes.c_int),
        ("source_is_bf16", ctypes.c_int),
        ("target_is_bf16", ctypes.c_int),
        ("scale", ctypes.c_float),
    ]


def batches(items: Iterable[Any], most: int) -> Iterator[list[Any]]:
    """Python 3.12 has this as itertools.batched."""
    items = iter(items)
    while some := list(itertools.islice(items, most)):
        yield some


class ScaledCopy:
    """`copy(sources, target, rows, scale)`: row r of target[rows, columns] gets part r of each source, one behind the other, times scale.
    Tensors are contiguous, bf16 or float32, and `rows` divides the first extent of each source. Runs on the current stream.
    """

    def __init__(self, torch: Any) -> None:
        """Compiles; raises where it cannot."""
        self._torch = torch
        self._kernel = own_kernel.compiled(torch, SOURCE, "elbowroom_scaled_copy")
        self._launch = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
        self._blocks = BLOCKS_PER_SM * torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count

    def __call__(self, sources: Any, target: Any, rows: int, scale: float) -> None:
        bf16, begin = self._torch.bfloat16, 0
        for dtype, alike in itertools.groupby(sources, key=lambda source: source.dtype):  # one launch reads one type
            for some in batches(alike, MOST_PARTS):
                parts = Parts(target=target.data_ptr(), columns=target.numel() // rows, scale=scale, target_is_bf16=target.dtype == bf16)
                parts.source_is_bf16 = dtype == bf16
                for source in some:
                    count = source.numel() // rows
                    parts.part[parts.number] = Part(source.data_ptr(), count, begin)
                    parts.number += 1
                    begin += count
                self._run(parts, rows)

    def _run(self, parts: Parts, rows: int) -> None:
        stream = ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(parts))
        blocks = max(self._blocks // rows, 1)
        code = self._launch(self._kernel.func, blocks, rows, 1, THREADS, 1, 1, 0, stream, arguments, None)
        if code != 0:
            raise RuntimeError(f"cuLaunchKernel of a copy that divides: {code}")
