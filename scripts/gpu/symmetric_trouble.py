#!/usr/bin/env python3
"""Forces on GPUs what can go wrong with buffers on symmetric memory, each case in a launch of its own, with all gradients checked.
Prints one JSON line for each case. Needs two GPUs and PyTorch 2.9 or later; takes three to four minutes.

usage: scripts/gpu/symmetric_trouble.py [--cases full,retries] [--seconds 285] [--timeout 120] [--json FILE] [--device cpu]

A case passes where its ranks end, no gradient is wrong, all ranks say the same, and the buffers are where EXPECTED has them. Exit code
1 where one fails. --device cpu tries the program out: then nothing is on symmetric memory.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import launched

ROOT = Path(__file__).resolve().parent.parent.parent
HOOK = ROOT / "python" / "elbowroom" / "hook"
LAUNCHER = ROOT / "examples" / "pytorch" / "launch.py"
PROGRAM = Path(__file__).resolve().parent / "trouble_cases.py"
AT_ONCE = 2  # launches side by side on the same GPUs, of those that leave memory free

# The states of the sets, in order, and a part of the last one's reason.
EXPECTED = {
    "plain_ddp": (["registered"], ""),
    "compressed": (["registered"], ""),
    "compressed_wrapper": (["registered"], ""),
    "hsdp_passes": (["registered"], ""),
    "rebuilt": (["given back", "registered"], ""),
    "dropped": (["given back", "registered"], ""),
    "many_dropped": (["given back"] * 2 + ["refused"] * 8, "has had 2 registrations"),
    "two_models": (["registered", "registered"], ""),
    "remade_group": (["registered", "registered"], ""),
    "forked_loader": (["registered"], ""),
    "other_allocations": (["registered"], ""),
    "fails_on_one_rank": (["refused"], "rank 1: as if cuMemMap had answered 801"),
    "keeps_gradients": (["given back"], "rank 1: the program keeps gradients of the step before"),
    "late_readers": (["registered"], ""),
    "joins": (["given back"], "ranks with fewer inputs join"),
    "captured": (["registered"], ""),
    "slower_ddp": (["given back"], "rank 0: steps became slower"),
    "slower_fsdp2": (["given back"], "rank 0: steps became slower"),
    "slower_hsdp": (["given back"], "rank 0: steps became slower"),
    "slower_compressed": (["given back"], "rank 0: steps became slower"),
    # These fill the device, so they run alone.
    "full": (["refused"], "are needed"),
    "full_on_one_rank": (["refused"], "rank 1: "),
    "retries": (["given back"], "rank 1: the allocator had to retry"),
}
# Of the cases whose gradients stay in DDP's buckets: a part of the reason why none does any more, on the first set.
IN_PLACE = {
    "plain_ddp": "",
    "rebuilt": "",
    "dropped": "",
    "two_models": "",
    "remade_group": "",
    "forked_loader": "",
    "other_allocations": "",
    "fails_on_one_rank": "",
    "slower_ddp": "",
    "keeps_gradients": "rank 1: the program keeps gradients of the step before",
    "late_readers": "",
    "joins": "ranks with fewer inputs join",
    "captured": "a CUDA graph writes into the buckets",
}
ALONE = ("full", "full_on_one_rank", "retries")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default=",".join(EXPECTED))
    parser.add_argument("--seconds", type=float, default=285, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=120, help="of one launch, in seconds")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    for case in options.cases.split(","):
        if case not in EXPECTED:
            parser.error(f"--cases: '{case}', expected some of {', '.join(EXPECTED)}")
    return options


def launch(case: str, options: argparse.Namespace) -> dict[str, Any]:
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HOOK), os.environ.get("PYTHONPATH")]))
    environment |= {"ELBOWROOM_RUN_SYMMETRIC": "1", "NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1"}
    command = [sys.executable, "-B", str(LAUNCHER), "-n", "2", str(PROGRAM), case]
    begin = time.monotonic()
    more = ["--device", "cpu"] if options.device == "cpu" else []
    done = launched.run([*command, *more], environment, options.timeout)
    said = [json.loads(line)["ranks"] for line in done.output.splitlines() if line.startswith('{"case"')]
    if done.code == 0 and said:
        reason = judged(case, said[0], options.device)
    else:
        limit = f" (not done after {options.timeout:.0f} s)" if done.code == launched.TIMED_OUT else ""
        reason = f"exit code {done.code}{limit}: {done.errors[-1500:]}"
    seconds = round(time.monotonic() - begin, 1)
    return {"case": case, "pass": not reason, "reason": reason, "seconds": seconds, "ranks": said[0] if said else []}


def judged(case: str, ranks: list[dict[str, Any]], device: str) -> str:
    """Empty, or why the case failed."""
    states, words = EXPECTED[case] if device == "cuda" else ([], "")
    wrong = [rank["wrong"] for rank in ranks]
    if any(wrong):
        return f"wrong gradients on the ranks: {wrong}"
    seen = [[(part["state"], part["reason"]) for part in rank["buffers"]] for rank in ranks]
    if any(rank != seen[0] for rank in seen):
        return f"ranks differ: {seen}"
    if [state for state, _ in seen[0]] != states:
        return f"expected {states}, seen {seen[0]}, {ranks[0]['refused']}"
    if states and words not in seen[0][-1][1]:
        return f"expected the reason '{words}', seen '{seen[0][-1][1]}'"
    return misplaced(IN_PLACE.get(case), ranks) if states else ""


def misplaced(words: str | None, ranks: list[dict[str, Any]]) -> str:
    """Empty, or how DDP's gradients were elsewhere than expected. `words`: of the reason why they left the buckets; None: not asked."""
    for part in (rank["buffers"][0] for rank in ranks if words is not None):
        if not part["in_place"]:
            return f"no gradient stayed in its bucket: '{part['not_in_place']}'"
        if words not in part["not_in_place"] or bool(words) != bool(part["not_in_place"]):
            return f"expected gradients to leave the buckets because of '{words}', seen '{part['not_in_place']}'"
    return ""


def main() -> int:
    options = arguments()
    begin, results = time.monotonic(), []

    def case_of(case: str) -> None:
        if time.monotonic() - begin > options.seconds:
            result = {"case": case, "pass": False, "reason": f"not begun: {options.seconds:.0f} s were over", "seconds": 0.0, "ranks": []}
        else:
            result = launch(case, options)
        results.append(result)
        print(json.dumps(result), flush=True)

    cases = options.cases.split(",")
    for case in (case for case in cases if case in ALONE):
        case_of(case)
    with ThreadPoolExecutor(AT_ONCE if options.device == "cuda" else 1) as pool:
        list(pool.map(case_of, (case for case in cases if case not in ALONE)))
    return launched.closing(results, sum(result["pass"] for result in results), "cases", begin, options.json)


if __name__ == "__main__":
    sys.exit(main())
