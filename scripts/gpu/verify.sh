#!/usr/bin/env bash
# What a change is to be shown again on two GPUs, in three parts of eight to ten minutes each. Binaries are taken from build/gpu
# (made by scripts/gpu/collect.sh) or from build/release.
#   usage: scripts/gpu/verify.sh OUT interposer|memory|row
#   interposer: device tests, suites quick and library beside the recorded pages, cost of a launch, programs that end as they are
#   memory:     forced trouble, losses and bits of 200 steps
#   row:        launches in a row of DDP and FSDP2, plain ones between them
# Each part looks first whether the GPUs hold their clocks: timings of a machine whose GPUs do not say nothing.
# Exit code 1 where a step fails. A step that its time ends has failed; what it wrote stays in OUT.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage='usage: scripts/gpu/verify.sh OUT interposer|memory|row'
out=${1:?$usage}
part=${2:?$usage}
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1  # multicast can put a shared host's GPUs out of service
. scripts/gpu/libraries.sh
failed=()

# check SECONDS NAME COMMAND...: runs it, keeps its output, remembers a failure.
check() {
  local seconds=$1 name=$2
  shift 2
  printf '\n== %s (%s): %s\n' "$name" "$(date -u +%H:%M:%S)" "$*"
  timeout --kill-after=5 "$seconds" "$@" 2>&1 | tee "$out/$name.txt"
  ((PIPESTATUS[0] == 0)) || failed+=("$name")
}

check 30 health python3 -B scripts/gpu/health.py
case $part in
  interposer)
    check 90 device "$bin/test_device" --gtest_brief=1
    check 100 quick "$bin/elbowroom" bench --suite quick --json "$out/quick.json"
    check 150 library "$bin/elbowroom" tune --suite library --budget 12 --json "$out/library.json" --profile "$out/library-profile.json"
    check 150 launch_cost python3 -B scripts/gpu/launch_cost.py --elbowroom "$bin/elbowroom" --launches 2 --seconds 130 --json "$out/launch-cost.json"
    check 60 late_hosts python3 -B scripts/gpu/late_hosts.py --elbowroom "$bin/elbowroom"
    check 60 handlers python3 -B scripts/gpu/handlers.py --elbowroom "$bin/elbowroom"
    check 60 needed_sms python3 -B scripts/gpu/needed_sms.py --elbowroom "$bin/elbowroom"
    ;;
  memory)
    check 360 trouble python3 -B scripts/gpu/symmetric_trouble.py --seconds 330 --json "$out/symmetric-trouble.json"
    check 200 losses python3 -B scripts/gpu/losses.py --json "$out/losses.json"
    ;;
  row)
    check 560 row python3 -B scripts/gpu/symmetric.py --elbowroom "$bin/elbowroom" --launches 20 --plain-every 5 --seconds 520 \
      --warm-up 60 --steps 12 --examples ddp_step,fsdp2_step:2 --json "$out/symmetric-row.json"
    ;;
  *)
    echo "verify.sh: part '$part', expected interposer, memory or row" >&2
    exit 2
    ;;
esac
echo
((${#failed[@]} == 0)) || { printf 'FAILED %s\n' "${failed[@]}"; exit 1; }
echo "all steps of $part passed"
