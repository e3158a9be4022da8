#!/usr/bin/env bash
# `elbowroom run`: exit codes, signals, what the command inherits, and the merging of what its processes report. The commands are
# shells that write reports as the interposer does; a stand-in takes the interposer's place.
. "$(dirname "$0")/run_checks.bash" || exit

# --- usage ------------------------------------------------------------------------------------------------------------
expect 0 run --help
for option in --policy --backend --profile --report --verbose --quiet --no-memory --same-bits --gradient-views --set --cap --communication --sm-target --off; do has_option "$option"; done
silent

refused 'expected -- and a command after the options'
refused 'expected -- and a command after the options' --
refused "true" true
refused '--nonsense' --nonsense -- true
refused "--policy: 'fast', expected one of auto, observe, priority, gate, shape" --policy fast -- true
refused "--backend: 'rocm', expected auto, cuda or hip" --backend rocm -- true
refused '--policy: gate is not there with hip' --backend hip --policy gate -- true
refused '--sm-target: not there with hip' --backend hip --sm-target 100 -- true
refused '--set: cluster is not there with hip' --backend hip --set cluster=1 -- true
refused '--set: copy_engine is not there with hip' --backend hip --set copy_engine=1 -- true
refused '--policy: shape needs a --cap [NAME=]N or a profile with a choice that caps a kernel' --policy shape -- true
for policy in observe priority gate auto; do
  refused "--cap: not applied by $policy, expected --policy shape" --policy "$policy" --cap 2 -- true
done
for policy in observe priority; do
  refused "--sm-target: not applied by $policy, expected --policy auto, gate or shape" --policy "$policy" --sm-target 100 -- true
done
refused "--profile: '$work/none', expected a file that exists" --profile "$work/none" -- true
for cap in 0 33 gelu= =4 gelu=0 'two words=3' gelu=3,relu=4 gelu 2.5 -1; do refused "--cap: '$cap', expected" --cap="$cap" -- true; done
caps=()
for ((i = 0; i < 65; ++i)); do caps+=("--cap=k$i=1"); done
refused '--cap: given 65 times, expected at most 64' "${caps[@]}" -- true
refused "--communication: 'two words', expected part of a kernel's name" --communication='two words' -- true
names=$(seq -s, 33)
refused '--communication: 33 names, expected at most 32' --communication="$names" -- true
for target in 0 -1 1025; do refused "--sm-target: $target, expected 1 to 1024 SMs" --sm-target="$target" -- true; done
refused '--sm-target' --sm-target many -- true
for setting in comm_blocks comm_blocks= blocks=8 =8; do refused "--set: '$setting', expected" --set="$setting" -- true; done
refused "--set: 'comm_blocks=65', expected a whole number from 1 to 64" --set comm_blocks=65 -- true
refused "--set: 'cluster=9', expected a whole number from 1 to 8" --set cluster=9 -- true
refused "--set: 'comm_threads=200', expected one of 128, 256, 512" --set comm_threads=200 -- true
refused "--set: 'symmetric_blocks=65', expected a whole number from 1 to 64" --set symmetric_blocks=65 -- true
refused "--set: 'symmetric_blocks=8' sets what another one sets" --set symmetric_blocks=16,symmetric_blocks=8 -- true
refused '--set: symmetric_blocks beside comm_blocks' --set symmetric_blocks=16,comm_blocks=8 -- true
refused '--set: symmetric_blocks is not there with hip' --backend hip --set symmetric_blocks=16 -- true
refused "--set: 'copy_engine=2', expected one of 0, 1" --set copy_engine=2 -- true
refused '--sm-target: not beside --same-bits' --same-bits --sm-target 100 -- true
for setting in comm_blocks=8 comm_threads=256 symmetric_blocks=16 budget=8; do
  refused 'not beside --same-bits, because the order of a sum' --same-bits --set "$setting" -- true
done
for option in --same-bits '--policy observe' '--off symmetric' '--backend hip'; do
  # shellcheck disable=SC2086
  refused '--gradient-views: symmetric memory is left out here' --gradient-views $option -- true
done
refused "--off: 'cap', expected one of gate, priority, ab, shape, sm_target, symmetric" --off gate,cap -- true
refused "--report: $work/none/report.json: cannot be written: No such file or directory" --report "$work/none/report.json" -- true
refused "--report: $work: cannot be written: Is a directory" --report "$work" -- true

# --- exit codes, arguments, streams -----------------------------------------------------------------------------------
expect 0 run -- true
only_closes "nothing changed: no process reported a use of CUDA's driver"
for code in 1 3 77 255; do
  expect "$code" run -- bash -c "exit $code"
  only_closes "not known what changed: no process left a report, exit code $code"
done
for policy in observe priority gate auto; do
  expect 0 run --quiet --policy "$policy" -- true
  silent
done
expect 127 run -- "$work/none"
complains "elbowroom run: $work/none: cannot be run: No such file or directory"
expect 127 run -- no-command-of-this-name
complains 'no-command-of-this-name: cannot be run'
expect 127 run -- ''
: >"$work/data"
expect 126 run -- "$work/data"
complains "elbowroom run: $work/data: cannot be run: Permission denied"
expect 126 run -- "$work"
complains 'cannot be run'
expect 137 run -- bash -c 'kill -KILL $$'
expect 143 run -- bash -c 'kill -TERM $$'

expect 0 run --policy observe -- printf '[%s]' 'two words' '' -- --policy run '*'
[ "$(cat "$out")" = '[two words][][--][--policy][run][*]' ] || fail 'arguments changed'
echo input >"$work/input"
expect 0 run -- cat <"$work/input"
[ "$(cat "$out")" = input ] || fail 'standard input does not reach the command'
only_closes 'nothing changed: '
( trap '' CHLD; exec "$ELBOWROOM_BIN" run -- bash -c 'exit 9' )
[ $? -eq 9 ] || fail 'the exit code is lost where SIGCHLD is ignored'

# A program whose loader is musl's cannot have the library: it runs without. Its loader is a stand-in.
if command -v cc >/dev/null && [ -e /lib64/ld-linux-x86-64.so.2 ]; then
  ln -s /lib64/ld-linux-x86-64.so.2 "$work/ld-musl-x86_64.so.1"
  echo 'int main(void) { return 5; }' >"$work/foreign.c"
  cc -o "$work/foreign" "$work/foreign.c" -Wl,--dynamic-linker="$work/ld-musl-x86_64.so.1"
  printf '#!%s\n' "$work/foreign" >"$work/script"
  chmod +x "$work/script"
  for foreign in "$work/foreign" "$work/script"; do
    expect 5 run -- "$foreign"
    only_closes "nothing changed: '${foreign##*/}': its loader is ld-musl-x86_64.so.1, expected glibc's"
  done
fi

# As little stack as this is not enough for this program.
command_line='run (stack of 128 KiB)'
bash -c 'ulimit -s 128 && exec "$@"' bash "$ELBOWROOM_BIN" run -- bash -c 'exit 6' >"$out" 2>"$err"
[ $? -eq 6 ] || fail 'not the exit code of the command'
only_closes "nothing changed: the stack's limit is 128 KiB, expected at least 256"

# --- what cannot be seen ----------------------------------------------------------------------------------------------------
if cc=$(command -v gcc) && echo 'int main(void) { return 7; }' | $cc -static -x c -o "$work/static" - 2>"$err"; then
  expect 7 run -- "$work/static"
  only_closes "nothing changed: 'static' is linked statically: no library can be preloaded into it"
fi
TMPDIR=$work/none expect 0 run -- true # /tmp stands in
only_closes 'nothing changed: '

# --- one line a job -----------------------------------------------------------------------------------------------------------
RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 expect 0 run -- true
only_closes 'nothing changed: '
RANK=1 WORLD_SIZE=2 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 expect 0 run -- true
silent
SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=1 SLURM_LOCALID=1 SLURM_STEP_NODELIST=node expect 0 run -- true
silent
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 expect 0 run -- true
silent

# --- signals ----------------------------------------------------------------------------------------------------------
# receives SIGNAL: the command gets a signal that is sent to elbowroom, and its own exit code comes back.
receives() {
  command_line="run (signal $1)"
  : >"$out"
  env --default-signal=INT,QUIT "$ELBOWROOM_BIN" run -- \
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
: >"$out" # a signal before the shell's child has become elbowroom would run this script's EXIT trap there
"$ELBOWROOM_BIN" run -- bash -c 'echo ready; exec sleep 60' >"$out" 2>"$err" &
pid=$! tries=0
until grep -q ready "$out" || ((++tries == 500)); do sleep 0.02; done
kill -s TERM "$pid"
wait "$pid"
code=$?
[ "$code" -eq 143 ] || fail "exit $code, expected 143"

# --- what the command inherits ----------------------------------------------------------------------------------------
expect 0 run -- env
inherits "LD_PRELOAD=$library"
inherits ELBOWROOM_RUN_POLICY=auto
lacks ELBOWROOM_RUN_RULES
grep -q '^ELBOWROOM_RUN_REPORT_DIR=/' "$out" || fail "no folder for what the closing line says"
expect 0 run --quiet --no-memory -- env
lacks ELBOWROOM_RUN_REPORT_DIR

export LD_PRELOAD=$stand_in ELBOWROOM_RUN_RULES=/of/another/run NCCL_MAX_CTAS=3
expect 0 run --policy gate --set comm_blocks=8,cluster=1 --set comm_threads=256 -- env
inherits "LD_PRELOAD=$library:$stand_in"
inherits ELBOWROOM_RUN_POLICY=gate
inherits NCCL_MIN_CTAS=8
inherits NCCL_MAX_CTAS=8
inherits NCCL_CGA_CLUSTER_SIZE=1
inherits NCCL_NTHREADS=256
lacks ELBOWROOM_RUN_RULES
lacks NCCL_CTA_POLICY
[ "$(grep -c '^NCCL_MAX_CTAS=' "$out")" -eq 1 ] || fail 'a setting is there twice'
expect 0 run -- "$ELBOWROOM_BIN" run --policy observe -- env
inherits "LD_PRELOAD=$library:$stand_in"
inherits ELBOWROOM_RUN_POLICY=observe
cp "$stand_in" "$work/libasan.so.8"  # that runtime has to stand before every other
LD_PRELOAD=$stand_in:$work/libasan.so.8 expect 0 run -- env
inherits "LD_PRELOAD=$work/libasan.so.8:$library:$stand_in"
unset LD_PRELOAD ELBOWROOM_RUN_RULES NCCL_MAX_CTAS
# Whoever read the report may have gone.
"$ELBOWROOM_BIN" run --report - -- sh -c 'sleep 0.2; exit 5' 2>"$err" | true
[ "${PIPESTATUS[0]}" -eq 5 ] || fail "the command's exit code is lost with the reader of its report"
expect 0 run --set copy_engine=1 -- env
inherits NCCL_CTA_POLICY=2
NCCL_CTA_POLICY=2 expect 0 run --set copy_engine=0 -- env
inherits NCCL_CTA_POLICY=0

expect 0 run --policy shape --cap gelu=4 --cap 'a=b=2' --cap 1 --sm-target 108 --off gate,ab -- bash -c 'cat "$ELBOWROOM_RUN_RULES"'
[ "$(cat "$out")" = 'cap gelu 4
cap a=b 2
cap * 1
sm_target 108
gate off
ab off' ] || fail 'the rules are others'

expect 0 run --set symmetric_blocks=16 -- env
inherits 'NCCL_SYM_CTAS=16'
lacks NCCL_MIN_CTAS

# A budget is a number at most: NCCL takes fewer where few bytes move.
expect 0 run --set budget=8 -- env
inherits NCCL_MAX_CTAS=8
lacks NCCL_MIN_CTAS
# XLA's buffers: the plugin that the command's Python names is searched for the flag, and the user's flags prevail.
mkdir -p "$work/jax/plugins/xla_cuda13" "$work/jax/bare/xla_cuda13"
printf '#!/bin/sh\n[ "$1" = -c ] || exec env\necho "$JAX_FOLDER"\n' >"$work/jax/python3"
chmod +x "$work/jax/python3"
printf 'code\0xla_gpu_experimental_enable_nccl_symmetric_buffers\0code' >"$work/jax/plugins/xla_cuda13/xla_cuda_plugin.so"
printf 'code xla_gpu_experimental_enable_nccl_symmetric_buffers code' >"$work/jax/bare/xla_cuda13/xla_cuda_plugin.so"
jax=(run --set xla_symmetric_buffers=1 -- "$work/jax/python3" train.py)
refused "--set: 'xla_symmetric_buffers=2', expected one of 0, 1" --set xla_symmetric_buffers=2 -- true
refused '--set: xla_symmetric_buffers is not there with NVLink multicast, expected NCCL_NVLS_ENABLE=0' "${jax[@]:1}"
refused '--set: xla_symmetric_buffers is not there with hip' --backend hip "${jax[@]:1}"
refused '--set: xla_symmetric_buffers not beside --same-bits' --same-bits "${jax[@]:1}"
export NCCL_NVLS_ENABLE=0
refused "--set: xla_symmetric_buffers: '$work/jax/python3' has no plugin of JAX for CUDA" "${jax[@]:1}"
JAX_FOLDER=$work/jax/bare refused 'knows no flag for it' "${jax[@]:1}"
export JAX_FOLDER=$work/jax/plugins
expect 0 "${jax[@]}"
inherits XLA_FLAGS=--xla_gpu_experimental_enable_nccl_symmetric_buffers=true
inherits NCCL_SYM_CTAS=32
XLA_FLAGS=--xla_a=1 NCCL_SYM_CTAS=8 expect 0 "${jax[@]}"
inherits 'XLA_FLAGS=--xla_gpu_experimental_enable_nccl_symmetric_buffers=true --xla_a=1'
inherits NCCL_SYM_CTAS=8
XLA_FLAGS=--xla_gpu_experimental_enable_nccl_symmetric_buffers=false expect 0 "${jax[@]}"
inherits XLA_FLAGS=--xla_gpu_experimental_enable_nccl_symmetric_buffers=false
lacks NCCL_SYM_CTAS
XLA_FLAGS=--xla_a=1 expect 0 run -- "$work/jax/python3" train.py
inherits XLA_FLAGS=--xla_a=1
lacks NCCL_SYM_CTAS
unset NCCL_NVLS_ENABLE JAX_FOLDER

# A program's gradients are views only where its user says so.
refused '--gradient-views: the Python part is not installed beside this program' --gradient-views -- true
mkdir -p "$work/share/elbowroom/python/elbowroom/hook" && touch "$work/share/elbowroom/python/elbowroom/hook/sitecustomize.py"
expect 0 run --gradient-views -- env
inherits ELBOWROOM_RUN_GRADIENT_VIEWS=1
expect 0 run -- env
lacks ELBOWROOM_RUN_GRADIENT_VIEWS
rm -r "$work/share"

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
expect 0 run --backend cuda -- "$ELBOWROOM_BIN" run --backend hip -- env
inherits "LD_PRELOAD=$hip_library"

# auto: hip where its runtime sees a GPU and CUDA's driver cannot be loaded.
mkdir "$work/rocm"
cp "$stand_in" "$work/rocm/libamdhip64.so.6"
LD_LIBRARY_PATH=$work/rocm:$work/cuda expect 0 run -- env
inherits "LD_PRELOAD=$library"
if ! ldconfig -p | grep -qF libcuda.so.1; then
  # A runtime alone, as a distribution packs it, is no GPU.
  LD_LIBRARY_PATH=$work/rocm expect 0 run -- env
  inherits "LD_PRELOAD=$library"
  runtime=$(dirname "$real_bin")/../tests/fake_hip/rocm
  if [ -e "$runtime/libamdhip64.so.6" ]; then
    LD_LIBRARY_PATH=$runtime expect 0 run -- env
    inherits "LD_PRELOAD=$hip_library"
    for control in --policy=gate --sm-target=100 --set=cluster=1; do
      LD_LIBRARY_PATH=$runtime refused '--backend cuda runs the command all the same' "$control" -- true
    done
    LD_LIBRARY_PATH=$runtime expect 0 run --backend cuda --policy gate -- env
    inherits "LD_PRELOAD=$library"
  fi
fi

# --- reports ----------------------------------------------------------------------------------------------------------
# A program of four processes, one of which wrote half a report and one of which was killed while it wrote.
cat >"$work/program" <<'PROGRAM'
#!/usr/bin/env bash
echo 'the program writes'
[ -d "${ELBOWROOM_RUN_REPORT_DIR:-}" ] || exit 5
for pid in 12 7; do
  cat >"$ELBOWROOM_RUN_REPORT_DIR/$pid-1.json" <<REPORT
{"schema": "elbowroom.run-process/1", "pid": $pid, "program": "python3", "policy": "auto", "later": [1],
 "nccl": {"calls": 8, "communicators_made": 1, "greatest_ranks": 2, "rank": ${OWN_RANK:-0}},
 "launches": {"total": 100, "captured": 0, "graph_launches": 0, "in_window": 30, "in_order_only": 5},
 "collectives": [{"name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "size_class": 28, "count": 8}],
 "applied": {"priority": 8, "gate": 4, "shape": 0, "sm_target": 0}, "refused": {"queued collective": 2},
 "ab": {"state": "settled", "arm": "priority, gate", "decisions": 1, "collectives_per_repetition": 16,
        "arms": [{"arm": "plain", "us": 1000.0}, {"arm": "priority, gate", "us": 968.0, "gain_percent": 3.2, "low": 2.7, "high": 3.7}]}}
REPORT
done
printf '{"schema": "elbowroom.run-process/1", "pid"' >"$ELBOWROOM_RUN_REPORT_DIR/9-1.json"
printf '{"schema": "elbowroom.run-process/1"' >"$ELBOWROOM_RUN_REPORT_DIR/.11-1.part"
exit ${CODE:-4}
PROGRAM
chmod +x "$work/program"

expect 5 run --quiet --no-memory -- "$work/program" # nobody asks for a report: nothing is written
expect 4 run --policy gate -- "$work/program"
closes '--policy gate: priority of 16 collectives, a gate before 8 launches, not compared'
expect 4 run -- "$work/program"
closes '0.968 ms a step instead of 1.000 (-3.2 %): priority, gate'
# Where a wrapper starts `run` for each rank and no variable says which, the program's communicators do.
for rank in 0 1; do
  OWN_RANK=$rank CODE=0 expect 0 run -- "$work/program"
  [ "$(grep -c 'a step instead of' "$err")" = $((1 - rank)) ] || fail "rank $rank: expected a closing line from rank 0 alone"
done
OWN_RANK=1 expect 4 run -- "$work/program"
closes '0.968 ms a step' # rank 0 may have been killed
expect 4 run --report "$work/report.json" -- "$work/program"
[ "$(cat "$out")" = 'the program writes' ] || fail "the program's own output changed"
grep -qF '2 of 4 process reports could not be read, the first: .11-1.part: the process ended while it wrote' "$err" || fail 'no word of the damaged report'

# holds TEXT: the report has it, blanks aside.
holds() { tr -d ' \n' <"$work/report.json" | grep -qF -- "$1" || fail "report lacks: $1"; }
holds '{"schema":"elbowroom.run/1","provenance":"measured","command":["'
holds '"backend":"cuda","policy":"auto","exit_code":4,"wall_s":'
holds '"pid":7,"program":"python3","policy":"auto","later":[1]'
holds '"closing":"elbowroom:0.968msastepinsteadof1.000(-3.2%):priority,gate"'
holds '"damaged_reports":[".11-1.part:theprocessendedwhileitwrote","9-1.json:'
holds '"total":{"launches":{"total":200,"captured":0,"graph_launches":0,"in_window":60,"in_order_only":10,'
holds '"applied":{"priority":16,"gate":8,"shape":0,"sm_target":0},"refused":{"queuedcollective":4}'

expect 4 run --report - -- "$work/program"
[ "$(sed -n 1,2p "$out")" = 'the program writes
{' ] || fail 'the report does not follow the output'

expect 4 run --verbose -- "$work/program"
[ "$(cat "$out")" = 'the program writes' ] || fail "the program's own output changed"
for text in '# elbowroom run: measured, policy auto, exit code 4' '# 2 processes used the CUDA driver' '# damaged report: .11-1.part' '# damaged report: 9-1.json' \
  'ncclDevKernel_AllReduce_Sum_bf16_RING_LL' 'priority 16, gate 8'; do
  grep -qF -- "$text" "$err" || fail "table lacks: $text"
done

expect 0 run --verbose --report "$work/report.json" -- true
grep -q '^# no process reported' "$err" || fail 'a program without a GPU is not said to be one'
holds '"exit_code":0,'
holds '"processes":[],"without_driver":[],"damaged_reports":[]'

[ -z "$(ls -A "$work/tmp")" ] || fail 'a temporary folder is left'

# --- the library ------------------------------------------------------------------------------------------------------
mv "$library" "$work/bin/"
expect 0 run -- env
inherits "LD_PRELOAD=$work/bin/libelbowroom_interposer.so"
rm "$work/bin/libelbowroom_interposer.so"
expect 1 run --backend cuda -- true
complains 'elbowroom run: libelbowroom_interposer.so was not found in '

# The interposer itself changes nothing where no program uses a driver.
ELBOWROOM_BIN=$real_bin
if [ -e "$(dirname "$real_bin")/../lib/libelbowroom_interposer.so" ]; then
  expect 6 run --verbose -- bash -c 'echo output; exit 6'
  [ "$(cat "$out")" = output ] || fail "the program's own output changed"
  grep -q '^# no process reported' "$err" || fail 'a shell is said to use a GPU'
fi
# With the driver of tests/interposer, which runs nothing, a program's launches come back in the report.
driver=$(dirname "$real_bin")/../tests/interposer/driver
program=$(dirname "$real_bin")/interposer_processes
if [ -e "$driver/libcuda.so.1" ] && [ -x "$program" ]; then
  LD_LIBRARY_PATH=$driver expect 0 run --policy gate --verbose --report "$work/report.json" -- "$program" launch_some
  holds '"policy":"gate","exit_code":0,'
  holds '"damaged_reports":[],"total":{"launches":{"total":10,'
  holds '"processes_unseen":1,' # it launches NCCL's kernels and calls no function of NCCL
  grep -q '^nccl        unseen in 1 process' "$err" || fail 'the table lacks the unseen NCCL'
  grep -q '^# 1 process used the CUDA driver' "$err" || fail 'the table lacks the process'
fi
# The same with the fake HIP runtime; what HIP has no way to do is not in the report.
runtime=$(dirname "$real_bin")/../tests/fake_hip/rocm
program=$(dirname "$real_bin")/interposer_hip_processes
if [ -e "$runtime/libamdhip64.so.6" ] && [ -x "$program" ]; then
  export LD_LIBRARY_PATH=$runtime:$runtime/../../interposer_hip/rccl
  expect 0 run --backend hip --policy auto --off ab --verbose --report "$work/report.json" -- "$program" launch_some
  holds '"backend":"hip","policy":"auto","exit_code":0,'
  holds '"damaged_reports":[],"total":{"launches":{"total":10,'
  holds '"applied":{"priority":5,"gate":0,"shape":0,"sm_target":0}'
  grep -q '^# 1 process used the HIP runtime' "$err" || fail 'the table lacks the process'
  expect 0 run --backend hip --report "$work/report.json" -- "$program" nested
  holds '"total":{"launches":{"total":1,'
fi
finish
