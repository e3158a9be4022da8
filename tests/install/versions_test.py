"""Built files load wherever PyTorch's wheels do: they need no symbol of a C library after 2.28 and no C++ runtime beside them. That is the
policy manylinux_2_28 of auditwheel.

usage: versions_test.py FILE...
"""

from __future__ import annotations

import re
import subprocess
import sys

NEWEST = {"GLIBC": (2, 28), "GCC": (7, 0)}
# Of manylinux_2_28, without libstdc++: the C++ runtime is inside.
LIBRARIES = re.compile(r"(ld-linux-.*|lib(c|m|dl|rt|pthread|gcc_s))\.so\.\d+")


def refused(file: str, needs: str) -> list[str]:
    """`needs`: what `readelf -dV` prints of the file."""
    found = []
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", needs):
        if not LIBRARIES.fullmatch(library):
            found.append(f"{file} needs {library}")
    section = needs.partition("Version needs section")[2]
    for name, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+)", section):
        number = tuple(map(int, version.split(".")))[:2]
        if name not in NEWEST or number > NEWEST[name]:
            found.append(f"{file} needs {name}_{version}, expected {' or '.join(f'{known} up to {most[0]}.{most[1]}' for known, most in NEWEST.items())}")
    if not section:
        found.append(f"{file}: readelf shows no versions")
    return found


def needs_of(file: str) -> str:
    return subprocess.run(["readelf", "-dVW", file], capture_output=True, text=True, check=True).stdout


def check_itself() -> None:
    """A line of each kind that must be refused, and one that is fine."""
    sample = "(NEEDED) Shared library: [{}]\nVersion needs section '.gnu.version_r':\n  Name: {}  Flags: none\n"
    assert refused("x", sample.format("libc.so.6", "GLIBC_2.28")) == []
    assert len(refused("x", sample.format("libc.so.6", "GLIBC_2.34"))) == 1
    assert len(refused("x", sample.format("libc.so.6", "GLIBCXX_3.4.21"))) == 1
    assert len(refused("x", sample.format("libfmt.so.9", "GLIBC_2.17"))) == 1
    assert len(refused("x", "")) == 1


def main() -> int:
    check_itself()
    if len(sys.argv) < 2:
        sys.exit("expected files")
    found = [line for file in sys.argv[1:] for line in refused(file, needs_of(file))]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
