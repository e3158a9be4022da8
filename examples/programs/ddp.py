"""Training with DistributedDataParallel: all-reduces of gradients beside the backward pass.

--hook bf16 halves what is sent (fp32 gradients, as of mixed precision), --hook powersgd sends factors of low rank.
"""

from __future__ import annotations

import llama
import loop
import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel


def compress(model: DistributedDataParallel, hook: str) -> None:
    if hook == "bf16":
        model.register_comm_hook(None, default_hooks.bf16_compress_hook)
    if hook == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=3)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES)
    options.add_argument("--hook", choices=("none", "bf16", "powersgd"), default="none", help="how gradients are compressed")
    options = options.parse_args()
    with loop.ranks(options) as device:
        dtype = torch.bfloat16 if options.hook == "none" else torch.float32
        model = llama.transformer(options, device, dtype)
        if not options.local:
            model = DistributedDataParallel(model)
            compress(model, options.hook)
        training = llama.training(model, options, device)
        loop.run("ddp", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
