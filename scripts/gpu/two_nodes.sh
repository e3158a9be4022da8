#!/usr/bin/env bash
# Two ranks that NCCL takes for two hosts, over loopback: bench and tune in two processes, and programs under `elbowroom run` on each node. On a
# machine with one GPU both ranks share it: what is shown then is that it works; times say nothing.
# Binaries are taken from build/gpu (made by scripts/gpu/collect.sh) or from build/release.
#   usage: scripts/gpu/two_nodes.sh OUT STEP...
#   steps: bench step steps torchrun tune plain run own-memory one-run each-run programs; `steps` verifies training steps of every kind, small ones;
#   `programs` runs those of examples/programs, small ones, plain and under `elbowroom run`, and compares their results bit by bit; `one-run` has
#   both nodes under one `elbowroom run`, `each-run` each rank under its own: with a comparison in which they agree
#   STEP_SECONDS (100) bounds each.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:?usage: scripts/gpu/two_nodes.sh OUT STEP...}
shift
mkdir -p "$out"
gpus=$(nvidia-smi -L | wc -l)
failed=0

# NVLink multicast stays off (it can put a shared host's GPUs out of service).
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
. scripts/gpu/libraries.sh

# check NAME COMMAND...: runs it, keeps its output, remembers a failure.
check() {
  local name=$1 begun=$SECONDS
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  timeout --kill-after=5 "${STEP_SECONDS:-100}" "$@" >"$out/$name.txt" 2>&1
  local code=$?
  tail -n 60 "$out/$name.txt"
  printf '== %s: exit code %s, %s s\n' "$name" "$code" "$((SECONDS - begun))"
  ((code == 0)) || failed=1
}

cat >"$out/case.json" <<'TEXT'
{"schema": "elbowroom.scenario/1", "name": "small", "gpus": 2, "iterations": 3, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "512M"}, "collective": {"op": "all_reduce", "bytes": "4M", "dtype": "bf16"}}
TEXT
cat >"$out/step.json" <<'TEXT'
{"schema": "elbowroom.step/1", "name": "two-stages", "repeats": 2, "mesh": {"pp": 2}, "operations": [
 {"name": "front", "compute": {"kernel": "library_gemm", "m": 2048, "n": 2048, "k": 2048, "dtype": "bf16"}, "at": {"pp": 0}},
 {"name": "act", "send_recv": {"bytes": "1M", "dtype": "bf16"}, "group": "pp", "from": 0, "to": 1, "after": ["front"]},
 {"name": "head", "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64M"}, "at": {"pp": 1}, "after": ["act"]},
 {"name": "grad", "collective": {"op": "all_reduce", "bytes": "1M", "dtype": "bf16"}, "after": ["head"]},
 {"name": "part", "collective": {"op": "all_to_all_v", "bytes": "1M", "dtype": "bf16", "shares": [3, 1]}, "after": ["grad"]}]}
TEXT

# node.sh NODE COMMAND...: what is on one of two nodes, with a GPU of its own where there are two.
cat >"$out/node.sh" <<'TEXT'
export NCCL_HOSTID=node-$1 NCCL_SOCKET_IFNAME=lo CUDA_VISIBLE_DEVICES=$(($1 % GPUS))
shift
exec "$@"
TEXT
# programs.sh MEMORY PREFIX...: a torchrun on each node, under the prefix; with MEMORY own, each with a /dev/shm of its own.
cat >"$out/programs.sh" <<'TEXT'
memory=$1 name=$2
shift 2
code=0 nodes=()
for node in 0 1; do
  prefix=("$@")
  for at in "${!prefix[@]}"; do prefix[at]=${prefix[at]//@/$node}; done
  command=(bash "$OUT/node.sh" $node "${prefix[@]}" torchrun --nnodes 2 --node-rank $node --nproc-per-node 1
    --master-addr 127.0.0.1 --master-port "$PORT" $PROGRAM)
  [ "$memory" = own ] && command=(unshare -m bash -c 'mount -t tmpfs tmpfs /dev/shm && exec "$@"' own "${command[@]}")
  "${command[@]}" >"$OUT/$name-$node.log" 2>&1 &
  nodes+=($!)
done
for node in "${nodes[@]}"; do wait "$node" || code=$?; done
tail -n 25 "$OUT/$name"-[01].log
exit $code
TEXT
# rank.sh COMMAND...: one rank of a PyTorch program, by what `elbowroom launch` says.
cat >"$out/rank.sh" <<'TEXT'
export RANK=$ELBOWROOM_RANK WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT
exec "${@//@/$RANK}"
TEXT
# steps.sh: a line for each training step: its name and whether each scheme ran and verified.
cat >"$out/steps.sh" <<'TEXT'
wide='--hidden 1024 --ffn 2816 --tokens 1024'
shape="--layers 1 $wide"
experts='--layers 1 --hidden 1024 --ffn 2048 --experts 4 --tokens 1024'
failed=0
while read -r name options; do
  "$BIN" step transformer --name "$name" $options --json "$OUT/$name.step.json" >"$OUT/$name.sizes" || failed=1
  "$BIN" launch -n 2 --nodes 2 -- "$BIN" bench --backend cuda --scenario "$OUT/$name.step.json" --scheme sequential,concurrent,priority --trials 2 \
    --timeout 20 >"$OUT/$name.txt" 2>"$OUT/$name.err"
  code=$?
  ((code == 0)) || failed=1
  echo "$name: exit code $code; $(grep -cE '^[* ] (sequential|concurrent|priority) ' "$OUT/$name.txt") of 3 schemes; $(grep -m1 -oE '[0-9]+ operations, [0-9]+ of them communicate' "$OUT/$name.txt"); $(grep -v progress "$OUT/$name.err" | grep -vE '\[[0-9]+/' | head -2 | tr '\n' ' ')"
done <<STEPS
dp $shape --dp 2
dp-f32 $shape --dp 2 --gradients f32
dp-bf16 $shape --dp 2 --gradients f32 --compress bf16
dp-fp8 $shape --dp 2 --compress fp8
dp-powersgd $shape --dp 2 --compress powersgd=8
dp-topk $shape --dp 2 --compress topk=0.01
fsdp $shape --fsdp 2
tp $shape --tp 2
tp-sequence $shape --tp 2 --sequence-parallel
pp --layers 2 $wide --pp 2 --micro 4
pp-interleaved --layers 4 $wide --pp 2 --micro 4 --schedule interleaved
ep $experts --ep 2
ep-uneven $experts --ep 2 --imbalance 1.5
STEPS
exit $failed
TEXT
# both.sh NAME PORT PROGRAM...: one program plain and under `elbowroom run`, and a line that says whether they end with the same bits.
cat >"$out/both.sh" <<'TEXT'
name=$1 first=$2
shift 2
export PROGRAM="examples/programs/$* --deterministic --steps 60 --warm-up 5"
digest() { sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$OUT/$1"-[01].log | head -1; }
PORT=$first bash "$OUT/programs.sh" shared "$name-plain" env >/dev/null
plain=$?
PORT=$((first + 1)) bash "$OUT/programs.sh" shared "$name-run" "$BIN" run --no-memory --report "$OUT/$name-@.json" -- >/dev/null
run=$?
bits=differ
[[ -n $(digest "$name-plain") && $(digest "$name-plain") == $(digest "$name-run") ]] && bits=equal
echo "$name: exit codes $plain and $run, bits $bits; $(grep -h -m1 'elbowroom run: ' "$OUT/$name-run-0.log")"
((plain == run)) && { ((plain == 77)) || { ((plain == 0)) && [[ $bits == equal ]]; }; }
TEXT
# programs.list: name and arguments of each.
cat >"$out/programs.list" <<'TEXT'
ddp ddp.py --layers 2 --hidden 512 --ffn 1024 --tokens 512
ddp_bf16 ddp.py --hook bf16 --layers 2 --hidden 512 --ffn 1024 --tokens 512
ddp_powersgd ddp.py --hook powersgd --layers 2 --hidden 512 --ffn 1024 --tokens 512
fsdp2 fsdp2.py --layers 2 --hidden 512 --ffn 1024 --tokens 512
moe moe.py --layers 2 --hidden 512 --ffn 512 --tokens 512
moe_uneven moe.py --uneven --layers 2 --hidden 512 --ffn 512 --tokens 512
pipeline pipeline.py --layers 2 --hidden 512 --ffn 1024 --tokens 256 --micro-batches 4
tensor_parallel tensor_parallel.py --layers 2 --hidden 512 --ffn 1024 --tokens 512
decode decode.py --layers 2 --hidden 1024 --ffn 2048 --batch 4 --context 128 --new 4
compiled compiled.py --layers 2 --hidden 512 --ffn 1024 --tokens 512
graphed graphed.py --layers 2 --hidden 512 --ffn 1024 --tokens 512
hf_llama hf_llama.py --layers 4 --hidden 512 --ffn 1024 --heads 8 --key-heads 4 --vocabulary 4096 --tokens 256 --batch 2
hf_accelerate hf_llama.py --with accelerate --layers 4 --hidden 512 --ffn 1024 --heads 8 --key-heads 4 --vocabulary 4096 --tokens 256 --batch 2
TEXT
cat >"$out/all.sh" <<'TEXT'
export -n PROGRAM PORT
failed=0
port=29700
while read -r name arguments; do
  printf '%s\0' "$name $((port += 10)) $arguments"
done <"$OUT/programs.list" | xargs -0 -P 3 -I{} bash -c "bash '$OUT/both.sh' {}" || failed=1
exit $failed
TEXT
export OUT=$out GPUS=$gpus BIN=$bin/elbowroom
export PROGRAM=${PROGRAM:-"examples/programs/ddp.py --deterministic --layers 2 --hidden 512 --ffn 1024 --tokens 512 --steps 60 --warm-up 5"}
port=29600
for step in "$@"; do
  export PORT=$((++port))
  launch=("$bin/elbowroom" launch -n 2 --nodes 2 -- "$bin/elbowroom")
  ranks=("$bin/elbowroom" launch -n 2 --nodes 2 -- bash "$out/rank.sh")
  compared=(--no-memory --verbose)
  schemes=sequential,concurrent,priority,shaped_priority,comm_blocks_only,copy_engine
  case $step in
    bench) check bench "${launch[@]}" bench --backend cuda --scenario "$out/case.json" --scheme $schemes --trials 5 --timeout 40 --json "$out/bench.json" --trace "$out/trace" ;;
    step) check step "${launch[@]}" bench --backend cuda --scenario "$out/step.json" --scheme sequential,concurrent,priority --trials 5 --timeout 40 ;;
    steps) check steps bash "$out/steps.sh" ;;
    torchrun) PROGRAM="--no-python $BIN bench --backend cuda --scenario $out/case.json --scheme sequential,priority --trials 3 --timeout 40" \
      check torchrun bash "$out/programs.sh" shared torchrun env ;;
    tune) check tune "${launch[@]}" tune --backend cuda --scenario "$out/case.json" --budget 15 --timeout 40 ;;
    plain) check plain bash "$out/programs.sh" shared plain env ;;
    run) check run bash "$out/programs.sh" shared run "$bin/elbowroom" run --no-memory --verbose --report "$out/run-@.json" -- ;;
    programs) STEP_SECONDS=${STEP_SECONDS:-400} check programs bash "$out/all.sh" ;;
    one-run) check one-run "$bin/elbowroom" run "${compared[@]}" --report "$out/one-run.json" -- "${ranks[@]}" python3 $PROGRAM ;;
    each-run) check each-run "${ranks[@]}" "$bin/elbowroom" run "${compared[@]}" --report "$out/each-run-@.json" -- python3 $PROGRAM ;;
    own-memory) check own-memory bash "$out/programs.sh" own own "$bin/elbowroom" run --no-memory --verbose --report "$out/own-@.json" -- ;;
    *) echo "two_nodes.sh: '$step', expected one of bench step steps torchrun tune plain run own-memory one-run each-run programs" >&2; exit 2 ;;
  esac
done
exit "$failed"
