#!/usr/bin/env python3
"""Steps of public tables as docs/results/scale.md predicts them, in ms.

usage: predictions.py [ELBOWROOM]

Fused attention's rate as a share of a product's (0.84 of the peak), forward and backward weighted 1 : 2.5: FlashAttention-2 0.73 and
0.63 of the peak on A100 (arXiv 2307.08691), 0.35 on H100, FlashAttention-3 0.75 and 0.57 there (arXiv 2407.08608).
An H100 at 500 W has clocks by the cube root of the power above 100 W, and HBM2e of 2,039 GB/s (data sheet of H100 PCIe).
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLASH_2_A100, FLASH_2_H100, FLASH_3_H100 = 0.78, 0.42, 0.73
CLOCK_AT_500_W = ((500 - 100) / (700 - 100)) ** (1 / 3)
HBM2E_SHARE = 2039 / 3350

TITAN = ("--preset", "llama-3-8b", "--tokens", "16384", "--sequence", "8192", "--gradients", "f32", "--attention-rate", str(FLASH_2_H100))
MPT = ("--layers", "40", "--hidden", "5120", "--ffn", "20480", "--heads", "40", "--vocabulary", "50368", "--tokens", "4096", "--sequence", "2048",
       "--attention-rate", str(FLASH_2_H100))  # fmt: skip
LLAMA_70B = ("--preset", "llama-3-70b", "--tokens", "8192", "--attention-rate", str(FLASH_2_A100), "--recompute", "full")
BRIDGE = ("--sequence", "8192", "--attention-rate", str(FLASH_3_H100))
BRIDGE_8B = ("--preset", "llama-3-8b", *BRIDGE, "--global-batch", "128", "--micro", "16", "--dp", "8", "--zero", "1")
BRIDGE_70B = ("--preset", "llama-3-70b", *BRIDGE)
PIPELINE_70B = ("--tp", "4", "--pp", "4", "--schedule", "interleaved", "--chunks", "5", "--dp", "4", "--zero", "1", "--sequence-parallel")

# Name, device, machine, options. torchtitan's selective recomputation repeats half of the products: the mean of two rows. A step
# of 32 micro-batches has too many operations; micro-batches 9 to 32 take as long each as 5 to 8.
ROWS = [
    *[(f"Llama 3 8B, {ranks} GPUs, recompute {kind}", "500 W", "h100-8x400", (*TITAN, "--fsdp", str(ranks), "--recompute", kind))
      for ranks in (8, 128) for kind in ("none", "full")],
    *[(f"MPT 13B, {ranks} GPUs", "h100", "h100-8x400", (*MPT, "--fsdp", str(ranks))) for ranks in (8, 16, 32, 64)],
    ("Llama 3 70B, 64 A100", "a100", "a100-4x200", (*LLAMA_70B, "--fsdp", "64")),
    *[(f"Llama 3 8B, 64 A100, recompute {kind}", "a100", "a100-4x200",
       ("--preset", "llama-3-8b", "--tokens", "8192", "--attention-rate", str(FLASH_2_A100), "--fsdp", "64", "--recompute", kind))
      for kind in ("none", "full")],
    *[(f"Megatron-Bridge, Llama 3 8B, 8 {device}, bf16", device, f"{device}-8x400", BRIDGE_8B) for device in ("h100", "b200")],
    ("Megatron-Bridge, Llama 3 70B, 64 h100, bf16, sharded", "h100", "h100-8x400", (*BRIDGE_70B, "--global-batch", "128", "--fsdp", "64", "--micro", "2")),
    *[(f"Megatron-Bridge, Llama 3 70B, 64 h100, bf16, tp 4, pp 4 x 5, {micro} of 32 micro-batches", "h100", "h100-8x400",
       (*BRIDGE_70B, *PIPELINE_70B, "--micro", str(micro), "--global-batch", str(4 * micro))) for micro in (4, 8)],
]  # fmt: skip


def at_500_watts(folder: pathlib.Path) -> str:
    device = json.loads((ROOT / "data/devices/h100.json").read_text())
    simulator = device["simulator"]
    for rate in ("f32_mflops_per_sm", "bf16_mflops_per_sm"):
        simulator[rate] *= CLOCK_AT_500_W
    simulator["memory_mb_per_s"] *= HBM2E_SHARE
    file = folder / "h100-500w.json"
    file.write_text(json.dumps(device))
    return str(file)


def main() -> None:
    binary = sys.argv[1] if len(sys.argv) > 1 else "elbowroom"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        step, result = str(folder / "step.json"), folder / "result.json"
        for row, device, machine, options in ROWS:
            taken = at_500_watts(folder) if device == "500 W" else device
            subprocess.run([binary, "step", "transformer", *options, "--json", step], check=True, stdout=subprocess.DEVNULL)
            document = json.loads(pathlib.Path(step).read_text())
            document.pop("memory", None)  # recomputation that the step only approximates keeps less
            pathlib.Path(step).write_text(json.dumps(document))
            subprocess.run([binary, "bench", "--scenario", step, "--backend", "sim", "--device", taken, "--machine", machine, "--scheme", "concurrent",
                            "--json", str(result)], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
            results = json.loads(result.read_text())["cases"][0]["results"]
            time = next(one["time_us"]["median"] for one in results if one["scheme"] == "concurrent") / 1000
            print(f"{row}: {time:,.0f} ms", flush=True)


if __name__ == "__main__":
    main()
