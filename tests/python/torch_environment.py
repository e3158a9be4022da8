"""A PyTorch of one version from PyPI in an environment of its own, on a machine without a GPU and without CUDA.

The wheels are CUDA builds of half a GB and want 3 GB of NVIDIA's libraries. Without a GPU, `import torch` needs nothing of them but that they are found
and name their functions. So small libraries with these names stand in: each function says that there is no device. They are made beside PyTorch's own, in
this environment alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elbowroom" / "pytorch"
NO_DEVICE = 100  # cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE; of other libraries any error
EVERYWHERE = re.compile(r"lib(c|m|dl|rt|pthread|z|gcc_s|stdc\+\+|quadmath|gomp.*)\.so\.\d+|ld-linux.*")  # on any Linux, or in the wheel
OF_NVIDIA = re.compile(r"_{0,2}(cu[A-Z]|cuda|cublas|cudnn|cufft|cusparse|cusolver|cufile|cupti|curand|nccl|pnccl|nvrtc|nvshmem|nvJitLink|nvml|nvtx)")


def output_of(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(str(word) for word in command[:5])}: exit code {done.returncode}\n{done.stderr.strip()[-1500:]}")
    return done.stdout


def environment(version: str) -> Path:
    """The Python of an environment with this version of PyTorch; '' is the newest. Made once, with its wheel kept."""
    wheels = FOLDER / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    wheel = _wheel(wheels, version)
    place = FOLDER / wheel.name.split("-")[1].partition("+")[0]
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        output_of(sys.executable, "-m", "venv", "--clear", place)
        output_of(python, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", wheel)
        output_of(python, "-m", "pip", "install", "--quiet", "--no-compile", "numpy", *_needed(python))
        add_libraries(Path(output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()) / "torch" / "lib")
        (place / "complete").touch()
    return python


def _wheel(wheels: Path, version: str) -> Path:
    known = list(wheels.glob(f"torch-{version}-*cp{sys.version_info[0]}{sys.version_info[1]}-*.whl")) if version else []  # some have a build number
    if known:
        return known[0]
    with tempfile.TemporaryDirectory(dir=wheels) as folder:
        wanted = f"torch=={version}" if version else "torch"
        output_of(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--dest", folder, wanted)
        got = next(Path(folder).glob("torch-*.whl"))
        return got.rename(wheels / got.name)


def _needed(python: Path) -> list[str]:
    """What PyTorch requires on every platform; what it requires on Linux alone are NVIDIA's libraries and Triton."""
    listed = output_of(python, "-c", "import importlib.metadata as m; print('\\n'.join(m.requires('torch')))").splitlines()
    return [requirement for requirement in listed if ";" not in requirement]


def add_libraries(folder: Path) -> None:
    """One for each that PyTorch's libraries name and that is nowhere, with all functions that they lack."""
    needed: set[str] = set()
    defined: set[str] = set()
    undefined: set[str] = set()
    versions: dict[str, str] = {}
    own = list(folder.glob("*.so*"))
    for library in own:
        needed |= set(re.findall(r"NEEDED\).*\[(.*)\]", output_of("readelf", "-dW", library)))
        versions |= _versions(library)
        for symbol in output_of("readelf", "--dyn-syms", "-W", library).splitlines():
            fields = symbol.split()
            if len(fields) >= 8 and fields[0].endswith(":"):
                (undefined if fields[6] == "UND" else defined).add(fields[7].partition("@")[0])
    names = sorted(name for name in undefined - defined if OF_NVIDIA.match(name))
    with tempfile.TemporaryDirectory() as work:
        source, script = Path(work) / "names.c", Path(work) / "names.map"
        source.write_text("".join(map(_function, names)))
        for library in sorted(needed - {path.name for path in own}):
            if not EVERYWHERE.fullmatch(library):
                script.write_text(f"{versions.get(library, '')} {{ global: *; }};\n")
                output_of("cc", "-w", "-shared", "-fPIC", "-fno-builtin", f"-Wl,--version-script={script},-soname,{library}", "-o", folder / library, source)


def _versions(library: Path) -> dict[str, str]:
    """The version that each library's names must have. The dynamic linker ends a process whose library has none."""
    found: dict[str, str] = {}
    file = ""
    for line in output_of("readelf", "-VW", library).splitlines():
        if match := re.search(r"File: (\S+)", line):
            file = match[1]
        elif "Version definition" in line or "Version symbols" in line:
            file = ""
        elif file and (match := re.search(r"Name: (\S+) +Flags", line)):
            found[file] = match[1]
    return found


def _function(name: str) -> str:
    if "Error" in name and ("String" in name or "Name" in name):
        return f'const char* {name}(void) {{ return "no CUDA device here"; }}\n'
    return f"long {name}(void) {{ return {NO_DEVICE}; }}\n"
