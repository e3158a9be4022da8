#!/usr/bin/env bash
# scripts/paper.py: the paper's cells and the grid around them on the simulator, gone on with, and a page whose verdicts are known by hand.
. "$(dirname "$0")/checks.bash" || exit
command -v python3 >/dev/null || exit 77
usable sim || exit 77
cd "$work" || exit 1
mkdir bin
ln -s "$ELBOWROOM_BIN" bin/elbowroom
export PATH=$work/bin:$PATH
script=$ELBOWROOM_SOURCE_DIR/scripts/paper.py

# paper CODE ARGUMENT...
paper() {
  local code=$1 got
  shift
  command_line="(paper.py $*)"
  python3 -B "$script" "$@" >"$out" 2>"$err"
  got=$?
  [ "$got" -eq "$code" ] || fail "exit $got, expected $code"
}

# --- run, on the simulator -----------------------------------------------------------------------------------------------------
sim=(--backend sim --device h100)
two=(run cells.json --page page.md --only '^cb-ar-opt2-(16384|8192)$' "${sim[@]}")
paper 0 run cells.json --only '^cb-ar-opt2-16384$' "${sim[@]}"
[ "$(wc -l <"$out")" -eq 1 ] || fail 'not one cell'
paper 0 "${two[@]}"
[ "$(cut -d' ' -f1 "$out")" = cb-ar-opt2-8192 ] || fail 'does not go on with what is missing'
cp cells.json before.json
paper 0 "${two[@]}"
[ ! -s "$out" ] || fail 'runs again what is there'
cmp -s before.json cells.json || fail 'changes a file that is complete'
python3 - <<'EOF' || fail 'not the cells that were meant'
import json
suite, grid = json.load(open("cells.json"))
assert suite["scenario"]["compute"]["grid"] == "full" and grid["scenario"]["compute"]["grid"] == [128, 64], grid["scenario"]
assert {**suite["scenario"], "name": "", "compute": 0} == {**grid["scenario"], "name": "", "compute": 0}
for cell in (suite, grid):
    assert cell["provenance"] == "simulated" and cell["gpus"] == 2 and len(cell["schemes"]) == 5, cell
EOF
grep -qF '**Everything on this page is simulated.** Nothing was measured.' page.md || fail 'does not call it simulated'
grep -qE '^\| 8,192 \| [0-9.]+ \|$' page.md || fail 'the page lacks a number of blocks'
paper 0 page cells.json --predicted before.json
says '10 times of 2 cells: median error 0.0 %, worst 0.0 %; the best scheme is right in 2 of 2 cells.'
paper 1 run cells.json --only '^cb-ar-opt2-4096$' --backend sim --device a100
complains 'cells.json: device: '
cmp -s before.json cells.json || fail 'mixes devices'
paper 1 run cells.json --backend nowhere
grep -qF 'elbowroom bench ' "$err" || fail 'does not say what failed'

# --- a page of known figures -----------------------------------------------------------------------------------------------------
# Of each cell the iterations, what sequential, shaped and shaped_priority take, by 1 % more or less, and the overlap rate of the last.
python3 - <<'EOF'
import json
def cell(name, iterations, sequential, shaped, both, rate):
    times = {"sequential": sequential, "shaped": shaped, "shaped_priority": both}
    schemes = {scheme: {"cap": 4, "time_us": {"median": time, "low": 0.99 * time, "high": 1.01 * time}, "time_ratio": time / sequential,
                        "overlap_rate": rate, "compute_inflation": 0.0, "comm_inflation": 0.5} for scheme, time in times.items()}
    return {"name": name, "provenance": "measured", "device": "Some GPU", "gpus": 2, "versions": {"nccl": "2.28"},
            "scenario": {"iterations": iterations}, "compute_us": 800.0, "comm_us": 200.0, "critical_path_us": 800.0,
            "hardware_limit_us": None, "schemes": schemes, "refusals": []}
json.dump([cell("cb-ar-opt1-256", 3, 1000, 900, 905, 0.5), cell("cb-ar-opt1-16384", 3, 1000, 960, 720, 0.6),
           cell("mb-ar-opt1-256", 2, 1000, 900, 880, 0.92), cell("mb-ar-opt1-4096", 2, 1000, 905, 990, 0.4),
           cell("mb-ar-opt2-256", 2, 1000, 800, 890, 0.3), cell("mb-ar-opt2-4096", 2, 1000, 990, 970, 0.4)], open("made.json", "w"))
EOF
paper 0 page made.json
says '# The paper'"'"'s cells on 2 x Some GPU'
says 'Measured with `elbowroom bench`.'
# 720 over 960, outer interval 712.8 over 969.6 to 727.2 over 950.4.
says '| 25.0 % (cb-ar-opt1-16384; t_opt / t_base 0.750, 0.735..0.765) | no |'
says '| 92 % (mb-ar-opt1-256: 2 iterations; communication +50 %) | yes |'
# Over sequential: 900 at most 909 over 990, 960 at least 950.4 over 1010, which is more. 905 is not apart from 900, 990 is from 800.
says '| 2 of 3 groups: the most blocks against the fewest, intervals apart | in part |'
# 720 below 960, 990 above 905, and 970 below 990 by 2 % with 1 % on each side: 979.7 against 980.1, apart.
says '| 2 of 3 groups at the most blocks, intervals apart | in part |'
# 890 against 880 with 256 blocks, 970 against 990 with 4096.
says '| 1 of 2 pairs of `mb` cells: `opt2` has the lower ratio to sequential | in part |'
says '| 1 of 3 cells of 4,096 blocks and more, intervals apart | yes |'
says '| 4,096 | - | 1.094 | 0.980 |'
paper 0 cells made.json
says '| cb-ar-opt1-16384 | 0.8 | 0.2 | 1.0 | 0.800 | - | - | 0.960 | 0.720 | 4 | 0.750 (0.735..0.765) | shaped_priority |'

echo '[{}]' >broken.json
paper 1 page broken.json
complains 'broken.json: cannot be read'
finish
