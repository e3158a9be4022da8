#!/usr/bin/env python3
"""Plants small wrong changes one at a time and runs the tests that should notice: a test suite is as good as the defects it finds.

usage: mutants.py [--only REGEX] [--jobs N] [--seconds S]    plants them in a copy of the tree, under build/mutants
       mutants.py --check                                    says whether each change still has its place; plants nothing

mutants.json lists them: name, file, find (text that stands there once), replace, and for a change that no test can notice `equivalent`,
the reason. Exit code 1 when a change survives, does not build or has lost its place; those that are equivalent do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).resolve().parent / "mutants.json"
WORK = ROOT / "build" / "mutants"
TEST_SECONDS = 120  # of one command; a change that makes a test hang is noticed too


@dataclass(frozen=True)
class Tests:
    """What notices a change in a part of the tree: programs of GoogleTest, then tests of ctest by name and the targets they need."""

    programs: tuple[str, ...] = ()
    named: str = ""
    builds: tuple[str, ...] = ()


INTERPOSED = Tests(named=r"^interposer[._]", builds=("interposer_tests",))
# The first folder that a file lies in counts.
AREAS = {
    "src/interposer/core": Tests(("test_interposer",), INTERPOSED.named, INTERPOSED.builds),
    "src/interposer": Tests(("test_interposer",), INTERPOSED.named, INTERPOSED.builds),
    "src/run": Tests(("test_run", "test_interposer")),
    "src/backend_sim": Tests(("test_backend_sim",)),
    "src/tune": Tests(("test_tune", "test_tune_threads")),
    "src/trace": Tests(("test_trace",)),
    "src/plan": Tests(("test_plan", "test_tune")),
    "include/elbowroom/plan": Tests(("test_plan", "test_tune")),
    "src/model": Tests(("test_model",)),
    "src/base": Tests(("test_base",)),
    "src/report": Tests(("test_report",)),
}


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    find: str
    replace: str
    equivalent: str = ""

    def tests(self) -> Tests:
        return next((tests for folder, tests in AREAS.items() if self.file.startswith(folder + "/")), Tests())

    def problem(self, root: Path) -> str:
        """Why it cannot be planted; empty where it can."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} is not there"
        if self.find == self.replace:
            return "it changes nothing"
        if not self.tests().programs:
            return f"no tests are known for {self.file}"
        count = path.read_text(encoding="utf-8").count(self.find)
        return "" if count == 1 else f"its text stands {count} times in {self.file}, expected once"


def read_list() -> list[Mutant]:
    return [Mutant(**entry) for entry in json.loads(LIST.read_text(encoding="utf-8"))]


def run(command: list[str], log: Path, seconds: float = 3600.0) -> bool:
    with log.open("w", encoding="utf-8") as file:
        try:
            return subprocess.run(command, stdout=file, stderr=file, timeout=seconds, check=False, cwd=ROOT).returncode == 0
        except subprocess.TimeoutExpired:
            return False


class Tree:
    """A copy of the sources with a build of its own, which changes are planted in."""

    def __init__(self, jobs: int) -> None:
        self.sources, self.build, self.jobs = WORK / "tree", WORK / "build", jobs

    def prepare(self) -> None:
        self.sources.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
        wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
        for old in [path for path in self.sources.rglob("*") if path.is_file()]:
            if str(old.relative_to(self.sources)) not in wanted:
                old.unlink()
        for name in sorted(wanted):
            copy_if_changed(ROOT / name, self.sources / name)
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -w", "-DELBOWROOM_TESTS=ON", "-DELBOWROOM_INSTALL=OFF"]
        configured = run(["cmake", "-S", str(self.sources), "-B", str(self.build), "-G", "Ninja", *options], WORK / "configure.log")
        if not configured:
            sys.exit(f"mutants: the configuration failed, see {WORK / 'configure.log'}")

    def passes(self, tests: Tests) -> str:
        """"build" or "test": what failed first; empty where nothing did."""
        targets = [*tests.programs, *tests.builds]
        if not run(["cmake", "--build", str(self.build), "--parallel", str(self.jobs), "--target", *targets], WORK / "build.log"):
            return "build"
        for program in tests.programs:
            if not run([str(self.build / "bin" / program), "--gtest_brief=1", "--gtest_fail_fast"], WORK / "test.log", TEST_SECONDS):
                return "test"
        named = ["ctest", "--test-dir", str(self.build), "-R", tests.named, "-j", str(self.jobs), "--stop-on-failure", "--timeout", "60"]
        return "test" if tests.named and not run(named, WORK / "test.log", 4 * TEST_SECONDS) else ""


def copy_if_changed(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def verdict(tree: Tree, mutant: Mutant) -> str:
    path = tree.sources / mutant.file
    original = path.read_text(encoding="utf-8")
    path.write_text(original.replace(mutant.find, mutant.replace), encoding="utf-8")
    try:
        return {"build": "did not build", "test": "killed", "": "survived"}[tree.passes(mutant.tests())]
    finally:
        path.write_text(original, encoding="utf-8")


def check(mutants: list[Mutant]) -> int:
    problems = [f"{mutant.name}: {mutant.problem(ROOT)}" for mutant in mutants if mutant.problem(ROOT)]
    names = [mutant.name for mutant in mutants]
    problems += [f"{name}: the name stands twice" for name in sorted({name for name in names if names.count(name) > 1})]
    print(*problems, f"{len(mutants)} changes, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


def plant(mutants: list[Mutant], jobs: int, seconds: float) -> int:
    begin = time.monotonic()
    tree = Tree(jobs)
    tree.prepare()
    wanted = {mutant.tests() for mutant in mutants}
    for tests in sorted(wanted, key=lambda one: one.programs):
        if failed := tree.passes(tests):
            sys.exit(f"mutants: without a change the {failed} of {', '.join(tests.programs)} fails, see {WORK}/{failed}.log")
    counts: dict[str, int] = {}
    for mutant in mutants:
        if time.monotonic() - begin > seconds:
            found = "not run"
        elif mutant.equivalent:
            found = "equivalent"
        else:
            found = mutant.problem(tree.sources) or verdict(tree, mutant)
        counts[found] = counts.get(found, 0) + 1
        print(f"{found:14} {mutant.name}", flush=True)
    killed = counts.get("killed", 0)
    fine = killed + counts.get("equivalent", 0)
    print(f"{killed} killed of {len(mutants)}: {', '.join(f'{count} {word}' for word, count in sorted(counts.items()))}")
    return 0 if fine == len(mutants) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="", help="changes in whose name this regular expression is found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=24 * 3600.0, help="no change is planted after these")
    options = parser.parse_args()
    mutants = [mutant for mutant in read_list() if re.search(options.only, mutant.name)]
    return check(mutants) if options.check else plant(mutants, options.jobs, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
