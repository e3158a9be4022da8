#!/usr/bin/env bash
# `elbowroom calibrate` writes a device file, which the other commands take. The machine is a simulated one here.
. "$(dirname "$0")/checks.bash" || exit
usable sim >/dev/null || { echo 'skipped: no simulator in this build'; exit 77; }
cd "$work" || exit 1
sim='--backend sim --trials 1'

expect 0 calibrate $sim --device h200 --json mine.json --csv mine.csv
says 'held out ones half are within'
says 'link_mb_per_s'
expect 0 bench --backend sim --device mine.json --suite quick --only gelu --trials 1
says 'model: elbowroom calibrate'
head -9 "$ELBOWROOM_SOURCE_DIR/data/h200x2.csv" >rows.csv
expect 0 validate rows rows.csv --device ./mine.json
expect 2 validate rows rows.csv --device h900
complains "--device: device 'h900' is not in the catalog"
expect 0 plan --device ./mine.json --threads 256 --registers 56

[ "$(head -1 mine.csv)" = case,schedule,held_out,measured_ms,simulated_ms ] || fail 'another head of the CSV file'
[ "$(grep -c '"both' mine.csv)" -gt 60 ] || fail 'pairs are missing in the CSV file'
expect 2 calibrate $sim --device h200 --csv mine.csv
complains '--csv: mine.csv: is there, expected a new file'
expect 2 calibrate $sim --device h200 --csv -
complains '--csv: -, expected the name of a file'
expect 2 calibrate $sim --device h200 --csv new.txt --json new.txt

echo mine >text
expect 2 calibrate $sim --device h200 --json mine.json
complains '--json: mine.json: is there, expected a new file'
expect 2 calibrate $sim --device h200 --json text
complains '--json: text: is there, expected a new file'
[ "$(cat text)" = mine ] || fail 'a file was replaced'
expect 2 calibrate $sim --json nowhere/mine.json
expect 2 calibrate $sim -g 1
complains '-g: 1, expected 2 to 64'
expect 2 calibrate --backend sim --trials 0
complains '--trials: 0, expected 1 to 1000'
expect 2 calibrate $sim --device nothing.json
expect 2 calibrate --backend sim --device rtx4090
grep -q 'rtx4090 has no "simulator"' "$err" || fail 'does not say what the simulator lacks'
finish
