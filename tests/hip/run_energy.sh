#!/usr/bin/env bash
# Joules of a step of a HIP program by AMD SMI's counters: over stand-ins in which every GPU draws 100 W.
. "$(dirname "$0")/../cli/checks.bash" || exit

export ELBOWROOM_NVML_LIBRARY=$work/none.so TMPDIR=$work
report=$work/report.json
measures() { expect 0 run --backend hip --no-memory --energy --policy observe --report "$report" -- "$ELBOWROOM_PACED" at_once; }

measures
grep -qF 'elbowroom run: energy: ' "$err" || fail 'no line of joules'
python3 - "$report" <<'PROGRAM' || fail 'not the joules of 100 W'
import json, sys
energy = json.load(open(sys.argv[1], encoding="utf-8"))["energy"]
assert energy["why_absent"] is None and energy["counter"] == "amdsmi", energy
assert abs(energy["joules_per_step"] / (energy["step_us"] / 1e6) - 100) < 3, energy
assert energy["collectives_per_step"] == 16 and 100 <= energy["steps"] <= 110, energy
assert [(gpu["bus_id"], gpu["greatest_celsius"], gpu["least_sm_mhz"]) for gpu in energy["gpus"]] == [("0000:c1:00.0", 52, 2100)], energy
PROGRAM

# unknown WHY: no joules, and the reason in one line and in the report.
unknown() {
  measures
  grep -qF "elbowroom run: energy: not known: $1" "$err" || fail "not said: $1"
  grep -qx 'elbowroom: nothing changed: --policy observe' "$err" || fail 'no closing line'
  [ "$(wc -l <"$err")" -eq 2 ] || fail 'standard error is not two lines'
  grep -qF -- "$1" "$report" || fail "report lacks: $1"
}
ELBOWROOM_FAKE_AMD_SMI_TROUBLE=init unknown 'amdsmi_init answers 32'
ELBOWROOM_FAKE_AMD_SMI_TROUBLE=permission unknown 'amdsmi_get_socket_handles: AMDSMI_STATUS_NO_PERM'
ELBOWROOM_FAKE_AMD_SMI_TROUBLE=uncounted unknown 'GPU 0000:c1:00.0: amdsmi_get_energy_count: AMDSMI_STATUS_NOT_SUPPORTED'
ELBOWROOM_AMD_SMI_LIBRARY=$work/no_smi.so unknown "cannot load $work/none.so"
finish
