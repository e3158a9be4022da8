#!/usr/bin/env bash
# scripts/gains.py: medians over the cases of tune documents.
. "$(dirname "$0")/checks.bash" || exit
command -v python3 >/dev/null || exit 77
: >"$out"
: >"$err"
gains() { python3 -B "$ELBOWROOM_SOURCE_DIR/scripts/gains.py" "$@"; }

# case NAME TIME BASELINE SEQUENTIAL CRITICAL_PATH EFFICIENCY ITERATIONS
case_json() {
  printf '{"scenario":{"name":"%s","iterations":%s},"time_us":%s,"baseline_time_us":%s,"sequential_us":%s,"critical_path_us":%s,"overlap_efficiency":%s}' \
    "$1" "$7" "$2" "$3" "$4" "$5" "$6"
}
# Gains 10, 2 and 4 %: median 4. The critical path saves 20, 4 and 20 % of 100: the middle case is not worth while, of 10 and 4 the median is 7.
{
  printf '{"schema":"elbowroom.tune/1","provenance":"measured","cases":['
  case_json a 81 90 100 80 0.95 1
  printf ,
  case_json b 98 100 100 96 0.5 2
  printf ,
  case_json c 86.4 90 100 80 0.68 1
  printf ']}'
} >"$work/made.json"
cat >"$work/expected" <<'TEXT'
made.json (measured)
  all: 3 cases, gain 4.0 %, of the critical path 68.0 %
  where overlap could save more than 5 %: 2 cases, gain 7.0 %, of the critical path 81.5 %
  counted twice: a
  counted twice: c
TEXT
gains "$work/made.json" | diff "$work/expected" - || fail 'other medians than by hand'

raw="$ELBOWROOM_SOURCE_DIR/results/h200"
gains "$raw/tune-suites-2gpu.json.gz" "$raw/tune-suites-4gpu.json.gz" >"$work/said" || fail 'raw results are refused'

gains "$raw/quick-2gpu.json" 2>"$work/said" && fail 'a bench result is taken for a tune document'
[ "$(wc -l <"$work/said")" -eq 1 ] || fail "not one line: $(cat "$work/said")"
echo '{"schema":"elbowroom.tune/1","provenance":"measured","cases":[{}]}' >"$work/broken.json"
gains "$work/broken.json" 2>"$work/said" && fail 'a case without times is taken'
[ "$(wc -l <"$work/said")" -eq 1 ] || fail "not one line: $(cat "$work/said")"

finish
