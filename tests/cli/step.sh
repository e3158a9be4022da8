#!/usr/bin/env bash
# `elbowroom step transformer` writes training steps, and `bench` runs them.
. "$(dirname "$0")/checks.bash" || exit
golden=$ELBOWROOM_SOURCE_DIR/tests/cli/golden
small=(--layers 1 --hidden 128 --ffn 256 --tokens 64)

# Each way to share the work in a document that was read by a person.
document() {
  local name=$1
  shift
  expect 0 step transformer "${small[@]}" "$@" --json -
  diff "$golden/step_$name.json" "$out" || fail "differs from golden/step_$name.json"
}
document dp --dp 2
document tp --tp 2 --heads 2 --sequence-parallel --without-optimizer
document ep --ep 2 --experts 2 --experts-per-token 1 --imbalance 1.5 --without-optimizer

# Ways to share that name their operations alike.
expect 0 step transformer --preset llama-3-70b --tokens 8192 --fsdp 8 --tp 8 --sequence-parallel
expect 0 step transformer --layers 4 --hidden 128 --ffn 256 --tokens 64 --dp 2 --pp 2 --micro 2 --schedule interleaved --bucket 1

# Two micro-batches side by side: the second one's first kernel stands behind the first one's dispatch.
pairs=("${small[@]}" --experts 2 --experts-per-token 1 --ep 2 --two-batch)
expect 0 step transformer "${pairs[@]}" --micro 2 --json -
grep -oE '"name": "m[01]\.l0\.[^"]*"' "$out" | grep -A 1 -m 1 dispatch | grep -q 'm1.l0.norm1' || fail 'does not change sides'
expect 2 step transformer "${pairs[@]}"
complains '--micro: 1, expected a multiple of 2 (--two-batch); the next is 2'

# 128 sequences of 8,192 tokens on 8 replicas; ZeRO's third stage is fsdp.
expect 0 step transformer --preset llama-3-8b --global-batch 128 --micro 16 --dp 8 --zero 1
says 'dp=8: 8 ranks; 131,072 tokens of each replica'
says 'reduce_scatter dp'
expect 0 step transformer --preset llama-3-8b --global-batch 8 --dp 8 --zero 3
says 'fsdp=8: 8 ranks; 8,192 tokens of each replica'
expect 2 step transformer --preset llama-3-8b --global-batch 100 --dp 8
complains '--global-batch: 100, expected a multiple of 8 up to 16777216 (replicas times --micro)'
expect 2 step transformer --preset llama-3-8b --global-batch 8 --tokens 8192 --dp 8
complains '--global-batch: given with --tokens, expected one of them'
expect 2 step transformer "${small[@]}" --dp 2 --fsdp 2 --zero 3
complains '--zero: 3 with --fsdp, expected one of them (both part parameters)'

# 8,030,261,248 parameters: 2 bytes each in buckets, 4 all-reduces in each of 32 layers and three besides.
expect 0 step transformer --preset llama-3-8b --tokens 8192 --dp 2 --tp 4
says '# llama-3-8b: 8,030,261,248 parameters; dp=2 tp=4: 8 ranks; 8,192 tokens of each replica'
says 'all_reduce tp                 131      8.125'
says 'all_reduce dp                  66      3.740'

expect 0 step transformer "${small[@]}" --dp 2 --json "$work/step.json"
expect 0 step transformer "${small[@]}" --dp 4 --json "$work/step.json"
echo mine >"$work/mine"
expect 2 step transformer "${small[@]}" --dp 2 --json "$work/mine"
complains '--json'
grep -qx mine "$work/mine" || fail "a user's file was replaced"

expect 2 step transformer "${small[@]}"
complains '--dp, --fsdp, --tp, --pp, --ep: 1 each, expected one above 1'
expect 2 step transformer --hidden 128 --ffn 256 --tokens 64 --dp 2
complains '--layers: missing, expected a number or --preset'
expect 2 step transformer --preset gpt-9 --tokens 64 --dp 2
complains "--preset: 'gpt-9', expected one of gpt-2, gpt-3-175b"
expect 2 step transformer "${small[@]}" --dp 2 --compress powersgd
complains "--compress: 'powersgd', expected bf16, fp8, powersgd=RANK or topk=SHARE"
expect 2 step transformer "${small[@]}" --dp 2 --compress topk=1.5
complains '--compress topk: 1.5, expected above 0 and at most 0.5'
expect 2 step transformer "${small[@]}" --dp 2 --bucket 0
complains '--bucket: 0, expected 1 to'
expect 2 step

# A step wherever bench takes a scenario.
expect 0 step transformer "${small[@]}" --dp 2 --json "$work/dp.json"
expect 0 bench --scenario "$work/dp.json" --dry-run
says 'transformer: 2 ranks (dp=2), 1 repeat; '
expect 0 bench --scenario "$work/dp.json" --backend sim --device h100 --trials 1 --json "$work/result.json" --trace "$work/trace.json"
says 'simulated: transformer: 2 ranks (dp=2), 1 repeat; '
says 'priority'
grep -q '"schema": "elbowroom.step/1"' "$work/result.json" || fail 'the result has no step'
expect 0 report "$work/result.json" "$work/trace.json" --html "$work/page.html"
expect 2 bench --scenario "$work/dp.json" -g 4
complains '-g: 4, expected 2 (the ranks of '

# One plan for the whole step, which acts where it can.
expect 0 step transformer "${small[@]}" --fsdp 2 --json "$work/fsdp.json"
expect 0 bench --backend sim --scenario "$work/fsdp.json" --trials 1 --scheme concurrent --plan sm_target=100,copy_engine
says 'SM target 100 on 14 of '
expect 1 bench --backend sim --scenario "$work/fsdp.json" --trials 1 --scheme concurrent --plan blocks_per_sm=4
grep -qF 'blocks_per_sm: the library launches its own kernel' "$err" || fail 'does not say why products take no cap'
expect 0 tune --backend sim --scenario "$work/fsdp.json" --budget 5 --profile "$work/profile.json" --json "$work/tune.json"
says '# simulated: transformer: 2 ranks (fsdp=2), 1 repeat'
expect 0 profile list --profile "$work/profile.json"
grep -qE '2 ranks, step [0-9a-f]{16}: ' "$out" || fail 'the profile lists no step'
expect 0 bench --backend sim --scenario "$work/fsdp.json" --trials 1 --scheme tuned --profile "$work/profile.json"
says '# tuned: stored: '
expect 0 bench --backend sim --scenario "$work/fsdp.json" --trials 1 --sweep comm_blocks=8:16,priority --json "$work/sweep.json"
says 'comm_blocks down, priority across'
expect 2 bench --backend sim --scenario "$work/fsdp.json" --trials 1 --sweep compute.m=64
complains "compute.m: a scenario's member, expected controls alone in a sweep of a step"
expect 0 report "$work/tune.json" "$work/sweep.json" --html "$work/tuned.html"
grep -qF 'transformer' "$work/tuned.html" || fail 'no step on the page'
expect 2 bench --scenario "$work/fsdp.json" --transfer "$work/profile.json"
complains 'an elbowroom.step/1 document, expected elbowroom.scenario/1 (a transfer is of stored plans of scenarios)'

finish
