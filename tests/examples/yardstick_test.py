"""The yardstick without a GPU and without torch: statistics, what is launched when, what is read back, the page."""

from __future__ import annotations

import json
import math
import os
import random
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
YARDSTICK = ROOT / "scripts" / "yardstick"
sys.path.insert(0, str(YARDSTICK))

import catalog  # noqa: E402
import decide  # noqa: E402
import launches  # noqa: E402
import nvml  # noqa: E402
import page  # noqa: E402
import session  # noqa: E402
import traces  # noqa: E402

DDP = catalog.chosen("ddp")[0]


class DecideTest(unittest.TestCase):
    def test_interval(self) -> None:
        # -2, -1, 0 %: mean -1, standard deviation 1, so its error is 1 / sqrt(3); 8.8602 of these are 5.1154 %.
        mean, low, high = decide.interval([-0.02, -0.01, 0.0])
        self.assertAlmostEqual(mean, -0.01)
        self.assertAlmostEqual(low, -0.061154, places=6)
        self.assertAlmostEqual(high, 0.041154, places=6)

    def test_quantiles(self) -> None:
        # Two degrees of freedom: (2p - 1) / sqrt(2 p (1 - p)) with p = 1 - 0.05 / 8 is 0.9875 / sqrt(0.012421875).
        self.assertAlmostEqual(decide.LOOKS[3], 0.9875 / math.sqrt(0.012421875), places=4)
        # Four: with a = 4 p (1 - p) and q = cos(arccos(sqrt(a)) / 3) / sqrt(a), it is 2 sqrt(q - 1).
        root = math.sqrt(4 * 0.99375 * 0.00625)
        self.assertAlmostEqual(decide.LOOKS[5], 2 * math.sqrt(math.cos(math.acos(root) / 3) / root - 1), places=4)
        self.assertEqual(list(decide.LOOKS), [3, 5, 8, 12])

    def test_verdicts(self) -> None:
        def said(low: float, high: float, measure: str = decide.STEP_TIME) -> str:
            return decide.said_of(decide.Change((low + high) / 2, low, high), measure)

        self.assertEqual(said(-0.02, -0.001), "faster")
        self.assertEqual(said(-0.02, 0.003), "not slower")
        self.assertEqual(said(0.001, 0.0029), "not slower")
        self.assertEqual(said(0.0031, 0.02), "slower")
        self.assertEqual(said(-0.02, 0.0031), "undecided")
        self.assertEqual(said(0.003, 0.0301), "undecided")
        # Less work for the host is not a faster step.
        self.assertEqual(said(-0.02, -0.001, decide.HOST_TIME), "not slower")
        self.assertEqual(decide.said_of(decide.Change(-0.5), decide.STEP_TIME), "undecided")

    def test_the_first_look_that_decides_decides(self) -> None:
        clear = [-0.0201, -0.02, -0.0199]
        verdict = decide.judge([*clear, 0.5], decide.STEP_TIME)
        self.assertEqual((verdict.pairs, verdict.verdict), (3, "faster"))
        self.assertAlmostEqual(verdict.change.estimate, math.expm1(-0.02))
        # Four pairs are one more than a look takes: the fourth is not looked at.
        verdict = decide.judge([-0.02, -0.01, 0.0, 0.4], decide.STEP_TIME)
        self.assertEqual((verdict.pairs, verdict.verdict), (3, "undecided"))
        self.assertAlmostEqual(verdict.change.estimate, math.expm1(-0.01))
        self.assertEqual(decide.judge([], decide.STEP_TIME), decide.Verdict("step time", 0, None, "undecided"))
        self.assertIsNone(decide.judge([-0.02, -0.02], decide.STEP_TIME).change.low)

    def test_values(self) -> None:
        # Medians 40 and 38.
        self.assertAlmostEqual(decide.step_time_value([40.0, 41.0, 39.0], [38.0, 99.0, 1.0]), math.log(0.95))
        # 0.2 ms more CPU time in a step of 40 ms.
        self.assertAlmostEqual(decide.host_time_value([10.0, 10.0], [10.2, 10.2], [40.0]), 0.005)
        self.assertAlmostEqual(decide.idle_share(30.0, [40.0]), 0.25)
        self.assertEqual(decide.idle_share(41.0, [40.0]), 0.0)
        self.assertIsNone(decide.idle_share(None, [40.0]))


def noise(kind: str, generator: random.Random) -> list[float]:
    """Twelve values of pairs that differ by nothing but noise of about 0.5 %."""
    if kind == "normal":
        return [generator.gauss(0, 0.005) for _ in range(12)]
    if kind == "heavy tails":  # Student's t with three degrees of freedom
        return [0.003 * generator.gauss(0, 1) / math.sqrt(generator.gammavariate(1.5, 2) / 3) for _ in range(12)]
    if kind == "two speeds":  # a launch in five is 2 % slower or faster
        return [generator.gauss(0, 0.002) + 0.02 * generator.choice((-1, 0, 0, 0, 0, 0, 0, 0, 0, 1)) for _ in range(12)]
    drift = generator.gauss(0, 0.001)  # the machine grows slower from launch to launch: the second of a pair pays, in turns
    return [generator.gauss(0, 0.003) + (drift if number % 2 else -drift) for number in range(12)]


class ErrorRateTest(unittest.TestCase):
    TRIALS = 4000

    def rate(self, kind: str, shift: float, wrong: tuple[str, ...]) -> float:
        generator = random.Random(f"{kind} {shift}")
        verdicts = [
            decide.judge([value + shift for value in noise(kind, generator)], decide.STEP_TIME).verdict for _ in range(self.TRIALS)
        ]
        return sum(verdict in wrong for verdict in verdicts) / self.TRIALS

    def test_equal_programs_are_seldom_called_different(self) -> None:
        for kind in ("normal", "heavy tails", "two speeds", "drift"):
            with self.subTest(kind):
                self.assertLessEqual(self.rate(kind, 0.0, (decide.FASTER, decide.SLOWER)), 0.05)

    def test_a_slower_program_seldom_passes(self) -> None:
        # Slower by just more than the bound: only one side can err, 2.5 %; 0.5 % for the error of 4,000 trials.
        for kind in ("normal", "heavy tails", "drift"):
            with self.subTest(kind):
                self.assertLessEqual(self.rate(kind, math.log1p(decide.BOUND) + 1e-6, decide.PASSING), 0.03)

    def test_the_simulation_can_fail(self) -> None:
        # One interval's 97.5 % quantile at every look, as if there were one look, errs more often than it says.
        greedy = {3: 4.303, 5: 2.776, 8: 2.365, 12: 2.201}
        with mock.patch.object(decide, "LOOKS", greedy):
            self.assertGreater(self.rate("normal", math.log1p(decide.BOUND) + 1e-6, decide.PASSING), 0.03)

    def test_a_gain_is_found(self) -> None:
        # Some end as "not slower", which is known before "faster" is.
        self.assertGreater(self.rate("normal", -0.02, decide.PASSING), 0.99)
        self.assertGreater(self.rate("normal", -0.02, (decide.FASTER,)), 0.85)


class EnergyTest(unittest.TestCase):
    # A counter that moves every 0.1 s by 70 J at 700 W, read twice as often.
    ROWS = [(0.05 * at, (70_000 * (at // 2), 35_000 * (at // 2))) for at in range(81)]

    def test_joules_of_a_step(self) -> None:
        # 1.0..3.5 s: 25 moves; 1,750 J and 875 J over 50 steps are 52.5 J.
        self.assertEqual(nvml.per_step(self.ROWS, [1.0, 3.5], 50), {"joules": 52.5})
        # Between two moves the counter lies on a line: 2.55 s of 700 and 350 W.
        self.assertEqual(nvml.per_step(self.ROWS, [1.0, 3.55], 1), {"joules": 2677.5})

    def test_why_there_are_none(self) -> None:
        self.assertEqual(
            nvml.per_step(self.ROWS, [1.0, 2.04], 20), {"no_joules": "the counter moved 11 times in 1.0 s, expected at least 20"}
        )
        self.assertIn("when its timed steps", nvml.per_step(self.ROWS, None, 1)["no_joules"])
        self.assertIn("not read", nvml.per_step([], [0.0, 9.0], 1)["no_joules"])
        self.assertIn("lies outside", nvml.per_step(self.ROWS, [1.0, 9.0], 1)["no_joules"])


class ProtocolTest(unittest.TestCase):
    def test_the_last_line_with_steps_counts(self) -> None:
        output = 'NCCL version 2\n{"steps_ms": [1.0]}\n{"steps_ms": [2.0], "loss": 3.0}\n{"of": "a library"}\n{broken\n'
        self.assertEqual(launches.line_of(output), {"steps_ms": [2.0], "loss": 3.0})
        self.assertIsNone(launches.line_of("step 1: 2 ms\n"))

    def test_the_raw_program(self) -> None:
        line = launches.line_of('{"example": "raw_overlap", "modes": {"plain": {"ms": [5.0, 6.0], "digest": "ab"}}}\n')
        self.assertEqual((line["steps_ms"], line["digest"]), ([5.0, 6.0], "ab"))

    def test_reasons(self) -> None:
        self.assertEqual(launches.reason_of(77, "noise\nskipped: no GPU\n"), "no GPU")
        errors = "[rank0]: ValueError: first\n[rank1]: torch.OutOfMemoryError: CUDA out of memory\nmore\n"
        self.assertEqual(launches.reason_of(1, errors), "exit code 1: torch.OutOfMemoryError: CUDA out of memory")
        self.assertEqual(launches.reason_of(139, ""), "exit code 139")

    def test_busy_time_of_a_trace(self) -> None:
        def event(category: str, begin: float, length: float) -> dict[str, Any]:
            return {"ph": "X", "cat": category, "name": "k", "ts": begin, "dur": length}

        # 0..3 and 2..5 ms overlap, 7..8 is apart, the host's own time does not count: 6 ms in 3 steps.
        events = [event("kernel", 0, 3000), event("gpu_memcpy", 2000, 3000), event("kernel", 7000, 1000), event("cpu_op", 0, 9000)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            path.write_text(json.dumps({"traceEvents": events}))
            self.assertEqual(traces.busy_ms(path), 2.0)
            self.assertIsNone(traces.busy_ms(Path(folder) / "absent"))


class CatalogTest(unittest.TestCase):
    def test_every_program_is_there(self) -> None:
        for program in catalog.CATALOG:
            if program.script:
                self.assertTrue((catalog.PROGRAMS / program.script).exists(), program.name)

    def test_arms(self) -> None:
        arms = catalog.arms_of(DDP, "NCCL_MIN_CTAS=16,NCCL_MAX_CTAS=16", ["", "--policy=gate+--sm-target=108"])
        self.assertEqual([arm.name for arm in arms], ["plain", "run", "run --policy=gate --sm-target=108", "local", "nccl", "own"])
        self.assertEqual(arms[4].environment, {"NCCL_MIN_CTAS": "16", "NCCL_MAX_CTAS": "16"})
        self.assertEqual(arms[2].elbowroom, ("--policy=gate", "--sm-target=108"))

    def test_bad_names(self) -> None:
        with self.assertRaisesRegex(ValueError, "--programs: 'dpp', expected some of ddp, moe"):
            catalog.chosen("ddp,dpp")
        with self.assertRaisesRegex(ValueError, "--nccl: 'MIN=1', expected NCCL_NAME=VALUE"):
            catalog.settings_of("MIN=1")

    def test_programs_know_nothing_of_elbowroom(self) -> None:
        for path in catalog.PROGRAMS.glob("*.py"):
            code = [line for line in path.read_text().splitlines() if "elbowroom" in line.lower() and not line.startswith("Nothing")]
            self.assertEqual(code, [], path.name)


def record(program: str, arm: str, number: int, ms: float, **more: Any) -> dict[str, Any]:
    return {"program": program, "arm": arm, "round": number, "steps_ms": [ms], "cpu_ms": [10.0], "seconds": 1.0} | more


class SessionTest(unittest.TestCase):
    def session(self, run_ms: Any, document: dict[str, Any] | None = None, most: int = 12) -> tuple[session.Session, list[str]]:
        """A session whose plain steps take 100 ms; what is launched is listed."""
        listed: list[str] = []

        def launch(program: catalog.Program, arm: catalog.Arm, traced: bool) -> dict[str, Any]:
            listed.append(arm.name + ("+trace" if traced else ""))
            ms = run_ms(listed.count("run")) if arm.name == "run" else 100.0
            if isinstance(ms, str):
                return {"program": program.name, "arm": arm.name, "seconds": 1.0, "failure": ms}
            return record(program.name, arm.name, 0, ms, **({"busy_ms": 99.0} if traced else {}))

        arms = lambda program: catalog.arms_of(program, "", [""])  # noqa: E731
        return session.Session(document or session.new_document({}), launch, arms, most, 1), listed

    def test_rounds_end_when_it_is_decided(self) -> None:
        running, listed = self.session(lambda number: 98.0 + 0.01 * number)
        records = list(running.launches([DDP], math.inf))
        # Three pairs, who is first in turns; the other arms once, in the first round; the trace once.
        self.assertEqual(listed, ["plain+trace", "run", "local", "own", "run", "plain", "plain", "run"])
        self.assertEqual([entry["round"] for entry in records], [0, 0, 0, 0, 1, 1, 2, 2])
        (verdict,) = running.document["verdicts"]
        self.assertEqual((verdict["verdict"], verdict["pairs"], verdict["measure"]), ("faster", 3, "step time"))

    def test_what_is_not_decided_goes_on_to_twelve(self) -> None:
        running, listed = self.session(lambda number: 100.0 + (-1) ** number)
        list(running.launches([DDP], math.inf))
        self.assertEqual((listed.count("run"), running.document["verdicts"][0]["verdict"]), (12, "undecided"))

    def test_a_program_is_measured_where_it_was_stopped(self) -> None:
        running, _ = self.session(lambda number: 98.0 + 0.01 * number)
        document = running.document
        for at, _ in enumerate(running.launches([DDP], math.inf)):
            if at == 4:  # plain, run, local, own, run
                break
        running, listed = self.session(lambda number: 98.02 + 0.01 * number, document)
        list(running.launches([DDP], math.inf))
        self.assertEqual(listed, ["plain", "plain", "run"])

    def test_no_round_begins_when_the_time_is_over(self) -> None:
        running, listed = self.session(lambda number: 98.0)
        self.assertEqual((list(running.launches([DDP], time.monotonic())), listed), ([], []))

    def test_an_arm_that_fails_is_left_out_and_named(self) -> None:
        running, listed = self.session(lambda number: "exit code 1")
        list(running.launches([DDP], math.inf))
        self.assertEqual(listed.count("run"), 2)
        self.assertEqual(running.document["excluded"], [{"program": "ddp", "arm": "run", "reason": "exit code 1"}])

    def test_a_failed_pair_is_repeated(self) -> None:
        running, listed = self.session(lambda number: "exit code 1" if number == 2 else 98.0 + 0.01 * number)
        list(running.launches([DDP], math.inf))
        self.assertEqual(listed.count("run"), 4)
        self.assertEqual(running.document["verdicts"][0]["verdict"], "faster")
        self.assertEqual(page.verdict_text(running.document, running.document["verdicts"][0]), "**failed**: 1 of 4 launches")

    def test_host_bound_programs_are_judged_by_host_time(self) -> None:
        document = session.new_document({})
        for number in range(3):
            document["launches"].append(record("ddp", "plain", number, 100.0, busy_ms=80.0))
            # A tenth slower, as launches of such a program differ, with 0.1 ms more CPU time.
            document["launches"].append(record("ddp", "run", number, 110.0, cpu_ms=[10.1 + 0.001 * number]))
        verdict = session.verdict_of(document, "ddp", "run")
        self.assertEqual((verdict.measure, verdict.verdict), ("host time", "not slower"))
        self.assertAlmostEqual(verdict.change.estimate, 0.00101)

    def test_documents(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "y.json"
            document = session.resumed(path, {"gpus": 2})
            session.save(document, path)
            self.assertEqual(session.resumed(path, {"gpus": 2}), document)
            self.assertEqual(os.listdir(folder), ["y.json"])
            with self.assertRaisesRegex(session.Refused, "gpus was 2, now 4; expected the same, or another file"):
                session.resumed(path, {"gpus": 4})
            path.write_text('{"schema": "mine"}')
            with self.assertRaisesRegex(session.Refused, "schema is not elbowroom.yardstick/1"):
                session.resumed(path, {"gpus": 2})
            self.assertEqual(path.read_text(), '{"schema": "mine"}')
            path.write_text("{broken")
            with self.assertRaisesRegex(session.Refused, "expected a document of the yardstick or no file"):
                session.resumed(path, {"gpus": 2})


PAGE = """# The yardstick

Measured on 2 x GPU; torch 2.11; 60 timed steps a launch. NCCL's settings: NCCL_MIN_CTAS=16.

Change of a step's time against plain, in percent: median over launches (least..greatest). `decides`: with its 95 % interval.

| program | local ms | plain ms | NCCL's settings | own switch | `run` | change | decides | verdict |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ddp | 80.00 | 100.00 | -1.0 (-1.0..-1.0) | does not run | default | -2.0 (-2.1..-1.9) | -2.0 (-2.5..-1.5), 3 pairs | **faster** |

| program | `run` | idle % | CPU ms added | mean step % | J plain | J `run` | launches |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ddp | default | 5 | +0.50 | -2.0 | 50.0 | - | 3 |

Does not run: ddp, own: exit code 1.

Does not run: raw_overlap: no binary.

No joules in a launch of ddp: short.
"""


class PageTest(unittest.TestCase):
    def test_golden(self) -> None:
        settings = {"gpus": 2, "steps": 60, "nccl": "NCCL_MIN_CTAS=16"}
        document = session.new_document(settings) | {"machine": {"device": "GPU", "versions": {"torch": "2.11"}}}
        for number, ms in enumerate((97.9, 98.0, 98.1)):
            document["launches"].append(record("ddp", "plain", number, 100.0, busy_ms=95.0, joules=50.0))
            document["launches"].append(record("ddp", "run", number, ms, cpu_ms=[10.5], no_joules="short"))
        document["launches"] += [record("ddp", "local", 0, 80.0), record("ddp", "nccl", 0, 99.0)]
        document["excluded"] = [
            {"program": "ddp", "arm": "own", "reason": "exit code 1"},
            {"program": "raw_overlap", "arm": "plain", "reason": "no binary"},
        ]
        # Logarithms -0.021224, -0.020203, -0.019183: deviation 0.0010204, half 8.8602 * 0.0010204 / sqrt(3) = 0.00522.
        verdict = session.verdict_of(document, "ddp", "run")
        change = {"estimate": verdict.change.estimate, "low": verdict.change.low, "high": verdict.change.high}
        document["verdicts"] = [
            {"program": "ddp", "arm": "run", "measure": verdict.measure, "pairs": 3, "change": change, "verdict": verdict.verdict},
            {"program": "raw_overlap", "arm": "run", "measure": "step time", "pairs": 0, "change": None, "verdict": "undecided"},
        ]
        self.assertEqual(page.markdown(document), PAGE)


FAKE_PROGRAM = """
import json, os, sys, time
if os.environ.get("RANK", "0") != "0": sys.exit(0)
if os.environ.get("HANG") == os.environ.get("FAKE_ARM", "plain"): time.sleep(60)
ms = 98.0 if "FAKE_ARM" in os.environ else 100.0
print(json.dumps({"steps_ms": [ms + time.time() % 1e-3] * 3, "cpu_ms": [1.0] * 3, "device": "fake", "versions": {"torch": "0"}}))
"""
# `elbowroom run --report FILE -- COMMAND...`
FAKE_ELBOWROOM = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift\nFAKE_ARM=run exec \"$@\"\n"


class CommandTest(unittest.TestCase):
    """The command itself, with a program and an `elbowroom` that only look like theirs."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for path in (YARDSTICK, catalog.PROGRAMS, catalog.LAUNCHER.parent):
            target = self.folder / path.relative_to(ROOT)
            target.mkdir(parents=True)
            for file in path.glob("*.py"):
                (target / file.name).write_text(file.read_text())
        (self.folder / "examples" / "programs" / "ddp.py").write_text(FAKE_PROGRAM)
        self.elbowroom = self.folder / "elbowroom"
        self.elbowroom.write_text(FAKE_ELBOWROOM)
        self.elbowroom.chmod(self.elbowroom.stat().st_mode | stat.S_IXUSR)

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", str(self.folder / "scripts" / "yardstick"), "--elbowroom", str(self.elbowroom), "--gpus", "2"]
        command += ["--programs", "ddp", "--json", str(self.folder / "y.json"), *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ) | environment
        )

    def test_from_launch_to_page(self) -> None:
        done = self.command("--page", str(self.folder / "y.md"))
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "y.json").read_text())
        self.assertEqual(document["verdicts"][0]["verdict"], "faster")
        self.assertIn("| ddp | 100.00 | 100.00 |", (self.folder / "y.md").read_text())
        self.assertNotIn(str(self.folder), json.dumps([entry["command"][1:] for entry in document["launches"]][0]))
        # A second call has nothing left to do.
        begun = len(document["launches"])
        self.assertEqual(self.command().returncode, 0)
        self.assertEqual(len(json.loads((self.folder / "y.json").read_text())["launches"]), begun)

    def test_a_launch_that_hangs_under_run(self) -> None:
        done = self.command("--timeout", "1", "--others", "1", HANG="run")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Does not run: ddp, run: took longer than 1 s.", done.stdout)

    def test_smoke(self) -> None:
        done = self.command("--smoke", "--seconds", "60")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("4 of 4 launched, 0 failed", done.stdout)

    def test_bad_input(self) -> None:
        for arguments, message in (
            (["--programs", "dpp"], "yardstick: --programs: 'dpp', expected some of"),
            (["--steps", "0"], "yardstick: --steps: 0, expected 1 or more"),
            (["--elbowroom", "/nowhere"], "yardstick: --elbowroom: '/nowhere' is no program"),
            (["--nccl", "x"], "yardstick: --nccl: 'x', expected NCCL_NAME=VALUE"),
        ):
            done = self.command(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertTrue(done.stderr.startswith(message), done.stderr)


if __name__ == "__main__":
    unittest.main()
