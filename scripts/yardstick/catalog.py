"""The programs of the yardstick, and the arms in which each is launched."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "programs"
LAUNCHER = ROOT / "examples" / "pytorch" / "launch.py"
sys.path.insert(0, str(ROOT / "python"))  # the statistics are those of `elbowroom measure`

from elbowroom import launched  # noqa: E402

# NVLink multicast can put the GPUs of a shared host out of service.
ALWAYS = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "PYTHONUNBUFFERED": "1"}

LOCAL, PLAIN, NCCL, OWN, RUN = "local", "plain", "nccl", "own", "run"


@dataclass(frozen=True)
class Switch:
    """The framework's own way to the same end."""

    words: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    name: str
    script: str
    arguments: tuple[str, ...] = ()
    own: Switch | None = None
    ranks: bool = True  # one process for each GPU
    traced: bool = True  # takes --trace
    gpus: int = 0  # the only number of GPUs that it can use; 0: any from 2
    command: tuple[str, ...] = ()  # of a program that is not of the catalog
    launcher: tuple[str, ...] = ()  # options of examples/pytorch/launch.py
    step: str = ""  # what it prints of a step: an expression with a group `ms` or `per_second`


@dataclass(frozen=True)
class Arm:
    """One way to launch a program. `elbowroom` holds the options of `elbowroom run`, None without it."""

    name: str
    words: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    elbowroom: tuple[str, ...] | None = None


PRIORITY = Switch("PyTorch's high-priority NCCL stream", environment={"TORCH_NCCL_HIGH_PRIORITY": "1"})
XLA = Switch("XLA's latency-hiding scheduler", environment={"XLA_FLAGS": "--xla_gpu_enable_latency_hiding_scheduler=true"})

# In the order in which they are measured.
CATALOG = (
    Program("ddp", "ddp.py", own=PRIORITY),
    Program("moe", "moe.py", own=PRIORITY),
    Program("fsdp2", "fsdp2.py", own=Switch("staging buffers of NCCL's allocator", ("--pool",))),
    Program("tensor_parallel", "tensor_parallel.py", own=Switch("PyTorch's async-TP", ("--async-tp",))),
    Program("pipeline", "pipeline.py", own=PRIORITY),
    Program("moe_uneven", "moe.py", ("--uneven",), own=PRIORITY),
    Program("decode", "decode.py", own=Switch("PyTorch's one-shot all-reduce", ("--one-shot",))),
    Program("ddp_bf16", "ddp.py", ("--hook", "bf16", "--layers", "4"), own=PRIORITY),
    Program("ddp_powersgd", "ddp.py", ("--hook", "powersgd", "--layers", "4"), own=PRIORITY),
    Program("hf_llama", "hf_llama.py", own=PRIORITY),
    Program("hf_accelerate", "hf_llama.py", ("--with", "accelerate"), own=PRIORITY),
    Program("compiled", "compiled.py", own=PRIORITY),
    Program("graphed", "graphed.py", own=PRIORITY),
    Program("fsdp2_mixed", "fsdp2_mixed.py", own=PRIORITY),
    Program("fsdp2_mixed_fp32", "fsdp2_mixed.py", ("--reduce", "fp32"), own=PRIORITY),
    Program("fsdp2_two_models", "fsdp2_mixed.py", ("--two", "--layers", "3"), own=PRIORITY),
    Program("ddp_autocast", "ddp_autocast.py", own=PRIORITY),
    Program("ddp_accumulate", "ddp_autocast.py", ("--passes", "3"), own=PRIORITY),
    Program("vit_timm", "vit_timm.py", own=PRIORITY),
    Program("dtensor_tp", "dtensor_tp.py", own=PRIORITY),
    Program("lightning_fabric", "lightning_fabric.py", own=PRIORITY),
    Program("megatron_ddp", "megatron_ddp.py", own=PRIORITY),
    Program("ddp_two_hosts", "ddp.py", ("--layers", "2"), own=PRIORITY, launcher=("--as-hosts",)),
    Program("raw_overlap", "", ranks=False, traced=False, gpus=2),
    Program("jax_data_parallel", "jax_data_parallel.py", own=XLA, ranks=False, traced=False),
    Program("jax_fully_sharded", "jax_fully_sharded.py", own=XLA, ranks=False, traced=False),
)
NAMES = tuple(program.name for program in CATALOG)


def given(text: str, step: str) -> Program:
    """NAME=COMMAND, the command as one would type it."""
    name, _, command = text.partition("=")
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ValueError(f"--command: '{text}': {error}") from error
    if not re.fullmatch(r"[\w.-]+", name) or name in NAMES or not words:
        raise ValueError(f"--command: '{text}', expected NAME=COMMAND with a name that is not in the catalog")
    launched.check_expression(step)
    return Program(name, "", traced=False, command=words, step=step)


def chosen(names: str) -> list[Program]:
    """By comma, in the given order; all of them for an empty text."""
    wanted = names.split(",") if names else list(NAMES)
    for name in wanted:
        if name not in NAMES:
            raise ValueError(f"--programs: '{name}', expected some of {', '.join(NAMES)}")
    return [next(program for program in CATALOG if program.name == name) for name in wanted]


def settings_of(text: str) -> dict[str, str]:
    """NAME=VALUE by comma."""
    pairs = [pair.partition("=") for pair in text.split(",")]
    for name, equals, value in pairs:
        if not (name.startswith("NCCL_") and equals and value):
            raise ValueError(f"--nccl: '{text}', expected NCCL_NAME=VALUE, several by comma")
    return {name: value for name, _, value in pairs}


def run_arm(text: str) -> Arm:
    """Options of `elbowroom run` joined by '+': '' for none, '--policy=gate', '--policy=gate+--sm-target=108'."""
    options = tuple(option for option in text.split("+") if option)
    name = RUN + ("" if not options else " " + " ".join(options))
    return Arm(name, f"`elbowroom {name}`", elbowroom=options)


def arms_of(program: Program, nccl: str, variants: Sequence[str]) -> list[Arm]:
    """The pair that is judged stands first."""
    arms = [Arm(PLAIN, "plain"), *(run_arm(text) for text in variants)]
    if not program.command:
        arguments = ("--mode", "local") if program.name == "raw_overlap" else ("--local",)
        arms.append(Arm(LOCAL, "local compute", arguments))
    if nccl:
        arms.append(Arm(NCCL, nccl.replace(",", " "), environment=settings_of(nccl)))
    if program.own:
        arms.append(Arm(OWN, program.own.words, program.own.arguments, program.own.environment))
    return arms
