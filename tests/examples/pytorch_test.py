"""What the PyTorch examples compute without torch: statistics, kernel classes, documents and tables, the launcher."""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pytorch"
sys.path.insert(0, str(EXAMPLES))

import compare  # noqa: E402
import comparison_report  # noqa: E402
import kernel_records  # noqa: E402
import summary  # noqa: E402


class SummaryTest(unittest.TestCase):
    def test_median_and_interval(self) -> None:
        interval = summary.median_interval([3.0, 1.0, 2.0, 10.0, 2.0])
        self.assertEqual(interval.estimate, 2.0)
        self.assertLessEqual(interval.low, 2.0)
        self.assertGreaterEqual(interval.high, 3.0)  # 10 is drawn often enough to move the upper end

    def test_equal_trials_have_no_width(self) -> None:
        self.assertEqual(summary.median_interval([4.0] * 7), summary.Interval(4.0, 4.0, 4.0))

    def test_same_seed_same_interval(self) -> None:
        values = [1.0, 5.0, 2.0, 8.0, 3.0, 9.0]
        self.assertEqual(summary.median_interval(values, seed=3), summary.median_interval(values, seed=3))

    def test_interval_covers_the_true_median(self) -> None:
        generator = random.Random(7)
        covered = 0
        for trial in range(40):
            values = [generator.gauss(10.0, 1.0) for _ in range(30)]
            interval = summary.median_interval(values, seed=trial)
            covered += interval.low <= 10.0 <= interval.high
        self.assertGreaterEqual(covered, 34)  # 38 expected

    def test_differences(self) -> None:
        slow, fast = [12.0, 12.1, 12.2, 12.1], [10.0, 10.1, 10.0, 10.2]
        self.assertEqual(summary.verdict(summary.difference_interval(slow, fast)), "slower")
        self.assertEqual(summary.verdict(summary.difference_interval(fast, slow)), "faster")
        self.assertEqual(summary.verdict(summary.difference_interval(fast, fast)), "undecided")
        self.assertAlmostEqual(summary.difference_interval([3.0], [1.0]).estimate, 2.0)

    def test_no_trials_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "expected at least 1"):
            summary.median_interval([])

    def test_text(self) -> None:
        self.assertEqual(summary.Interval(1.234, 1.0, 2.0).text(), "1.23 (1.00..2.00)")
        self.assertEqual(summary.Interval(1.234, -1.0, 2.0).text(sign=True), "+1.23 (-1.00..+2.00)")

    def test_markdown(self) -> None:
        table = summary.markdown_table(["", "a", "b"], [["x", "1", "2"]])
        self.assertEqual(table, "|  | a | b |\n| --- | ---: | ---: |\n| x | 1 | 2 |\n")
        with self.assertRaisesRegex(ValueError, "1 cells, expected 2"):
            summary.markdown_table(["", "a"], [["x"]])


def record(name: str, begin: float, end: float) -> kernel_records.KernelRecord:
    return kernel_records.KernelRecord(name, begin, end)


class KernelRecordsTest(unittest.TestCase):
    def test_classes(self) -> None:
        for name, kind in (
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
            ("nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NNT", "gemm"),
            ("sm90_xmma_gemm_bf16bf16_bf16f32", "gemm"),
            ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", "attention"),
            ("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernel>", "elementwise"),
            ("triton_per_fused_gelu_native_layer_norm_0", "elementwise"),
            ("Memcpy DtoD (Device -> Device)", "copy"),
            ("Memcpy PtoP (Device -> Device)", "communication"),
            ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>", "copy"),
        ):
            self.assertEqual(kernel_records.kernel_class(name), kind, name)

    def test_trace(self) -> None:
        trace = {
            "traceEvents": [
                {"ph": "X", "cat": "kernel", "name": "a", "ts": 10.0, "dur": 5.0},
                {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "ts": "20", "dur": 1},
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2},
                {"ph": "M", "name": "process_name"},
            ]
        }
        self.assertEqual(kernel_records.records_of_trace(trace), [record("a", 10, 15), record("Memcpy DtoD", 20, 21)])

    def test_union_and_outside(self) -> None:
        self.assertEqual(kernel_records.union([(5, 6), (0, 2), (1, 3), (3, 4)]), [(0, 4), (5, 6)])
        # Of 0..10 and 12..14 the covers 2..4, 8..13 and 20..30 leave 0..2, 4..8 and 13..14.
        self.assertEqual(kernel_records.outside([(0, 10), (12, 14)], [(2, 4), (8, 13), (20, 30)]), 7)
        self.assertEqual(kernel_records.outside([(0, 1)], []), 1)
        # One cover over two spans.
        self.assertEqual(kernel_records.outside([(0, 2), (3, 5)], [(1, 4)]), 2)

    def test_breakdown(self) -> None:
        records = [record("nvjet_a", 0, 4000), record("ncclDevKernel_AllReduce", 3000, 9000), record("gelu", 5000, 6000)]
        found = kernel_records.breakdown(records, steps=2)
        self.assertEqual(found["gemm"], 2.0)
        self.assertEqual(found["elementwise"], 0.5)
        self.assertEqual(found["communication"], 3.0)
        self.assertEqual(found["exposed_communication"], 2.0)  # 4000..5000 and 6000..9000, two steps
        self.assertEqual(found["compute_busy"], 2.5)
        self.assertEqual(found["copy"], 0.0)
        with self.assertRaisesRegex(ValueError, "steps: 0"):
            kernel_records.breakdown(records, steps=0)

    def test_inflation_leaves_communication_out(self) -> None:
        alone = kernel_records.breakdown([record("nvjet_a", 0, 3000)], 1)
        beside = kernel_records.breakdown([record("nvjet_a", 0, 4000), record("ncclDevKernel", 0, 1)], 1)
        self.assertEqual(kernel_records.inflation(beside, alone), {"attention": 0.0, "gemm": 1.0, "copy": 0.0, "elementwise": 0.0})


KERNELS = {"communication": 2.0, "attention": 1.0, "gemm": 5.0, "copy": 0.0, "elementwise": 2.0}
BESIDE = KERNELS | {"gemm": 6.0, "exposed_communication": 0.5, "compute_busy": 9.0}
ALONE = KERNELS | {"communication": 0.0, "exposed_communication": 0.0, "compute_busy": 8.0}
RUN = {
    "schema": "elbowroom.run/1",
    "processes": [
        {"pid": 1, "ab": {"state": "settled", "arm": "priority, gate"}},
        {"pid": 2, "ab": {"state": "off", "arm": "plain"}},
        {"pid": 3},
    ],
    "total": {
        "launches": {"total": 9},
        "collectives": [],
        "kernels": ["many"],
        "applied": {"priority": 8, "gate": 4, "shape": 0, "sm_target": 0},
        "refused": {},
        "relaunched": 0,
        "passed_through": {},
        "overhead": {},
    },
}
REPORT = comparison_report.run_summary(RUN)


def line(**modes: dict) -> dict:
    return {
        "schema": "elbowroom.example/1",
        "example": "ddp_step",
        "batch": 1,
        "gpus": 2,
        "device": "NVIDIA H200",
        "versions": {"torch": "2.11.0", "nccl": "2.28.3"},
        "modes": modes,
    }


def mode(times: list[float], digest: str, kernels: dict | None = None) -> dict:
    return {"ms": times, "digest": digest} | ({"kernels_ms": kernels} if kernels else {})


def example_document(deterministic: bool = False) -> dict:
    document = comparison_report.empty_document("direct", deterministic)
    base = line(local=mode([8.0, 8.0], "l", ALONE), plain=mode([10.0, 10.0], "p", BESIDE), high_priority_nccl=mode([11.0], "p"))
    comparison_report.add_line(document, "plain", False, base, None)
    ours = line(local=mode([8.5], "l", ALONE), plain=mode([9.0, 9.0], "p", BESIDE))
    comparison_report.add_line(document, "auto", True, ours, REPORT)
    return document


class ComparisonTest(unittest.TestCase):
    def test_table(self) -> None:
        text = comparison_report.markdown(example_document())
        self.assertIn("Measured on 2 x NVIDIA H200; torch 2.11.0, nccl 2.28.3; medians with 95 % bootstrap intervals", text)
        self.assertIn("### ddp_step, batch 1, direct links", text)
        self.assertIn("| local compute only | 8.00 (8.00..8.00) |  |  |  | 2 |  |", text)
        self.assertIn("| plain PyTorch | 10.00 (10.00..10.00) |  | +2.00 (+2.00..+2.00) |  | 2 |  |", text)
        self.assertIn("| its high-priority NCCL stream | 11.00 (11.00..11.00) | +1.00 (+1.00..+1.00), slower |", text)
        self.assertIn(
            "| `elbowroom run --policy auto` | 9.00 (9.00..9.00) | -1.00 (-1.00..-1.00), faster | +0.50 (+0.50..+0.50)"
            " | 8.50 (8.50..8.50) | 2 | priority 8, gate 4; ended with priority, gate |",
            text,
        )
        # communication, exposed, compute longer, then attention, gemm, copy, elementwise longer
        self.assertIn("| plain PyTorch | 2.00 | 0.50 | +1.00 | +0.00 | +1.00 | +0.00 | +0.00 |", text)

    def test_second_round_is_pooled_and_kept_apart(self) -> None:
        document = example_document()
        comparison_report.add_line(document, "auto", True, line(local=mode([8.5], "l"), plain=mode([9.2, 9.4], "p")), REPORT)
        row = document["cases"][0]["variants"][-1]
        self.assertEqual(row["ms"], [[9.0, 9.0], [9.2, 9.4]])
        self.assertIn("| 4 | priority 8, gate 4; ", comparison_report.markdown(document))

    def test_a_comparison_that_did_not_end_is_not_called_a_choice(self) -> None:
        document = example_document()
        report = REPORT | {"trials": [{"state": "trying", "arm": "plain"}]}
        comparison_report.add_line(document, "auto", True, line(local=mode([8.5], "l"), plain=mode([9.2, 9.4], "p")), report)
        self.assertIn("| 4 | priority 8, gate 4; still comparing with plain |", comparison_report.markdown(document))

    def test_summary_of_a_run(self) -> None:
        self.assertEqual(REPORT["trials"], [{"state": "settled", "arm": "priority, gate"}])
        self.assertEqual(REPORT["applied"]["gate"], 4)
        self.assertNotIn("kernels", REPORT)

    def test_another_batch_is_another_case(self) -> None:
        document = example_document()
        comparison_report.add_line(document, "plain", False, line(plain=mode([1.0], "p")) | {"batch": 4}, None)
        self.assertEqual([case["batch"] for case in document["cases"]], [1, 4])

    def test_digests(self) -> None:
        document = example_document(deterministic=True)
        self.assertFalse(comparison_report.digests_agree(document))  # the local step has another result
        del document["cases"][0]["variants"][0]
        self.assertTrue(comparison_report.digests_agree(document))
        comparison_report.add_line(document, "gate", True, line(plain=mode([9.0], "other")), REPORT)
        self.assertFalse(comparison_report.digests_agree(document))
        self.assertIn("| `elbowroom run --policy gate` | other | **no** |", comparison_report.markdown(document))

    def test_plain_that_differs_from_itself_agrees_with_nothing(self) -> None:
        document = comparison_report.empty_document("direct", True)
        for digest in ("p", "q"):
            comparison_report.add_line(document, "plain", False, line(plain=mode([9.0], digest)), None)
        self.assertFalse(comparison_report.digests_agree(document))

    def test_nothing_measured_agrees_with_nothing(self) -> None:
        self.assertFalse(comparison_report.digests_agree(comparison_report.empty_document("direct", True)))

    def test_missing_records_are_said(self) -> None:
        document = example_document()
        recorded = mode([9.0], "p") | {"no_records": "RuntimeError: busy"}
        comparison_report.add_line(document, "gate", True, line(plain=recorded), REPORT)
        text = comparison_report.markdown(document)
        self.assertIn("\nNote: gate, ddp_step, plain: no kernel records: RuntimeError: busy\n", text)

    def test_failures_are_shown(self) -> None:
        document = example_document()
        document["failures"].append("auto, round 1: exit code 1")
        self.assertIn("\nFailed: auto, round 1: exit code 1\n", comparison_report.markdown(document))


def options(**changes: object) -> argparse.Namespace:
    values = {"deterministic": False, "gpus": 2, "steps": 30, "warm_up": 20, "rows": 2, "profile_steps": 3, "elbowroom": "elbowroom"}
    values |= {"policies": "gate,auto", "examples": "a,b", "separate": False, "rounds": 2, "link": "direct", "raw": ""}
    return argparse.Namespace(**(values | changes))


class CompareTest(unittest.TestCase):
    def test_lines_among_other_output(self) -> None:
        output = 'NCCL INFO\n{"schema": "elbowroom.example/1", "example": "x"}\n{broken\n{"schema": "another/1"}\n'
        self.assertEqual([found["example"] for found in compare.example_lines(output)], ["x"])

    def test_plain_launch_measures_three_modes_without_elbowroom(self) -> None:
        command = compare.command_of(compare.Variant("plain", ""), options(), "a", Path("r"))
        self.assertEqual(command[0], sys.executable)
        self.assertIn("local,plain,high_priority_nccl", command)
        self.assertNotIn("run", command)

    def test_elbowroom_launch(self) -> None:
        command = compare.command_of(compare.variant_of("shape+--cap=gelu=2"), options(), "a", Path("r"))
        self.assertEqual(command[:8], ["elbowroom", "run", "--no-memory", "--policy", "shape", "--report", "r", "--cap=gelu=2"])
        self.assertEqual(command[8], "--")
        self.assertIn("local,plain", command)

    def test_deterministic_launch_runs_the_step_alone(self) -> None:
        command = compare.command_of(compare.Variant("plain", ""), options(deterministic=True), "a", Path("r"))
        self.assertEqual(command[command.index("--mode") + 1], "plain")
        self.assertIn("--deterministic", command)
        self.assertNotIn("--profile-steps", command)

    def test_raw_program_takes_the_same_options(self) -> None:
        command = compare.command_of(compare.variant_of("auto"), options(raw="./raw"), "raw_overlap", Path("r"))
        self.assertEqual(command[7:], ["--", "./raw", "--mode", "local,plain", "--steps", "30", "--warm-up", "20"])
        groups = {examples for _, _, examples in compare.launches_of(options(raw="./raw"))}
        self.assertEqual(groups, {"a,b", "raw_overlap"})

    def test_all_launches_warm_up_alike(self) -> None:
        def warm_up(text: str, **changes: object) -> str:
            command = compare.command_of(compare.variant_of(text), options(**changes), "a", Path("r"))
            return command[command.index("--warm-up") + 1] + "/" + command[command.index("--rounds") + 1]

        for variant in ("auto", "auto+--sm-target=108", "auto+--off=ab", "gate"):
            self.assertEqual(warm_up(variant), "20/1")
        plain = compare.command_of(compare.Variant("plain", ""), options(), "a", Path("r"))
        self.assertEqual((plain[plain.index("--warm-up") + 1], plain[plain.index("--rounds") + 1]), ("20", "2"))

    def test_launches_take_turns(self) -> None:
        order = [(variant.name, number, examples) for variant, number, examples in compare.launches_of(options())]
        expected = [(name, number, "a,b") for number in (0, 1) for name in ("plain", "gate", "auto")]
        self.assertEqual(order, expected)
        separate = [examples for _, _, examples in compare.launches_of(options(separate=True, rounds=1))]
        self.assertEqual(separate, ["a"] * 3 + ["b"] * 3)

    def test_multicast_stays_off(self) -> None:
        self.assertEqual(compare.environment_of(options())["NCCL_NVLS_ENABLE"], "0")
        self.assertEqual(compare.environment_of(options(link="host"))["NCCL_P2P_DISABLE"], "1")
        self.assertNotIn("NCCL_P2P_DISABLE", compare.environment_of(options()))

    def test_a_launch_that_hangs_or_fails_is_reported(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "suite.py"
            script.write_text('print(\'{"schema": "elbowroom.example/1"}\', flush=True)\nimport sys, time\ntime.sleep(60)\n')
            (Path(folder) / "launch.py").write_text((EXAMPLES / "launch.py").read_text())
            here, compare.HERE = compare.HERE, Path(folder)
            try:
                hung = compare.run_launch(compare.Variant("plain", ""), 0, options(timeout=2.0, gpus=1), "a")
                script.write_text("import sys\nsys.exit(3)\n")
                broken = compare.run_launch(compare.Variant("plain", ""), 0, options(timeout=20.0, gpus=1), "a")
            finally:
                compare.HERE = here
        self.assertEqual((len(hung.lines), hung.failure), (1, "took longer than 2 s"))
        self.assertEqual(broken.failure, "exit code 3")


class LaunchTest(unittest.TestCase):
    def launched(self, script: str, ranks: int = 2) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "script.py"
            path.write_text(script)
            command = [sys.executable, str(EXAMPLES / "launch.py"), "-n", str(ranks), str(path), "--flag", "x"]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def test_ranks(self) -> None:
        script = "import os, sys\nos.write(1, (os.environ['RANK'] + os.environ['WORLD_SIZE'] + sys.argv[2] + '\\n').encode())\n"
        done = self.launched(script, ranks=3)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(sorted(done.stdout.split()), ["03x", "13x", "23x"])

    def test_exit_code_of_the_rank_that_failed(self) -> None:
        script = "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit(77)\ntime.sleep(0.2)\n"
        self.assertEqual(self.launched(script).returncode, 77)

    def test_killed_rank(self) -> None:
        self.assertEqual(self.launched("import os\nos.kill(os.getpid(), 9)\n", ranks=1).returncode, 137)


class SkipTest(unittest.TestCase):
    def test_without_torch_every_example_skips_itself(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "torch.py").write_text("raise ImportError('hidden')\n")
            loops = ("overlap_loop", "free_loop", "ordered_loop")
            for name in (*loops, "ddp_step", "fsdp2_step", "compiled_step", "graphed_step", "suite"):
                done = subprocess.run(
                    [sys.executable, str(EXAMPLES / f"{name}.py")],
                    env={"PATH": "/usr/bin:/bin", "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual((done.returncode, done.stderr), (77, "skipped: torch cannot be imported (hidden)\n"), name)

    def test_usage_of_compare(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
            sys.argv = ["compare.py", "--link", "radio"]
            compare.main()
        self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
