"""Training a vision transformer of timm with DistributedDataParallel under autocast: many small layers, so that the host is the limit.

Weights are random, nothing is fetched. Exit code 77: timm is missing.
"""

from __future__ import annotations

import argparse

import loop
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

try:
    import timm
except ImportError as error:
    loop.skip(f"timm cannot be imported ({error})")

RATE = 1e-4
CLASSES = 1000


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    with device:
        model = timm.create_model(options.model, pretrained=False, num_classes=CLASSES, img_size=options.pixels)
    torch.manual_seed(2 + dist.get_rank())
    images = torch.randn(options.batch, 3, options.pixels, options.pixels, device=device)
    classes = torch.randint(CLASSES, (options.batch,), device=device)
    model = model if options.local else DistributedDataParallel(model)

    def forward() -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16):
            return F.cross_entropy(model(images).float(), classes)

    return loop.Training(model, forward, RATE)


def main() -> None:
    options = loop.parser(__doc__, batch=32, pixels=224)
    options.add_argument("--model", default="vit_large_patch16_224", help="timm's name")
    options = options.parse_args()
    with loop.ranks(options) as device:
        training = training_of(options, device)
        loop.run("vit_timm", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
