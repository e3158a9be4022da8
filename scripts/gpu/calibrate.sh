#!/usr/bin/env bash
# `elbowroom calibrate` on the GPUs that are there, then what its file says of rows measured before. About a minute and a half.
#   usage: calibrate.sh ELBOWROOM OUT
# On H200 the last two tables stand beside each other: the catalog's constants and the calibrated ones.
set -euo pipefail
elbowroom=$1 out=$2
. "$(dirname "${BASH_SOURCE[0]}")/libraries.sh"
"$elbowroom" calibrate --json "$out/device.json" --csv "$out/calibration.csv" | tee "$out/calibrate.txt"
for device in h200 "$out/device.json"; do
  "$elbowroom" validate rows "$(dirname "${BASH_SOURCE[0]}")/../../data/h200x2.csv" --device "$device" | tail -6 | tee -a "$out/validate.txt"
done
