"""Training with DistributedDataParallel whose layers are compiled one by one by torch.compile."""

from __future__ import annotations

import llama
import loop
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES).parse_args()
    with loop.ranks(options) as device:
        model = llama.transformer(options, device)
        for block in model.blocks:
            block.compile()
        training = llama.training(model if options.local else DistributedDataParallel(model), options, device)
        loop.run("compiled", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
