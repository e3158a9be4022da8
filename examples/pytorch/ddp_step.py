"""A training step of a small transformer with DistributedDataParallel: all-reduces of gradients beside the backward pass."""

from __future__ import annotations

import sys
from typing import Any

import common
import torch
import transformer
from torch.nn.parallel import DistributedDataParallel


def prepare(settings: common.Settings, mode: str, **of_ddp: Any) -> common.Workload:
    common.seed(1)
    model = transformer.Transformer()
    if mode == "local":
        return transformer.TrainingStep(model, settings.batch)
    group = common.process_group(mode)
    wrapped = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()], process_group=group, **of_ddp)
    return transformer.TrainingStep(wrapped, settings.batch)


EXAMPLE = common.Example("ddp_step", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
