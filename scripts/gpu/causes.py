"""Records the programs of examples/causes on two GPUs and checks that `elbowroom explain` names the cause of each.

    python3 -B scripts/gpu/causes.py --elbowroom build/gpu/elbowroom --out OUT          # two GPUs, and the torch of this Python
    python3 -B scripts/gpu/causes.py --elbowroom build/gpu/elbowroom --check FOLDER     # recordings of an earlier run: no GPU

A cause is named right where it takes most of the exposed time and each other one at most a tenth of it. torch.profiler records all
programs but `power`, which needs the clocks that explain's own recorder reads. OUT/traces/CAUSE.tar.gz has the ranks' traces, cut to
what explain reads.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import launched

PROGRAMS = launched.REPOSITORY / "examples" / "causes"
CAUSES = ("program_order", "shared_stream", "lost_race", "late_peer", "late_host", "link", "unknown", "power")
RECORDED = {"power": {"after": 16, "steps": 500}}
OTHERS_AT_MOST = 0.1
WINDOW_US = 250_000  # of a recording, which lasts a second and more
KEPT_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "gpu_clock"}
ON_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
KEPT_MEMBERS = ("schemaVersion", "recorder", "distributedInfo", "deviceProperties", "baseTimeNanoseconds")
BEGIN = time.monotonic()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elbowroom", required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--check", type=Path, help="a folder of CAUSE.tar.gz")
    parser.add_argument("--causes", default=",".join(CAUSES))
    parser.add_argument("--seconds", type=float, default=230, help="for all programs")
    options = parser.parse_args()
    if (options.out is None) == (options.check is None):
        parser.error("expected --out or --check")
    return options


def verdict(cause: str, document: dict[str, Any]) -> dict[str, Any]:
    """What a document of elbowroom.explain/1 says of a program that was made to have this cause."""
    us = {one["cause"]: one["us"] for one in document["causes"]}
    exposed = sum(us.values())
    others = {other: time for other, time in us.items() if other != cause and time > OTHERS_AT_MOST * exposed}
    named = bool(us) and max(us, key=us.get) == cause
    evidence = [one["words"] for part in document["causes"] if part["cause"] == cause for one in part["evidence"]]
    return {
        "cause": cause,
        "passes": named and not others,
        "exposed_us": round(exposed, 1),
        "share": round(us.get(cause, 0) / exposed, 3) if exposed else 0,
        "causes": us,
        "replay_error": document["replay_error"],
        "evidence": evidence[:1],
    }


def only_window(events: list[dict[str, Any]], begin: float) -> list[dict[str, Any]]:
    """What began on the device within the window, its launches, the waits between them and the clocks."""
    within = [one for one in events if begin <= one["ts"] < begin + WINDOW_US]
    rows = {one["args"]["correlation"] for one in within if one["cat"] in ON_DEVICE}
    first, last = min(rows), max(rows)

    def kept(one: dict[str, Any]) -> bool:
        if one["cat"] in ON_DEVICE or one["cat"] == "gpu_clock":
            return begin - WINDOW_US * (one["cat"] == "gpu_clock") <= one["ts"] < begin + WINDOW_US
        return first <= one["args"].get("correlation", -1) <= last

    return [one for one in events if kept(one)]


def shortened(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What explain reads of the ranks' traces; of a recorder's long ones a part from the middle."""
    result = []
    for trace in traces:
        events = [one for one in trace["traceEvents"] if one.get("cat") in KEPT_CATEGORIES]
        result.append({key: trace[key] for key in KEPT_MEMBERS if key in trace} | {"traceEvents": events})
    if all("recorder" in trace for trace in result):
        begins = [min(one["ts"] for one in trace["traceEvents"] if one["cat"] in ON_DEVICE) for trace in result]
        for trace in result:
            trace["traceEvents"] = only_window(trace["traceEvents"], max(begins) + WINDOW_US)
    return result


def texts_of(folder: Path) -> list[str]:
    """The traces of a folder, or of the archive in it."""
    archives = sorted(folder.glob("*.tar"))
    if not archives:
        return [path.read_text() for path in sorted(folder.glob("rank*"))]
    with tarfile.open(archives[0]) as archive:
        return [archive.extractfile(member).read().decode() for member in archive.getmembers() if member.isfile()]


def pack(folder: Path, archive: Path) -> int:
    """Writes the traces, shortened, and returns how many there are."""
    traces = sorted((json.loads(text) for text in texts_of(folder)), key=lambda trace: trace.get("distributedInfo", {}).get("rank", 0))
    if not traces:
        return 0
    archive.parent.mkdir(exist_ok=True)
    with tarfile.open(archive, "w:gz") as packed:
        for rank, trace in enumerate(shortened(traces)):
            content = json.dumps(trace, separators=(",", ":")).encode()
            entry = tarfile.TarInfo(f"rank{rank}.json")
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return len(traces)


def explained(options: argparse.Namespace, cause: str, archive: Path) -> dict[str, Any]:
    done = launched.run([options.elbowroom, "explain", str(archive), "--json", "-"], dict(os.environ), 60)
    if done.code != 0:
        return {"cause": cause, "passes": False, "problem": done.errors.strip()[-400:]}
    if options.out is not None:
        (options.out / f"{cause}.json").write_text(done.output)
    return verdict(cause, json.loads(done.output))


def record(options: argparse.Namespace, cause: str) -> dict[str, Any]:
    folder = options.out / cause
    folder.mkdir(parents=True, exist_ok=True)
    torchrun = [*launched.TORCHRUN, str(PROGRAMS / f"{cause}.py")]
    if cause in RECORDED:
        recording = [options.elbowroom, "explain", "--after", str(RECORDED[cause]["after"]), "--record", str(folder / "ranks.tar"), "--"]
        command = [*recording, *torchrun, "--steps", str(RECORDED[cause]["steps"])]
    else:
        command = [*torchrun, "--trace", str(folder / "rank0.json")]
    left = options.seconds - (time.monotonic() - BEGIN)
    if left < 10:
        return {"cause": cause, "passes": False, "problem": "no time left"}
    begin = time.monotonic()
    done = launched.run(command, dict(os.environ), min(left, 60))
    (folder / "output.txt").write_text(done.output + done.errors)
    took = round(time.monotonic() - begin, 1)
    archive = options.out / "traces" / f"{cause}.tar.gz"
    if done.code != 0 or pack(folder, archive) != 2:
        return {"cause": cause, "passes": False, "seconds": took, "problem": f"exit code {done.code}: {done.errors.strip()[-400:]}"}
    return explained(options, cause, archive) | {"seconds": took, "packed_bytes": archive.stat().st_size}


def main() -> int:
    options = parse()
    results = []
    for cause in options.causes.split(","):
        if options.out is not None:
            results.append(record(options, cause))
        elif (options.check / f"{cause}.tar.gz").exists():
            results.append(explained(options, cause, options.check / f"{cause}.tar.gz"))
        else:
            continue
        print(json.dumps(results[-1]), flush=True)
    if not results:
        print(f"skipped: {options.check} has no recording of these causes")
        return 77
    passed = sum(result["passes"] for result in results)
    return launched.closing(results, passed, "causes", BEGIN, str(options.out / "causes.json") if options.out is not None else "")


if __name__ == "__main__":
    sys.exit(main())
