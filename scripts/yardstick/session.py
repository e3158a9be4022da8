"""What is launched next, and what is known so far: the document, written after every launch."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import catalog
from elbowroom import pair_verdict

SCHEMA = "elbowroom.yardstick/1"
FAILURES = 2  # of an arm, after which it is left out

Document = dict[str, Any]
Record = dict[str, Any]
Launch = Callable[[catalog.Program, catalog.Arm, bool], Record]


class Refused(Exception):
    """Bad input, in one line."""


def new_document(settings: dict[str, Any]) -> Document:
    lists: Document = {"calls": [], "launches": [], "excluded": [], "verdicts": []}
    return {"schema": SCHEMA, "provenance": "measured", "settings": settings, "machine": {}} | lists


def call_of(arguments: Sequence[str]) -> str:
    """The command, as one would type it in the project's folder; where its results went says nothing about them."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in ("--json", "--page"):
            next(words, None)
        elif not word.startswith(("--json=", "--page=")):
            kept.append(word.replace(f"{catalog.ROOT}/", ""))
    return shlex.join(["python3", "scripts/yardstick", *kept])


def resumed(path: Path, settings: dict[str, Any]) -> Document:
    """The document of an earlier call with the same settings, or a new one."""
    if not path.exists():
        return new_document(settings)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: {error}, expected a document of the yardstick or no file") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise Refused(f"{path}: schema is not {SCHEMA}, expected a document of the yardstick or no file")
    for name, value in settings.items():
        if document["settings"].get(name) != value:
            raise Refused(f"{path}: {name} was {document['settings'].get(name)}, now {value}; expected the same, or another file")
    return document


def save(document: Document, path: Path) -> None:
    """Another process sees the old document or the new one, never a part."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document) + "\n", encoding="utf-8")
    os.replace(part, path)


def of(document: Document, program: str, arm: str) -> list[Record]:
    return [record for record in document["launches"] if (record["program"], record["arm"]) == (program, arm)]


def good(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if "steps_ms" in record]


def failures(document: Document, program: str, arm: str) -> int:
    return sum("failure" in record for record in of(document, program, arm))


def pairs(document: Document, program: str, arm: str) -> list[tuple[Record, Record]]:
    """Launches of the same round, as it is and under the arm, in the order of rounds."""
    plain = {record["round"]: record for record in good(of(document, program, catalog.PLAIN))}
    runs = sorted(good(of(document, program, arm)), key=lambda record: record["round"])
    return [(plain[run["round"]], run) for run in runs if run["round"] in plain]


def idle_of(document: Document, program: str) -> float | None:
    shares = [pair_verdict.idle_share(record.get("busy_ms"), record["steps_ms"]) for record in good(of(document, program, catalog.PLAIN))]
    return next((share for share in shares if share is not None), None)


def verdict_of(document: Document, program: str, arm: str) -> pair_verdict.Verdict:
    idle = idle_of(document, program)
    found = pairs(document, program, arm)
    if idle is not None and idle >= pair_verdict.HOST_BOUND_IDLE:
        values = [pair_verdict.host_time_value(plain["cpu_ms"], run["cpu_ms"], plain["steps_ms"]) for plain, run in found]
        return pair_verdict.judge(values, pair_verdict.HOST_TIME)
    values = [pair_verdict.step_time_value(plain["steps_ms"], run["steps_ms"]) for plain, run in found]
    return pair_verdict.judge(values, pair_verdict.STEP_TIME)


def order_of(arms: Sequence[catalog.Arm], number: int) -> list[catalog.Arm]:
    """Judged arms and the plain one stay together and take turns in who is first; the others rotate, in turns before and behind."""
    judged = [arm for arm in arms if arm.name == catalog.PLAIN or arm.elbowroom is not None]
    others = [arm for arm in arms if arm not in judged]
    others = others[number % len(others) :] + others[: number % len(others)] if others else []
    return [*judged, *others] if number % 2 == 0 else [*others, *reversed(judged)]


class Session:
    """Rounds of launches, program by program, look by look, until everything is decided or the time is over."""

    def __init__(
        self, document: Document, launch: Launch, arms: Callable[[catalog.Program], list[catalog.Arm]], most: int, others: int
    ) -> None:
        self.document = document
        self._launch = launch
        self._arms = arms
        self._others = others
        self._looks = [look for look in pair_verdict.LOOKS if look <= most] or [most]

    def _exclude(self, program: str, arm: str, reason: str) -> None:
        self.document["excluded"].append({"program": program, "arm": arm, "reason": reason})

    def excluded(self, program: str, arm: str = catalog.PLAIN) -> bool:
        return any((entry["program"], entry["arm"]) == (program, arm) for entry in self.document["excluded"])

    def _judged(self, program: catalog.Program) -> list[catalog.Arm]:
        return [arm for arm in self._arms(program) if arm.elbowroom is not None and not self.excluded(program.name, arm.name)]

    def decided(self, program: catalog.Program) -> bool:
        """True too where nothing is left to be decided."""
        verdicts = [verdict_of(self.document, program.name, arm.name).verdict for arm in self._judged(program)]
        return self.excluded(program.name) or all(verdict != pair_verdict.UNDECIDED for verdict in verdicts)

    def _wanted(self, program: catalog.Program, arm: catalog.Arm, number: int) -> bool:
        if self.excluded(program.name) or self.excluded(program.name, arm.name):
            return False
        records = of(self.document, program.name, arm.name)
        judged = arm.name == catalog.PLAIN or arm.elbowroom is not None
        return all(record["round"] != number for record in records) and (judged or len(good(records)) < self._others)

    def _file(self, program: catalog.Program, arm: catalog.Arm, record: Record) -> None:
        self.document["launches"].append(record)
        if "skipped" in record:
            self._exclude(program.name, arm.name, record["skipped"])
            return
        records = of(self.document, program.name, arm.name)
        if not good(records) and len(records) >= FAILURES:
            self._exclude(program.name, arm.name, record["failure"])

    def _round(self, program: catalog.Program, number: int, ends_at: float) -> Iterator[Record]:
        for arm in order_of(self._arms(program), number):
            if time.monotonic() >= ends_at:
                return
            if not self._wanted(program, arm, number):
                continue
            traced = program.traced and arm.name == catalog.PLAIN and not good(of(self.document, program.name, catalog.PLAIN))
            record = self._launch(program, arm, traced) | {"round": number}
            self._file(program, arm, record)
            self._judge(program)
            yield record

    def _judge(self, program: catalog.Program) -> None:
        others = [entry for entry in self.document["verdicts"] if entry["program"] != program.name]
        arms = [arm.name for arm in self._arms(program) if arm.elbowroom is not None]
        verdicts = [{"program": program.name, "arm": arm} | asdict(verdict_of(self.document, program.name, arm)) for arm in arms]
        self.document["verdicts"] = others + verdicts

    def _pairs_done(self, program: catalog.Program) -> int:
        return min((len(pairs(self.document, program.name, arm.name)) for arm in self._judged(program)), default=0)

    def launches(self, programs: Sequence[catalog.Program], ends_at: float) -> Iterator[Record]:
        """Each record as soon as it is filed. Pairs that failed are repeated, as often as an arm may fail."""
        for before, look in zip([0, *self._looks], self._looks, strict=False):
            for program in programs:
                if before and self.decided(program):
                    continue
                for number in range(look + FAILURES):
                    if number >= look and self._pairs_done(program) >= look:
                        break
                    yield from self._round(program, number, ends_at)
