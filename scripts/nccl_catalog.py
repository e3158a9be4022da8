#!/usr/bin/env python3
"""NCCL's libraries against the catalog: footprints of their kernels, and the functions that they export.

usage: nccl_catalog.py ELBOWROOM [--folder DIR] [VERSION...]

Of each version (2.28.9, 2.29.7, 2.30.7, 2.31.2, 2.32.3) the wheel nvidia-nccl-cu13 is fetched from PyPI, and cuobjdump's.
Registers and static shared memory are read from the library's device code, dynamic shared memory from the constants of its
ncclLaunchKernel, which are scratch for as many warps as a block may have. ELBOWROOM, the program, must give the same in `plan`, and
tests/structure/nccl_functions.txt the same functions. The last line says how many comparisons held; where one did not, the script
ends with 1. Needs nm and objdump; a library is 0.3 GB.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

VERSIONS = ("2.28.9", "2.29.7", "2.30.7", "2.31.2", "2.32.3")
CUOBJDUMP = "nvidia-cuda-cuobjdump==13.5.37"
FUNCTIONS = pathlib.Path(__file__).parent.parent / "tests/structure/nccl_functions.txt"
# A device of the catalog that runs the code.
DEVICES = {"sm_75": "t4", "sm_80": "a100", "sm_90": "h100", "sm_100": "b200", "sm_120": "rtx5090"}
DRIVER_RESERVES = 1024  # counted by cuobjdump from sm_90 on
SCRATCH_OF_WARP = 4112  # 8 loads of 16 B a thread, and 16 B
LAUNCH = "_Z16ncclLaunchKernelP8ncclCommP14ncclKernelPlan"


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Pip:
    def __init__(self, folder):
        self.python = folder / "environment/bin/python"
        if not self.python.exists():
            output(sys.executable, "-m", "venv", folder / "environment")

    def __call__(self, *arguments):
        output(self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def library(version, folder, pip):
    """The path of libnccl.so.2 of a version; fetched where it is not there."""
    path = folder / version / "libnccl.so.2"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        pip("download", "--no-deps", "--dest", path.parent, f"nvidia-nccl-cu13=={version}")
        (wheel,) = path.parent.glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            path.write_bytes(packed.read("nvidia/nccl/lib/libnccl.so.2"))
        wheel.unlink()
    return path


def cuobjdump_in(folder, pip):
    tool = folder / "cuobjdump/nvidia/cu13/bin/cuobjdump"
    if not tool.exists():
        pip("install", "--target", folder / "cuobjdump", CUOBJDUMP)
    return tool


def usage_of(text):
    """(architecture, kernel) -> (registers, shared) of `cuobjdump -res-usage`."""
    usage, architecture, kernel = {}, "", ""
    for line in text.splitlines():
        if match := re.match(r"arch = (\w+)", line):
            architecture = match[1]
        elif match := re.match(r" Function (\w+):", line):
            kernel = match[1]
        elif match := re.match(r"\s+REG:(\d+) STACK:\d+ SHARED:(\d+)", line):
            usage[architecture, kernel] = int(match[1]), int(match[2])
    return usage


def dynamic_sizes(path):
    """What ncclLaunchKernel can ask for: of devices before sm_80, of sm_80 and newer, of sm_12x."""
    code = output("objdump", "-d", "--no-show-raw-insn", f"--disassemble={LAUNCH}", path)
    constants = {int(word, 16) for word in re.findall(r"\$0x([0-9a-f]+),", code)}
    usual = 82240
    less = [0x100000000 - word for word in constants if word >> 12 == 0xFFFFB]
    return [41280] * (41280 in constants), [usual] * (usual in constants), [usual - word for word in less]


def exported(path):
    names = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", path).splitlines()}
    return {name for name in names if name.startswith("nccl")}


class Comparison:
    def __init__(self):
        self.held = self.failed = 0

    def equal(self, what, read, stated):
        self.held += read == stated
        self.failed += read != stated
        if read != stated:
            print(f"{what}: the library has {read}, stated is {stated}")


def planned(elbowroom, device, kind):
    return json.loads(output(elbowroom, "plan", "--device", device, "--threads", 32, "--registers", 16, "--comm", kind, "--json"))["comm"]


def compare_footprints(compare, elbowroom, version, path, tool):
    release = ".".join(version.split(".")[:2])
    usage = usage_of(output(tool, "-res-usage", path))
    turing, usual, blackwell = dynamic_sizes(path)
    compare.equal(f"{version} dynamic before sm_80 and on sm_12x", ([41280], [61760]), (turing, blackwell))
    for architecture, device in DEVICES.items():
        reserved = DRIVER_RESERVES if int(architecture[3:]) >= 90 else 0
        rings = {of for (on, name), of in usage.items() if on == architecture and "ncclDevKernel_" in name and of[0] > 32}
        comm = planned(elbowroom, device, f"nccl-{release}:640")
        stated = {(comm["registers"], comm["static_shared"] + reserved)}
        compare.equal(f"{version} {architecture} registers and shared memory", rings, stated)
        dynamic = {"sm_75": turing, "sm_120": blackwell}.get(architecture, usual)
        compare.equal(f"{version} {architecture} dynamic", dynamic, [comm["dynamic_shared"]])
        compare.equal(f"{version} {architecture} most threads", usual[0] // SCRATCH_OF_WARP * 32, comm["threads"])
        compare.equal(f"{version} {architecture} row", comm["row"], comm["name"])
    symmetric = {
        (name, of)
        for (on, name), of in usage.items()
        if on == "sm_90" and "ncclSymkDevKernel_" in name and not re.search("Rail|Tma", name)
    }
    compare.equal(f"{version} symmetric: most registers", max(of[0] for _, of in symmetric), 128)
    compare.equal(f"{version} symmetric: static", {of[1] for _, of in symmetric}, {0})


def compare_functions(compare, version, path):
    number = [int(part) for part in version.split(".")]
    stated = set()
    for line in FUNCTIONS.read_text().splitlines():
        if line.startswith("nccl"):
            name, since = line.split(maxsplit=2)[:2]
            if [int(part) for part in since.split(".")] <= number:
                stated.add(name)
    read = exported(path)
    compare.equal(f"{version} functions that the table lacks", read - stated, set())
    compare.equal(f"{version} functions that the library lacks", stated - read, set())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("elbowroom", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, help="keeps what is fetched")
    parser.add_argument("versions", nargs="*", default=VERSIONS)
    arguments = parser.parse_args()
    compare = Comparison()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        pip = Pip(folder)
        tool = cuobjdump_in(folder, pip)
        for version in arguments.versions:
            path = library(version, folder, pip)
            compare_footprints(compare, arguments.elbowroom.resolve(), version, path, tool)
            compare_functions(compare, version, path)
    print(f"{compare.held} equal, {compare.failed} not")
    return 0 if compare.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
