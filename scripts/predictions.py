#!/usr/bin/env python3
"""Steps of public tables as docs/results/scale.md predicts them, in ms.

usage: predictions.py [ELBOWROOM [WORD]]     rows whose name has the word; all by default

Fused attention's rate as a share of a product's (0.84 of the peak), forward and backward weighted 1 : 2.5: FlashAttention-2 0.73 and
0.63 of the peak on A100 (arXiv 2307.08691), 0.35 on H100 (arXiv 2407.08608). FlashAttention in Triton takes 1.3 to 1.5 times as long
forward and twice as long backward (the first of these, 4.1).
H100s that train at 700 W have 1,665 of 1,980 MHz (results/h100/power-2gpu.json, FSDP2 with batch 2). torchtitan's have 500 W and HBM2e of
2.4 TB/s (its page): clocks by the cube root of the power above 100 W.
What programs do beside products is read from their sources: torchtitan at 04133643 (A100) and of December 2024 (H100), llm-foundry's
MPT with Composer's AdamW. Its table says what each row ran with; where ranks reduce in DEFAULT precision, that is f32 (Composer 0.16,
get_mixed_precision), in PURE bf16. Attention is Triton's unless sweep.py names flash.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLASH_2_A100, FLASH_2_H100 = 0.78, 0.42
TRITON = (1 + 2.5) / (1.4 + 2.5 * 2)  # of FlashAttention-2's rate
TRAINING_CLOCK = 1665 / 1980
IDLE_WATTS, MOST_WATTS = 100, 700
# Of devices that are not the catalog's: name, clock as a share of the greatest, memory's rate as a share of the data sheet's.
DEVICES = {
    "h100 at 700 W": ("h100", TRAINING_CLOCK, 1.0),
    "a100 of 40 GB": ("a100", 1.0, 1555 / 2039),
    "h100 at 500 W": ("h100", TRAINING_CLOCK * ((500 - IDLE_WATTS) / (MOST_WATTS - IDLE_WATTS)) ** (1 / 3), 2400 / 3350),
}

COPIES = ("--shard-copies", "fsdp2", "--clip")
TITAN = ("--preset", "llama-3-8b", "--tokens", "16384", "--sequence", "8192", "--gradients", "f32", "--attention-rate", str(FLASH_2_H100),
         "--recompute", "alternate", "--adam", "foreach", *COPIES)  # fmt: skip
PLAIN = ("--kernels", "torch", "--norm-in-f32")
A100 = ("--tokens", "8192", "--gradients", "f32", "--attention-rate", str(FLASH_2_A100), "--fsdp", "64", "--kernels", "torch", "--adam", "foreach",
        *COPIES)  # fmt: skip
# Measured here on 2 x H100 (results/h100/local-compute-2gpu.json); 6 bytes of each parameter for SGD take 2.5 ms of one GPU.
EXAMPLE = ("--layers", "6", "--hidden", "4096", "--ffn", "11008", "--activation", "swiglu", "--sequence", "2048", "--without-optimizer", "--kernels", "torch",
           "--attention-rate", str(FLASH_2_H100))  # fmt: skip
# Layers, width.
MPT = {"3B": (32, 2560), "1B": (24, 2048), "7B": (32, 4096), "13B": (40, 5120), "30B": (48, 7168), "70B": (80, 8192)}
# Size, sequences of a GPU, kernel of attention, whether layers are recomputed, GPUs; steps of one micro-batch.
MPT_ROWS = [("13B", 2, "triton", False, (8, 16, 32, 64)), ("1B", 14, "triton", False, (8,)), ("1B", 20, "triton", False, (16, 32, 64)),
            ("7B", 6, "triton", False, (8,)), ("7B", 6, "flash", False, (128, 256, 512)), ("13B", 16, "triton", True, (128, 512)),
            ("30B", 8, "triton", True, (128, 512)), ("70B", 8, "flash", True, (128, 512))]  # fmt: skip
# A100 of 40 GB, whose memory reaches 1,555 GB/s (data sheet); older programs, with PyTorch's loss.
MPT_A100_ROWS = [("3B", 5, "triton", False, (16,)), ("3B", 6, "triton", False, (32, 64, 128)), ("7B", 16, "triton", True, (16,)),
                 ("7B", 18, "triton", True, (32, 64, 128)), ("13B", 10, "triton", True, (16,)), ("13B", 14, "triton", True, (32,)),
                 ("13B", 16, "triton", True, (64, 128)), ("30B", 4, "triton", True, (32,)), ("30B", 6, "triton", True, (128,)),
                 ("70B", 2, "triton", True, (64,)), ("70B", 4, "triton", True, (128,))]  # fmt: skip


def mpt(size: str, sequences: int, attention: str, again: bool, ranks: int, flash_2: float, precision: tuple[str, ...]) -> tuple[str, ...]:
    layers, width = MPT[size]
    rate = flash_2 * (TRITON if attention == "triton" else 1)
    return ("--layers", str(layers), "--hidden", str(width), "--ffn", str(4 * width), "--vocabulary", "50368", "--sequence", "2048",
            "--tokens", str(2048 * sequences), "--attention-rate", str(rate), *(("--unpad",) if attention == "flash" else ()), "--kernels", "torch", *precision,
            "--adam", "foreach", "--shard-copies", "fsdp1", "--clip", "--recompute", "full" if again else "none", "--fsdp", str(ranks))  # fmt: skip


# Name, device, machine, options.
ROWS = [
    *[(f"Llama 3 8B, {ranks} GPUs, {how}", "h100 at 500 W", "h100-8x400", (*TITAN, "--fsdp", str(ranks), *kernels))
      for how, kernels in (("compiled", ()), ("plain", PLAIN)) for ranks in (8, 128)],
    *[(f"MPT {size}, {ranks} {gpus}", device, machine, mpt(size, sequences, attention, again, ranks, flash_2, precision))
      for rows, gpus, device, machine, flash_2, precision in (
          (MPT_ROWS, "GPUs", "h100 at 700 W", "h100-8x400", FLASH_2_H100, ("--gradients", "f32", "--fused-loss")),
          (MPT_A100_ROWS, "A100 of 40 GB", "a100 of 40 GB", "a100-8x200", FLASH_2_A100, ()))
      for size, sequences, attention, again, all_ranks in rows for ranks in all_ranks],
    ("Llama 3 70B, 64 A100", "a100", "a100-4x200", ("--preset", "llama-3-70b", *A100, "--recompute", "full", "--norm-in-f32")),
    ("Llama 3 8B, 64 A100", "a100", "a100-4x200", ("--preset", "llama-3-8b", *A100, "--recompute", "alternate")),
    *[(f"examples/programs/{program}, batch {batch}, without SGD", "h100 at 700 W", "h100-8x400", (*EXAMPLE, "--tokens", str(2048 * batch), *how))
      for program, how in (("ddp.py", ("--dp", "2")), ("fsdp2.py", ("--fsdp", "2", "--shard-copies", "fsdp2"))) for batch in (1, 2)],
]  # fmt: skip


def device_file(folder: pathlib.Path, device: str) -> str:
    name, clock, memory_share = DEVICES.get(device, (device, 1.0, 1.0))
    described = json.loads((ROOT / f"data/devices/{name}.json").read_text())
    simulator = described["simulator"]
    for rate in ("f32_mflops_per_sm", "bf16_mflops_per_sm"):
        simulator[rate] *= clock
    simulator["memory_mb_per_s"] *= memory_share
    simulator["memory_gib"] = 160  # bench keeps buffers for each kind of operation; programs reuse them
    file = folder / "device.json"
    file.write_text(json.dumps(described))
    return str(file)


def main() -> None:
    binary = sys.argv[1] if len(sys.argv) > 1 else "elbowroom"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        step, result = str(folder / "step.json"), folder / "result.json"
        for row, device, machine, options in (one for one in ROWS if (sys.argv[2] if len(sys.argv) > 2 else "") in one[0]):
            subprocess.run([binary, "step", "transformer", *options, "--json", step], check=True, stdout=subprocess.DEVNULL)
            document = json.loads(pathlib.Path(step).read_text())
            document.pop("memory", None)  # recomputation that the step only approximates keeps less
            pathlib.Path(step).write_text(json.dumps(document))
            subprocess.run([binary, "bench", "--scenario", step, "--backend", "sim", "--device", device_file(folder, device), "--machine", machine, "--scheme", "concurrent",
                            "--json", str(result)], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
            case = json.loads(result.read_text())["cases"][0]
            time = next(one["time_us"]["median"] for one in case["results"] if one["scheme"] == "concurrent") / 1000
            print(f"{row}: {time:,.1f} ms, computation by itself {case['compute_alone_us']['median'] / 1000:,.1f}", flush=True)


if __name__ == "__main__":
    main()
