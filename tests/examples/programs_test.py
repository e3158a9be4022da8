"""Each program of examples/programs in a tiny size on CPUs. Exit code 77 without torch; JAX's program is left out without JAX."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SKIPPED = 77
TINY = ["--layers", "2", "--hidden", "64", "--ffn", "128", "--tokens", "32"]
ON_CPUS = {"OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", *command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=dict(os.environ) | ON_CPUS | environment,
    )


class ProgramsTest(unittest.TestCase):
    def line(self, program: str, *arguments: str) -> dict[str, Any]:
        launcher = [str(EXAMPLES / "pytorch" / "launch.py"), "-n", "2"]
        command = [*launcher, str(EXAMPLES / "programs" / program), "--device", "cpu", "--steps", "2", "--warm-up", "4"]
        done = run([*command, *arguments])
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        line = json.loads(next(text for text in reversed(done.stdout.splitlines()) if text.startswith("{")))
        self.assertEqual((len(line["steps_ms"]), len(line["cpu_ms"]), line["gpus"]), (2, 2, 2))
        self.assertEqual(done.stdout.count("step "), 2)
        self.assertEqual(line["local"], "--local" in arguments)
        return line

    def test_data_parallel(self) -> None:
        plain = self.line("ddp.py", *TINY, "--deterministic")
        self.assertEqual(self.line("ddp.py", *TINY, "--deterministic")["digest"], plain["digest"])
        # The same mathematics; hooks on each gradient sum where buckets take the mean.
        self.assertAlmostEqual(self.line("fsdp2.py", *TINY)["loss"], plain["loss"], delta=0.02)
        self.assertNotEqual(self.line("ddp.py", *TINY, "--local", "--deterministic")["digest"], plain["digest"])

    def test_compressed(self) -> None:
        for hook in ("bf16", "powersgd"):
            self.line("ddp.py", *TINY, "--hook", hook)

    def test_mixed_precision(self) -> None:
        for more in ([], ["--local"], ["--reduce", "fp32", "--two"]):
            self.line("fsdp2_mixed.py", *TINY, "--eager", *more)
        one, three = (self.line("ddp_autocast.py", *TINY, "--deterministic", "--passes", passes) for passes in ("1", "3"))
        self.assertNotEqual(one["digest"], three["digest"])

    def test_tensor_parallel_by_dtensor(self) -> None:
        for more in ([], ["--local"]):
            self.line("dtensor_tp.py", *TINY, *more)

    @unittest.skipUnless(importlib.util.find_spec("timm"), "timm is not installed")
    def test_vision(self) -> None:
        self.line("vit_timm.py", "--model", "vit_tiny_patch16_224", "--pixels", "32", "--batch", "2")

    @unittest.skipUnless(importlib.util.find_spec("lightning"), "Lightning is not installed")
    def test_lightning(self) -> None:
        for more in ([], ["--local"]):
            self.line("lightning_fabric.py", *TINY, *more)

    def test_graphed_without_a_graph(self) -> None:
        self.line("graphed.py", *TINY)

    def test_pipeline(self) -> None:
        for more in ([], ["--local"]):
            self.line("pipeline.py", *TINY, *more, "--micro-batches", "2")

    def test_tensor_parallel(self) -> None:
        for more in ([], ["--local"]):
            self.line("tensor_parallel.py", *TINY, *more)

    def test_experts(self) -> None:
        for more in ([], ["--local"], ["--uneven"], ["--uneven", "--local"]):
            self.line("moe.py", *TINY, *more)

    def test_decode(self) -> None:
        sizes = ["--layers", "2", "--hidden", "64", "--ffn", "128", "--context", "16", "--new", "2"]
        for more in ([], ["--local"]):
            self.line("decode.py", *sizes, *more)

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
    def test_hugging_face(self) -> None:
        sizes = ["--layers", "2", "--hidden", "64", "--ffn", "128", "--heads", "4", "--key-heads", "2", "--vocabulary", "128", "--tokens", "32"]
        plain = self.line("hf_llama.py", *sizes, "--deterministic")
        if importlib.util.find_spec("accelerate"):
            wrapped = self.line("hf_llama.py", *sizes, "--deterministic", "--with", "accelerate")
            self.assertEqual(wrapped["digest"], plain["digest"])
        self.assertNotEqual(self.line("hf_llama.py", *sizes, "--local", "--deterministic")["digest"], plain["digest"])

    def test_a_trace_for_the_idle_share(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.json"
            self.line("ddp.py", *TINY, "--trace", str(trace))
            self.assertIn("traceEvents", json.loads(trace.read_text()))

    @unittest.skipUnless(importlib.util.find_spec("jax"), "JAX is not installed")
    def test_jax(self) -> None:
        losses = []
        for program, more in itertools.product(("jax_data_parallel.py", "jax_fully_sharded.py"), ([], ["--local"])):
            done = run([str(EXAMPLES / "programs" / program), *TINY, "--steps", "3", "--warm-up", "2", *more])
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            line = json.loads(done.stdout.splitlines()[-1])
            self.assertEqual(len(line["steps_ms"]), 2)
            losses += [] if more else [line["loss"]]
        self.assertAlmostEqual(losses[0], losses[1], places=2)


class SkipTest(unittest.TestCase):
    def test_without_transformers(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "transformers.py").write_text("raise ImportError('hidden')\n")
            done = run([str(EXAMPLES / "programs" / "hf_llama.py")], PYTHONPATH=folder)
            self.assertEqual((done.returncode, done.stderr.strip()), (SKIPPED, "skipped: transformers cannot be imported (hidden)"))

    def test_without_a_rank(self) -> None:
        done = run([str(EXAMPLES / "programs" / "ddp.py")])
        self.assertIn("expected to be started as a rank", done.stderr)

    def test_without_torch_or_jax(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("torch", "jax"):
                (Path(folder) / f"{name}.py").write_text("raise ImportError('hidden')\n")
            for path in sorted((EXAMPLES / "programs").glob("*.py")):
                if path.stem in ("llama", "loop"):
                    continue
                done = run([str(path)], PYTHONPATH=folder)
                self.assertEqual(done.returncode, SKIPPED, path.name + done.stderr)
                self.assertIn("(hidden)", done.stderr)


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        print("skipped: torch is not installed", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
