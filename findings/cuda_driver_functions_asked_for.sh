#!/usr/bin/env bash
# A process asks libcuda.so.1 for one name several times and means other functions: CUDA's runtime does so for 19 names in one form of stream 0, and
# cuda-bindings for 10.
#
# PyPI nvidia-cuda-runtime 13.0.96 (libcudart.so.13) and cuda-bindings 13.5.0, Python 3.11, Linux x86-64. No GPU: a libcuda.so.1 of our own with nothing
# but cuGetProcAddress writes down what the first call asks for, as (CUDA version, flags); flag 2 asks for the form whose stream 0 is the thread's.
#   libcudart, 440 questions, the first for the empty string, 74 with flag 2:
#     cuLaunchKernel (4000, 0) (7000, 2)                       cuEventElapsedTime (2000, 0) (12080, 0)
#     cuMemcpyBatchAsync (12080, 0) (12080, 2) (13000, 0) (13000, 2): 13000 has no place for the index that failed
#     cuStreamGetCaptureInfo (10010, 0) (10010, 2) (11030, 0) (11030, 2) (12030, 0) (12030, 2)
#   cuda-bindings, 526 questions, with flag 0 or, under CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1, all with flag 2:
#     cuLaunchHostFunc (10000, 0) (13020, 0)                   cuGraphAddNode (12030, 0) (13041, 0): a version need not end in 0
# Both ask for all functions, used or not. So a library that hooks the driver must answer by name, version and flags: by the name alone a caller gets a
# function with other arguments. And a question does not tell what a program will call.
set -euo pipefail
command -v gcc >/dev/null && command -v python3 >/dev/null || { echo 'skipped: needs gcc and python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install nvidia-cuda-runtime==13.0.96 cuda-bindings==13.5.0
cat >"$work/driver.c" <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int no_device(void) { return 100; }
static int version(int* found) { return *found = 13000, 0; }
int cuGetProcAddress_v2(const char* name, void** found, int version_asked, uint64_t flags, int* status) {
  FILE* log = fopen(getenv("ASKED"), "a");
  fprintf(log, "%s (%d, %d)\n", *name ? name : "empty", version_asked, (int)flags);
  fclose(log);
  *found = !strcmp(name, "cuGetProcAddress")     ? (void*)cuGetProcAddress_v2
           : !strcmp(name, "cuDriverGetVersion") ? (void*)version
                                                 : (void*)no_device;
  if (status) *status = 0;
  return 0;
}
int cuGetProcAddress(const char* name, void** found, int version_asked, uint64_t flags) {
  return cuGetProcAddress_v2(name, found, version_asked, flags, NULL);
}
C
mkdir "$work/driver"
gcc -shared -fPIC "$work/driver.c" -Wl,-soname,libcuda.so.1 -o "$work/driver/libcuda.so.1"

asks() { # LOG COMMAND...
  local log=$1
  shift
  ASKED=$log LD_LIBRARY_PATH=$work/driver "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
}
asks "$work/runtime" "$work/env/bin/python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount(ctypes.byref(ctypes.c_int()))' \
  "$(find "$work/env" -name libcudart.so.13)"
bindings=(python -c 'from cuda.bindings import driver; driver.cuInit(0)')
asks "$work/bindings" "$work/env/bin/${bindings[0]}" "${bindings[@]:1}"
asks "$work/thread" env CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1 "$work/env/bin/${bindings[0]}" "${bindings[@]:1}"

forms() { grep "^$2 " "$1" | sort -u | sort -s -t'(' -k2n | cut -d' ' -f2- | xargs; }
facts() {
  for log in runtime bindings thread; do
    # Names whose one form, by flag, is asked for in several versions.
    local several
    several=$(sort -u "$work/$log" | sed 's/(.*,//' | sort | uniq -d | cut -d' ' -f1 | sort -u | wc -l)
    echo "$log: $(wc -l <"$work/$log") questions, $(cut -d' ' -f1 "$work/$log" | sort -u | wc -l) names, $several in several versions," \
      "$(grep -c ', 2)' "$work/$log" || true) with flag 2, first $(head -1 "$work/$log" | cut -d' ' -f1)"
  done
  for name in cuLaunchKernel cuEventElapsedTime cuMemcpyBatchAsync cuStreamGetCaptureInfo; do echo "$name $(forms "$work/runtime" $name)"; done
  for name in cuLaunchHostFunc cuGraphAddNode; do echo "$name $(forms "$work/bindings" $name)"; done
}
facts | tee "$work/facts"
diff "$work/facts" - <<'FACTS'
runtime: 440 questions, 346 names, 19 in several versions, 74 with flag 2, first empty
bindings: 526 questions, 515 names, 10 in several versions, 0 with flag 2, first cuGetErrorString
thread: 526 questions, 515 names, 10 in several versions, 526 with flag 2, first cuGetErrorString
cuLaunchKernel (4000, 0) (7000, 2)
cuEventElapsedTime (2000, 0) (12080, 0)
cuMemcpyBatchAsync (12080, 0) (12080, 2) (13000, 0) (13000, 2)
cuStreamGetCaptureInfo (10010, 0) (10010, 2) (11030, 0) (11030, 2) (12030, 0) (12030, 2)
cuLaunchHostFunc (10000, 0) (13020, 0)
cuGraphAddNode (12030, 0) (13041, 0)
FACTS
echo 'as described'
