"""What `elbowroom doctor` asks a Python about its packages. Prints one JSON object, whatever PyTorch prints when it is imported."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

NCCL_PACKAGES = ("nvidia-nccl-cu13", "nvidia-nccl-cu12")


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def nccl_library() -> str | None:
    """The library that PyTorch and JAX of this environment load."""
    for package in NCCL_PACKAGES:
        try:
            files = metadata.files(package) or []
        except metadata.PackageNotFoundError:
            continue
        for file in files:
            if file.name == "libnccl.so.2":
                return str(Path(file.locate()).resolve())
    return None


def torch_facts() -> dict[str, Any]:
    """Placing buffers is tried as `run` does it, in this process alone."""
    if version_of("torch") is None:
        return {}
    try:
        import torch
    except Exception as error:
        return {"torch": str(version_of("torch")), "cuda": None, "refused": [f"import torch: {error}"]}
    facts: dict[str, Any] = {"torch": torch.__version__, "cuda": torch.version.cuda}
    if torch.version.cuda is not None:
        import elbowroom

        elbowroom.prepare()
        report = elbowroom.report()
        facts["refused"] = report["refused"] + [f"{part['part']}: {part['reason']}" for part in report["left_out"]]
    return facts


def main() -> None:
    answer = os.dup(1)
    os.dup2(2, 1)
    facts = {"python": platform.python_version(), "jax": version_of("jax"), "nccl": nccl_library(), **torch_facts()}
    with os.fdopen(answer, "w") as file:
        json.dump(facts, file)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
