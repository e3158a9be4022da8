"""Elbowroom for PyTorch: communication buffers on symmetric memory.

`prepare(module)` does for one module what `elbowroom run` does for a whole program, and `report()` says what was done.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "prepare", "report"]


def prepare(module: Any = None) -> Any:
    """Call it before the model is wrapped by DistributedDataParallel or fully_shard, on all ranks. Returns `module`.

    Models that are wrapped from here on have their buckets or staging buffers on symmetric memory where that is possible.
    """
    import importlib

    from elbowroom import seams

    seams.install_ddp(importlib.import_module("torch.nn.parallel.distributed"))
    seams.install_fsdp2(importlib.import_module("torch.distributed.fsdp._fully_shard._fsdp_state"))
    return module


def report() -> dict[str, Any]:
    """What was put on symmetric memory in this process, and what was not, with reasons."""
    from elbowroom import record

    return record.as_document()
