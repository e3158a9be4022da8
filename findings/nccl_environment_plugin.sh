#!/usr/bin/env bash
# Where the loader finds a libnccl-env.so, NCCL asks it for its variables, and the process's environment no more: what a launcher or a tool sets does not
# reach NCCL.
#
# PyPI nvidia-nccl-cu13 2.28.9, 2.30.7 and 2.32.3, Linux x86-64. No GPU. No variable asks for the plugin: its name is enough, at the first
# ncclGetUniqueId or communicator of a process. ncclGetUniqueId with NCCL_SOCKET_IFNAME==none in the environment:
#   no plugin:                                        an error, for there is no such interface
#   a plugin that says lo:                            "Bootstrap: Using lo:127.0.0.1"
#   NCCL_ENV_PLUGIN=none beside it:                   an error again
# NCCL's log then says "NCCL_SOCKET_IFNAME set by environment to lo", where the environment says =none. Of the process's environment count NCCL_DEBUG,
# NCCL_DEBUG_FILE and NCCL_ENV_PLUGIN, for which no plugin is asked; it is asked for CUDA_LAUNCH_BLOCKING, which is not NCCL's, once a communicator is made.
# So neither /proc/PID/environ nor that log tells what a job's NCCL variables are; "ENV/Plugin: Using ..." does, and /proc/PID/maps.
set -euo pipefail
command -v gcc >/dev/null && command -v python3 >/dev/null || { echo 'skipped: needs gcc and python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/site"
cat >"$work/plugin.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static int start(uint8_t major, uint8_t minor, uint8_t patch, const char* suffix) { return 0; }
static int end(void) { return 0; }
static const char* get(const char* name) {
  fprintf(stderr, "asked for %s\n", name);
  return strcmp(name, "NCCL_SOCKET_IFNAME") == 0 ? "lo" : NULL;
}
struct {
  const char* name;
  int (*start)(uint8_t, uint8_t, uint8_t, const char*);
  int (*end)(void);
  const char* (*get)(const char*);
} ncclEnvPlugin_v1 = {"site", start, end, get};
C
gcc -shared -fPIC "$work/plugin.c" -o "$work/site/libnccl-env.so"
cat >"$work/identity.py" <<'PYTHON'
import ctypes, sys

nccl = ctypes.CDLL(sys.argv[1])
print("result", nccl.ncclGetUniqueId((ctypes.c_char * 128)()), flush=True)
nccl.ncclCommInitAll(ctypes.byref(ctypes.c_void_p()), 1, None)  # fails where no GPU is
PYTHON

check() { # VERSION
  python3 -m pip -q download --no-deps -d "$work/$1" "nvidia-nccl-cu13==$1"
  python3 -m zipfile -e "$work/$1"/*.whl "$work/$1/files"
  local library=$work/$1/files/nvidia/nccl/lib/libnccl.so.2
  identity() { env "$@" NCCL_SOCKET_IFNAME==none NCCL_DEBUG=INFO python3 "$work/identity.py" "$library" 2>&1; }
  identity LD_LIBRARY_PATH= >"$work/plain"
  identity LD_LIBRARY_PATH="$work/site" >"$work/beside"
  identity LD_LIBRARY_PATH="$work/site" NCCL_ENV_PLUGIN=none >"$work/off"
  echo "$1: plain $(grep '^result' "$work/plain"), beside a plugin $(grep '^result' "$work/beside"), NCCL_ENV_PLUGIN=none $(grep '^result' "$work/off")"
  grep '^result' "$work/plain" | grep -vqx 'result 0'
  grep '^result' "$work/off" | grep -vqx 'result 0'
  grep -qx 'result 0' "$work/beside"
  grep -q 'Bootstrap: Using lo:127.0.0.1' "$work/beside"
  grep -q 'ENV/Plugin: Using site (v1)' "$work/beside"
  grep -q 'NCCL_SOCKET_IFNAME set by environment to lo$' "$work/beside"
  grep -qx 'asked for CUDA_LAUNCH_BLOCKING' "$work/beside"
  if grep -qE 'asked for NCCL_(DEBUG|DEBUG_FILE|ENV_PLUGIN)$' "$work/beside"; then return 1; fi
  rm -r "${work:?}/$1"
}
for version in 2.28.9 2.30.7 2.32.3; do check "$version"; done
echo 'as described'
