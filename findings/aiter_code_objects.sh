#!/usr/bin/env bash
# AITER's hand-written kernels do not say for which processor they are, and nine in ten leave nothing of their compute unit for another kernel, such as a
# collective's.
#
# amd-aiter 0.1.7.post2.dev18 (PyPI), no GPU. Of its 2,501 code objects *.co
#   2,500 have no amdhsa.target in their metadata: of the ELF only the flags name gfx942 (1,281) or gfx950 (1,220), and 1,006 names of kernels are in both;
#   2,228 take all 512 VGPRs of four SIMDs with one block of 256 threads, 2,047 of them all LDS as well (65,536 B on gfx942, 163,840 B on gfx950).
# So a reader of metadata alone takes code of one processor for the other's. Priority and order are all that can be changed about such kernels: neither a
# smaller block of RCCL nor a cap on their residency makes room. .vgpr_count counts AGPRs too, and .agpr_count is there in one object.
#   68 of the 112 *.hsaco in the same wheel, Triton's, allocate more VGPRs than their metadata count, as 176 for 84 (triton_amd_code_objects.sh).
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip -q download --no-deps -d "$work" amd-aiter==0.1.7.post2.dev18
cat >"$work/count.py" <<'PYTHON'
import collections, glob, re, struct, sys, zipfile

NAMES = {0x4C: "gfx942", 0x4F: "gfx950"}  # EF_AMDGPU_MACH
LDS = {"gfx942": 65536, "gfx950": 163840}


def whole(code, name):  # of MessagePack
    found = re.search(rb"\." + name + rb"(?:([\0-\x7f])|\xcc(.)|\xcd(..)|\xce(....))", code, re.DOTALL)
    return int.from_bytes(next(filter(None, found.groups())), "big")


def descriptor(code):  # the 64 bytes of the symbol that ends with .kd
    table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + index * size) for index in range(count)]
    symbols = next(section for section in sections if section[1] == 11)
    names = code[sections[symbols[6]][4] :]
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, _, _, home, value, _ = struct.unpack_from("<IBBHQQ", code, at)
        text = names[name : names.index(b"\0", name)]
        if text.endswith(b".kd"):
            return text, code[sections[home][4] + value - sections[home][3] :][:64]


def allocated(code):
    return 8 * ((struct.unpack_from("<I", descriptor(code)[1], 48)[0] & 63) + 1)


seen, kernels = collections.Counter(), collections.defaultdict(set)
wheel = zipfile.ZipFile(glob.glob(f"{sys.argv[1]}/*.whl")[0])
for name in wheel.namelist():
    if name.endswith(".co"):
        code = wheel.read(name)
        processor = NAMES[code[48]]
        kernels[descriptor(code)[0]].add(processor)
        seen[processor] += 1
        seen["without amdhsa.target"] += b"amdhsa.target" not in code
        seen["without .agpr_count"] += b".agpr_count" not in code
        registers = allocated(code) == 512 and whole(code, b"max_flat_workgroup_size") == 256
        seen["all VGPRs"] += registers
        seen["all VGPRs and LDS"] += registers and whole(code, b"group_segment_fixed_size") == LDS[processor]
    elif name.endswith(".hsaco"):
        code = wheel.read(name)
        seen["Triton's"] += 1
        seen["Triton's that allocate more"] += allocated(code) >= whole(code, b"vgpr_count") + 8
seen["names for both"] = sum(len(processors) == 2 for processors in kernels.values())
for key in sorted(seen):
    print(key, seen[key])
PYTHON
python3 "$work/count.py" "$work" | tee "$work/seen"
diff "$work/seen" - <<'SEEN'
Triton's 112
Triton's that allocate more 68
all VGPRs 2228
all VGPRs and LDS 2047
gfx942 1281
gfx950 1220
names for both 1006
without .agpr_count 2500
without amdhsa.target 2500
SEEN
echo 'as described'
