#!/usr/bin/env python3
"""Steps of public tables as docs/results/scale.md predicts them, in ms.

usage: predictions.py [ELBOWROOM [WORD]]     rows whose name has the word; all by default

Fused attention's rate as a share of a product's (0.84 of the peak), forward and backward weighted 1 : 2.5: FlashAttention-2 0.73 and
0.63 of the peak on A100 (arXiv 2307.08691), 0.35 on H100 (arXiv 2407.08608).
H100s that train at 700 W have 1,665 of 1,980 MHz (results/h100/power-2gpu.json, FSDP2 with batch 2). torchtitan's have 500 W and HBM2e of
2.4 TB/s (its page): clocks by the cube root of the power above 100 W.
What programs do beside products is read from their sources: torchtitan at 04133643 (A100) and of December 2024 (H100), llm-foundry's
MPT with Composer's AdamW.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FLASH_2_A100, FLASH_2_H100 = 0.78, 0.42
TRAINING_CLOCK = 1665 / 1980
IDLE_WATTS, MOST_WATTS = 100, 700
# Of devices that are not the catalog's: name, clock as a share of the greatest, memory's rate as a share of the data sheet's.
DEVICES = {
    "h100 at 700 W": ("h100", TRAINING_CLOCK, 1.0),
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
# Layers, width and whether layers are recomputed.
MPT = {"1B": (24, 2048, False), "7B": (32, 4096, False), "13B": (40, 5120, False), "30B": (48, 7168, True), "70B": (80, 8192, True)}
# Sequences of a GPU; steps of one micro-batch.
MPT_ROWS = [("13B", 2, (8, 16, 32, 64)), ("1B", 14, (8,)), ("1B", 20, (16, 32, 64)), ("7B", 6, (8, 128, 256, 512)), ("13B", 16, (128, 512)),
            ("30B", 8, (128, 512)), ("70B", 8, (128, 512))]  # fmt: skip


def mpt(size: str, sequences: int, ranks: int) -> tuple[str, ...]:
    layers, width, again = MPT[size]
    # At 16 sequences 13B is recomputed too.
    recompute = "full" if again or (size, sequences) == ("13B", 16) else "none"
    return ("--layers", str(layers), "--hidden", str(width), "--ffn", str(4 * width), "--vocabulary", "50368", "--sequence", "2048",
            "--tokens", str(2048 * sequences), "--attention-rate", str(FLASH_2_H100), "--kernels", "torch", "--unpad", "--adam", "foreach", "--shard-copies", "fsdp1",
            "--clip", "--recompute", recompute, "--fsdp", str(ranks))  # fmt: skip


# Name, device, machine, options.
ROWS = [
    *[(f"Llama 3 8B, {ranks} GPUs, {how}", "h100 at 500 W", "h100-8x400", (*TITAN, "--fsdp", str(ranks), *kernels))
      for how, kernels in (("compiled", ()), ("plain", PLAIN)) for ranks in (8, 128)],
    *[(f"MPT {size}, {ranks} GPUs", "h100 at 700 W", "h100-8x400", mpt(size, sequences, ranks)) for size, sequences, all_ranks in MPT_ROWS for ranks in all_ranks],
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
