"""Builds the wheel, installs it into a fresh environment and runs what a user runs first. Ends with 77 where pip or scikit-build-core
cannot be had.

usage: wheel_test.py SOURCE BUILD      BUILD: a folder that may be kept from the last time
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import versions_test

SKIPPED = 77


def skip(reason: str) -> None:
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


def call(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def expect(what: str, condition: bool, seen: object) -> None:
    if not condition:
        sys.exit(f"{what}: {seen}")


def built(source: Path, build: Path, work: Path, python: Path) -> Path:
    backend = [python, "-m", "pip", "install", "--quiet", "scikit-build-core>=0.10"]
    tried = subprocess.run([str(word) for word in backend], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        skip(f"scikit-build-core cannot be had: {tried.stderr.strip().splitlines()[-1:]}")
    call(python, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", work / "wheels", "-C", f"build-dir={build}", source)
    wheels = list((work / "wheels").glob("elbowroom-*.whl"))
    expect("one wheel for all Pythons", len(wheels) == 1 and "-py3-none-" in wheels[0].name, wheels)
    linked = [name for name in zipfile.ZipFile(wheels[0]).namelist() if "libelbowroom.so" in name or name.endswith(".pc")]
    expect("nothing that C++ programs link", not linked, linked)
    check_metadata(wheels[0])
    check_versions(wheels[0], work)
    print(f"{wheels[0].name}: {wheels[0].stat().st_size / 2**20:.1f} MiB")
    return wheels[0]


def check_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = next(archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        licences = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    head = text.partition("\n\n")[0]
    for field in ("Name: elbowroom", "Summary: ", "Author: ", "License-Expression: Apache-2.0", "Requires-Python: ", "Description-Content-Type: text/markdown"):
        expect(f"METADATA has {field}", field in head, head)
    expect("the licence is in the wheel", len(licences) == 1, licences)


def check_versions(wheel: Path, work: Path) -> None:
    """Every program and library of the wheel, as versions_test.py says."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "contents")
    built = [file for file in (work / "contents").rglob("*") if file.is_file() and file.read_bytes()[:4] == b"\x7fELF"]
    expect("a program and two libraries", len(built) >= 3, built)
    found = [line for file in built for line in versions_test.refused(file.name, versions_test.needs_of(str(file)))]
    expect("what loads with glibc 2.28", not found, found)


def main() -> None:
    source, build = Path(sys.argv[1]), Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        made = subprocess.run([sys.executable, "-m", "venv", str(work / "venv")], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            skip(f"no environment can be made: {made.stderr.strip()}")
        python, command = work / "venv" / "bin" / "python", work / "venv" / "bin" / "elbowroom"
        wheel = built(source, build, work, python)
        call(python, "-m", "pip", "install", "--quiet", "--no-deps", wheel)
        expect("elbowroom --version", call(command, "--version").strip().endswith("0.1.0"), call(command, "--version"))
        expect("python -m elbowroom", call(python, "-m", "elbowroom", "--version") == call(command, "--version"), "another version")
        doctor = json.loads(subprocess.run([str(python), "-m", "elbowroom", "doctor", "--json"], capture_output=True, text=True, check=False).stdout)
        torch = next(check for check in doctor["checks"] if check["name"] == "PyTorch")
        expect("doctor asks the Python of the wheel", str(work / "venv") in torch["found"], torch)
        expect("import elbowroom", call(python, "-c", "import elbowroom; print(elbowroom.__version__)").strip() == "0.1.0", "another version")
        expect("report()", "'buffers': []" in call(python, "-c", "import elbowroom; print(elbowroom.report())"), "another document")
        hook = call(command, "run", "--", python, "-c", "import sitecustomize; print(sitecustomize.__file__)").strip()
        expect("the hook of the package", hook == str(next((work / "venv").glob("lib/python*/site-packages/elbowroom/hook/sitecustomize.py"))), hook)


if __name__ == "__main__":
    main()
