#!/usr/bin/env bash
# The same kernels take other registers with each ROCm release, and from 7.1 on they lie in bundles that older tools cannot unpack.
#
# bitsandbytes 0.50.2 (PyPI) has its library built by six ROCm releases; zstandard 0.25.0, msgpack 1.1.2; no GPU. Of each library's 175 kernels for gfx942
#         bundles     targets   .vgpr_count other than by 7.0   more   other granules of 8   other LDS   unpacked
#   6.4   version 2   14        122                             19     29                    16          13 to 17 times
#   7.0   version 2   15                                                                                 15 to 20
#   7.1   version 3   15        33                              5      16                    0           16 to 20
#   7.2   version 3   15        128                             48     39                    0           14 to 18
#   714   version 3   25        133                             38     48                    0           22 to 23
#   715   version 3   25        151                             40     55                    0           23
# (714 and 715 are how the names of the last two files end.) The head of version 3 has sizes of 64 bits (jax_rocm_mori_collectives.sh). gfx950 is absent from
# 6.4's. A footprint that was measured, or read, with one ROCm is not that of the next: what fits beside a collective has to be read from the library that runs.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install zstandard==0.25.0 msgpack==1.1.2
"$work/env/bin/pip" -q download --no-deps --only-binary :all: --platform manylinux_2_24_x86_64 --python-version 3.11 -d "$work" bitsandbytes==0.50.2
cat >"$work/compare.py" <<'PYTHON'
import glob, re, struct, sys, zipfile

import msgpack, zstandard


def kernels_of(code):  # the metadata in the note of an AMD code object
    table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
    for index in range(count):
        kind, _, _, at, length = struct.unpack_from("<IQQQQ", code, table + index * size + 4)
        if kind != 7:
            continue
        name, text, note = struct.unpack_from("<III", code, at)
        if note == 32:
            begin = at + 12 + (name + 3) // 4 * 4
            return msgpack.unpackb(code[begin : begin + text])["amdhsa.kernels"]
    return []


def library(code):
    versions, targets, kernels, ratios = set(), set(), {}, []
    for found in re.finditer(rb"CCOB([\x02\x03])\x00\x01\x00", code):
        begin, version = found.start(), found[1][0]
        head, sizes = (24, "<II") if version == 2 else (32, "<QQ")
        packed, size = struct.unpack_from(sizes, code, begin + 8)
        bundle = zstandard.ZstdDecompressor().decompress(code[begin + head : begin + packed], max_output_size=size)
        versions.add(version)
        ratios.append(size / packed)
        at = 32
        for _ in range(struct.unpack_from("<Q", bundle, 24)[0]):
            offset, length, name = struct.unpack_from("<QQQ", bundle, at)
            target, at = bundle[at + 24 : at + 24 + name].decode().rpartition("--")[2], at + 24 + name
            if target.startswith("gfx"):
                targets.add(target)
            if target == "gfx942":
                for kernel in kernels_of(bundle[offset : offset + length]):
                    kernels[kernel[".name"]] = (kernel[".vgpr_count"], kernel[".group_segment_fixed_size"])
    return versions, targets, kernels, ratios


wheel = zipfile.ZipFile(glob.glob(f"{sys.argv[1]}/*.whl")[0])
built = {release: library(wheel.read(f"bitsandbytes/libbitsandbytes_rocm{release}.so")) for release in (64, 70, 71, 72, 714, 715)}
base = built[70][2]
for release, (versions, targets, kernels, ratios) in built.items():
    assert set(kernels) == set(base), release
    pairs = [(kernels[name], base[name]) for name in base]
    print(release, "version", *versions, "targets", len(targets), "kernels", len(kernels),
          "other", sum(a[0] != b[0] for a, b in pairs), "more", sum(a[0] > b[0] for a, b in pairs),
          "granules", sum((a[0] + 7) // 8 != (b[0] + 7) // 8 for a, b in pairs), "lds", sum(a[1] != b[1] for a, b in pairs),
          "gfx950" if "gfx950" in targets else "none", f"{min(ratios):.0f}..{max(ratios):.0f}")
PYTHON
"$work/env/bin/python3" "$work/compare.py" "$work" >"$work/seen"
diff - "$work/seen" <<'TEXT'
64 version 2 targets 14 kernels 175 other 122 more 19 granules 29 lds 16 none 13..17
70 version 2 targets 15 kernels 175 other 0 more 0 granules 0 lds 0 gfx950 15..20
71 version 3 targets 15 kernels 175 other 33 more 5 granules 16 lds 0 gfx950 16..20
72 version 3 targets 15 kernels 175 other 128 more 48 granules 39 lds 0 gfx950 14..18
714 version 3 targets 25 kernels 175 other 133 more 38 granules 48 lds 0 gfx950 22..23
715 version 3 targets 25 kernels 175 other 151 more 40 granules 55 lds 0 gfx950 23..23
TEXT
echo 'as described'
