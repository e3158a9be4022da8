#!/usr/bin/env bash
# Products of the library in f16 and e4m3, and elementwise kernels in f16: verified and timed beside bf16's, alone and beside an all-reduce. Half a minute.
#   usage: scripts/gpu/own_types.sh OUT     two GPUs from sm_89 on; ELBOWROOM names the program, else it is that of build/gpu or build/release
# Must hold: each type runs and verifies (exit code 0), f16's product takes bf16's time within a tenth, e4m3's takes 0.75 of it or less, `tune`
# stores a choice, and a side that e4m3 does not take is refused by its member. Exit code 1 where one of them fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/gpu/checks.sh
elbowroom=${ELBOWROOM:-$bin/elbowroom}

for type in bf16 f16 e4m3; do
  scenario "product-$type" '{"kernel": "library_gemm", "m": 8192, "n": 8192, "k": 8192, "dtype": "'$type'"}' 4 128M
  scenario "narrow-$type" '{"kernel": "library_gemm", "m": 1040, "n": 4112, "k": 2064, "dtype": "'$type'"}' 4 128M
done
for type in bf16 f16; do scenario "gelu-$type" '{"kernel": "elementwise", "op": "gelu", "dtype": "'$type'", "bytes": "512M"}' 4 128M; done

for name in product-{bf16,f16,e4m3} narrow-{f16,e4m3} gelu-{bf16,f16}; do
  check "bench-$name" 0 "$elbowroom" bench --backend cuda --scenario "$out/$name.json" --scheme concurrent,priority,sm_target_only --trials 5 --json "$out/bench-$name.json"
done
for name in product-e4m3 gelu-f16; do
  check "tune-$name" 0 "$elbowroom" tune --backend cuda --scenario "$out/$name.json" --budget 1 --profile "$out/profile-$name.json"
done
sed 's/"k": 2064/"k": 2056/' "$out/narrow-e4m3.json" >"$out/odd.json"
check odd 2 "$elbowroom" bench --backend cuda --scenario "$out/odd.json"
says odd 'compute.k: 2056, expected a multiple of 16'

# The rates that were reached, and what they are against bf16's.
python3 - "$out" <<'PYTHON' || failed+=('rates')
import json, sys
out = sys.argv[1]
def alone(name):
    case = json.load(open(f"{out}/bench-{name}.json"))["cases"][0]
    return case["compute_alone_us"]["median"] / case["scenario"]["iterations"]
times = {name: alone(name) for name in ("product-bf16", "product-f16", "product-e4m3", "gelu-bf16", "gelu-f16")}
for name, time in times.items():
    work = f"{2 * 8192**3 / time / 1e6:8.1f} Tflop/s" if name.startswith("product") else f"{2 * 2**29 / time / 1e3:8.1f} GB/s"
    print(f"{name:14}{time:10.1f} us a launch, {work}")
f16, e4m3 = (times[f"product-{t}"] / times["product-bf16"] for t in ("f16", "e4m3"))
print(f"f16 takes {f16:.3f} of bf16's time, e4m3 {e4m3:.3f}")
sys.exit(0 if abs(f16 - 1) <= 0.1 and e4m3 <= 0.75 else 1)
PYTHON

tell_failed 'own types'
