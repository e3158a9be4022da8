"""A program of examples/programs with several versions of NCCL, plain and under `elbowroom run`, all in turns on the same GPUs.

    python3 -B scripts/gpu/nccl_versions.py --elbowroom build/release/bin/elbowroom --program ddp 2.28.9= 2.30.7=/tmp/libnccl-2.30.7.so

A version without a path is the one of the Python environment; another one is preloaded in its place, which its SONAME allows.
Before a version is timed, one small collective under NCCL_DEBUG=INFO shows that it makes no NVLink multicast.
Exit code 77: a second GPU is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import launched

SKIPPED = 77
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
SMALL = """
import os, torch, torch.distributed as dist
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
dist.all_reduce(torch.ones(8, device="cuda"))
torch.cuda.synchronize()
dist.destroy_process_group()
"""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="+", metavar="VERSION=PATH")
    parser.add_argument("--elbowroom", default="build/release/bin/elbowroom")
    parser.add_argument("--program", default="ddp", help="with its options, in quotation marks")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=100)
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--json", default="")
    return parser.parse_args()


def environment(library: str, **more: str) -> dict[str, str]:
    variables = dict(os.environ, NCCL_NVLS_ENABLE="0", **more)
    if library:
        variables["LD_PRELOAD"] = ":".join(filter(None, [library, os.environ.get("LD_PRELOAD")]))
    return variables


def multicast_channels(library: str, timeout: float, script: Path) -> list[str]:
    """What NCCL says of its NVLS channels; anything but zeros is a reason not to time it here."""
    script.write_text(SMALL)
    done = launched.run([*TORCHRUN, str(script)], environment(library, NCCL_DEBUG="INFO"), timeout)
    said = sorted(set(re.findall(r"NCCL version [\d.]+|\d+ nvls channels", done.output + done.errors)))
    return said if done.code == 0 else [f"exit code {done.code}", done.errors[-500:]]


def launch(options: argparse.Namespace, version: str, library: str, what: str) -> dict[str, Any]:
    name, *more = options.program.split()
    command = [*TORCHRUN, str(launched.REPOSITORY / "examples" / "programs" / f"{name}.py"), *more, "--steps", str(options.steps)]
    command += ["--warm-up", str(options.warm_up)]
    if what == "run":
        command = [options.elbowroom, "run", "--", *command]
    done = launched.run(command, environment(library), options.timeout)
    result: dict[str, Any] = {"program": options.program, "nccl": version, "what": what, "code": done.code}
    result["closing"] = [line for line in done.errors.splitlines() if line.startswith("elbowroom: ")][-1:]
    if done.code != 0:
        return result | {"errors": done.errors[-2000:]}
    line = next(json.loads(text) for text in reversed(done.output.splitlines()) if text.startswith("{"))
    return result | {"ms": statistics.median(line["steps_ms"]), "loss": line["loss"], "versions": line["versions"]}


def main() -> int:
    options = parse()
    arms = []
    for version, _, library in (text.partition("=") for text in options.versions):
        said = multicast_channels(library, options.timeout, Path(options.json or "nccl_versions").with_suffix(".small.py"))
        print(f"NCCL {version}: {', '.join(said)}", flush=True)
        if any(text.endswith("nvls channels") and not text.startswith("0 ") for text in said):
            return 1
        arms += [(version, library, "plain"), (version, library, "run")]
    results = []
    for pair in range(options.pairs):
        for arm in arms if pair % 2 == 0 else reversed(arms):
            result = launch(options, *arm)
            if result["code"] == SKIPPED:
                return SKIPPED
            results.append(result)
            print(f"{options.program:8} NCCL {arm[0]:7} {arm[2]:6} {result.get('ms', result['code'])} ms  {' '.join(result['closing'])}", flush=True)
    medians = {}
    for version, _, what in arms:
        times = [one["ms"] for one in results if one["nccl"] == version and one["what"] == what and "ms" in one]
        medians[version, what] = statistics.median(times) if times else float("nan")
    for version in dict.fromkeys(version for version, _, _ in arms):
        plain, run = medians[version, "plain"], medians[version, "run"]
        print(f"{options.program} with NCCL {version}: plain {plain:.2f}, run {run:.2f} ({100 * (run / plain - 1):+.1f} %)", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return int(any(result["code"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
