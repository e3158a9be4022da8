"""Elbowroom for PyTorch: communication buffers on symmetric memory.

`prepare(module)` does for one module what `elbowroom run` does for a whole program, and `report()` says what was done.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "prepare", "report"]


def prepare(module: Any = None) -> Any:
    """Call it before the model is wrapped by DistributedDataParallel or fully_shard, on all ranks. Returns `module`.

    Models that are wrapped from here on have their buckets or staging buffers on symmetric memory where that is possible. Where it is not, `report()` says why.
    """
    import importlib

    from elbowroom import record, seams

    for name, install in (
        ("torch.nn.parallel.distributed", seams.install_ddp),
        ("torch.distributed.fsdp._fully_shard._fsdp_state", seams.install_fsdp2),
    ):
        try:
            install(importlib.import_module(name))
        except Exception as error:  # say a PyTorch that has FSDP2 under another name, or none
            record.refuse_all(f"{name}: {record.words_of(error)}")
    return module


def report() -> dict[str, Any]:
    """What was put on symmetric memory in this process, and what was not, with reasons."""
    from elbowroom import record

    return record.as_document()
