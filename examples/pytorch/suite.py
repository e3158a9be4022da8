"""Several examples in one process, which saves the start of torch and NCCL for each: --examples ddp_step:1,fsdp2_step:4"""

from __future__ import annotations

import importlib
import sys

import common

NAMES = (
    "overlap_loop",
    "free_loop",
    "ordered_loop",
    "symmetric_loop",
    "ddp_step",
    "ddp_view_step",
    "symmetric_ddp_step",
    "fsdp2_step",
    "symmetric_fsdp2_step",
    "compiled_step",
    "graphed_step",
)


def case_of(text: str) -> tuple[common.Example, int]:
    name, _, batch = text.partition(":")
    if name not in NAMES or not (batch or "0").isdigit():
        sys.exit(f"--examples: '{text}', expected NAME or NAME:BATCH with one of {', '.join(NAMES)}")
    return importlib.import_module(name).EXAMPLE, int(batch or "0")


def main() -> int:
    options = common.parse_settings()
    names = options.examples or ",".join(NAMES)
    return common.run([case_of(text) for text in names.split(",")], options)


if __name__ == "__main__":
    sys.exit(main())
