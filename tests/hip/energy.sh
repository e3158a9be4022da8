#!/usr/bin/env bash
# Joules in `bench` and `tune`: with a stand-in for NVML, and in one line why there are none.
. "$(dirname "$0")/../cli/checks.bash" || exit

cat >"$work/gelu.json" <<'TEXT'
{"schema": "elbowroom.scenario/1", "name": "gelu", "gpus": 2, "iterations": 3, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64K"},
 "collective": {"op": "all_reduce", "bytes": "16K", "dtype": "bf16"}}
TEXT
# Spans of 80 moves: a machine that reads every 20 ms alone still sees as many as a span needs.
export ELBOWROOM_FAKE_NVML_PERIOD_MS=3
span=0.25
bench=(bench --backend hip --trials 2 --scheme concurrent --scenario "$work/gelu.json")

# Nobody asked: no column, no member.
expect 0 "${bench[@]}" --json "$work/plain.json"
if grep -q energy "$out" "$work/plain.json"; then fail 'energy that nobody asked for'; fi

# Two GPUs of 100 W each: an iteration takes 200 W for as long as it lasts. All of it would be taken with nothing running, too.
expect 0 "${bench[@]}" --energy-span $span --json "$work/energy.json" --markdown "$work/energy.md"
says '# energy: nvml counter, moves every'
says 'clocks fell by power cap'
grep -q 'energy / iter. (J)' "$work/energy.md" || fail 'no column in the Markdown'
python3 - "$work/energy.json" <<'PY' || fail 'not the joules of 200 W'
import json, sys
for result in json.load(open(sys.argv[1]))["cases"][0]["results"]:
    energy = result["energy"]
    joules = 200 * energy["iteration_us"] / 1e6
    assert abs(energy["joules"] / joules - 1) < 0.2, energy
    assert energy["low"] <= energy["joules"] <= energy["high"] and abs(energy["idle_joules"] / joules - 1) < 0.2, energy
    assert abs(energy["counter_over_power"] - 1) < 0.2 and energy["span_s"] >= 0.25, energy
    assert energy["before"] == [{"celsius": 41, "sm_mhz": 1755}] * 2, energy
    assert energy["clocks_fell_by"] == ["power cap"], energy
PY
expect 0 report "$work/energy.json" --html "$work/page.html"
grep -q 'energy.joules' "$work/page.html" || fail 'no joules on the page'

# A run that is longer than the span: two of them are measured.
sed 's/"64K"/"1M"/' "$work/gelu.json" >"$work/long.json"
expect 0 bench --backend hip --trials 2 --scheme concurrent --scenario "$work/long.json" --energy-span 0.1
says '# energy: nvml counter, moves every'

# Each reason is one line, the times are there, and no column is.
refuses() {
  ELBOWROOM_FAKE_NVML_TROUBLE=$1 expect 0 "${bench[@]}" --energy-span $span --json "$work/none.json"
  says "# no energy: $2"
  grep -qE '^[* ] concurrent ' "$out" || fail 'no times'
  grep -qF '"no_energy": "' "$work/none.json" || fail 'no reason in the document'
  if grep -q '"energy"' "$work/none.json"; then fail 'joules beside a reason'; fi
}
refuses mig 'GPU 0000:c1:00.0: MIG is on'
refuses permission 'GPU 0000:c1:00.0: nvmlDeviceGetTotalEnergyConsumption: Insufficient Permissions'
refuses unsupported 'GPU 0000:c1:00.0: nvmlDeviceGetTotalEnergyConsumption: Not Supported'
refuses neighbour "2 processes run on rank 0's GPU"
refuses init 'nvmlInit: Driver Not Loaded'
refuses unknown 'GPU 0000:c1:00.0: nvmlDeviceGetHandleByPciBusId: Not Found'
refuses stuck 'the energy counter moves less than 8 times in 1.2 s'
# Without NVML there is AMD SMI, and without both a reason.
ELBOWROOM_NVML_LIBRARY=/nowhere.so expect 0 "${bench[@]}" --energy-span $span
says '# energy: amdsmi counter, moves every'
ELBOWROOM_NVML_LIBRARY=/nowhere.so ELBOWROOM_AMD_SMI_LIBRARY=/nowhere.so expect 0 "${bench[@]}" --energy
says '# no energy: '

# The simulator says nothing of energy; whoever asks for the least is refused.
expect 0 bench --backend sim --trials 2 --only '^gelu-ar$' --scheme concurrent --energy
says '# no energy: the simulator says nothing of energy'
expect 77 tune --backend sim --scenario "$work/gelu.json" --objective energy --budget 0.1
grep -qF 'no energy: the simulator says nothing of energy' "$err" || fail 'does not say why'

expect 2 "${bench[@]}" --energy-span 0
complains "--energy-span: 0, expected 0.01 to 3600 seconds"
expect 2 tune --backend sim --objective watts --budget 0.1
complains "--objective: 'watts', expected time, energy or product"
expect 2 tune --backend sim --energy-span 1 --budget 0.1
complains '--energy-span: given, expected only with --objective energy or product'

# By whatever objective: no more of it than any baseline takes, and what that costs beside the fastest baseline is said.
for objective in energy product; do
  expect 0 tune --backend hip --scenario "$work/gelu.json" --objective $objective --energy-span $span --budget 0.05 --candidates 4 --json "$work/tune.json"
  says '# energy of an iteration: '
  says "# because: $objective: "
  grep -qF "\"objective\": \"$objective\"" "$work/tune.json" || fail 'the document does not say the objective'
  python3 - "$work/tune.json" $objective <<'PY' || fail 'worse than a baseline, or its cost is not said'
import json, statistics, sys
case = json.load(open(sys.argv[1]))["cases"][0]
timed = [one for one in case["afresh"] if "energy" in one]
baselines = [one for one in timed if one["schedule"] != "tuned"]
time = lambda one: statistics.median(one["times_us"])
joules = lambda one: one["energy"]["joules"]
value = joules if sys.argv[2] == "energy" else lambda one: joules(one) * time(one)
chosen = next(one for one in timed if (one["schedule"], one["plan"]) == (case["scheme"], case["plan"]))
assert len(baselines) >= 3 and value(chosen) <= min(map(value, baselines)), case["scheme"]
fastest = min(baselines, key=time)
cost = [100 * (of(chosen) / of(fastest) - 1) for of in (time, joules)]
words = f"; beside {fastest['schedule']}, the fastest baseline: time {cost[0]:+.1f} %, energy {cost[1]:+.1f} %"
assert words in case["reason"], (words, case["reason"])
PY
done
finish
