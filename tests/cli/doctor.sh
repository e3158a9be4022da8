#!/usr/bin/env bash
# `elbowroom doctor` judges any machine, at 80 columns and as a document; it takes no library from the current folder.
. "$(dirname "$0")/checks.bash" || exit

# runs ARGUMENT...: exit 0 where nothing is to be done here, 1 where something is.
runs() {
  command_line=$*
  "$ELBOWROOM_BIN" "$@" >"$out" 2>"$err"
  local got=$?
  [ "$got" -le 1 ] || fail "exit $got, expected 0 or 1"
  silent
}

# A Python that has PyTorch imports it for seconds: one that answers at once is enough here.
cat >"$work/python" <<'PYTHON'
#!/bin/sh
echo '{"python": "3.12.3", "torch": "2.11.0", "cuda": "13.0", "refused": ["FSDP2: lacks a place"], "jax": null, "nccl": null}'
PYTHON
chmod +x "$work/python"
export ELBOWROOM_PYTHON=$work/python

runs doctor
head -1 "$out" | grep -qE '^elbowroom [0-9.]+: (none|[0-9]+) of [0-9]+ checks ask|^elbowroom [0-9.]+: no GPU: run changes nothing here' || fail 'the first line is no summary'
# A path without blanks may be longer than a line; a line of words is not.
awk 'length > 80 && substr($0, 29) ~ / /' "$out" | grep -q . && fail 'a line is longer than 80 columns'
for name in program interposer 'library path' driver GPUs MPS NCCL PyTorch JAX cuobjdump CUPTI /dev/shm cache launchers 'report page' 'packed files'; do
  grep -qE "^  (ok    |to do |absent)  $name  " "$out" || fail "no check of $name"
done
says 'FSDP2: lacks a place'

runs doctor --json
python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "elbowroom.doctor/1", document
assert all(check["state"] in ("ok", "to do", "absent") and check["found"] for check in document["checks"]), document
' "$out" || fail 'no document'

CUDA_DEVICE_MAX_CONNECTIONS=1 TORCH_NCCL_ENABLE_TIMING=True runs doctor --json
says 'unset TORCH_NCCL_ENABLE_TIMING'
CUDA_DEVICE_MAX_CONNECTIONS=2 TORCH_NCCL_ENABLE_TIMING=1 runs doctor --json
grep -q '"connections"' "$out" && fail 'two connections are no trouble'
CUDA_DEVICE_MAX_CONNECTIONS=1 TORCH_NCCL_ENABLE_TIMING=false runs doctor --json
says '"name": "connections"'
says 'an event with a time holds up'

# The Python that is asked has what doctor prints about it.
ELBOWROOM_PYTHON=$(command -v python3) runs doctor
grep -qE "^  (ok    |to do |absent)  PyTorch  .*($(python3 -c 'import platform; print(platform.python_version())')|CUDA)" "$out" ||
  fail 'nothing was heard from python3'
ELBOWROOM_PYTHON=/nonexistent runs doctor
says 'No such file'

# An empty entry of LD_LIBRARY_PATH is the current folder: a library of NCCL's name that lies there is not loaded.
if command -v cc >/dev/null; then
  mkdir "$work/here"
  echo '#include <stdio.h>
    __attribute__((constructor)) static void loaded(void) { FILE* f = fopen("loaded", "w"); if (f) fclose(f); }
    int ncclGetVersion(int* v) { *v = 22809; return 0; }' >"$work/fake.c"
  cc -shared -fPIC -o "$work/here/libnccl.so.2" "$work/fake.c" || fail 'the library could not be built'
  (cd "$work/here" && LD_LIBRARY_PATH=/nonexistent: "$ELBOWROOM_BIN" doctor --json >"$out" 2>"$err")
  [ ! -e "$work/here/loaded" ] || fail 'a library of the current folder was loaded'
  says 'has an empty entry, which is the current folder'
  # The same library is taken where it is named: the test above can fail.
  (cd "$work/here" && LD_LIBRARY_PATH=$work/here "$ELBOWROOM_BIN" doctor >"$out" 2>"$err")
  [ -e "$work/here/loaded" ] || fail 'a library that LD_LIBRARY_PATH names was not loaded'
fi

expect 2 doctor --json FILE
# A bare chroot has no /proc, by which the program finds its own folder. Sanitizers do not start there.
if unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$0" version' "$ELBOWROOM_BIN" >"$out" 2>&1 && grep -q '^elbowroom [0-9]' "$out"; then
  command_line='run -- true (no /proc)'
  unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$0" run -- true' "$ELBOWROOM_BIN" >"$out" 2>"$err"
  [ $? -eq 1 ] || fail 'goes on without /proc'
  complains '/proc/self/exe: cannot be read, expected /proc to be mounted'
fi
finish
