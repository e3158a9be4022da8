"""Whether `elbowroom run --profile` finds, on a real driver, the kernels and products that a profile's choices are for. Needs one GPU and
PyTorch with Triton; a kernel that only has a collective's name stands for one, so nothing here is a measurement.

usage: python3 profile_rules.py --elbowroom build/gpu/elbowroom --out FOLDER

A program is observed first. Its GELU kernel's footprint and its products of 4096^3 then get a choice each in a profile made for the
purpose, and two runs with that profile must act on those in windows and on nothing else. Ends with 77 where there is no GPU, 1 where
something was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SKIPPED = 77
STEPS = 12
CAP = 2
TARGET = 100


def program() -> int:
    """Products by cuBLAS and, with a bias, cublasLt, in bf16 of two sizes and in f32, and GELU and LayerNorm, all beside a stand-in of a collective."""
    try:
        import torch
        import torch.nn.functional as F
        import triton
        import triton.language as tl
    except ImportError:
        return SKIPPED
    if not torch.cuda.is_available():
        return SKIPPED

    @triton.jit
    def ncclDevKernel_AllReduce_stand_in(out, rounds, BLOCK: tl.constexpr):  # noqa: N802
        x = tl.arange(0, BLOCK).to(tl.float32)
        for _ in range(rounds):
            x = x * 1.0001 + 0.1
        tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x)

    size = 4096
    beside = torch.cuda.Stream()
    out = torch.empty(24 * 128, device="cuda")
    a = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)
    small = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
    single = torch.randn(1024, 1024, device="cuda")
    bias = torch.randn(size, device="cuda", dtype=torch.bfloat16)
    for _ in range(STEPS):
        with torch.cuda.stream(beside):
            ncclDevKernel_AllReduce_stand_in[(24,)](out, 4_000_000, BLOCK=128, num_warps=4)
        torch.mm(a, a)
        F.linear(a, a, bias)
        torch.mm(small, small)
        torch.mm(single, single)
        F.layer_norm(F.gelu(a), (size,))
        torch.cuda.synchronize()
    return 0


def library() -> str:
    """A choice made in this environment."""
    multicast = os.environ.get("NCCL_NVLS_ENABLE")
    return "nccl 2.28.9" + (f" NCCL_NVLS_ENABLE={multicast}" if multicast is not None else "")


def choice(key: dict[str, str], plan: dict[str, int]) -> dict[str, Any]:
    switches = ("priority", "launch_gate", "symmetric", "copy_engine", "peer_detour", "windows_only")
    numbers = ("blocks_per_sm", "comm_blocks", "cluster", "sm_target", "comm_threads", "carveout", "comm_sms")
    whole: dict[str, Any] = {"pad_bytes": 0} | {name: False for name in switches} | {name: None for name in numbers} | plan
    surroundings = {"provenance": "measured", "device": "h200", "driver": "0", "comm_library": library(), "ranks": 2}
    collective = {"pattern": "pipeline", "collective": "all_reduce bf16", "collective_class": "2^28 B"}
    made = {"scheme": "tuned", "plan": whole, "reason": "made for a test", "time_us": 1.0}
    plain = {"baseline": "concurrent", "baseline_time_us": 2.0, "trials": 1, "stored_at": 1}
    return {"key": surroundings | collective | key} | made | plain


def run(arguments: argparse.Namespace, name: str, *options: str) -> dict[str, Any]:
    """The report's totals of the program under those options."""
    report = arguments.out / f"{name}.json"
    command = [arguments.elbowroom, "run", "--no-memory", *options, "--report", report, "--", sys.executable, __file__, "--program"]
    code = subprocess.run([str(word) for word in command], check=False).returncode
    if code != 0:
        sys.exit(code)
    totals: dict[str, Any] = json.loads(report.read_text())["total"]
    return totals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--program", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.program:
        return program()

    observed = run(arguments, "observed", "--policy", "observe")
    gelu = next(kernel for kernel in observed["kernels"] if "GeluCUDAKernelImpl" in kernel["name"] or "gelu" in kernel["name"].lower())
    taken = gelu["footprint"]
    block = f"{taken['threads']}x{taken['registers']} {taken['static_shared']}+{taken['dynamic_shared']} {taken['cluster']}"
    profile = arguments.out / "made.profile.json"
    choices = [
        choice({"compute": block, "compute_class": "2^26 B"}, {"blocks_per_sm": CAP, "pad_bytes": 1024}),
        choice({"compute": "library_gemm bf16", "compute_class": "2^37 flop"}, {"sm_target": TARGET}),
    ]
    profile.write_text(json.dumps({"schema": "elbowroom.profile/1", "choices": choices}))

    shaped = run(arguments, "shaped", "--policy", "shape", "--profile", str(profile))
    failed = False

    def expect(what: str, found: int, wanted: range) -> None:
        nonlocal failed
        print(f"{what}: {found}, expected {wanted.start} to {wanted.stop - 1}")
        failed = failed or found not in wanted

    # A shaped launch's footprint in the report is the program's own.
    same = [kernel for kernel in shaped["kernels"] if kernel["footprint"] == taken]
    others = [kernel for kernel in shaped["kernels"] if kernel not in same]
    expect(f"launches with the footprint {block} that were shaped", sum(k["applied"]["shape"] for k in same), range(STEPS // 2, STEPS + 1))
    expect("other launches that were shaped", sum(kernel["applied"]["shape"] for kernel in others), range(1))
    # One of each step, of cuBLAS.
    expect("products with a target", shaped["applied"]["sm_target"], range(STEPS // 2, STEPS + 1))
    gated = run(arguments, "gated", "--policy", "gate", "--profile", str(profile))
    expect("launches shaped under a policy that does not shape", gated["applied"]["shape"], range(1))
    expect("products with a target under gate", gated["applied"]["sm_target"], range(STEPS // 2, STEPS + 1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
