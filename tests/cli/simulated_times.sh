#!/usr/bin/env bash
# `elbowroom bench` of every suite on 2 and 4 simulated GPUs: no time changes by 1e-9 of itself, unless somebody means it to.
#   simulated_times.sh --write    writes the golden file anew: what differs goes into the message of that commit
. "$(dirname "$0")/checks.bash" || exit
golden=$ELBOWROOM_SOURCE_DIR/tests/cli/golden/simulated_times.tsv
if ! usable sim; then
  echo 'skipped: no simulator in this build'
  exit 77
fi

for suite in quick library paper controls; do
  for gpus in 2 4; do
    expect 0 bench --backend sim --device h200 --suite "$suite" -g "$gpus" --trials 1 --json "$work/$suite.$gpus.json"
  done
done

# times: a line for each scheme of each case, in the order of the documents.
times() {
  python3 -B - "$work"/{quick,library,paper,controls}.{2,4}.json <<'PY'
import json, pathlib, sys

for name in sys.argv[1:]:
    suite, gpus, _ = pathlib.Path(name).name.split(".")
    for case in json.load(open(name))["cases"]:
        of_case = [suite, gpus, case["scenario"]["name"]]
        print(*of_case, "critical path", "-", repr(case["critical_path_us"]), sep="\t")
        for result in case["results"]:
            plan = ",".join(f"{key}={value}" for key, value in sorted(result["plan"].items()) if value not in (None, False, 0))
            print(*of_case, result["scheme"], plan or "-", repr(result["time_us"]["median"]), sep="\t")
PY
}
times >"$work/times.tsv" || fail 'the documents cannot be read'
if [ "${1:-}" = --write ]; then
  cp "$work/times.tsv" "$golden"
  exit
fi
[ "$(wc -l <"$work/times.tsv")" -ge 500 ] || fail "only $(wc -l <"$work/times.tsv") times"

# differing MEASURED GOLDEN: lines whose time, or anything else, is another.
differing() {
  python3 -B - "$1" "$2" <<'PY'
import itertools, math, sys

rows = [[line.rstrip("\n").split("\t") for line in open(name)] for name in sys.argv[1:]]
for now, then in itertools.zip_longest(*rows, fillvalue=["", "0"]):
    if now[:-1] != then[:-1] or not math.isclose(float(now[-1]), float(then[-1]), rel_tol=1e-9):
        print("now", *now, "was", *then)
PY
}
differing "$work/times.tsv" "$golden" >"$work/differs"
[ -s "$work/differs" ] && fail "$(wc -l <"$work/differs") times differ from golden/simulated_times.tsv: $(head -5 "$work/differs")"

# One in a million is noticed, and so is a line too few.
awk -F'\t' -v OFS='\t' 'NR == 7 { $6 = sprintf("%.9f", $6 * 1.000001) } 1' "$golden" >"$work/planted"
[ "$(differing "$work/planted" "$golden" | wc -l)" = 1 ] || fail 'a changed time is not noticed'
sed '$d' "$golden" >"$work/planted"
[ "$(differing "$work/planted" "$golden" | wc -l)" = 1 ] || fail 'a missing time is not noticed'

finish
