"""The step of ddp_step.py with the buckets of its gradients on symmetric memory: elbowroom run --set comm_blocks=16."""

from __future__ import annotations

import sys

import common
import torch
import transformer
from symmetric_memory import SymmetricPool
from torch.nn.parallel import DistributedDataParallel


class SymmetricStep(transformer.TrainingStep):
    def __init__(self, model: transformer.Transformer, settings: common.Settings, mode: str) -> None:
        group = common.process_group(mode)
        self._pool = SymmetricPool(group)
        with self._pool.allocating():
            wrapped = DistributedDataParallel(
                model,
                device_ids=[torch.cuda.current_device()],
                process_group=group,
                gradient_as_bucket_view=True,
            )
        super().__init__(wrapped, settings.batch)
        # DDP makes its buckets anew once it has seen in which order gradients become ready.
        self.step()
        with self._pool.allocating():
            wrapped.reducer._rebuild_buckets()
        self._pool.register()


def prepare(settings: common.Settings, mode: str) -> common.Workload:
    common.seed(1)
    model = transformer.Transformer()
    return transformer.TrainingStep(model, settings.batch) if mode == "local" else SymmetricStep(model, settings, mode)


EXAMPLE = common.Example("symmetric_ddp_step", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
