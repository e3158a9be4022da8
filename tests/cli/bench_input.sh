#!/usr/bin/env bash
# `elbowroom bench` refuses bad input with one line and exit 2, before it looks for a device.
. "$(dirname "$0")/checks.bash" || exit

refused() {
  local says=$1
  shift
  expect 2 bench "$@"
  complains "$says"
}

refused "--suite: 'slow', expected one of quick, paper, controls, library" --suite slow
refused "scheme: 'fast', expected one of sequential, concurrent, priority, shaped, shaped_priority" --scheme fast
refused "scheme: 'fast'" --scheme sequential,fast
refused '--trials: 0, expected 1 to 10000' --trials 0
refused '--trials: 10001' --trials 10001
echo rows >"$work/rows.csv"
refused "--validate: '$work/rows.csv', expected another file than --json's" --validate "$work/rows.csv" --json "$work/rows.csv"
refused '--trials' --trials many
refused '--trials' --trials 2.5
refused '-g: 1, expected 2 to 4096' -g 1
# Every suite is for every number of GPUs: 512 MiB are 699050 x 3 x 256 B and a rest.
for suite in quick paper controls library; do
  for gpus in 2 4 8; do
    expect 0 bench --suite $suite -g $gpus --dry-run
    silent
  done
  for gpus in 3 5 6 7; do
    expect 0 bench --suite $suite -g $gpus --dry-run
    [ "$suite-$gpus" = paper-7 ] || # 896 MiB are 7 x 128
      grep -q "^elbowroom: collectives of [0-9]* B take [0-9]* B instead, which $gpus ranks share evenly$" "$err" || fail 'does not say what it changed'
  done
done
expect 0 bench -g 3 --dry-run
says 'all_reduce bf16 536870400'
[ "$(cat "$err")" = 'elbowroom: collectives of 536870912 B take 536870400 B instead, which 3 ranks share evenly' ] || fail 'not one line for the size'
# Real GPUs differ as they do; simulated ones by options, in range and of ranks that there are.
for option in '--jitter 2' '--straggler 1=1.2' '--slow-link 1=0.5'; do
  # shellcheck disable=SC2086 # two words
  refused '--jitter, --straggler, --slow-link: given with --backend auto, expected sim' $option
done
refused '--jitter: 21, expected 0 to 20 percent' --backend sim --jitter 21
refused '--straggler: rank 2, expected 0 to 1' --backend sim --straggler 2=1.2
refused '--straggler: 1=0.5, expected 1 to 100' --backend sim --straggler 1=0.5
refused "--straggler: '1', expected a rank and a number as in 3=1.2" --backend sim --straggler 1
refused '--slow-link: 0=2, expected 0.01 to 1' --backend sim --slow-link 0=2
# An empty value is no default.
for option in --scenario --suite --only --backend --device -g --scheme --plan --trials --blocks-per-sm --min-reduction --timeout \
  --profile --json --markdown --trace --validate; do
  refused ': empty, expected a value' $option ''
done
refused "--seed: '', expected 0 to 2^64 - 1" --seed ''
for option in --scenario --suite --only --trials --seed --json; do refused "$option" "$option="; done
refused '-g: 4097, expected 2 to 4096' -g 4097
refused '--gpus' --gpus two
refused '--seed' --seed one
refused "--seed: '-1', expected 0 to 2^64 - 1" --seed -1
for option in --json --markdown --trace; do
  refused "$option: $work/no/such/file: cannot be written: No such file or directory" $option "$work/no/such/file"
done
refused "--only: '[', expected a regular expression" --only '['
refused "--only: 'nothing-has-this-name', expected to be found" --only nothing-has-this-name
for number in 0 -1 2.5 some 99999999999; do refused "--blocks-per-sm: '$number', expected best, all or 1 to 32" --blocks-per-sm="$number"; done
refused '--timeout: 0, expected 0.001 to 86400 seconds' --timeout 0
refused '--timeout: -1' --timeout=-1
refused '--timeout: 86401' --timeout 86401
refused '--timeout' --timeout soon
refused '--min-reduction' --min-reduction much
refused "backend: 'abacus', expected one of auto, " --backend abacus
refused 'excludes' --suite quick --scenario "$work/any.json"

refused "$work/missing.json: cannot be read: No such file or directory" --scenario "$work/missing.json"
refused "$work: cannot be read: Is a directory" --scenario "$work"

# scenario TEXT: writes a scenario file whose number of GPUs and compute are the text.
scenario() {
  printf '{"schema": "elbowroom.scenario/1", "name": "file", "iterations": 1, "pattern": "pair", %s,\n' "$1"
  printf ' "collective": {"op": "all_reduce", "bytes": "24M", "dtype": "bf16"}}\n'
} >"$work/file.json"
gelu='"compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "1M"}'

scenario "\"gpus\": 2, $gelu"
expect 0 bench --scenario "$work/file.json" --dry-run
says 'file: 2 GPUs, 1 iteration, pair; elementwise gelu f32 1M; all_reduce bf16 24M'
silent
expect 0 bench --scenario "$work/file.json" -g 4 --dry-run
says 'file: 4 GPUs'
# 24 MiB are no multiple of 7 ranks of 2 bytes: the rule is checked for the number of GPUs that is run. 1797559 x 14 is the next.
refused 'file: collective.bytes: 25165824, expected a multiple of 14 (7 ranks of bf16) up to 16 TiB; the next is 25165826' --scenario "$work/file.json" -g 7

scenario "\"gpus\": 1, $gelu"
refused "$work/file.json: gpus: 1, expected a whole number from 2 to 4096" --scenario "$work/file.json" --dry-run
scenario "\"gpus\": 2, \"gpu\": 4, $gelu"
refused "$work/file.json: \"gpu\": unknown field, expected one of " --scenario "$work/file.json"
scenario "\"gpus\": 2, \"gpus\": 4, $gelu"
refused "$work/file.json: gpus: given twice, expected once" --scenario "$work/file.json"
: >"$work/file.json"
refused "$work/file.json: not valid JSON" --scenario "$work/file.json"
head -c 17M /dev/zero >"$work/file.json"
refused "$work/file.json: over 16 MiB, expected an elbowroom.scenario/1 document" --scenario "$work/file.json"
head -c 1M /dev/zero | tr '\0' '[' >"$work/file.json"
refused "$work/file.json: nested deeper than 16 levels" --scenario "$work/file.json"

finish
