# Sourced by the scripts beside it: where binaries lie, and NCCL and cuBLAS of a Python environment for programs that are not Python.
bin=build/gpu
[[ -x $bin/elbowroom ]] || bin=build/release/bin
for dir in $(python3 -c 'import glob, nvidia
for root in nvidia.__path__: print(*glob.glob(root + "/*/lib"))' 2>/dev/null); do
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$dir
done
export LD_LIBRARY_PATH
