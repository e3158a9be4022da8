"""Training a Llama of Hugging Face's transformers with DistributedDataParallel: 1.1 B parameters from a configuration, random weights.

Nothing is fetched. --with accelerate wraps model and optimizer by Accelerate, as transformers' Trainer does. Exit code 77: transformers
or accelerate is missing.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import loop
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import transformers
except ImportError as error:
    loop.skip(f"transformers cannot be imported ({error})")

# TinyLlama's, 4 sequences of 1024 tokens.
SIZES = {"layers": 22, "hidden": 2048, "ffn": 5632, "heads": 32, "key_heads": 4, "vocabulary": 32_000, "tokens": 1024, "batch": 4}
RATE = 1e-4


def llama(options: argparse.Namespace, device: torch.device) -> torch.nn.Module:
    config = transformers.LlamaConfig(
        hidden_size=options.hidden,
        intermediate_size=options.ffn,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        num_key_value_heads=options.key_heads,
        vocab_size=options.vocabulary,
        max_position_embeddings=options.tokens,
        use_cache=False,
    )
    with device:
        return transformers.LlamaForCausalLM(config).to(torch.bfloat16)


def accelerated(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> tuple[Any, Any]:
    try:
        from accelerate import Accelerator
    except ImportError as error:
        loop.skip(f"accelerate cannot be imported ({error})")
    return Accelerator(cpu=not torch.cuda.is_available()).prepare(model, optimizer)


class Training(loop.Training):
    """On a fixed batch of random tokens, which differs from rank to rank."""

    def __init__(self, model: torch.nn.Module, options: argparse.Namespace, device: torch.device) -> None:
        chance = torch.Generator().manual_seed(2 + dist.get_rank())
        tokens = torch.randint(options.vocabulary, (options.batch, options.tokens), generator=chance).to(device)
        super().__init__(model, lambda: self.model(input_ids=tokens, labels=tokens).loss, RATE)
        if options.local:
            return
        if options.wrapper == "accelerate":
            self.model, self.optimizer = accelerated(model, self.optimizer)
        else:
            self.model = DistributedDataParallel(model)


def main() -> None:
    options = loop.parser(__doc__, **SIZES)
    options.add_argument("--with", dest="wrapper", choices=("ddp", "accelerate"), default="ddp", help="who wraps the model")
    options = options.parse_args()
    with loop.ranks(options) as device:
        training = Training(llama(options, device), options, device)
        loop.run("hf_llama", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
