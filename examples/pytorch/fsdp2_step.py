"""A training step of a small transformer with FSDP2: all-gathers of parameters and reduce-scatters of gradients, layer by layer."""

from __future__ import annotations

import sys

import common
import transformer
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard


def prepare(settings: common.Settings, mode: str) -> common.Workload:
    common.seed(1)
    model = transformer.Transformer()
    if mode != "local":
        mesh = DeviceMesh.from_group(common.process_group(mode), "cuda")
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
    return transformer.TrainingStep(model, settings.batch)


EXAMPLE = common.Example("fsdp2_step", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
