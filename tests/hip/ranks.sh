#!/usr/bin/env bash
# GPU backends with one process for each GPU, against stand-ins for AMD's libraries: the same figures as one process that drives all, and
# trouble that only GPUs bring. tests/cli/ranks.sh has the rest.
. "$(dirname "$0")/../cli/checks.bash" || exit
cd "$work" || exit 1
mkdir files
export ELBOWROOM_FAKE_HIP_DEVICES=4
steps=(bench --backend hip --trials 2 --scheme sequential,concurrent,priority)

# scenario GPUS COMPUTE OP: a small one, as case.json.
scenario() {
  cat >case.json <<TEXT
{"schema": "elbowroom.scenario/1", "name": "small", "gpus": $1, "iterations": 3, "pattern": "pipeline",
 "compute": $2, "collective": {"op": "$3", "bytes": "16K", "dtype": "bf16"}}
TEXT
}
gelu='{"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64K"}'
gemm='{"kernel": "library_gemm", "m": 48, "n": 64, "k": 32, "dtype": "bf16"}'

# on_ranks CODE N ARGUMENT...: elbowroom as N processes, which meet in files of this test.
on_ranks() {
  local code=$1 ranks=$2
  shift 2
  ELBOWROOM_FAKE_RCCL_FOLDER=$work/files expect "$code" launch -n "$ranks" -- timeout -s KILL 60 "$ELBOWROOM_BIN" "$@"
}

# as_one N ARGUMENT...: the same tables and documents from N processes as from one.
as_one() {
  local ranks=$1
  shift
  rm -f one.json many.json
  expect 0 "$@" --json one.json
  cp "$out" one.txt
  on_ranks 0 "$ranks" "$@" --json many.json
  diff one.txt "$out" >&2 || fail 'another table'
  # The command that was given stands in the document, with its own path; searches have a time of their own.
  for name in one many; do
    grep -vE '"command"|"spent_s"|"created"|\.json"' $name.json >$name.text
  done
  diff one.text many.text >&2 || fail 'another document'
}

# one_line TEXT: what bench says beside its progress; launch adds which rank ended first.
one_line() {
  grep -vE '^elbowroom (launch: rank |bench: \[[0-9]+/)' "$err" >line
  cp line "$err"
  grep -qF -- "$1" "$err" || fail "standard error lacks: $1"
  [ "$(wc -l <"$err")" -eq 1 ] || fail "standard error is not one line"
}

for op in all_reduce all_gather reduce_scatter all_to_all broadcast; do
  scenario 2 "$gelu" $op
  as_one 2 "${steps[@]}" --scenario case.json
done
scenario 4 "$gemm" all_reduce
as_one 4 "${steps[@]}",green_context,comm_blocks_only,sm_target_only --scenario case.json

# Ranks that do different things: groups along two axes, operations and a send of some ranks, uneven shares.
cat >case.json <<'TEXT'
{"schema": "elbowroom.step/1", "name": "stages", "repeats": 2, "mesh": {"dp": 2, "pp": 2}, "operations": [
 {"name": "front", "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64K"}, "at": {"pp": 0}},
 {"name": "act", "send_recv": {"bytes": "16K", "dtype": "bf16"}, "group": "pp", "from": 0, "to": 1, "after": ["front"]},
 {"name": "head", "compute": {"kernel": "library_gemm", "m": 48, "n": 64, "k": 32, "dtype": "bf16"}, "at": {"pp": 1}, "after": ["act"]},
 {"name": "grad", "collective": {"op": "all_reduce", "bytes": "16K", "dtype": "bf16"}, "group": "dp", "after": ["head"]},
 {"name": "share", "collective": {"op": "all_to_all_v", "bytes": "16K", "dtype": "bf16", "shares": [3, 1]}, "group": "dp", "after": ["grad"]},
 {"name": "word", "collective": {"op": "broadcast", "bytes": "8K", "dtype": "f32", "root": 1}, "group": "dp", "after": ["grad"]}]}
TEXT
as_one 4 "${steps[@]}" --scenario case.json

# Every run begins with a sum of one element: the first line of what a rank sends is the number of its bytes.
[ "$(head -qn 1 files/*.[0-9]*.0 2>/dev/null | grep -cx 4)" -ge 20 ] || fail 'runs begin without a meeting'

# More ranks than the case has: the others wait.
scenario 2 "$gelu" all_reduce
on_ranks 0 3 "${steps[@]}" --scenario case.json
says '2 x Fake AMD'

expect 0 tune --backend hip --scenario case.json --profile one.profile
grep -v ' trials, ' "$out" >one.txt
on_ranks 0 2 tune --backend hip --scenario case.json --profile many.profile
grep -v ' trials, ' "$out" | diff one.txt - >&2 || fail 'ranks choose something else'

# A result that is wrong on one rank names it.
ELBOWROOM_FAKE_RCCL_WRONG=1 on_ranks 1 2 "${steps[@]}" --scenario case.json
one_line 'elbowroom bench: small: comm_only: rank 1: all_reduce result on GPU 1: 1 of 8192 elements differ'
ELBOWROOM_FAKE_RCCL_HANG=1 on_ranks 1 2 "${steps[@]}" --timeout 1 --scenario case.json
one_line 'GPU 0 has not finished after the time limit of 1.000 s; its collectives are aborted; rank 1: GPU 1 has not'

# A communicator that one rank never makes: rank 1 fails before, and rank 0 does not wait for ever.
cat >fail_one.sh <<'TEXT'
[ "$ELBOWROOM_RANK" = 1 ] && export ELBOWROOM_FAKE_RCCL_FAIL=ncclCommInitRank:6
exec "$ELBOWROOM_BIN" "$@"
TEXT
ELBOWROOM_FAKE_RCCL_FOLDER=$work/files expect 1 launch -n 2 -- bash fail_one.sh "${steps[@]}" --timeout 1 --scenario case.json
one_line 'the communicator of ranks 0, 1 is not there after the time limit of 1.000 s: one of them has not come; rank 1: ncclCommInitRank failed: remote process exited'

# Which GPU a rank has.
cat >one_gpu.sh <<'TEXT'
ELBOWROOM_LOCAL_RANK=0 exec "$ELBOWROOM_BIN" "$@"
TEXT
expect 2 launch -n 2 -- bash one_gpu.sh "${steps[@]}" --scenario case.json
one_line 'elbowroom bench: rank 1: GPU 0000:c1:00.0, expected another than rank 0'
# Two nodes of one host may share it, as the library has them on hosts of their own.
ELBOWROOM_FAKE_HIP_DEVICES=1 ELBOWROOM_FAKE_RCCL_FOLDER=$work/files expect 0 launch -n 2 --nodes 2 -- "$ELBOWROOM_BIN" "${steps[@]}" --scenario case.json
says '2 x Fake AMD'
ELBOWROOM_FAKE_HIP_DEVICES=2 expect 2 launch -n 3 -- "$ELBOWROOM_BIN" "${steps[@]}" --scenario case.json
one_line 'elbowroom bench: rank 2: backend hip: rank on its host: 2, expected 0 to 1 (it sees 2 GPUs)'

finish
