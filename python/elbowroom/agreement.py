"""One answer for all ranks of a process group, by way of its store.

No collective is used: its place in the order of the program's collectives could differ from rank to rank.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol

WAIT = timedelta(seconds=60)


class Store(Protocol):
    def set(self, key: str, value: str) -> None: ...
    def get(self, key: str) -> bytes: ...
    def wait(self, keys: list[str], timeout: timedelta) -> None: ...
    def compare_set(self, key: str, expected: str, desired: str) -> bytes: ...


class Agreement:
    """The same object on all ranks, asked the same number of times by all. Rank 0 decides; who cannot wait any longer decides first."""

    def __init__(self, store: Store, rank: int, ranks: int, name: str, wait: timedelta = WAIT) -> None:
        self._store, self._rank, self._ranks, self._name, self._wait = store, rank, ranks, name, wait
        self._asked = 0

    def tell(self, name: str, value: str) -> None:
        """Rank 0 leaves something for the others, before the question that they hear of it by."""
        self._store.set(f"elbowroom/{self._name}/{name}", "=" + value)

    def told(self, name: str) -> str:
        """After that question."""
        return self._store.get(f"elbowroom/{self._name}/{name}").decode()[1:]

    def refusal(self, facts: Mapping[str, Any]) -> str:
        """Empty where all ranks brought equal facts and none a `reason`; else why not, in the same words on all ranks.

        Blocks for the slowest rank, at most `wait` twice.
        """
        key = f"elbowroom/{self._name}/{self._asked}"
        self._asked += 1
        self._store.set(f"{key}/{self._rank}", json.dumps(dict(facts), sort_keys=True))
        answer = self._compared(key) if self._rank == 0 else self._awaited(key)
        return answer[1:]

    def _compared(self, key: str) -> str:
        places = [f"{key}/{rank}" for rank in range(self._ranks)]
        try:
            self._store.wait(places, self._wait)
            answer = difference([json.loads(self._store.get(place)) for place in places])
        except Exception as error:  # what a store throws differs from store to store
            answer = f"not all ranks answered within {self._wait.total_seconds():.0f} s ({type(error).__name__})"
        return self._first(key, answer)

    def _awaited(self, key: str) -> str:
        try:
            self._store.wait([f"{key}/told"], 2 * self._wait)
            return self._store.get(f"{key}/told").decode()
        except Exception as error:
            seconds = 2 * self._wait.total_seconds()
            return self._first(key, f"rank {self._rank} got no answer within {seconds:.0f} s ({type(error).__name__})")

    def _first(self, key: str, answer: str) -> str:
        """The answer that stands: the first one given. '=' goes before it, since a store may not keep empty values."""
        standing = self._store.compare_set(f"{key}/answer", "", "=" + answer).decode()
        self._store.set(f"{key}/told", standing)  # compare_set does not wake those that wait
        return standing


def difference(facts: list[dict[str, Any]]) -> str:
    """Why these ranks cannot go together; empty where they can."""
    for rank, own in enumerate(facts):
        if own.get("reason"):
            return f"rank {rank}: {own['reason']}"
    if (hosts := len({own.get("host") for own in facts})) > 1:
        return f"its ranks are on {hosts} hosts"
    for rank, own in enumerate(facts):
        for field in sorted(facts[0].keys() | own.keys()):
            if own.get(field) != facts[0].get(field):
                return f"rank {rank} has {field} {_short(own.get(field))}, rank 0 has {_short(facts[0].get(field))}"
    return ""


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."
