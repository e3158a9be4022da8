#!/usr/bin/env bash
# heaptrack and Fil take every preloaded library from what a program starts, not their own alone. Ranks and data loaders run without it, and nothing says so.
#
# heaptrack 1.4.0 (Debian 12, heaptrack and libheaptrack 1.4.0-2); filprofiler 2024.11.2, scalene 2.4.0, memray 1.20.0 (PyPI); Python 3.11. No GPU. With
# LD_PRELOAD=libours.so a profiler starts a Python program, which starts another one. Whether libours.so is in their memory:
#                program   what it starts   LD_PRELOAD there
#   heaptrack    yes       no               not set
#   Fil          yes       no               not set
#   Scalene      yes       yes              libscalene.so:libours.so
#   memray       yes       yes              libours.so
# heaptrack and Fil empty LD_PRELOAD at the program's start, so that they follow one process. A preloaded allocator, MPI's or NCCL's tracer or a hook of
# CUDA's driver goes with it: under `heaptrack torchrun` the launcher has the library and no rank has it. Start the profiler in each rank
# (`torchrun --no-python heaptrack python3 train.py`), where the library is loaded already, or set LD_PRELOAD again behind the profiler.
set -euo pipefail
for tool in python3 gcc dpkg; do command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download heaptrack=1.4.0-2 libheaptrack=1.4.0-2 >download.log 2>&1 || { tail -1 download.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
library=$(find root -name libheaptrack_preload.so)
! ldd "$library" root/usr/lib/heaptrack/libexec/heaptrack_interpret | grep 'not found' || { echo 'skipped: needs what heaptrack links to'; exit 77; }
python3 -m venv env
env/bin/pip -q install filprofiler==2024.11.2 scalene==2.4.0 memray==1.20.0
echo 'int ours(void) { return 1; }' | gcc -x c -shared -fPIC - -o libours.so
cat >say.py <<'PYTHON'
import os, subprocess, sys, time


def say(who):
    with open("/proc/self/maps") as maps:
        loaded = "libours.so" in maps.read()
    names = [os.path.basename(path) for path in os.environ.get("LD_PRELOAD", "").split(":")]
    with open(os.environ["ROWS"], "a") as rows:
        print(os.environ["PROFILER"], who, "yes" if loaded else "no", ":".join(names) or "-", file=rows)


if len(sys.argv) > 1:
    say(sys.argv[1])
else:
    say("program")
    subprocess.run([os.environ["PLAIN"], os.environ["SELF"], "started"], check=True)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        sum(range(1000))
PYTHON
export ROWS=$work/rows PLAIN=$work/env/bin/python SELF=$work/say.py
under() { # NAME COMMAND...
  PROFILER=$1 LD_PRELOAD=$work/libours.so "${@:2}" "$SELF" >"said.$1" 2>&1 || { tail -5 "said.$1" >&2; exit 1; }
}
under heaptrack root/usr/bin/heaptrack -o "$work/heap" "$PLAIN"
under fil "$PLAIN" -m filprofiler --no-browser run
under scalene "$PLAIN" -m scalene run
under memray "$PLAIN" -m memray run -f -o "$work/memray.bin"
cat rows
diff rows - <<'ROWS'
heaptrack program yes -
heaptrack started no -
fil program yes -
fil started no -
scalene program yes libscalene.so:libours.so
scalene started yes libscalene.so:libours.so
memray program yes libours.so
memray started yes libours.so
ROWS
echo 'as described'
