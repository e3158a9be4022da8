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


# What is preloaded into every program loads none that a program may lack: two more took as long as all the rest.
LOADED_ANYWAY = re.compile(r"(ld-linux-.*|lib(c|m))\.so\.\d+")

# Functions that glibc has in libc.so.6 since 2.34. A library that asks libc.so.6 for them ends an old program that is linked to that first.
# It may ask without a version, and do without them.
HOMES = {
    name: home
    for home, names in {
        "libpthread.so.0": "__pthread_key_create pthread_create pthread_detach pthread_join pthread_key_create pthread_once __pthread_once pthread_setspecific pthread_sigmask",
        "libdl.so.2": "dladdr dladdr1 dlclose dlerror dlinfo dlopen dlsym dlvsym",
    }.items()
    for name in names.split()
}


def misplaced(file: str, needs: str) -> list[str]:
    """Functions that the file asks another library for than the one that had them before glibc 2.34, or that any library must have."""
    asked, versions = "", {}
    for library, version in re.findall(r"File: (\S+)|Name: \S+ .*Version: (\d+)", needs.partition("Version needs section")[2]):
        asked = library or asked
        if version:
            versions[version] = asked
    undefined = re.findall(r" UND (\w+)@\S+ \((\d+)\)", needs)
    elsewhere = [f"{file} asks {versions[index]} for {name}, expected {HOMES[name]}" for name, index in undefined if HOMES.get(name, versions.get(index)) != versions.get(index)]
    strong = re.findall(r" GLOBAL +DEFAULT +UND (\w+)$", needs, re.MULTILINE)
    return elsewhere + [f"{file} cannot do without {name}, expected a weak symbol" for name in strong if name in HOMES]


def refused(file: str, needs: str) -> list[str]:
    """`needs`: what `readelf -dV --dyn-syms` prints of the file."""
    found = []
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", needs):
        allowed = LOADED_ANYWAY if "interposer" in file else LIBRARIES
        if not allowed.fullmatch(library):
            found.append(f"{file} needs {library}")
    section = needs.partition("Version needs section")[2]
    for name, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+)", section):
        number = tuple(map(int, version.split(".")))[:2]
        if name not in NEWEST or number > NEWEST[name]:
            found.append(f"{file} needs {name}_{version}, expected {' or '.join(f'{known} up to {most[0]}.{most[1]}' for known, most in NEWEST.items())}")
    if ".so" in file:  # A program's own libraries are searched in the order in which it names them.
        found += misplaced(file, needs)
    if not section:
        found.append(f"{file}: readelf shows no versions")
    return found


def needs_of(file: str) -> str:
    return subprocess.run(["readelf", "-dVW", "--dyn-syms", file], capture_output=True, text=True, check=True).stdout


def check_itself() -> None:
    """A line of each kind that must be refused, and one that is fine."""
    sample = "(NEEDED) Shared library: [{}]\nVersion needs section '.gnu.version_r':\n  Name: {}  Flags: none\n"
    assert refused("x", sample.format("libc.so.6", "GLIBC_2.28")) == []
    assert len(refused("x", sample.format("libc.so.6", "GLIBC_2.34"))) == 1
    assert len(refused("x", sample.format("libc.so.6", "GLIBCXX_3.4.21"))) == 1
    assert len(refused("x", sample.format("libfmt.so.9", "GLIBC_2.17"))) == 1
    assert len(refused("x", "")) == 1
    threads = " 7: 0 FUNC GLOBAL DEFAULT UND pthread_once@GLIBC_2.2.5 (2)\nVersion needs section\n File: {} Cnt: 1\n Name: GLIBC_2.2.5 Flags: none Version: 2\n"
    assert refused("x.so", threads.format("libpthread.so.0")) == []
    assert len(refused("x.so", threads.format("libc.so.6"))) == 1
    loader = " 7: 0 FUNC {} DEFAULT UND dlvsym\nVersion needs section\n"
    assert refused("x.so", loader.format("WEAK")) == [] and len(refused("x.so", loader.format("GLOBAL"))) == 1
    assert len(refused("libelbowroom_interposer.so", sample.format("libdl.so.2", "GLIBC_2.28"))) == 1


def main() -> int:
    check_itself()
    if len(sys.argv) < 2:
        sys.exit("expected files")
    found = [line for file in sys.argv[1:] for line in refused(file, needs_of(file))]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
