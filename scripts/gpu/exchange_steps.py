"""What the way to send its exchanges is worth to a whole step: a mixture of experts and tensor parallelism, ways in turns in one process.

    NCCL_SYM_CTAS=16 NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 torchrun --nproc-per-node 2 scripts/gpu/exchange_steps.py OUT.json

  local     exchanges left out
  ring      the program as it is (examples/programs), on PyTorch's communicator
  late      NCCL by itself into fresh memory, on a high-priority stream; backward passes wait where a gradient is used, too
  prompt    moe alone: late, but backward passes wait at once, as PyTorch's all-to-all does
  ordinary  moe alone: late, on a stream of no priority
  windows   late on registered memory: outputs lie in it, inputs are produced there or copied there
  pushes    copies into the peers' memory by copy engines, a barrier behind them; outputs stay where they arrive
  staged    pushes, and a copy into fresh memory
  both      tensor parallelism alone: gathers by pushes, reduce-scatters by windows (in `pushes` these are the program's own)
  async_tp  tensor parallelism alone: PyTorch's fused products

All but ring, local and async_tp are best cases: programs written for them, a place of its own for each exchange of a step.
Every block of steps begins with the same parameters, so losses must agree; exit code 1 where they do not. --device cpu tries
the script out: gloo takes the place of every way.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from exchange_layers import Column, ExpertLayer, Group
from exchange_ways import Machine, TriedOut, Way

import loop  # of examples/programs, which exchange_layers finds
import moe
import tensor_parallel

TRIED_OUT = {"layers": 2, "hidden": 64, "ffn": 64, "tokens": 32, "experts": 2}
WARM_UP = 3
TOLERANCE = 1e-3  # of a loss; sums of two ranks do not depend on their order


class Turns:
    """One program, whose layers take their exchanges from the way that is set."""

    def __init__(self, training: loop.Training, field: str, ways: dict[str, Any], begin_step: Callable[[], None]) -> None:
        self._training, self._field, self.ways, self._begin_step = training, field, ways, begin_step
        self._first = [parameter.detach().clone() for parameter in training.model.parameters()]

    def block(self, way: str, steps: int, device: torch.device) -> dict[str, Any]:
        """Steps from the first parameters on."""
        for layer in self._training.model:
            setattr(layer, self._field, self.ways[way])
        with torch.no_grad():
            torch._foreach_copy_(list(self._training.model.parameters()), self._first)
        clock = loop.Clock(device, steps)
        loop.synchronize(device)
        dist.barrier()
        for number in range(WARM_UP + steps):
            if number == WARM_UP:
                clock.mark()
            self._begin_step()
            self._training.step()
            if number >= WARM_UP:
                clock.mark()
        loop.synchronize(device)
        times, cpu = loop.slowest_rank(clock.steps_ms()), loop.slowest_rank(clock.cpu_ms())
        loss = torch.tensor([float(self._training.loss)], device=device)
        dist.all_reduce(loss)
        return {"ms": times, "cpu_ms": statistics.median(cpu), "loss": loss.item() / dist.get_world_size()}

    def digest(self) -> str:
        return loop.digest(self._training.results())


def of_moe(sizes: dict[str, int], machine: Machine, device: torch.device) -> Turns:
    moe.Layer = ExpertLayer
    training = moe.training_of(argparse.Namespace(**sizes, uneven=False, local=False), device)
    ways = {"local": moe.Exchange(local=True), "ring": moe.Exchange(local=False)}
    ways |= {name: Way(machine, name) for name in ("late", "prompt", "ordinary", "windows", "pushes", "staged")}
    return Turns(training, "exchange", ways, machine.begin_step)


def of_tensor_parallel(sizes: dict[str, int], machine: Machine, device: torch.device) -> Turns:
    tensor_parallel.ColumnParallel = Column
    torch.manual_seed(1)
    training = tensor_parallel.training_of(argparse.Namespace(**sizes, async_tp=False, local=False), device)
    late, windows, pushes = (Way(machine, name) for name in ("late", "windows", "pushes"))
    ways = {"local": tensor_parallel.Local(sizes["tokens"], sizes["hidden"], device), "ring": tensor_parallel.Plain()}
    ways |= {"late": Group(late, late), "windows": Group(windows, windows), "pushes": Group(pushes, None), "both": Group(pushes, windows)}
    if device.type == "cuda":
        ways["async_tp"] = tensor_parallel.Fused()
    return Turns(training, "group", ways, machine.begin_step)


def interval(values: list[float]) -> tuple[float, float]:
    """Order statistics about the median, at 95 % or more: all values below six."""
    ordered, cut, outside = sorted(values), 0, 2 / 2 ** len(values)
    while outside + 2 * math.comb(len(values), cut + 1) / 2 ** len(values) <= 0.05:
        cut += 1
        outside += 2 * math.comb(len(values), cut) / 2 ** len(values)
    return ordered[cut], ordered[-1 - cut]


def measured(turns: Turns, options: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    begin, names = time.monotonic(), list(turns.ways)
    blocks: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    digests = {}
    for number in range(options.rounds + 1):  # the first is a warm-up, whose results are compared
        goes_on = [number == 0 or time.monotonic() - begin < options.seconds]
        dist.broadcast_object_list(goes_on)
        if not goes_on[0]:
            break
        first = number % len(names)
        for name in names[first:] + names[:first]:
            block = turns.block(name, options.steps, device)
            if number == 0:
                digests[name] = turns.digest()
            else:
                blocks[name].append(block)
    return {"blocks": blocks, "digests": digests}


def summary(found: dict[str, Any]) -> list[dict[str, Any]]:
    medians = {name: [statistics.median(block["ms"]) for block in blocks] for name, blocks in found["blocks"].items()}
    plain, local = (statistics.median(medians[name]) for name in ("ring", "local"))
    rows = []
    for name, of_rounds in medians.items():
        ratios = [ms / ring for ms, ring in zip(of_rounds, medians["ring"], strict=True)]
        low, high = interval(ratios)
        ms, blocks = statistics.median(of_rounds), found["blocks"][name]
        row = {"way": name, "ms": round(ms, 3), "ratio": round(statistics.median(ratios), 4), "low": round(low, 4), "high": round(high, 4)}
        row |= {"of_the_gap": round((plain - ms) / (plain - local), 3), "cpu_ms": round(statistics.median(block["cpu_ms"] for block in blocks), 2)}
        rows.append(row | {"loss": blocks[0]["loss"], "bits_of_ring": found["digests"][name] == found["digests"]["ring"]})
    return rows


def wrong(found: dict[str, Any]) -> list[str]:
    expected = found["blocks"]["ring"][0]["loss"]
    losses = {(name, block["loss"]) for name, blocks in found["blocks"].items() if name != "local" for block in blocks}
    return [f"loss {loss} by {name}, {expected} by ring" for name, loss in sorted(losses) if not abs(loss - expected) <= TOLERANCE * abs(expected)]


def said(document: dict[str, Any], path: str) -> int:
    """The table; a file of everything. 1 where losses disagree."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
    for name, program in document["programs"].items():
        for row in program["rows"]:
            text = "{way:9} {ms:8.3f} ms  ring x {ratio:.4f} ({low:.4f}..{high:.4f})  {of_the_gap:6.1%} of the gap  host {cpu_ms:6.2f} ms  loss {loss:.6f}"
            print(f"{name:15}", text.format(**row), "" if row["bits_of_ring"] or row["way"] == "local" else " other bits than ring's")
        print(f"{name:15}", "; ".join(program["wrong"]) or "losses agree")
    return 1 if any(program["wrong"] for program in document["programs"].values()) else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=15, help="of a block")
    parser.add_argument("--rounds", type=int, default=6, help="of blocks, one by each way")
    parser.add_argument("--seconds", type=float, default=25, help="no round of a program begins after these")
    parser.add_argument("--programs", default="moe,tensor_parallel")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args(namespace=argparse.Namespace(deterministic=False))
    programs = {"moe": (of_moe, moe.SIZES), "tensor_parallel": (of_tensor_parallel, tensor_parallel.SIZES)}
    if options.device == "cuda" and torch.cuda.is_available() and torch.cuda.nccl.version()[:2] != (2, 28):
        loop.skip(f"NCCL {torch.cuda.nccl.version()}, whose ncclConfig_t is not 2.28's")
    if os.environ.get("WORLD_SIZE", "2") != "2":
        loop.skip(f"{os.environ['WORLD_SIZE']} ranks, 2 are expected")
    with loop.ranks(options) as device:
        on_gpu = device.type == "cuda"
        sizes = {name: {key: of[key] if on_gpu else TRIED_OUT[key] for key in of} for name, (_, of) in programs.items()}
        # Four times a layer's tokens: all that two ranks receive in a step of either program.
        machine = (Machine if on_gpu else TriedOut)(max(8 * of["layers"] * of["tokens"] * of["hidden"] for of in sizes.values()))
        document: dict[str, Any] = {"symmetric_blocks": os.environ.get("NCCL_SYM_CTAS"), **loop.versions()}
        document |= {"device": torch.cuda.get_device_name() if on_gpu else "cpu", "programs": {}}
        for name, (make, _) in programs.items():
            if name not in options.programs.split(","):
                continue
            found = measured(make(sizes[name], machine, device), options, device)
            document["programs"][name] = {"sizes": sizes[name], "rows": summary(found), "wrong": wrong(found), **found}
            gc.collect()
        status = said(document, options.out) if dist.get_rank() == 0 else 0
        dist.barrier()
        sys.stdout.flush()
        os._exit(status)  # communicators and windows go with the process


if __name__ == "__main__":
    main()
