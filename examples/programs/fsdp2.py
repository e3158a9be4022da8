"""Training with FSDP2: all-gathers of parameters and reduce-scatters of gradients, layer by layer.

--pool lets the staging buffers come from NCCL's allocator, which is PyTorch's own switch for cheaper transfers.
"""

from __future__ import annotations

import llama
import loop
from torch.distributed.fsdp import fully_shard


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES)
    options.add_argument("--pool", action="store_true", help="staging buffers of NCCL's allocator")
    options = options.parse_args()
    with loop.ranks(options) as device:
        model = llama.transformer(options, device)
        if not options.local:
            for module in (*model.blocks, model):
                fully_shard(module).set_allocate_memory_from_process_group_for_comm(options.pool)
        training = llama.training(model, options, device)
        loop.run("fsdp2", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
