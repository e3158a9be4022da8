#!/usr/bin/env bash
# `headroom run`: exit codes, signals, what the command inherits, and the merging of what its processes report. The commands are
# shells that write reports as the interposer does; a stand-in takes the interposer's place.
. "$HEADROOM_SOURCE_DIR/tests/cli/checks.bash"

real_bin=$HEADROOM_BIN
mkdir "$work/bin" "$work/lib" "$work/tmp"
cp "$real_bin" "$work/bin/headroom"
stand_in=$(ldd "$real_bin" | awk '/libm\.so/ { print $3 }')
cp "$stand_in" "$work/lib/libheadroom_preload.so"
cp "$stand_in" "$work/lib/libheadroom_preload_hip.so"
HEADROOM_BIN=$work/bin/headroom
library=$work/lib/libheadroom_preload.so
hip_library=$work/lib/libheadroom_preload_hip.so
export TMPDIR=$work/tmp
# A machine may have ROCm installed: CUDA's driver decides what auto means below.
mkdir "$work/cuda"
cp "$stand_in" "$work/cuda/libcuda.so.1"
export LD_LIBRARY_PATH=$work/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# A sanitized build of the tool would refuse to start below a preloaded library.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
unset LD_PRELOAD HEADROOM_PROFILE HEADROOM_RUN_POLICY HEADROOM_RUN_REPORT_DIR HEADROOM_RUN_RULES

# --- usage ------------------------------------------------------------------------------------------------------------
expect 0 run --help
for option in --policy --backend --profile --learn --report --verbose --set --cap --sm-target --off; do has_option "$option"; done
silent

refused() {
  local says=$1
  shift
  expect 2 run "$@"
  complains "headroom"
  complains "$says"
}
refused 'expected -- and a command after the options'
refused 'expected -- and a command after the options' --
refused "true" true
refused '--nonsense' --nonsense -- true
refused "--policy: 'fast', expected one of auto, observe, priority, gate, shape" --policy fast -- true
refused "--backend: 'rocm', expected auto, cuda or hip" --backend rocm -- true
refused '--policy: gate is not there with hip' --backend hip --policy gate -- true
refused '--sm-target: not there with hip' --backend hip --sm-target 100 -- true
refused '--set: cluster is not there with hip' --backend hip --set cluster=1 -- true
refused '--policy: shape needs a --cap [NAME=]N or a profile with a choice that caps a kernel' --policy shape -- true
for policy in observe priority gate auto; do
  refused "--cap: not applied by $policy, expected --policy shape" --policy "$policy" --cap 2 -- true
done
for policy in observe priority; do
  refused "--sm-target: not applied by $policy, expected --policy auto, gate or shape" --policy "$policy" --sm-target 100 -- true
done
refused "--profile: '$work/none', expected a file that exists" --profile "$work/none" -- true
for cap in 0 33 gelu= =4 gelu=0 'two words=3' gelu 2.5 -1; do refused "--cap: '$cap', expected" --cap="$cap" -- true; done
caps=()
for ((i = 0; i < 65; ++i)); do caps+=("--cap=k$i=1"); done
refused '--cap: given 65 times, expected at most 64' "${caps[@]}" -- true
for target in 0 -1 1025; do refused "--sm-target: $target, expected 1 to 1024 SMs" --sm-target="$target" -- true; done
refused '--sm-target' --sm-target many -- true
for setting in comm_blocks comm_blocks= blocks=8 =8; do refused "--set: '$setting', expected" --set="$setting" -- true; done
refused "--set: 'comm_blocks=65', expected a whole number from 1 to 64" --set comm_blocks=65 -- true
refused "--set: 'cluster=9', expected a whole number from 1 to 8" --set cluster=9 -- true
refused "--set: 'comm_threads=200', expected one of 128, 256, 512" --set comm_threads=200 -- true
refused "--off: 'shape', expected one of gate, priority, timing, ab" --off gate,shape -- true
refused "--report: '$work/none/report.json', expected a file in a folder that exists, or -" --report "$work/none/report.json" -- true
refused "--report: '$work', expected a file" --report "$work" -- true

# --- exit codes, arguments, streams -----------------------------------------------------------------------------------
for code in 0 1 3 77 255; do
  expect "$code" run -- bash -c "exit $code"
  silent
done
expect 127 run -- "$work/none"
complains "headroom run: $work/none: cannot be run: No such file or directory"
expect 127 run -- no-command-of-this-name
complains 'no-command-of-this-name: cannot be run'
expect 127 run -- ''
: >"$work/data"
expect 126 run -- "$work/data"
complains "headroom run: $work/data: cannot be run: Permission denied"
expect 126 run -- "$work"
complains 'cannot be run'
expect 137 run -- bash -c 'kill -KILL $$'
expect 143 run -- bash -c 'kill -TERM $$'

expect 0 run --policy observe -- printf '[%s]' 'two words' '' -- --policy run '*'
[ "$(cat "$out")" = '[two words][][--][--policy][run][*]' ] || fail 'arguments changed'
echo input >"$work/input"
expect 0 run -- cat <"$work/input"
[ "$(cat "$out")" = input ] || fail 'standard input does not reach the command'
silent
( trap '' CHLD; exec "$HEADROOM_BIN" run -- bash -c 'exit 9' )
[ $? -eq 9 ] || fail 'the exit code is lost where SIGCHLD is ignored'

# --- signals ----------------------------------------------------------------------------------------------------------
# receives SIGNAL: the command gets a signal that is sent to headroom, and its own exit code comes back.
receives() {
  command_line="run (signal $1)"
  : >"$out"
  env --default-signal=INT,QUIT "$HEADROOM_BIN" run -- \
    bash -c 'trap "exit 42" '"$1"'; echo ready; while :; do sleep 0.02; done' >"$out" 2>"$err" &
  local pid=$! tries=0
  until grep -q ready "$out" || ((++tries == 500)); do sleep 0.02; done
  kill -s "$1" "$pid"
  wait "$pid"
  local code=$?
  [ "$code" -eq 42 ] || fail "exit $code after SIG$1, expected 42"
}
for signal in INT TERM HUP QUIT USR1 USR2; do receives "$signal"; done

command_line='run (killed by a forwarded signal)'
: >"$out" # a signal before the shell's child has become headroom would run this script's EXIT trap there
"$HEADROOM_BIN" run -- bash -c 'echo ready; exec sleep 60' >"$out" 2>"$err" &
pid=$! tries=0
until grep -q ready "$out" || ((++tries == 500)); do sleep 0.02; done
kill -s TERM "$pid"
wait "$pid"
code=$?
[ "$code" -eq 143 ] || fail "exit $code, expected 143"

# --- what the command inherits ----------------------------------------------------------------------------------------
# inherits NAME=VALUE, lacks NAME: of the environment that the command printed.
inherits() { grep -qxF -- "$1" "$out" || fail "environment lacks $1"; }
lacks() { if grep -q "^$1=" "$out"; then fail "environment has $1"; fi; }

expect 0 run -- env
inherits "LD_PRELOAD=$library"
inherits HEADROOM_RUN_POLICY=auto
lacks HEADROOM_RUN_RULES
lacks HEADROOM_RUN_REPORT_DIR

export LD_PRELOAD=$stand_in HEADROOM_RUN_RULES=/of/another/run NCCL_MAX_CTAS=3
expect 0 run --policy gate --set comm_blocks=8,cluster=1 --set comm_threads=256 -- env
inherits "LD_PRELOAD=$library:$stand_in"
inherits HEADROOM_RUN_POLICY=gate
inherits NCCL_MIN_CTAS=8
inherits NCCL_MAX_CTAS=8
inherits NCCL_CGA_CLUSTER_SIZE=1
inherits NCCL_NTHREADS=256
lacks HEADROOM_RUN_RULES
[ "$(grep -c '^NCCL_MAX_CTAS=' "$out")" -eq 1 ] || fail 'a setting is there twice'
expect 0 run -- "$HEADROOM_BIN" run --policy observe -- env
inherits "LD_PRELOAD=$library:$stand_in"
inherits HEADROOM_RUN_POLICY=observe
unset LD_PRELOAD HEADROOM_RUN_RULES NCCL_MAX_CTAS

expect 0 run --policy shape --cap gelu=4 --cap 'a=b=2' --cap 1 --sm-target 108 --off gate,ab -- bash -c 'cat "$HEADROOM_RUN_RULES"'
[ "$(cat "$out")" = 'cap gelu 4
cap a=b 2
cap * 1
sm_target 108
gate off
ab off' ] || fail 'the rules are others'

# With hip its own library is preloaded, RCCL gets the names that it knows, and priorities are asked for unless somebody decided otherwise.
expect 0 run --backend hip --policy priority --set comm_blocks=8 -- env
inherits "LD_PRELOAD=$hip_library"
inherits NCCL_MAX_CTAS=8
inherits NCCL_MIN_NCHANNELS=8
inherits NCCL_MAX_NCHANNELS=8
inherits DEBUG_HIP_IGNORE_STREAM_PRIORITY=0
DEBUG_HIP_IGNORE_STREAM_PRIORITY=1 expect 0 run --backend hip -- env
inherits DEBUG_HIP_IGNORE_STREAM_PRIORITY=1
expect 0 run --backend hip --policy observe -- env
lacks DEBUG_HIP_IGNORE_STREAM_PRIORITY
expect 0 run --backend cuda -- "$HEADROOM_BIN" run --backend hip -- env
inherits "LD_PRELOAD=$hip_library"

# auto: hip where its runtime can be loaded and CUDA's driver cannot.
mkdir "$work/rocm"
cp "$stand_in" "$work/rocm/libamdhip64.so.6"
LD_LIBRARY_PATH=$work/rocm:$work/cuda expect 0 run -- env
inherits "LD_PRELOAD=$library"
if ! ldconfig -p | grep -qF libcuda.so.1; then
  LD_LIBRARY_PATH=$work/rocm expect 0 run -- env
  inherits "LD_PRELOAD=$hip_library"
  for control in --policy=gate --sm-target=100 --set=cluster=1; do
    LD_LIBRARY_PATH=$work/rocm refused '--backend cuda runs the command all the same' "$control" -- true
  done
  LD_LIBRARY_PATH=$work/rocm expect 0 run --backend cuda --policy gate -- env
  inherits "LD_PRELOAD=$library"
fi

# A profile counts where all its measured choices agree, below what the command line says.
cat >"$work/case.json" <<'JSON'
{"schema": "headroom.scenario/1", "name": "cublas-ar", "gpus": 2, "iterations": 8, "pattern": "pipeline",
 "compute": {"kernel": "library_gemm", "m": 8192, "n": 8192, "k": 8192, "dtype": "bf16"},
 "collective": {"op": "all_reduce", "bytes": "512M", "dtype": "bf16"}}
JSON
expect 0 tune --scenario "$work/case.json" --backend sim --profile "$work/profile.json"
expect 0 run --profile "$work/profile.json" -- env
lacks NCCL_MAX_CTAS # a simulated choice is none for a GPU
sed 's/"simulated"/"measured"/g; s/"comm_blocks": *[a-z0-9]*/"comm_blocks": 12/; s/"sm_target": *[a-z0-9]*/"sm_target": 104/
  s/"\(windows_only\|symmetric\|copy_engine\)": *[a-z]*/"\1": false/g' "$work/profile.json" >"$work/measured.json"
grep -q '"comm_blocks": 12' "$work/measured.json" || fail 'the profile has no comm_blocks'
HEADROOM_PROFILE=$work/measured.json expect 0 run -- bash -c 'env; cat "$HEADROOM_RUN_RULES"'
inherits NCCL_MAX_CTAS=12
inherits NCCL_MIN_CTAS=12
inherits 'product bf16 2^40 sm_target 104'
inherits 'device h200'
if grep -q '^sm_target' "$out"; then fail 'a target for other products'; fi
expect 0 run --profile "$work/measured.json" --set comm_blocks=4 --sm-target 90 -- bash -c 'env; cat "$HEADROOM_RUN_RULES"'
inherits NCCL_MAX_CTAS=4
inherits 'sm_target 90'
if grep -q '^product' "$out"; then fail "a profile's target beside what was asked"; fi
# What holds in windows only is no setting of all a process's collectives; the SM target acts in windows anyway.
sed 's/"windows_only": *[a-z]*/"windows_only": true/' "$work/measured.json" >"$work/windows.json"
expect 0 run --profile "$work/windows.json" -- bash -c 'env; cat "$HEADROOM_RUN_RULES"'
lacks NCCL_MAX_CTAS
inherits 'product bf16 2^40 sm_target 104'
grep -qF 'or need more than a run can do: comm_blocks (12 in windows only)' "$err" || fail 'windows'
sed 's/"copy_engine": *[a-z]*/"copy_engine": true/' "$work/measured.json" >"$work/copies.json"
expect 0 run --profile "$work/copies.json" -- true
grep -qF "copy_engine (a program's own collectives cannot have it)" "$err" || fail 'copies'
# Blocks that were chosen for kernels on symmetric memory are too few for a ring.
sed 's/"symmetric": *[a-z]*/"symmetric": true/' "$work/measured.json" >"$work/symmetric.json"
expect 0 run --profile "$work/symmetric.json" -- bash -c 'env; cat "$HEADROOM_RUN_RULES"'
lacks NCCL_MAX_CTAS
grep -qF 'comm_blocks (12 on symmetric memory)' "$err" || fail 'blocks on symmetric memory'
grep -qF "symmetric (a program's own collectives cannot have it)" "$err" || fail 'symmetric memory'
expect 0 run --profile "$work/measured.json" --policy observe -- env
lacks NCCL_MAX_CTAS
expect 0 run --backend hip --profile "$work/measured.json" -- env
inherits NCCL_MAX_NCHANNELS=12
lacks HEADROOM_RUN_RULES # the profile's SM target
# All of a choice that was searched for a run can be applied.
expect 0 tune --scenario "$work/case.json" --backend sim --for-run --profile "$work/for-run.json"
sed -i 's/"simulated"/"measured"/' "$work/for-run.json"
expect 0 run --profile "$work/for-run.json" -- bash -c 'env; cat "$HEADROOM_RUN_RULES"'
grep -q '^NCCL_MAX_CTAS=' "$out" || fail 'no comm blocks'
grep -q '^product bf16 2^40 sm_target' "$out" || fail 'no SM target'
silent

# What is for single kernels holds for those that choices were made for, on their devices, where the choices for one agree.
refused '--policy: shape needs a --cap' --policy shape --profile "$work/measured.json" -- true
sed 's/"library_gemm bf16"/"256x32 0+0 1"/; s/"2^40 flop"/"2^32 B"/; s/"blocks_per_sm": *[a-z0-9]*/"blocks_per_sm": 4/
  s/"pad_bytes": *[0-9]*/"pad_bytes": 45056/; s/"sm_target": *[0-9]*/"sm_target": null/' "$work/measured.json" >"$work/elementwise.json"
sed 's/"256x32 0+0 1"/"512x64 1024+0 1"/; s/"h200"/"sm_120"/; s/"blocks_per_sm": 4/"blocks_per_sm": 2/' "$work/elementwise.json" >"$work/other.json"
sed 's/"2^32 B"/"2^33 B"/; s/"512x64 1024+0 1"/"64x16 0+0 1"/' "$work/other.json" >"$work/agrees.json"
sed 's/"2^32 B"/"2^34 B"/; s/"512x64 1024+0 1"/"64x16 0+0 1"/; s/"blocks_per_sm": 2/"blocks_per_sm": 3/' "$work/other.json" >"$work/differs.json"
cp "$work/elementwise.json" "$work/kernels.json"
expect 0 profile import "$work/other.json" --profile "$work/kernels.json"
expect 0 profile import "$work/agrees.json" --profile "$work/kernels.json"
for policy in shape auto; do
  expect 0 run --policy "$policy" --profile "$work/kernels.json" -- bash -c 'cat "$HEADROOM_RUN_RULES"'
  [ "$(cat "$out")" = 'footprint 512x64 1024+0 1 cap 2
footprint 64x16 0+0 1 cap 2
device h200
footprint 256x32 0+0 1 cap 4' ] || fail "not the rules for each kernel: $(cat "$out")"
done
expect 0 run --policy shape --cap gelu=3 --profile "$work/elementwise.json" -- bash -c 'cat "$HEADROOM_RUN_RULES"'
[ "$(cat "$out")" = 'cap gelu 3
device h200
footprint 256x32 0+0 1 cap 4' ] || fail "not what was asked and what the profile adds: $(cat "$out")"
expect 0 run --policy gate --profile "$work/kernels.json" -- env
lacks HEADROOM_RUN_RULES
expect 0 profile import "$work/differs.json" --profile "$work/kernels.json"
expect 0 run --policy shape --profile "$work/kernels.json" -- bash -c 'cat "$HEADROOM_RUN_RULES"'
if grep -q '^footprint 64x16' "$out"; then fail 'a cap in which choices differ'; fi
grep -qF 'blocks_per_sm of 64x16 0+0 (2, 3)' "$err" || fail 'no word of the choices that differ'
echo '{"schema": "other/1"}' >"$work/foreign.json"
refused 'foreign.json: schema: "other/1", expected "headroom.profile/1"' --profile "$work/foreign.json" -- true
HEADROOM_PROFILE=$work/foreign.json expect 0 run -- true
grep -qF 'profile ignored' "$err" || fail 'no word of the damaged profile'

# What a run learns is kept where it is asked for, and handed to the next one.
cat >"$work/learner" <<'PROGRAM'
#!/usr/bin/env bash
[ -z "${HEADROOM_RUN_DURATIONS:-}" ] || cat "$HEADROOM_RUN_DURATIONS"
[ -d "${HEADROOM_RUN_REPORT_DIR:-}" ] || exit 0
for pid in 1 2; do
  cat >"$HEADROOM_RUN_REPORT_DIR/$pid-1.json" <<REPORT
{"schema": "headroom.run-process/1", "pid": $pid, "program": "python3", "policy": "auto", "device": "NVIDIA H200", "durations": [
 {"kind": "00000000000000a1", "kernel": "ncclDevKernel_AllReduce", "us": ${pid}00.5, "launches": 8},
 {"kind": "a1", "kernel": "no kind", "us": 3, "launches": 8}, {"kind": "fedcba9876543210", "kernel": "a\u0001b", "us": 9e9, "launches": 2}]}
REPORT
done
PROGRAM
chmod +x "$work/learner"
refused '--learn: no profile, expected --profile or HEADROOM_PROFILE' --learn -- true
refused "--learn: '$work/none/p.json', expected a file in a folder that exists" --learn --profile "$work/none/p.json" -- true
expect 0 run --profile "$work/learned.json" --learn -- "$work/learner"
silent
expect 0 profile list --profile "$work/learned.json"
says '2 learned durations of launches on NVIDIA H200'
expect 0 profile export - --profile "$work/learned.json"
says '{"device":"NVIDIA H200","kind":"00000000000000a1","kernel":"ncclDevKernel_AllReduce","time_us":150.5,"stored_at":'
says '"kind":"fedcba9876543210","kernel":"a?b","time_us":4294967.295,'
expect 0 run --profile "$work/learned.json" --policy observe -- "$work/learner"
[ "$(cat "$out")" = 'device NVIDIA H200
00000000000000a1 150500
fedcba9876543210 4294967295' ] || fail "not what was learned: $(cat "$out")"
expect 0 run --profile "$work/learned.json" --learn -- true
grep -qF 'nothing was learned' "$err" || fail 'no word that nothing was learned'
HEADROOM_RUN_DURATIONS=$work/case.json expect 0 run -- env
lacks HEADROOM_RUN_DURATIONS # another run's

# --- reports ----------------------------------------------------------------------------------------------------------
# A program of two processes, one of which was killed while it wrote.
cat >"$work/program" <<'PROGRAM'
#!/usr/bin/env bash
echo 'the program writes'
[ -d "${HEADROOM_RUN_REPORT_DIR:-}" ] || exit 5
for pid in 12 7; do
  cat >"$HEADROOM_RUN_REPORT_DIR/$pid-1.json" <<REPORT
{"schema": "headroom.run-process/1", "pid": $pid, "program": "python3", "policy": "auto", "later": [1],
 "launches": {"total": 100, "captured": 0, "graph_launches": 0, "in_window": 30, "in_order_only": 5},
 "collectives": [{"name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "size_class": 28, "count": 8, "expected_us": 512.5}],
 "applied": {"priority": 8, "gate": 4, "shape": 0, "sm_target": 0}, "refused": {"queued collective": 2}}
REPORT
done
printf '{"schema": "headroom.run-process/1", "pid"' >"$HEADROOM_RUN_REPORT_DIR/9-1.json"
exit 4
PROGRAM
chmod +x "$work/program"

expect 5 run -- "$work/program" # no report is asked for: nothing is written
expect 4 run --report "$work/report.json" -- "$work/program"
[ "$(cat "$out")" = 'the program writes' ] || fail "the program's own output changed"
grep -qF '1 of 3 process reports could not be read, the first: 9-1.json: not valid JSON' "$err" || fail 'no word of the damaged report'

# holds TEXT: the report has it, blanks aside.
holds() { tr -d ' \n' <"$work/report.json" | grep -qF -- "$1" || fail "report lacks: $1"; }
holds '{"schema":"headroom.run/1","provenance":"measured","command":["'
holds '"backend":"cuda","policy":"auto","exit_code":4,"wall_s":'
holds '"pid":7,"program":"python3","policy":"auto","later":[1]'
holds '"damaged_reports":["9-1.json:'
holds '"total":{"launches":{"total":200,"captured":0,"graph_launches":0,"in_window":60,"in_order_only":10,'
holds '"applied":{"priority":16,"gate":8,"shape":0,"sm_target":0},"refused":{"queuedcollective":4}'

expect 4 run --report - -- "$work/program"
[ "$(sed -n 1,2p "$out")" = 'the program writes
{' ] || fail 'the report does not follow the output'

expect 4 run --verbose -- "$work/program"
[ "$(cat "$out")" = 'the program writes' ] || fail "the program's own output changed"
for text in '# headroom run: measured, policy auto, exit code 4' '# 2 processes used the CUDA driver' '# damaged report: 9-1.json' \
  'ncclDevKernel_AllReduce_Sum_bf16_RING_LL' 'priority 16, gate 8'; do
  grep -qF -- "$text" "$err" || fail "table lacks: $text"
done

expect 0 run --verbose --report "$work/report.json" -- true
grep -q '^# no process reported' "$err" || fail 'a program without a GPU is not said to be one'
holds '"exit_code":0,'
holds '"processes":[],"damaged_reports":[]'

[ -z "$(ls -A "$work/tmp")" ] || fail 'a temporary folder is left'

# --- the library ------------------------------------------------------------------------------------------------------
mv "$library" "$work/bin/"
expect 0 run -- env
inherits "LD_PRELOAD=$work/bin/libheadroom_preload.so"
rm "$work/bin/libheadroom_preload.so"
expect 1 run --backend cuda -- true
complains 'headroom run: libheadroom_preload.so was not found in '

# The interposer itself changes nothing where no program uses a driver.
HEADROOM_BIN=$real_bin
if [ -e "$(dirname "$real_bin")/../lib/libheadroom_preload.so" ]; then
  expect 6 run --verbose -- bash -c 'echo output; exit 6'
  [ "$(cat "$out")" = output ] || fail "the program's own output changed"
  grep -q '^# no process reported' "$err" || fail 'a shell is said to use a GPU'
fi

# With the driver of tests/preload, which runs nothing, a program's launches come back in the report.
driver=$(dirname "$real_bin")/../tests/preload/driver
program=$(dirname "$real_bin")/preload_processes
if [ -e "$driver/libcuda.so.1" ] && [ -x "$program" ]; then
  LD_LIBRARY_PATH=$driver expect 0 run --policy gate --verbose --report "$work/report.json" -- "$program" launch_some
  holds '"policy":"gate","exit_code":0,'
  holds '"damaged_reports":[],"total":{"launches":{"total":10,'
  grep -q '^# 1 process used the CUDA driver' "$err" || fail 'the table lacks the process'
fi

# The same with the fake HIP runtime; what HIP has no way to do is not in the report.
runtime=$(dirname "$real_bin")/../tests/fake_hip/rocm
program=$(dirname "$real_bin")/preload_hip_processes
if [ -e "$runtime/libamdhip64.so.6" ] && [ -x "$program" ]; then
  export LD_LIBRARY_PATH=$runtime:$runtime/../../preload_hip/rccl
  expect 0 run --backend hip --policy auto --off ab --verbose --report "$work/report.json" -- "$program" launch_some
  holds '"backend":"hip","policy":"auto","exit_code":0,'
  holds '"damaged_reports":[],"total":{"launches":{"total":10,'
  holds '"applied":{"priority":5,"gate":0,"shape":0,"sm_target":0}'
  grep -q '^# 1 process used the HIP runtime' "$err" || fail 'the table lacks the process'
  expect 0 run --backend hip --report "$work/report.json" -- "$program" nested
  holds '"total":{"launches":{"total":1,'
fi

finish
