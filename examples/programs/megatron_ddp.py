"""Training with Megatron-Core's own data parallelism: contiguous gradient buffers, its distributed optimizer, both overlapped.

The layers are those of the other programs, not Megatron's. Exit code 77: megatron-core is missing.
"""

from __future__ import annotations

import argparse
import warnings

import llama
import loop
import torch

try:
    with warnings.catch_warnings(action="ignore"):
        from megatron.core import parallel_state
        from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
        from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
        from megatron.core.transformer import TransformerConfig
except ImportError as error:
    loop.skip(f"megatron-core cannot be imported ({error})")

RATE = 1e-4


class Training(loop.Training):
    def __init__(self, plain: loop.Training, optimizer: object) -> None:
        self.__dict__.update(plain.__dict__)
        self.optimizer = optimizer

    def step(self) -> None:
        self.model.zero_grad_buffer()
        self.optimizer.zero_grad()
        self.forward_backward()
        self.model.finish_grad_sync()
        self.optimizer.step()


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    model = llama.transformer(options, device)
    if options.local:
        return llama.training(model, options, device)
    parallel_state.initialize_model_parallel()
    config = TransformerConfig(num_layers=options.layers, hidden_size=options.hidden, num_attention_heads=options.hidden // llama.HEAD, bf16=True)
    overlapped = DistributedDataParallelConfig(
        overlap_grad_reduce=True, overlap_param_gather=True, use_distributed_optimizer=True, grad_reduce_in_fp32=True
    )
    wrapped = DistributedDataParallel(config, overlapped, model)
    optimizer = get_megatron_optimizer(
        OptimizerConfig(optimizer="adam", lr=RATE, bf16=True, use_distributed_optimizer=True, overlap_param_gather=True), [wrapped]
    )
    return Training(llama.training(wrapped, options, device), optimizer)


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES).parse_args()
    with loop.ranks(options) as device:
        training = training_of(options, device)
        loop.run("megatron_ddp", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
