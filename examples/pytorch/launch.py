"""Starts one process per GPU and waits for them: what torchrun does on one machine, without importing torch for itself.

usage: python3 launch.py [-n PROCESSES] [--as-hosts] SCRIPT [ARGUMENT...]
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time

POLL_SECONDS = 0.05
GRACE_SECONDS = 5.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rank_environment(rank: int, ranks: int, port: int) -> dict[str, str]:
    return os.environ | {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "4"),
    }


def first_failure(processes: list[subprocess.Popen[bytes]]) -> int | None:
    """The exit code to end with: None while all is well and something runs."""
    codes = [process.poll() for process in processes]
    for code in codes:
        if code:
            return code if code > 0 else 128 - code
    return 0 if all(code == 0 for code in codes) else None


def stop(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ranks whose peer has failed would wait for it; they get a moment to end by themselves."""
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline and any(process.poll() is None for process in processes):
        time.sleep(POLL_SECONDS)
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def host_environment(rank: int, as_hosts: bool) -> dict[str, str]:
    """Ranks of different hosts, to NCCL: they talk by sockets."""
    return {"NCCL_HOSTID": f"host-{rank}", "NCCL_SOCKET_IFNAME": "lo"} if as_hosts else {}


def launch(command: list[str], ranks: int, as_hosts: bool) -> int:
    port = free_port()
    environments = [rank_environment(rank, ranks, port) | host_environment(rank, as_hosts) for rank in range(ranks)]
    processes = [subprocess.Popen(command, env=environment) for environment in environments]

    def forward(number: int, _frame: object) -> None:
        for process in processes:
            process.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, forward)
    while (code := first_failure(processes)) is None:
        time.sleep(POLL_SECONDS)
    stop(processes)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--processes", type=int, default=2)
    parser.add_argument("--as-hosts", action="store_true", help="NCCL takes each process for a host of its own")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    return launch([sys.executable, options.script, *options.arguments], options.processes, options.as_hosts)


if __name__ == "__main__":
    sys.exit(main())
