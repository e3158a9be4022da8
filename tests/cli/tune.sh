#!/usr/bin/env bash
# `elbowroom tune` stores a choice that `bench --scheme tuned` uses and `elbowroom profile` shows; bad input is one line and exit 2.
. "$(dirname "$0")/checks.bash" || exit
unset ELBOWROOM_PROFILE

cat >"$work/case.json" <<'JSON'
{"schema": "elbowroom.scenario/1", "name": "cublas-ar", "gpus": 2, "iterations": 8, "pattern": "pipeline",
 "compute": {"kernel": "library_gemm", "m": 8192, "n": 8192, "k": 8192, "dtype": "bf16"},
 "collective": {"op": "all_reduce", "bytes": "512M", "dtype": "bf16"}}
JSON
profile=$work/profile.json

# What would be searched, from a file and from standard input: 60 s of search, 15 for caps, 30 of confirmation.
expect 0 tune --scenario "$work/case.json" --dry-run
says 'cublas-ar: 2 GPUs'
says '# 1 case, at most 24 candidates each; about 105 s each and 105 s in all at most; nothing was run'
cp "$out" "$work/dry"
expect 0 tune --scenario - --dry-run <"$work/case.json"
cmp -s "$out" "$work/dry" || fail 'standard input is not read'
expect 2 tune --scenario - --dry-run </dev/null
complains 'standard input'

# Without a profile the choice is shown and not kept.
expect 0 tune --scenario "$work/case.json" --backend sim
says '# simulated: cublas-ar: '
says 'limited by link'
says 'SM split '
says '# chosen: tuned: '
says '# because: '
grep -qF 'nothing is stored' "$err" || fail 'does not say that nothing is stored'
first=$(grep '^# chosen' "$out")

expect 0 tune --scenario "$work/case.json" --backend sim --profile "$profile" --json "$work/tune.json"
[ "$(cat "$err")" = 'elbowroom tune: [1/1] cublas-ar' ] || fail 'standard error has more than a line for the case'
[ "$(grep '^# chosen' "$out")" = "$first" ] || fail 'the same seed chose something else'
python3 - "$work/tune.json" <<'PY' || fail 'tune.json is not as it should be'
import json, sys
document = json.load(open(sys.argv[1]))
case = document["cases"][0]
assert document["schema"] == "elbowroom.tune/1" and document["provenance"] == "simulated"
assert case["scheme"] == "tuned" and case["time_us"] < case["baseline_time_us"]
assert len(case["candidates"]) <= 24
assert any(c["plan"] == case["plan"] and c["trials"] > 0 for c in case["candidates"])
assert [s["schedule"] for s in case["afresh"]][:3] == ["compute_only", "comm_only", "sequential"], case["afresh"]
assert case["plan"] in [s["plan"] for s in case["afresh"] if s["schedule"] == "tuned"]
assert {len(s["times_us"]) for s in case["afresh"]} == {case["rounds"]}
PY
[ "$(find "$work" -name 'profile.json*' | wc -l)" -eq 2 ] || fail 'there is more beside the profile than its lock'

# Long cases are predicted from their first iterations; the simulator itself, which is what is measured here, runs them all. Steps in which
# collectives wait for an SM that a GEMM holds do not repeat.
sed 's/"iterations": *8/"iterations": 200/' "$work/case.json" >"$work/many.json"
expect 0 tune --scenario "$work/many.json" --backend sim --budget 30 --candidates 8 --json "$work/many-tune.json"
python3 - "$work/many-tune.json" <<'PY' || fail 'long cases are predicted otherwise than they run'
import json, sys
ran = [c for c in json.load(open(sys.argv[1]))["cases"][0]["candidates"] if c["trials"] and c["predicted_us"]]
assert len(ran) >= 3, len(ran)
for c in ran:
    waits = c["scheme"] in ("concurrent", "priority")
    assert abs(c["predicted_us"] / c["time_us"]["median"] - 1) < (0.05 if waits else 0.001), c
PY
# And a simulation that takes too long is given up, with what it has come to.
expect 1 bench --scenario "$work/many.json" --backend sim --scheme concurrent --timeout 0.001
grep -qF 'when the time limit passed' "$err" || fail 'does not say that the time limit passed'

# bench finds it, by option and by environment; no seed or budget is needed.
expect 0 bench --scenario "$work/case.json" --backend sim --scheme concurrent,tuned --trials 2 --profile "$profile"
says 'tuned: stored: '
ELBOWROOM_PROFILE=$profile expect 0 bench --scenario "$work/case.json" --backend sim --scheme tuned --trials 2
says 'tuned: stored: '
# Another size class has no choice: the fallback is said.
expect 0 bench --suite quick --only sgemm-ar-pair --backend sim --scheme tuned --trials 2 --profile "$profile"
says 'tuned: the profile lacks this case: '
sed 's/"pattern": *"pipeline"/"pattern": "pair"/' "$work/case.json" >"$work/pair.json"
expect 0 bench --scenario "$work/pair.json" --backend sim --scheme tuned --trials 2 --profile "$profile"
says 'tuned: the profile lacks this case (pattern pair, stored pipeline): '
expect 0 bench --suite quick --only sgemm-ar-pair --backend sim --scheme tuned --trials 2
says 'tuned: no profile is given: '
echo '{"schema": "other/1"}' >"$work/foreign.json"
expect 0 bench --suite quick --only sgemm-ar-pair --backend sim --scheme tuned --trials 2 --profile "$work/foreign.json"
grep -qF "profile ignored: $work/foreign.json: schema: \"other/1\", expected \"elbowroom.profile/1\"" "$err" || fail 'foreign profile'

# What this machine's links refuse shows when it is run: the rest of the case is measured all the same.
python3 - "$profile" "$work/links.json" <<'PY'
import json, sys
stored = json.load(open(sys.argv[1]))
for choice in stored["choices"]:
    choice["key"]["device"] = "a40"
    choice["plan"] = {name: False if value is True else None if name != "pad_bytes" else 0 for name, value in choice["plan"].items()}
    choice["plan"] |= {"priority": False, "launch_gate": False, "symmetric": True, "copy_engine": False, "peer_detour": False, "windows_only": False}
json.dump(stored, open(sys.argv[2], "w"))
PY
expect 0 bench --scenario "$work/case.json" --backend sim --device a40 --scheme concurrent,tuned --trials 2 --profile "$work/links.json"
says "the stored plan cannot act here (symmetric: NCCL's kernels on symmetric memory need NVLink, a40 has none)"

# A case of the same classes with another balance of compute and collective is another case: 2 x 8192 x 8192 x 12000 flop are in the class of 2^40.
sed 's/"k": 8192/"k": 12000/' "$work/case.json" >"$work/longer.json"
expect 0 bench --scenario "$work/longer.json" --backend sim --scheme tuned --trials 2 --profile "$profile"
says 'the stored choice is for another balance (8 iterations of 1.1e+12 flop or bytes beside 536870912 B)'

# The peers run or are refused with a reason.
expect 0 bench --scenario "$work/case.json" --backend sim --scheme comm_blocks_only,sm_target_only,copy_engine,shaped --trials 2
says 'comm_blocks_only '
says 'sm_target_only '
says 'copy_engine: refused: copy engines alone cannot reduce, all_reduce is not all_gather or all_to_all'
says 'shaped: refused: '
# Who names schemes none of which can act gets no other instead.
expect 1 bench --scenario "$work/case.json" --backend sim --scheme shaped,shaped_priority --trials 2
grep -qF 'elbowroom bench: cublas-ar: shaped was refused: ' "$err" || fail 'no word of the refusal'
if grep -q '^\* ' "$out"; then fail 'the rest has a best'; fi

# So do plans as they are typed; where one is refused the rest is no answer, and none of it the best.
expect 0 bench --scenario "$work/case.json" --backend sim --scheme concurrent --plan priority --trials 2
grep -q '^\* ' "$out" || fail 'nothing is marked as the best'
expect 1 bench --scenario "$work/case.json" --backend sim --scheme concurrent --plan priority,sm_target=108,comm_blocks=24,cluster=1 \
  --plan blocks_per_sm=2 --plan copy_engine --trials 2 --json "$work/plans.json"
says 'plan 1 '
grep -qF 'elbowroom bench: cublas-ar: plan 2 was refused: blocks_per_sm: the library launches its own kernel' "$err" || fail 'no word of the refusal'
if grep -q '^\* ' "$out"; then fail 'the rest has a best'; fi
if grep -qF 'least median' "$out"; then fail 'explains a mark that nothing has'; fi
says '# plan 1: priority, 24 comm blocks, cluster 1, SM target 108'
says '# plan 2: refused: blocks_per_sm: the library launches its own kernel'
says '# plan 3: copy engines'
[[ $(grep -c 'copy engines' "$out") == 1 ]] || fail 'copy engines are named twice'
python3 - "$work/plans.json" <<'PY' || fail 'plans.json is not as it should be'
import json, sys
result = next(r for r in json.load(open(sys.argv[1]))["cases"][0]["results"] if r["scheme"] == "plan 1")
assert result["plan"]["sm_target"] == 108 and result["plan"]["priority"] and result["plan"]["comm_blocks"] == 24
PY
expect 1 bench --scenario "$work/case.json" --backend sim --device a40 --scheme concurrent --plan copy_engine --trials 2
says "# plan 1: refused: copy_engine: NCCL's collectives by copy engines need NVLink, a40 has none"
for plan in '' 'speed' 'priority,' 'comm_blocks=' 'comm_blocks=x' 'priority,priority'; do
  expect 2 bench --suite quick --backend sim --plan "$plan"
  complains '--plan: '
done

expect 0 profile list --profile "$profile"
says 'simulated h200'
says 'library_gemm bf16 2^40 flop'
[ "$(wc -l <"$out")" -eq 1 ] || fail 'not one choice'
expect 0 profile show 1 --profile "$profile"
says '"schema": "elbowroom.profile/1"'
expect 2 profile show 2 --profile "$profile"
complains 'number: 2, expected 1 to 1, as list shows them'
expect 0 profile export "$work/exported.json" --profile "$profile" --device h200
expect 2 profile export - --profile "$profile" --device a100
complains "--device: 'a100', expected one of h200"

# Many processes at once lose nothing.
for ranks in 3 4 5 6 7 8 9 10; do
  sed "s/\"ranks\":2/\"ranks\":$ranks/" "$work/exported.json" >"$work/of$ranks.json"
  "$ELBOWROOM_BIN" profile import "$work/of$ranks.json" --profile "$profile" &
done
wait
expect 0 profile list --profile "$profile"
[ "$(wc -l <"$out")" -eq 9 ] || fail 'choices were lost'

expect 2 profile import "$work/foreign.json" --profile "$profile"
complains "$work/foreign.json: schema: \"other/1\", expected \"elbowroom.profile/1\""
expect 2 profile list
complains 'neither --profile nor ELBOWROOM_PROFILE is given'
expect 2 profile list --profile "$work/foreign.json"
complains 'elbowroom profile: '
expect 0 profile list --profile "$work/none.json"
[ ! -s "$out" ] || fail 'a profile that is not there has choices'

# However short the search, both sides alone and no overlap are measured, and what is stored is never slower than no overlap.
expect 0 tune --suite paper --only '^mb-ar-opt2-256$' -g 2 --backend sim --budget 0.001 --json "$work/short.json"
python3 - "$work/short.json" <<'PY' || fail 'a short search stored what is slower than no overlap'
import json, sys
case = json.load(open(sys.argv[1]))["cases"][0]
assert case["time_us"] <= case["sequential_us"] and case["baseline_time_us"] <= case["sequential_us"], case["scheme"]
PY

# Controls can be left out; what `elbowroom run` applies needs nothing of a program that a run cannot give it.
expect 0 tune --scenario "$work/case.json" --backend sim --without sm_target,symmetric --without copy_engine --json "$work/without.json"
says '# without copy_engine, sm_target, symmetric'
expect 0 tune --scenario "$work/case.json" --backend sim --for-run --json "$work/for-run.json"
says '# without carveout, comm_sms, copy_engine, peer_detour, symmetric, windows_only'
says '# chosen: tuned: '
python3 - "$work/without.json" "$work/for-run.json" <<'PY' || fail 'a control that was left out is set'
import json, sys
for file in sys.argv[1:]:
    document = json.load(open(file))
    assert document["without"] and document["cases"][0]["scheme"] == "tuned"
    for candidate in document["cases"][0]["candidates"]:
        assert not any(candidate["plan"].get(name) for name in document["without"]), candidate
PY
expect 2 tune --scenario "$work/case.json" --without symetric
complains "--without: 'symetric', expected one of blocks_per_sm, priority,"
expect 2 tune --scenario "$work/case.json" --budget 0
complains '--budget: 0, expected 0.001 to 86400 seconds'
expect 2 tune --scenario "$work/case.json" --candidates 3
complains '--candidates: 3, expected 4 to 1000'
expect 2 tune --scenario "$work/missing.json"
complains "$work/missing.json: cannot be read"
expect 2 tune --scenario "$work/case.json" --profile "$work/no/profile.json"
complains "--profile: $work/no/profile.json: cannot be written: No such file or directory"
# Nothing that is read is replaced, nothing that is no profile is moved away, and all of this is said before anything runs.
expect 2 tune --scenario "$work/case.json" --backend sim --profile "$work/case.json"
complains "--profile: $work/case.json: schema: \"elbowroom.scenario/1\", expected \"elbowroom.profile/1\""
expect 2 tune --scenario "$work/case.json" --backend sim --profile "$work/both.json" --json "$work/both.json"
complains "--json: '$work/both.json', expected another file than --profile's"
expect 2 tune --scenario "$work/case.json" --backend sim --json "$work"
complains "--json: $work: cannot be written: Is a directory"
ELBOWROOM_PROFILE=$work/no/profile.json expect 2 tune --scenario "$work/case.json" --backend sim
complains "--profile: $work/no/profile.json: cannot be written"
expect 2 tune --scenario "$work/case.json" --backend sim --profile /dev/null
complains '--profile: /dev/null: not a regular file, expected a profile'
[ -c /dev/null ] || fail '/dev/null is gone'
expect 2 profile export "$work/exported.json" --profile "$work/typo.json"
complains "$work/typo.json: no such file"
expect 2 profile export "$work/exported.json" --profile "$profile" --device H200
complains "--device: 'H200', expected one of h200"

finish
