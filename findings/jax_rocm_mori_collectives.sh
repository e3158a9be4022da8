#!/usr/bin/env bash
# JAX's plugin for ROCm has collectives of its own beside RCCL's from 0.12.0 on: MORI's, in whose names neither "nccl" nor "rccl" stands.
#
# jax-rocm7-pjrt 0.11.2 and 0.12.0 (PyPI), zstandard 0.25.0, no GPU. Kernels mori::collective of the plugin's code for gfx942:
#   0.11.2     none
#   0.12.0     123: AllReducePullKernel 40, AllReducePushKernel 20, ReduceScatterPullKernel 40, ReduceScatterPushKernel 20, and one each of AllGatherPushKernel,
#              AllToAllPushKernel and CollectivePermutePushKernel; besides detail::BarrierKernel, whose metadata count 0 VGPRs
# 37 MORI_* variables come with them, and no NCCL_* or RCCL_* variable, tuner or profiler plugin acts on them. A tool that takes what is not called nccl for
# computation counts them so, and one that delays computation's kernels or bounds their blocks may stop a kernel for which peers wait.
#   The code is in bundles of CCOB version 3: 64-bit sizes, a header of 32 bytes, then a zstd frame. LLVM 19's clang-offload-bundler takes it for version 2,
#   whose header has 24, and says "Unknown frame descriptor"; file formats of ROCm 7 need the tools of ROCm 7.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install zstandard==0.25.0
cat >"$work/kernels.py" <<'PYTHON'
import collections, glob, re, struct, sys, zipfile

import zstandard

version, folder = sys.argv[1:]
wheel = zipfile.ZipFile(glob.glob(f"{folder}/*.whl")[0])
library = wheel.read("jax_plugins/xla_rocm7/xla_rocm_plugin.so")
kernels = collections.Counter()
for found in re.finditer(rb"CCOB\x03\x00", library):
    begin = found.start()
    packed, size = struct.unpack_from("<QQ", library, begin + 8)
    bundle = zstandard.ZstdDecompressor().decompress(library[begin + 32 : begin + packed], max_output_size=size)
    if not kernels and version == "0.12.0":
        open(f"{folder}/bundle", "wb").write(library[begin : begin + packed])
    at = 32
    for _ in range(struct.unpack_from("<Q", bundle, 24)[0]):
        offset, length, name = struct.unpack_from("<QQQ", bundle, at)
        target, at = bundle[at + 24 : at + 24 + name], at + 24 + name
        if target.endswith(b"gfx942"):
            code = bundle[offset : offset + length]
            symbols = set(re.findall(rb"_ZN4mori10collective(?:6detail)?\d+([A-Z][a-zA-Z]+?Kernel)(\w*)\.kd", code))
            kernels.update(symbol for symbol, _ in symbols)
variables = set(re.findall(rb"\0(MORI_[A-Z0-9_]+)(?=\0)", library))
print(version, len(variables), *(f"{name.decode()}={count}" for name, count in sorted(kernels.items())))
PYTHON
for version in 0.11.2 0.12.0; do
  "$work/env/bin/pip" -q download --no-deps -d "$work/$version" "jax-rocm7-pjrt==$version"
  "$work/env/bin/python" "$work/kernels.py" "$version" "$work/$version"
done | tee "$work/seen"
diff "$work/seen" - <<'SEEN'
0.11.2 0
0.12.0 37 AllGatherPushKernel=1 AllReducePullKernel=40 AllReducePushKernel=20 AllToAllPushKernel=1 BarrierKernel=1 CollectivePermutePushKernel=1 ReduceScatterPullKernel=40 ReduceScatterPushKernel=20
SEEN
if command -v clang-offload-bundler-19 >/dev/null; then
  ! clang-offload-bundler-19 --list --type=o --input="$work/0.12.0/bundle" >"$work/said" 2>&1
  grep -q 'Unknown frame descriptor' "$work/said"
fi
echo 'as described'
