#!/usr/bin/env python3
"""Plants small wrong changes one at a time and runs the tests that should notice: a test suite is as good as the defects it finds.

usage: mutants.py [--only REGEX] [--jobs N] [--seconds S] [--resume]    plants them in a copy of the tree, under build/mutants
       mutants.py --check                                               says whether each change still has its place; plants nothing

mutants.json lists them: name, file, find (text that stands there once), replace, `killers` (tests that are tried before the others of that
part of the tree: `PROGRAM:FILTER` of GoogleTest, or a regular expression of ctest), and for a change that no test can notice `equivalent`,
the reason. What becomes of each is kept in build/mutants/results.json. `--resume` plants no change again that was killed in the file as it
is now. Exit code 1 when a change survives, does not build, has lost its place or was not planted, or when what would kill it was skipped;
those that are equivalent do not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).resolve().parent / "mutants.json"
WORK = ROOT / "build" / "mutants"
RESULTS = WORK / "results.json"
LEAST_SECONDS = 120  # of one command; a change that makes a test hang is noticed too


@dataclass(frozen=True)
class Tests:
    """What notices a change in a part of the tree: programs of GoogleTest, then tests of ctest by name. Of the targets of these, most need
    the first alone."""

    programs: tuple[str, ...] = ()
    named: str = ""
    builds: tuple[str, ...] = ()


HOOKS = Tests((), r"^interposer(_hip)?[._]", ("elbowroom_interposer", "elbowroom_interposer_hip", "interposer_tests"))
TOOL_OVER_FAKES = ("elbowroom_tool", "fake_hiprtc", "fake_rocblas", "fake_nvml", "fake_amd_smi", "fake_rccl")
# The first folder that a file lies in counts.
AREAS = {
    "src/interposer": Tests(("test_interposer",), HOOKS.named, HOOKS.builds),
    "src/run": Tests(("test_run", "test_interposer")),
    "src/backend_sim": Tests(("test_backend_sim",)),
    "src/tune": Tests(("test_tune", "test_tune_threads")),
    "src/trace": Tests(("test_trace",)),
    "src/plan": Tests(("test_plan", "test_tune")),
    "include/elbowroom/plan": Tests(("test_plan", "test_tune")),
    "src/model": Tests(("test_model",)),
    "src/base": Tests(("test_base",)),
    "src/report": Tests(("test_report",)),
    "src/explain": Tests(("test_explain",)),
    "src/experiment": Tests(("test_experiment",), r"^hip\.energy$", TOOL_OVER_FAKES),
    "src/runtime": Tests(("test_runtime", "test_hip")),
    "src/backend_gpu": Tests(("test_backend_gpu", "test_hip"), r"^hip\.ranks$", TOOL_OVER_FAKES),
    "src/backend_ranks": Tests(("test_backend_ranks", "test_backend_ranks_threads")),
    "src/energy": Tests(("test_energy", "test_energy_threads")),
    "python/elbowroom": Tests((), r"^python\."),
}


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    find: str
    replace: str
    killers: str = ""
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
        if self.tests() == Tests():
            return f"no tests are known for {self.file}"
        count = path.read_text(encoding="utf-8").count(self.find)
        return "" if count == 1 else f"its text stands {count} times in {self.file}, expected once"

    def planted(self, text: str) -> str:
        return text.replace(self.find, self.replace)


@dataclass(frozen=True)
class Verdict:
    """`found` is killed, survived, did not build, equivalent, not planted, or why it has no place; `by` is the test that noticed."""

    found: str
    by: str = ""
    seconds: float = 0.0
    state: str = ""  # of the changed file: what was planted into another says nothing of this one


def read_list() -> list[Mutant]:
    return [Mutant(**entry) for entry in json.loads(LIST.read_text(encoding="utf-8"))]


def run(command: list[str], log: Path, seconds: float = 3600.0) -> bool:
    with log.open("w", encoding="utf-8") as file:
        try:
            return subprocess.run(command, stdout=file, stderr=file, timeout=seconds, check=False, cwd=ROOT).returncode == 0
        except subprocess.TimeoutExpired:
            file.write("\nstopped: it took too long\n")
            return False


def who_noticed(log: Path, otherwise: str) -> str:
    """The first test that a log says failed, or the last that began where none had time to say it."""
    text = log.read_text(encoding="utf-8", errors="replace")
    for pattern in (r"\[  FAILED  \] ([\w./]+)", r"Test +#\d+: (\S+) \.*\**(?:Failed|Timeout|Exception|Subprocess|Not Run)"):
        if found := re.search(pattern, text):
            return found.group(1)
    begun = re.findall(r"\[ RUN      \] ([\w./]+)", text)
    return f"{begun[-1]} (ended without a word)" if begun else otherwise


def who_was_skipped(log: Path) -> str:
    """The first test that a log of ctest says was skipped, since what it needs is not here."""
    found = re.search(r"Test +#\d+: (\S+) \.*\**Skipped", log.read_text(encoding="utf-8", errors="replace"))
    return found.group(1) if found else ""


@dataclass
class Failure(Exception):
    """What a change was noticed by, which test would have and was skipped, or that it does not build."""

    step: str
    by: str = ""


@dataclass
class Tree:
    """A copy of the sources with a build of its own, which changes are planted in."""

    jobs: int
    sources: Path = WORK / "tree"
    build: Path = WORK / "build"
    usual: dict[str, float] = field(default_factory=dict)  # seconds that a command takes without a change

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

    def make(self, *targets: str) -> None:
        if targets and not run(["cmake", "--build", str(self.build), "--parallel", str(self.jobs), "--target", *targets], WORK / "build.log"):
            raise Failure("build")

    def try_tests(self, name: str, command: list[str]) -> None:
        begin = time.monotonic()
        limit = max(LEAST_SECONDS, 10 * self.usual.get(name, 3600.0))
        passed = run(command, WORK / "test.log", limit)
        self.usual.setdefault(name, time.monotonic() - begin)
        if not passed:
            raise Failure("test", who_noticed(WORK / "test.log", name))

    def try_program(self, name: str, wanted: str = "*") -> None:
        self.try_tests(name, [str(self.build / "bin" / name), f"--gtest_filter={wanted}", "--gtest_fail_fast"])

    def try_named(self, pattern: str, where_none: str = "error") -> None:
        self.try_tests("ctest", ["ctest", "--test-dir", str(self.build), "-R", pattern, "-j", str(self.jobs), "--stop-on-failure",
                                 f"--no-tests={where_none}", "--timeout", "60"])

    def try_killers(self, tests: Tests, killers: str) -> str:
        """Those of ctest need the libraries alone, as their programs are not changed; those of GoogleTest one program. That none has the name
        is no reason to stop. Returns one that was skipped."""
        if re.match(tests.named or "$.", killers):
            self.make(*tests.builds[:-1])
            self.try_named(killers, "ignore")
            return who_was_skipped(WORK / "test.log")
        if killers:
            program, _, wanted = killers.partition(":")
            self.make(program)
            self.try_program(program, wanted)
        return ""

    def try_all(self, tests: Tests) -> None:
        for program in tests.programs:
            self.make(program)
            self.try_program(program)
        if tests.named:
            self.make(*tests.builds)
            self.try_named(tests.named)


def copy_if_changed(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def state_of(mutant: Mutant, root: Path) -> str:
    return hashlib.sha256(mutant.planted((root / mutant.file).read_text(encoding="utf-8")).encode()).hexdigest()[:16]


def verdict(tree: Tree, mutant: Mutant) -> Verdict:
    path = tree.sources / mutant.file
    original = path.read_text(encoding="utf-8")
    begin = time.monotonic()
    path.write_text(mutant.planted(original), encoding="utf-8")
    try:
        skipped = tree.try_killers(mutant.tests(), mutant.killers)
        tree.try_all(mutant.tests())
        failure = Failure("skipped" if skipped else "", skipped)
    except Failure as caught:
        failure = caught
    finally:
        path.write_text(original, encoding="utf-8")
    found = {"build": "did not build", "test": "killed", "skipped": "killer skipped", "": "survived"}[failure.step]
    return Verdict(found, failure.by, round(time.monotonic() - begin, 1), state_of(mutant, tree.sources))


def read_results() -> dict[str, Verdict]:
    if not RESULTS.is_file():
        return {}
    return {name: Verdict(**entry) for name, entry in json.loads(RESULTS.read_text(encoding="utf-8")).items()}


def write_results(results: dict[str, Verdict]) -> None:
    partial = RESULTS.with_suffix(".partial")
    partial.write_text(json.dumps({name: vars(one) for name, one in sorted(results.items())}, indent=1) + "\n", encoding="utf-8")
    partial.replace(RESULTS)


def check(mutants: list[Mutant]) -> int:
    problems = [f"{mutant.name}: {mutant.problem(ROOT)}" for mutant in mutants if mutant.problem(ROOT)]
    names = [mutant.name for mutant in mutants]
    problems += [f"{name}: the name stands twice" for name in sorted({name for name in names if names.count(name) > 1})]
    print(*problems, f"{len(mutants)} changes, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


def passes_without(tree: Tree, mutants: list[Mutant]) -> None:
    for tests in sorted({mutant.tests() for mutant in mutants}, key=lambda one: (one.programs, one.named)):
        try:
            tree.try_all(tests)
        except Failure as failure:
            what = failure.by or ", ".join(tests.programs)
            sys.exit(f"mutants: without a change the {failure.step} of {what} fails, see {WORK}/{failure.step}.log")


def closing_table(mutants: list[Mutant], results: dict[str, Verdict]) -> int:
    """Of those asked for; prints who notices what, then what is left, then the counts."""
    found = {mutant.name: results.get(mutant.name, Verdict("not planted")) for mutant in mutants}
    by = Counter(re.split(r"[./]", one.by)[0] if "." in one.by else one.by for one in found.values() if one.found == "killed")
    print("\nkilled by")
    for name, count in sorted(by.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"  {count:4} {name}")
    for name, one in found.items():
        if one.found not in ("killed", "equivalent"):
            print(f"{one.found}: {name}")
    counts = Counter(one.found for one in found.values())
    equivalent, killed = counts.pop("equivalent", 0), counts.pop("killed", 0)
    planted = killed + counts.get("survived", 0)
    others = "".join(f", {count} {word}" for word, count in sorted(counts.items()) if word != "survived")
    share = f" ({100.0 * killed / planted:.1f} %)" if planted else ""
    print(f"{len(mutants)} changes: {planted} planted, {killed} killed{share}, {counts.get('survived', 0)} survived, {equivalent} equivalent{others}")
    return 0 if killed + equivalent == len(mutants) else 1


def plant(mutants: list[Mutant], options: argparse.Namespace) -> int:
    begin = time.monotonic()
    tree = Tree(options.jobs)
    tree.prepare()
    results = read_results()

    def is_known(mutant: Mutant) -> bool:
        known = results.get(mutant.name)
        return options.resume and known is not None and known.found == "killed" and known.state == state_of(mutant, tree.sources)

    wanted = []
    for mutant in sorted(mutants, key=lambda one: one.file):  # what was compiled for one is of use to the next of its file
        problem = mutant.problem(tree.sources)
        if mutant.equivalent or problem:
            results[mutant.name] = Verdict(problem or "equivalent")
        elif not is_known(mutant):
            results.pop(mutant.name, None)
            wanted.append(mutant)
    write_results(results)
    passes_without(tree, wanted)
    for mutant in wanted:
        if time.monotonic() - begin > options.seconds:
            break
        one = results[mutant.name] = verdict(tree, mutant)
        write_results(results)
        print(f"{one.found:14} {mutant.name}  {one.seconds:.0f} s{'  by ' + one.by if one.by else ''}", flush=True)
    return closing_table(mutants, results)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--resume", action="store_true", help="what was killed in a file as it is now is not planted again")
    parser.add_argument("--only", default="", help="changes in whose name this regular expression is found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=24 * 3600.0, help="no change is planted after these")
    options = parser.parse_args()
    mutants = [mutant for mutant in read_list() if re.search(options.only, mutant.name)]
    return check(mutants) if options.check else plant(mutants, options)


if __name__ == "__main__":
    sys.exit(main())
