#!/usr/bin/env bash
# Two ranks that NCCL takes for two hosts, over loopback: bench and tune in two processes, and programs under `elbowroom run` on each node. On a
# machine with one GPU both ranks share it: what is shown then is that it works; times say nothing.
# Binaries are taken from build/gpu (made by scripts/gpu/collect.sh) or from build/release.
#   usage: scripts/gpu/two_nodes.sh OUT STEP...
#   steps: bench step tune plain run own-memory
#   STEP_SECONDS (100) bounds each.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:?usage: scripts/gpu/two_nodes.sh OUT STEP...}
shift
mkdir -p "$out"
bin=build/gpu
[[ -x $bin/elbowroom ]] || bin=build/release/bin
gpus=$(nvidia-smi -L | wc -l)
failed=0

# NVLink multicast stays off (it can put a shared host's GPUs out of service). Libraries of a Python environment are found too.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1
for dir in $(python3 -c 'import glob, nvidia
for root in nvidia.__path__: print(*glob.glob(root + "/*/lib"))' 2>/dev/null); do
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$dir
done
export LD_LIBRARY_PATH

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
export OUT=$out GPUS=$gpus
export PROGRAM=${PROGRAM:-"examples/programs/ddp.py --deterministic --layers 2 --hidden 512 --ffn 1024 --tokens 512 --steps 60 --warm-up 5"}
port=29600
for step in "$@"; do
  export PORT=$((++port))
  launch=("$bin/elbowroom" launch -n 2 --nodes 2 -- "$bin/elbowroom")
  schemes=sequential,concurrent,priority,shaped_priority,comm_blocks_only,copy_engine
  case $step in
    bench) check bench "${launch[@]}" bench --backend cuda --scenario "$out/case.json" --scheme $schemes --trials 5 --timeout 40 --json "$out/bench.json" --trace "$out/trace" ;;
    step) check step "${launch[@]}" bench --backend cuda --scenario "$out/step.json" --scheme sequential,concurrent,priority --trials 5 --timeout 40 ;;
    tune) check tune "${launch[@]}" tune --backend cuda --scenario "$out/case.json" --budget 15 --timeout 40 ;;
    plain) check plain bash "$out/programs.sh" shared plain env ;;
    run) check run bash "$out/programs.sh" shared run "$bin/elbowroom" run --no-memory --verbose --report "$out/run-@.json" -- ;;
    own-memory) check own-memory bash "$out/programs.sh" own own "$bin/elbowroom" run --no-memory --verbose --report "$out/own-@.json" -- ;;
    *) echo "two_nodes.sh: '$step', expected one of bench step tune plain run own-memory" >&2; exit 2 ;;
  esac
done
exit "$failed"
