#!/usr/bin/env bash
# What `elbowroom run` takes from a profile, what it leaves, and what it adds.
. "$(dirname "$0")/run_checks.bash" || exit

# A profile counts where all its measured choices agree, below what the command line says.
cat >"$work/case.json" <<'JSON'
{"schema": "elbowroom.scenario/1", "name": "cublas-ar", "gpus": 2, "iterations": 8, "pattern": "pipeline",
 "compute": {"kernel": "library_gemm", "m": 8192, "n": 8192, "k": 8192, "dtype": "bf16"},
 "collective": {"op": "all_reduce", "bytes": "512M", "dtype": "bf16"}}
JSON
expect 0 tune --scenario "$work/case.json" --backend sim --profile "$work/profile.json"
expect 0 run --profile "$work/profile.json" -- env
lacks NCCL_MAX_CTAS # a simulated choice is none for a GPU
sed 's/"simulated"/"measured"/g; s/"comm_blocks": *[a-z0-9]*/"comm_blocks": 12/; s/"sm_target": *[a-z0-9]*/"sm_target": 104/
  s/"\(windows_only\|symmetric\|copy_engine\)": *[a-z]*/"\1": false/g' "$work/profile.json" >"$work/measured.json"
grep -q '"comm_blocks": 12' "$work/measured.json" || fail 'the profile has no comm_blocks'
ELBOWROOM_PROFILE=$work/measured.json expect 0 run -- bash -c 'env; cat "$ELBOWROOM_RUN_RULES"'
inherits NCCL_MAX_CTAS=12
inherits NCCL_MIN_CTAS=12
inherits 'product bf16 2^40 sm_target 104'
inherits 'device h200'
if grep -q '^sm_target' "$out"; then fail 'a target for other products'; fi
expect 0 run --profile "$work/measured.json" --set comm_blocks=4 --sm-target 90 -- bash -c 'env; cat "$ELBOWROOM_RUN_RULES"'
inherits NCCL_MAX_CTAS=4
inherits 'sm_target 90'
if grep -q '^product' "$out"; then fail "a profile's target beside what was asked"; fi
refused "--report: '$work/measured.json', expected another file than --profile's" --profile "$work/measured.json" --report "$work/measured.json" -- true
# What holds in windows only is no setting of all a process's collectives; the SM target acts in windows anyway.
sed 's/"windows_only": *[a-z]*/"windows_only": true/' "$work/measured.json" >"$work/windows.json"
expect 0 run --profile "$work/windows.json" -- bash -c 'env; cat "$ELBOWROOM_RUN_RULES"'
lacks NCCL_MAX_CTAS
inherits 'product bf16 2^40 sm_target 104'
grep -qF 'not applied: comm_blocks (12 in windows only)' "$err" || fail 'windows'
sed 's/"copy_engine": *[a-z]*/"copy_engine": true/' "$work/measured.json" >"$work/copies.json"
expect 0 run --profile "$work/copies.json" -- true
grep -qF "not applied: 1 choice with copy engines, which a program's own collectives lack; tune --for-run goes without" "$err" || fail 'copies'
# Blocks that were chosen for kernels on symmetric memory are too few for a ring, and the SMs left to them as well.
sed 's/"symmetric": *[a-z]*/"symmetric": true/' "$work/measured.json" >"$work/symmetric.json"
expect 0 run --profile "$work/symmetric.json" -- env
lacks NCCL_MAX_CTAS
lacks ELBOWROOM_RUN_RULES
grep -qF 'not applied: 1 choice on symmetric memory, which a program gives its collectives itself; tune --for-run goes without' "$err" ||
  fail 'symmetric memory'
# A choice for links through host memory is none for others, and one for a device that no name tells is none for any.
sed 's/"comm_library": *"[^"]*"/"comm_library": "nccl 2.28.9 NCCL_P2P_DISABLE=1 NCCL_MAX_CTAS=8"/' "$work/measured.json" >"$work/host.json"
expect 0 run --profile "$work/host.json" -- env
lacks NCCL_MIN_CTAS
grep -qF 'not applied: 1 choice made with NCCL_P2P_DISABLE=1, unlike this environment' "$err" || fail 'host links'
NCCL_P2P_DISABLE=1 expect 0 run --profile "$work/host.json" -- env
inherits NCCL_MIN_CTAS=12
only_closes ''
NCCL_P2P_DISABLE=1 expect 0 run --profile "$work/measured.json" -- true
grep -qF 'not applied: 1 choice made without settings of the library, unlike this environment' "$err" || fail 'direct links'
sed 's/"h200"/"sm_120"/' "$work/measured.json" >"$work/unlisted.json"
expect 0 run --profile "$work/unlisted.json" -- env
lacks NCCL_MIN_CTAS
grep -qF 'not applied: 1 choice on sm_120, which tells no device by its name' "$err" || fail 'a device in no catalog'
expect 0 run --profile "$work/measured.json" --off sm_target -- env
lacks ELBOWROOM_RUN_RULES
expect 0 run --profile "$work/measured.json" --policy observe -- env
lacks NCCL_MAX_CTAS
expect 0 run --backend hip --profile "$work/measured.json" -- env
inherits NCCL_MAX_NCHANNELS=12
lacks ELBOWROOM_RUN_RULES # the profile's SM target
# All of a choice that was searched for a run can be applied: it has nothing that is for windows or other memory alone.
expect 0 tune --scenario "$work/case.json" --backend sim --for-run --profile "$work/for-run.json"
sed -i 's/"simulated"/"measured"/; s/"comm_blocks": *[a-z0-9]*/"comm_blocks": 12/; s/"sm_target": *[a-z0-9]*/"sm_target": 104/' "$work/for-run.json"
expect 0 run --profile "$work/for-run.json" -- bash -c 'env; cat "$ELBOWROOM_RUN_RULES"'
grep -q '^NCCL_MAX_CTAS=' "$out" || fail 'no comm blocks'
grep -q '^product bf16 2^40 sm_target' "$out" || fail 'no SM target'
only_closes ''

# Where results must stay the same to the bit, nothing of a profile may change an algorithm or the order of a sum.
for wish in --same-bits CUBLAS_WORKSPACE_CONFIG=:4096:8 CUBLAS_WORKSPACE_CONFIG=:16:8; do
  if [ "$wish" = --same-bits ]; then options=("$wish") variables=(); else options=() variables=("$wish"); fi
  env "${variables[@]}" "$ELBOWROOM_BIN" run "${options[@]}" --profile "$work/measured.json" -- env >"$out" 2>"$err"
  command_line="run $wish"
  lacks NCCL_MAX_CTAS
  lacks ELBOWROOM_RUN_RULES
  grep -qF -- "$wish: not applied, for the same results to the bit: SM targets, blocks and threads of collectives" "$err" || fail 'no word of it'
done
CUBLAS_WORKSPACE_CONFIG=:0:0 expect 0 run --profile "$work/measured.json" -- env
inherits NCCL_MAX_CTAS=12
CUBLAS_WORKSPACE_CONFIG=:16:8 expect 0 run --set comm_blocks=4 -- env
inherits NCCL_MAX_CTAS=4 # what is asked for stays
sed 's/"comm_library": *"[^"]*"/"comm_library": "nccl 2.28.9 NCCL_PROTO=Simple"/' "$work/measured.json" >"$work/proto.json"
NCCL_PROTO=Simple expect 0 run --profile "$work/proto.json" -- env
lacks NCCL_MAX_CTAS
grep -qF 'NCCL_PROTO=Simple: not applied, for the same results to the bit' "$err" || fail 'no word of NCCL_PROTO'

# What is for single kernels holds for those that choices were made for, on their devices, where the choices for one agree.
refused '--policy: shape needs a --cap' --policy shape --profile "$work/measured.json" -- true
sed 's/"library_gemm bf16"/"256x32 0+0 1"/; s/"2^40 flop"/"2^32 B"/; s/"blocks_per_sm": *[a-z0-9]*/"blocks_per_sm": 4/
  s/"pad_bytes": *[0-9]*/"pad_bytes": 45056/; s/"sm_target": *[0-9]*/"sm_target": null/' "$work/measured.json" >"$work/elementwise.json"
sed 's/"256x32 0+0 1"/"512x64 1024+0 1"/; s/"h200"/"a100"/; s/"blocks_per_sm": 4/"blocks_per_sm": 2/' "$work/elementwise.json" >"$work/other.json"
sed 's/"2^32 B"/"2^33 B"/; s/"512x64 1024+0 1"/"64x16 0+0 1"/' "$work/other.json" >"$work/agrees.json"
sed 's/"2^32 B"/"2^34 B"/; s/"512x64 1024+0 1"/"64x16 0+0 1"/; s/"blocks_per_sm": 2/"blocks_per_sm": 3/' "$work/other.json" >"$work/differs.json"
cp "$work/elementwise.json" "$work/kernels.json"
expect 0 profile import "$work/other.json" --profile "$work/kernels.json"
expect 0 profile import "$work/agrees.json" --profile "$work/kernels.json"
for policy in shape auto; do
  expect 0 run --policy "$policy" --profile "$work/kernels.json" -- bash -c 'cat "$ELBOWROOM_RUN_RULES"'
  [ "$(cat "$out")" = 'device a100
footprint 512x64 1024+0 1 cap 2
footprint 64x16 0+0 1 cap 2
device h200
footprint 256x32 0+0 1 cap 4' ] || fail "not the rules for each kernel: $(cat "$out")"
done
expect 0 run --policy shape --cap gelu=3 --profile "$work/elementwise.json" -- bash -c 'cat "$ELBOWROOM_RUN_RULES"'
[ "$(cat "$out")" = 'cap gelu 3
device h200
footprint 256x32 0+0 1 cap 4' ] || fail "not what was asked and what the profile adds: $(cat "$out")"
expect 0 run --policy gate --profile "$work/kernels.json" -- env
lacks ELBOWROOM_RUN_RULES
expect 0 run --off shape --profile "$work/kernels.json" -- env
lacks ELBOWROOM_RUN_RULES
refused '--policy: shape needs a --cap' --policy shape --off shape --profile "$work/kernels.json" -- true
python3 - "$work/elementwise.json" "$work/many.json" <<'PY'
import copy, json, sys
profile = json.load(open(sys.argv[1]))
first = profile["choices"][0]
profile["choices"] = [copy.deepcopy(first) for _ in range(40)]
for number, choice in enumerate(profile["choices"]): choice["key"]["compute"] = f"{32 + number}x32 0+0 1"
json.dump(profile, open(sys.argv[2], "w"))
PY
expect 0 run --policy shape --profile "$work/many.json" -- bash -c 'cat "$ELBOWROOM_RUN_RULES"'
[ "$(grep -c '^footprint' "$out")" -eq 32 ] || fail 'not as many rules as the interposer holds'
grep -qF 'not applied: blocks_per_sm of the last 8 of 40 kernels, expected at most 32' "$err" || fail 'no word of the rest'
expect 0 profile import "$work/differs.json" --profile "$work/kernels.json"
expect 0 run --policy shape --profile "$work/kernels.json" -- bash -c 'cat "$ELBOWROOM_RUN_RULES"'
if grep -q '^footprint 64x16' "$out"; then fail 'a cap in which choices differ'; fi
grep -qF 'blocks_per_sm of 64x16 0+0 (2, 3)' "$err" || fail 'no word of the choices that differ'
echo '{"schema": "other/1"}' >"$work/foreign.json"
refused 'foreign.json: schema: "other/1", expected "elbowroom.profile/1"' --profile "$work/foreign.json" -- true
ELBOWROOM_PROFILE=$work/foreign.json expect 0 run -- true
grep -qF 'profile ignored' "$err" || fail 'no word of the damaged profile'

finish
