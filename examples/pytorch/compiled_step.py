"""The loop of overlap_loop.py with GELU and LayerNorm compiled by Triton, whose kernels are launched by the driver's own call."""

from __future__ import annotations

import sys

import common
import overlap_loop
import torch


def prepare(settings: common.Settings, mode: str) -> common.Workload:
    return overlap_loop.OverlapLoop(settings, mode, epilogue=torch.compile(overlap_loop.gelu_layer_norm))


EXAMPLE = common.Example("compiled_step", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
