#!/usr/bin/env python3
"""Loss curves of a small transformer that learns: plain, plain again, plain with buffers that the program itself registers, and with
the hook. Says by how much the curves differ, and whether parameters end with the same bits. Two GPUs, PyTorch 2.9 or later, two minutes.

usage: scripts/gpu/losses.py [--steps 200] [--json FILE] [--device cpu]

Each arm is one launch that trains with DDP, with FSDP2 and with DDP's hook for bf16, each in a process group of its own. `own` goes to
symmetric memory at the step at which the hook does, so the two have the same kind of memory at every step: their bits must be equal.
Exit code 1 where they are not, where the hook's buffers were not registered, or where its curve is further from plain than own's.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import launched

ROOT = Path(__file__).resolve().parents[2]
ARMS = ("plain", "again", "own", "hook")
KINDS = ("fsdp2", "ddp", "ddp_bf16")  # FSDP2 first: the hook waits for the process's first optimizer step
VOCABULARY = 256
SHAPES = {"cuda": (4, 1024, 2816, 256, 8), "cpu": (2, 64, 128, 16, 4)}  # layers, hidden, ffn, tokens, batch
REGISTERED_AFTER = 11  # steps: where elbowroom.lifetime registers, as a test checks


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--timeout", type=float, default=110, help="of one launch, in seconds")
    parser.add_argument("--device", choices=tuple(SHAPES), default="cuda")
    parser.add_argument("--json", default="")
    parser.add_argument("--rank-of", choices=ARMS, help=argparse.SUPPRESS)
    return parser.parse_args()


class Rank:
    """One rank of one arm."""

    def __init__(self, options: argparse.Namespace) -> None:
        import torch

        sys.path[:0] = [str(ROOT / "examples" / "programs"), str(ROOT / "examples" / "pytorch")]
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        self.torch, self.dist, self.arm, self.steps = torch, torch.distributed, options.rank_of, options.steps
        self.on_gpu = options.device == "cuda"
        self.device = torch.device(options.device, int(os.environ["LOCAL_RANK"]) if self.on_gpu else None)
        if self.on_gpu:
            torch.cuda.set_device(self.device)
            torch.backends.cuda.enable_cudnn_sdp(False)  # may choose another algorithm from run to run
        self.dist.init_process_group("nccl" if self.on_gpu else "gloo", timeout=timedelta(seconds=60), device_id=self.device if self.on_gpu else None)
        self.shape = SHAPES[options.device]

    def model(self) -> Any:
        import llama

        torch, nn = self.torch, self.torch.nn
        torch.manual_seed(1)
        shape = llama.Shape(*self.shape)
        with self.device:
            layers = llama.Transformer(shape, torch.float32)
            return nn.Sequential(nn.Embedding(VOCABULARY, shape.hidden), layers, nn.Linear(shape.hidden, VOCABULARY, bias=False))

    def batches(self) -> Iterator[Any]:
        """Sequences in which each token follows from the one before it and from the sequence's own step."""
        torch = self.torch
        chance = torch.Generator().manual_seed(100 + self.dist.get_rank())
        tokens, batch = self.shape[3], self.shape[4]
        while True:
            begin = torch.randint(VOCABULARY, (batch, 1), generator=chance)
            stride = torch.randint(1, 8, (batch, 1), generator=chance)
            yield ((begin + stride * torch.arange(tokens + 1)) % VOCABULARY).to(self.device)

    def wrapped(self, kind: str, model: Any, group: Any, pool: Any) -> tuple[Any, Callable[[], None]]:
        """The model as the kind has it, and what arm `own` does when it goes to symmetric memory."""
        if kind == "fsdp2":
            return self.sharded(model, group, pool)
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
        from torch.nn.parallel import DistributedDataParallel

        wrapped = DistributedDataParallel(model, process_group=group)
        if kind == "ddp_bf16":
            wrapped.register_comm_hook(group, default_hooks.bf16_compress_hook)
        return wrapped, (pool.register if pool else lambda: None)

    def sharded(self, model: Any, group: Any, pool: Any) -> tuple[Any, Callable[[], None]]:
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

        policy = MixedPrecisionPolicy(self.torch.bfloat16, self.torch.float32)
        mesh = DeviceMesh.from_group(group, self.device.type)
        modules = [fully_shard(module, mesh=mesh, mp_policy=policy) for module in (*model[1].blocks, model)]
        if not pool:
            return model, lambda: None
        from symmetric_fsdp2_step import PooledAllGather, PooledReduceScatter

        for module in modules:
            module.set_custom_all_gather(PooledAllGather(pool))
            module.set_custom_reduce_scatter(PooledReduceScatter(pool))

        def go() -> None:
            for module in modules:
                module.set_force_sum_reduction_for_comms(True)
            pool.register()

        return model, go

    def train(self, kind: str) -> dict[str, Any]:
        torch, group = self.torch, self.dist.new_group()
        pool = None
        if self.arm == "own" and self.on_gpu and kind != "ddp_bf16":
            from symmetric_memory import SymmetricPool

            pool = SymmetricPool(group)
        model, go_symmetric = self.wrapped(kind, self.model(), group, pool)
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
        losses = []
        for step, batch in zip(range(self.steps), self.batches(), strict=False):
            if step == REGISTERED_AFTER:
                go_symmetric()
            if pool and kind == "ddp" and step == 1:
                with pool.allocating():  # where the hook has DDP make its buckets anew
                    model.reducer._rebuild_buckets()
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=kind != "fsdp2"):
                logits = model(batch[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        mean = torch.stack(losses)
        self.dist.all_reduce(mean)
        return {"losses": [value / self.dist.get_world_size() for value in mean.tolist()], "digest": self.digest(model)}

    def digest(self, model: Any) -> str:
        own = hashlib.sha256()
        for parameter in model.parameters():
            local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
            own.update(local.detach().cpu().numpy().tobytes())
        everyone: list[str] = [""] * self.dist.get_world_size()
        self.dist.all_gather_object(everyone, own.hexdigest())
        return hashlib.sha256("".join(everyone).encode()).hexdigest()[:16]

    def run(self) -> None:
        if self.arm == "hook":
            from elbowroom import timing

            timing.proven_slower = lambda before, after: False  # small steps; what is compared here are bits
        said: dict[str, Any] = {}
        for kind in KINDS:
            said[kind] = self.train(kind)
            gc.collect()  # a pool must be gone before its process group is
        if self.arm == "hook":
            import elbowroom

            said["buffers"] = elbowroom.report()["buffers"]
        if self.dist.get_rank() == 0:
            print(json.dumps(said), flush=True)
        self.dist.destroy_process_group()


def launch(arm: str, options: argparse.Namespace) -> dict[str, Any]:
    environment = os.environ | {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1"}
    if arm == "hook":
        hook = str(ROOT / "python" / "elbowroom" / "hook")
        environment |= {"PYTHONPATH": os.pathsep.join(filter(None, [hook, os.environ.get("PYTHONPATH")])), "ELBOWROOM_RUN_SYMMETRIC": "1"}
    command = [sys.executable, "-B", str(ROOT / "examples" / "pytorch" / "launch.py"), "-n", "2", __file__, "--rank-of", arm]
    command += ["--steps", str(options.steps), "--device", options.device]
    done = launched.run(command, environment, options.timeout)
    lines = [line for line in done.output.splitlines() if line.startswith("{")]
    if done.code or not lines:
        raise RuntimeError(f"{arm}: exit code {done.code}\n{done.errors[-3000:]}")
    return json.loads(lines[0])


def compared(kind: str, arms: dict[str, dict[str, Any]]) -> dict[str, Any]:
    curves = {arm: said[kind]["losses"] for arm, said in arms.items()}
    digests = {arm: said[kind]["digest"] for arm, said in arms.items()}
    differences = {arm: max(abs(a - b) for a, b in zip(curve, curves["plain"], strict=True)) for arm, curve in curves.items() if arm != "plain"}
    return {
        "kind": kind,
        "first_loss": round(curves["plain"][0], 6),
        "final_loss": {arm: round(curve[-1], 6) for arm, curve in curves.items()},
        "greatest_difference_from_plain": differences,
        "digest": digests,
        "hook_has_the_bits_of": [arm for arm in ARMS if arm != "hook" and digests[arm] == digests["hook"]],
    }


def failures(rows: list[dict[str, Any]], buffers: list[dict[str, Any]], on_gpu: bool) -> list[str]:
    found = []
    states = [part["state"] for part in buffers]
    if on_gpu and states != ["registered"] * len(KINDS):
        found.append(f"the hook's buffers: {[(part['what'], part['state'], part['reason']) for part in buffers]}")
    for row in rows:
        differences = row["greatest_difference_from_plain"]
        # A program cannot give its copies symmetric memory by a switch, so there is no other than plain to compare with.
        if row["kind"] != "ddp_bf16" and row["digest"]["hook"] != row["digest"]["own"]:
            found.append(f"{row['kind']}: the hook has other bits than the program that registers its buffers itself")
        if row["kind"] != "ddp_bf16" and differences["hook"] > max(differences["own"], differences["again"]):
            found.append(f"{row['kind']}: the hook's curve is further from plain than plain's is between memories")
    return found


def main() -> int:
    options = arguments()
    if options.rank_of:
        Rank(options).run()
        return 0
    with ThreadPoolExecutor(2) as pool:  # losses do not depend on who else has the GPUs
        arms = dict(zip(ARMS, pool.map(lambda arm: launch(arm, options), ARMS), strict=True))
    rows = [compared(kind, arms) for kind in KINDS]
    for row in rows:
        print(json.dumps(row))
    found = failures(rows, arms["hook"]["buffers"], options.device == "cuda")
    print(f"# {options.steps} steps: " + ("; ".join(found) or "all as expected"))
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows, "arms": arms}, indent=1))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
