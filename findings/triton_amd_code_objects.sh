#!/usr/bin/env bash
# Neither the LDS nor all VGPRs of a Triton kernel for AMD stand in its code object's metadata: they say 0 B of LDS, and fewer VGPRs than a launch allocates
# where waves_per_eu bounds the waves.
#
# triton 3.5.1 and 3.9.0 (PyPI), no GPU: a product of f16, 128 x 128 by 64, 8 warps, compiled for gfx942. VGPRs by the metadata (.vgpr_count) and by the
# kernel's descriptor, which the hardware is set up with (granules of 8); LDS by the metadata (.group_segment_fixed_size) and "shared" in Triton's JSON:
#           waves_per_eu     metadata     descriptor     LDS       JSON
#   3.5.1              0          141            144     0 B     16,384
#   3.5.1              2          141            144     0 B     16,384
#   3.9.0              0          136            136     0 B     16,384
#   3.9.0              2          144            176     0 B     16,384
# The launch passes "shared" as dynamic memory. From 3.6.0 on waves_per_eu is an upper bound too, and LLVM holds it by allocating more than the code names.
# Of 512 VGPRs of a SIMD lane 144 leave room for three waves; the hardware gives two. So an occupancy from the metadata alone is too high, twice over.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/product.py" <<'PYTHON'
import re, struct

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, c, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for begin in range(0, depth, K):
        total = tl.dot(tl.load(a + m[:, None] * depth + k[None, :] + begin), tl.load(b + (k[:, None] + begin) * N + n[None, :]), total)
    tl.store(c + m[:, None] * N + n[None, :], total)


def metadata(code, name):  # a whole number of MessagePack
    small, byte, word = re.search(rb"\." + name + rb"(?:([\0-\x7f])|\xcc(.)|\xcd(..))", code, re.DOTALL).groups()
    return int.from_bytes(small or byte or word, "big")


def descriptor(code):  # the 64 bytes that the symbol product.kd names
    table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + index * size) for index in range(count)]
    symbols = next(section for section in sections if section[1] == 11)
    names = code[sections[symbols[6]][4] :]
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, _, _, home, value, _ = struct.unpack_from("<IBBHQQ", code, at)
        if names[name:].startswith(b"product.kd\0"):
            return code[sections[home][4] + value - sections[home][3] :][:64]


kinds = dict.fromkeys("MNK", "constexpr") | {"a": "*fp16", "b": "*fp16", "c": "*fp32", "depth": "i32"}
for waves in (0, 2):
    source = ASTSource(product, kinds, constexprs={"M": 128, "N": 128, "K": 64})
    kernel = triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options={"num_warps": 8, "num_stages": 2, "waves_per_eu": waves})
    code = kernel.asm["hsaco"]
    allocated = 8 * ((struct.unpack_from("<I", descriptor(code), 48)[0] & 63) + 1)
    print(triton.__version__, waves, metadata(code, b"vgpr_count"), allocated, metadata(code, b"group_segment_fixed_size"), kernel.metadata.shared)
PYTHON
for version in 3.5.1 3.9.0; do
  python3 -m venv "$work/$version"
  "$work/$version/bin/pip" -q install "triton==$version"
  TRITON_DEFAULT_FP_FUSION=1 TRITON_CACHE_DIR=$work/cache "$work/$version/bin/python" "$work/product.py"
done | tee "$work/seen"
diff "$work/seen" - <<'SEEN'
3.5.1 0 141 144 0 16384
3.5.1 2 141 144 0 16384
3.9.0 0 136 136 0 16384
3.9.0 2 144 176 0 16384
SEEN
echo 'as described'
