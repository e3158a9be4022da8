#!/usr/bin/env bash
# Joules of a step: programs that take 10 ms for a step, over stand-ins for the driver and for NVML, in which every GPU
# draws 100 W.
. "$(dirname "$0")/run_checks.bash" || exit

ELBOWROOM_BIN=$real_bin
driver=$(dirname "$real_bin")/../tests/interposer/driver
program=$(dirname "$real_bin")/interposer_paced
nvml=$(dirname "$real_bin")/../lib/libfake_nvml.so
[ -e "$driver/libcuda.so.1" ] && [ -x "$program" ] && [ -e "$nvml" ] || finish
export LD_LIBRARY_PATH=$driver ELBOWROOM_NVML_LIBRARY=$nvml
report=$work/report.json

# measures CASE [OPTION...]
measures() {
  local name=$1
  shift
  expect 0 run --off symmetric --no-memory --energy --report "$report" "$@" -- "$program" "$name"
}
# holds EXPRESSION: true of the report, in which e is `energy`.
holds() {
  python3 - "$report" "$1" <<'PROGRAM' || fail "not so: $1"
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
e = document["energy"]
if not eval(sys.argv[2]):
    sys.exit(json.dumps(e, indent=1))
PROGRAM
}
told() { grep -qF -- "$1" "$err" || fail "not said: $1"; }

# --- one GPU: 100 W, whatever a step takes; the program idles for 1.2 s before it uses it ------------------------------------
for policy in observe auto; do
  measures late --policy "$policy"
  told 'elbowroom run: energy: '
  told ' idle; 1 GPU, '
  told 'steps of 16 collectives in '
  told '; clocks fell by power cap'
  holds 'e["why_absent"] is None and e["why_no_idle"] is None and e["notes"] == []'
  holds 'abs(e["joules_per_step"] / (e["step_us"] / 1e6) - 100) < 3'
  holds 'e["low"] <= e["joules_per_step"] <= e["high"] and e["confidence"] == 0.95'
  holds 'abs(e["idle_joules"] / e["joules_per_step"] - 1) < 0.1'
  holds 'e["counter"] == "nvml" and 0 < e["resolution"] < 0.1 and 0.5 < e["span_s"] < 10'
  holds '100 <= e["steps"] <= 110 and e["collectives_per_step"] == 16 and e["counted_by"] == document["processes"][0]["pid"]'
  holds '[(gpu["bus_id"], gpu["processes"], gpu["own_processes"], gpu["least_sm_mhz"], gpu["clocks_fell_by"]) for gpu in e["gpus"]] == [("0000:1b:00.0", 1, 1, 1755, ["power cap"])]'
done

# --- two ranks on two GPUs take 200 W together; a third GPU is none of theirs ---------------------------------------------------
ELBOWROOM_FAKE_NVML_GPUS=3 measures pair --policy observe
told '; 2 GPUs, '
holds 'abs(e["joules_per_step"] / (e["step_us"] / 1e6) - 200) < 6'
holds '[gpu["bus_id"] for gpu in e["gpus"]] == ["0000:1b:00.0", "0000:1c:00.0"]'
holds 'e["idle_joules"] is None and "the command used a GPU" in e["why_no_idle"]'

# --- who else is there is said, and what there is besides ----------------------------------------------------------------------
ELBOWROOM_FAKE_NVML_TROUBLE=neighbour measures at_once --policy observe
told 'GPU 0000:1b:00.0 had 2 processes with work on it, of which 1 reported: the joules are those of all of them'
holds 'e["joules_per_step"] > 0 and len(e["notes"]) == 1'
# The second GPU has no counter: the command does not use it.
ELBOWROOM_FAKE_NVML_TROUBLE=second measures at_once --policy observe
holds 'e["joules_per_step"] > 0'

# --- nothing is measured: the command runs all the same, and one line says why ----------------------------------------------------
# unknown WHY [CASE]: no joules, and the reason in the report and on standard error.
unknown() {
  measures "${2:-at_once}" --policy observe
  told "elbowroom run: energy: not known: $1"
  holds 'e["joules_per_step"] is None and e["low"] is None and e["idle_joules"] is None'
  grep -qF -- "$1" "$report" || fail "report lacks: $1"
  closes 'nothing changed: --policy observe'
  [ "$(wc -l <"$err")" -eq 2 ] || fail 'standard error is not two lines'
}
unknown 'no steps were seen: no process repeated a sequence of collectives' without_collectives
ELBOWROOM_FAKE_NVML_TROUBLE=init unknown 'nvmlInit: Driver Not Loaded'
ELBOWROOM_FAKE_NVML_TROUBLE=mig unknown 'GPU 0000:1b:00.0: MIG is on, and the energy counter is that of the whole GPU'
ELBOWROOM_FAKE_NVML_TROUBLE=permission unknown 'GPU 0000:1b:00.0: nvmlDeviceGetTotalEnergyConsumption: Insufficient Permissions'
ELBOWROOM_FAKE_NVML_TROUBLE=second unknown 'GPU 0000:1c:00.0: nvmlDeviceGetTotalEnergyConsumption: Not Supported' pair
ELBOWROOM_FAKE_NVML_GPUS=0 unknown 'GPU 0000:1b:00.0: not one of those that NVML names here'
ELBOWROOM_FAKE_NVML_TROUBLE=stuck unknown 'the energy counter moved 0 times in '
ELBOWROOM_NVML_LIBRARY=$work/none.so unknown "cannot load $work/none.so"
# A span of some 100 ms has too few moves of a counter that is read every 20 ms.
measures brief --policy observe
told 'energy: not known: the energy counter moved '
holds 'e["steps"] > 0 and "expected at least 20" in e["why_absent"]'
expect 0 run --energy --policy observe -- true
told 'elbowroom run: energy: not known: no process of the command reported'

# --- who did not ask, and who wants no lines ---------------------------------------------------------------------------------
expect 0 run --policy observe --report "$report" -- "$program" without_collectives
holds 'e is None'
only_closes 'nothing changed: --policy observe'
measures brief --policy observe --quiet
silent
measures brief --policy observe --verbose
[ "$(grep -c 'energy: ' "$err")" -eq 1 ] || fail 'the table does not say it once'

# --- the page ------------------------------------------------------------------------------------------------------------------
measures at_once --policy observe
if "$ELBOWROOM_BIN" report "$report" --html "$work/page.html" >"$out" 2>"$err"; then
  grep -qF 'Energy of a step, all GPUs of the command together' "$work/page.html" || fail 'the page lacks the joules'
fi
finish
