"""The step of ddp_step.py with gradients that are views of DDP's buckets: each is copied once, not twice."""

from __future__ import annotations

import functools
import sys

import common
import ddp_step

EXAMPLE = common.Example("ddp_view_step", functools.partial(ddp_step.prepare, gradient_as_bucket_view=True))

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
