"""The yardstick without a GPU and without torch: what is launched when, what is read back, the page."""

from __future__ import annotations

import json
import math
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
YARDSTICK = ROOT / "scripts" / "yardstick"
sys.path.insert(0, str(YARDSTICK))

import catalog  # noqa: E402
import launches  # noqa: E402
import nvml  # noqa: E402
import page  # noqa: E402
import session  # noqa: E402
import traces  # noqa: E402

DDP = catalog.chosen("ddp")[0]


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

    def test_programs_that_print_for_people(self) -> None:
        output = "step 1/4 | loss 10.9 | 72.50 ms | 1,000 tok/s\nstep 2/4 | loss 9 | 70.25 ms | 2,000 tok/s\n"
        self.assertEqual(launches.own_steps(output, r"\| (?P<ms>[\d.]+) ms", 0), {"steps_ms": [72.5, 70.25]})
        self.assertEqual(launches.own_steps(output, r"\| (?P<ms>[\d.]+) ms", 1), {"steps_ms": [70.25]})
        # 1,000 and 2,000 a second: what takes 1 ms and half of it.
        self.assertEqual(launches.own_steps(output, r"(?P<per_second>[\d,]+) tok", 0), {"steps_ms": [1.0, 0.5]})
        self.assertIsNone(launches.own_steps(output, r"(?P<ms>[\d.]+) ms", 2))
        self.assertIsNone(launches.own_steps("0.00 ms", r"(?P<ms>[\d.]+) ms", 0))

    def test_reasons(self) -> None:
        self.assertEqual(launches.reason_of(77, "noise\nskipped: no GPU\n"), "no GPU")
        errors = "[rank0]: ValueError: first\n[rank1]: torch.OutOfMemoryError: CUDA out of memory\nmore\n"
        self.assertEqual(launches.reason_of(1, errors), "exit code 1: torch.OutOfMemoryError: CUDA out of memory")
        self.assertEqual(launches.reason_of(139, ""), "exit code 139")

    def test_busy_time_of_a_trace(self) -> None:
        def event(category: str, begin: float, length: float) -> dict[str, Any]:
            return {"ph": "X", "cat": category, "name": "k", "ts": begin, "dur": length}

        # 0..3 and 2..5 ms overlap, 7..8 is apart, the host's own time does not count: 6 ms in 6 steps.
        events = [event("kernel", 0, 3000), event("gpu_memcpy", 2000, 3000), event("kernel", 7000, 1000), event("cpu_op", 0, 9000)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            path.write_text(json.dumps({"traceEvents": events}))
            self.assertEqual(traces.busy_ms(path), 1.0)
            self.assertIsNone(traces.busy_ms(Path(folder) / "absent"))
            # A profiler that may not see the GPU records the host alone: that is no idle GPU.
            path.write_text(json.dumps({"traceEvents": events[3:]}))
            self.assertIsNone(traces.busy_ms(path))

    def test_a_collective_that_waits_for_a_late_rank_is_not_busy(self) -> None:
        def trace(collectives: list[tuple[float, float]]) -> str:
            events = [{"ph": "X", "cat": "kernel", "name": "gemm", "ts": 10_000.0 * step, "dur": 2_000.0} for step in range(6)]
            names = ["ncclDevKernel_AllReduce", "ncclDevKernel_AllGather"]
            for at, (begin, length) in enumerate(collectives):
                events.append({"ph": "X", "cat": "kernel", "name": names[at % 2], "ts": begin, "dur": length})
            return json.dumps({"traceEvents": events})

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            # In each step an all-reduce and a gather behind 2 ms of compute. They take 5 and 3 ms of rank 0, which waits; of rank 1 in its
            # quickest steps 1 and 0.5. So 2 + 1 + 0.5 ms of a step are busy, where rank 0 alone says 2 + 5 + 3.
            steps = range(6)
            waits = ((2_000.0, 5_000.0), (7_000.0, 3_000.0))
            path.write_text(trace([(10_000.0 * step + begin, length) for step in steps for begin, length in waits]))
            self.assertEqual(traces.busy_ms(path), 10.0)
            late = [(10_000.0 * step + 6_000.0, 1_000.0 + 100.0 * step) for step in steps]
            gathers = [(10_000.0 * step + 9_500.0, 1_000.0 - 100.0 * step) for step in steps]
            Path(f"{path}.rank1").write_text(trace([each for pair in zip(late, gathers, strict=True) for each in pair]))
            self.assertEqual(traces.busy_ms(path), 3.5)
            # A rank that communicates in another way says nothing.
            Path(f"{path}.rank1").write_text(trace(late))
            self.assertEqual(traces.busy_ms(path), 10.0)



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


class CallTest(unittest.TestCase):
    def test_a_page_names_its_commands_without_the_places_of_files(self) -> None:
        call = session.call_of(["--steps", "9", "--json", "/a/b", "--page=/c", f"--elbowroom={ROOT}/build/elbowroom", "--run", "x y"])
        self.assertEqual(call, "python3 scripts/yardstick --steps 9 --elbowroom=build/elbowroom --run 'x y'")


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

    def test_no_launch_begins_when_the_time_is_over(self) -> None:
        running, listed = self.session(lambda number: 98.0)
        self.assertEqual((list(running.launches([DDP], time.monotonic())), listed), ([], []))
        # Within a round too; the next call goes on in it.
        ends_at = time.monotonic() + 0.2
        for _ in running.launches([DDP], ends_at):
            time.sleep(0.15)
        self.assertEqual(listed, ["plain+trace", "run"])

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

    python3 scripts/yardstick --others 1

Change of a step's time against plain, in percent: median over launches (least..greatest). `decides`: with its 95 % interval.

| program | local ms | plain ms | NCCL's settings | own switch | `run` | change | decides | verdict |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ddp | 80.00 | 100.00 | -1.0 (-1.0..-1.0) | does not run | default | -2.0 (-2.1..-1.9) | -2.0 (-3.1..-1.4), 3 pairs | **faster** |

| program | `run` | idle % | CPU ms added | mean step % | J plain | J `run` | ended with |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| ddp | default | 5 | +0.50 | -2.0 | 50.0 | - | 2 x gate / plain (comparing), 1 x no choice |

Does not run: ddp, own: exit code 1.

Does not run: raw_overlap: no binary.

No joules in a launch of ddp: short.
"""


class PageTest(unittest.TestCase):
    def test_golden(self) -> None:
        settings = {"gpus": 2, "steps": 60, "nccl": "NCCL_MIN_CTAS=16"}
        document = session.new_document(settings) | {"machine": {"device": "GPU", "versions": {"torch": "2.11"}}}
        document["calls"] = ["python3 scripts/yardstick --others 1"]
        for number, ms in enumerate((97.9, 98.0, 98.1)):
            document["launches"].append(record("ddp", "plain", number, 100.0, busy_ms=95.0, joules=50.0))
            ab = [{"state": "trying", "arm": "plain"}, {"state": "settled", "arm": "gate"}, {"state": "waiting", "arm": "none"}]
            report = {"ab": ab} if number else None
            document["launches"].append(record("ddp", "run", number, ms, cpu_ms=[10.5], no_joules="short", report=report))
        document["launches"] += [record("ddp", "local", 0, 80.0), record("ddp", "nccl", 0, 99.0)]
        document["excluded"] = [
            {"program": "ddp", "arm": "own", "reason": "exit code 1"},
            {"program": "raw_overlap", "arm": "plain", "reason": "no binary"},
        ]
        # Logarithms -0.021224, -0.020203, -0.019183: deviation 0.0010204, its error 0.00058914. 9.9248 of these above are -0.014356,
        # 19.9625 below -0.031964: -1.43 and -3.15 %.
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
if "--trace" in sys.argv and "HANG_TRACE" in os.environ: import atexit; atexit.register(time.sleep, 60)
ms = 98.0 if "FAKE_ARM" in os.environ else 100.0
line = {"steps_ms": [ms + time.time() % 1e-3] * 3, "cpu_ms": [1.0] * 3, "device": "fake", "versions": {"torch": "0"}}
print(json.dumps(line), flush=True)
"""
# `elbowroom run --report FILE -- COMMAND...`
FAKE_ELBOWROOM = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift\nFAKE_ARM=run exec \"$@\"\n"


class CommandTest(unittest.TestCase):
    """The command itself, with a program and an `elbowroom` that only look like theirs."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for path in (YARDSTICK, catalog.PROGRAMS, catalog.LAUNCHER.parent, ROOT / "python" / "elbowroom"):
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

    def test_times_stand_without_a_trace(self) -> None:
        done = self.command("--timeout", "3", "--others", "1", HANG_TRACE="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| ddp | default | - |", done.stdout)

    def test_a_command_of_the_users(self) -> None:
        program = self.folder / "mine.sh"
        program.write_text('for i in 1 2 3; do echo "step $i | ${FAKE_ARM:-plain} | $([ -n "$FAKE_ARM" ] && echo 98.$i || echo 100.$i) ms"; done\n')
        pair = ["--programs", "", "--command", f"mine=bash {program}", "--step", r"\| (?P<ms>[\d.]+) ms"]
        done = self.command(*pair, "--skip", "1", "--nccl", "")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "y.json").read_text())
        self.assertEqual(document["launches"][0]["steps_ms"], [100.2, 100.3])
        self.assertEqual([(verdict["program"], verdict["verdict"]) for verdict in document["verdicts"]], [("mine", "faster")])
        self.assertEqual({record["arm"] for record in document["launches"]}, {"plain", "run"})
        self.assertIn("| mine | - | 100.25 |", done.stdout)
        # Another expression, another measurement.
        done = self.command(*pair[:-1], r"(?P<ms>[\d.]+) ms", "--skip", "1", "--nccl", "")
        self.assertEqual((done.returncode, done.stderr.count("expected the same, or another file")), (2, 1), done.stderr)

    def test_a_command_that_prints_something_else(self) -> None:
        done = self.command("--programs", "", "--command", "mine=echo no times", "--step", "(?P<ms>[0-9]+) ms", "--nccl", "")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("Does not run: mine: --step finds nothing in what it printed.", done.stdout)

    def test_smoke(self) -> None:
        done = self.command("--smoke", "--seconds", "60")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("4 of 4 launched, 0 failed", done.stdout)
        done = self.command("--smoke", "--arms", "local,own", "--jobs", "1")
        self.assertEqual([line.split()[3] for line in done.stdout.splitlines()[:2]], ["local", "own"])

    def test_bad_input(self) -> None:
        for arguments, message in (
            (["--programs", "dpp"], "yardstick: --programs: 'dpp', expected some of"),
            (["--steps", "0"], "yardstick: --steps: 0, expected 1 or more"),
            (["--elbowroom", "/nowhere"], "yardstick: --elbowroom: '/nowhere' is no program"),
            (["--smoke", "--arms", "nccl"], "yardstick: --arms: 'nccl', expected some of plain, run, own, local"),
            (["--programs", "", "--command", "x"], "yardstick: --command: 'x', expected NAME=COMMAND"),
            (["--programs", "", "--command", "ddp=x"], "yardstick: --command: 'ddp=x', expected NAME=COMMAND"),
            (["--programs", "", "--command", "a=x", "--step", "("], "yardstick: --step: '(': "),
            (["--programs", "", "--command", "a=x", "--step", "ms"], "yardstick: --step: 'ms', expected an expression"),
            (["--command", "a=x", "--step", "(?P<ms>1)"], "yardstick: --programs: 'ddp', expected nothing beside --command"),
            (["--skip", "-1"], "yardstick: --skip: -1, expected 0 or more"),
            (["--nccl", "x"], "yardstick: --nccl: 'x', expected NCCL_NAME=VALUE"),
        ):
            done = self.command(*arguments)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
            self.assertTrue(done.stderr.startswith(message), done.stderr)


if __name__ == "__main__":
    unittest.main()
