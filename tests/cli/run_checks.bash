# What the tests of `elbowroom run` share: a stand-in in the place of the interposer, and what the commands inherit.
. "$(dirname "${BASH_SOURCE[0]}")/checks.bash" || exit

real_bin=$ELBOWROOM_BIN
mkdir "$work/bin" "$work/lib" "$work/tmp"
cp "$real_bin" "$work/bin/elbowroom"
stand_in=$(ldd "$real_bin" | awk '/libm\.so/ { print $3 }')
cp "$stand_in" "$work/lib/libelbowroom_interposer.so"
cp "$stand_in" "$work/lib/libelbowroom_interposer_hip.so"
ELBOWROOM_BIN=$work/bin/elbowroom
library=$work/lib/libelbowroom_interposer.so
hip_library=$work/lib/libelbowroom_interposer_hip.so
export TMPDIR=$work/tmp
# A machine may have ROCm installed: CUDA's driver decides what auto means below.
mkdir "$work/cuda"
cp "$stand_in" "$work/cuda/libcuda.so.1"
export LD_LIBRARY_PATH=$work/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# A sanitized build of the tool would refuse to start below a preloaded library.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
unset LD_PRELOAD ELBOWROOM_PROFILE ELBOWROOM_RUN_POLICY ELBOWROOM_RUN_REPORT_DIR ELBOWROOM_RUN_RULES ${!NCCL_@}

refused() {
  local says=$1
  shift
  expect 2 run "$@"
  complains "elbowroom"
  complains "$says"
}

# closes TEXT: standard error ends with the closing line, which is the only one and has TEXT.
closes() {
  local line
  line=$(tail -n 1 "$err")
  [ "$(grep -c '^elbowroom: ' "$err")" -eq 1 ] || fail 'not one closing line'
  [ "${#line}" -le 160 ] || fail 'the closing line is longer than 160 characters'
  [[ $line == 'elbowroom: '*"$1"* ]] || fail "the closing line lacks: $1"
}

# only_closes TEXT: the same, and nothing else is there.
only_closes() {
  closes "$1"
  [ "$(wc -l <"$err")" -eq 1 ] || fail 'standard error is not one line'
}

# inherits NAME=VALUE, lacks NAME: of the environment that the command printed.
inherits() { grep -qxF -- "$1" "$out" || fail "environment lacks $1"; }
lacks() { if grep -q "^$1=" "$out"; then fail "environment has $1"; fi; }
