#!/usr/bin/env bash
# scripts/timelines.py draws what `bench --trace` wrote.
. "$ELBOWROOM_SOURCE_DIR/tests/cli/checks.bash"
command -v python3 >/dev/null || exit 77
draw() { python3 -B "$ELBOWROOM_SOURCE_DIR/scripts/timelines.py" "$@"; }

expect 0 bench --suite quick --only '^gelu-ar$' --backend sim --scheme concurrent,shaped_priority --blocks-per-sm 3 --trials 2 --trace "$work/trace.json"
draw "$work/trace.json" --output "$work/figure.svg" || fail 'no figure'
python3 - "$work/figure.svg" <<'PY' || fail 'the figure is not as it should be'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
words = [text.text for text in root.iter(svg + "text")]
assert words[0] == "gelu-ar" and words[1].startswith("simulated for 2 x NVIDIA H200"), words
assert "sequential" in words and "concurrent" in words and "shaped_priority 3/SM" in words, words
# Eight kernels and eight collectives in each of three rows.
assert len(list(root.iter(svg + "title"))) == 3 * 16
PY
gzip -k "$work/trace.json"
draw "$work/trace.json.gz" --output "$work/again.svg" && cmp -s "$work/figure.svg" "$work/again.svg" || fail 'a packed trace is drawn otherwise'

draw "$work/trace.json" --schemes '^(concurrent|shaped)' --output "$work/rows.svg" || fail 'no rows'
[ "$(grep -o '<title>' "$work/rows.svg" | wc -l)" -eq 32 ] || fail 'not two rows'
expect 0 bench --suite quick --only '^gelu-ar$' --backend sim --device a100 --scheme concurrent --trials 2 --trace "$work/a100.json"
draw "$work/a100.json" --output "$work/a100.svg" && grep -qF '>nothing was measured on a100;' "$work/a100.svg" || fail 'a figure hides what its times rest on'

# Simulated copies are copies too: eight to peers and eight within the device, whose kernels move the same data.
expect 0 bench --suite controls --only '^gelu-ag$' --backend sim --scheme copy_engine --trials 2 --trace "$work/engines.json"
draw "$work/engines.json" --schemes copy_engine --output "$work/engines.svg" || fail 'no simulated copies'
[ "$(grep -o '#8a5fb0' "$work/engines.svg" | wc -l)" -eq 16 ] || fail 'simulated copies are drawn as kernels'
grep -q '<title>communication, [0-9.]* ms, copies to peers<' "$work/engines.svg" || fail 'a simulated copy is titled as a kernel'

# Copies have a colour of their own, and the number of a plan belongs to its row.
python3 - "$work/trace.json" "$work/copies.json" <<'PY'
import json, sys
document = json.load(open(sys.argv[1]))
for event in document["traceEvents"]:
    if event.get("name") == "process_name":
        event["args"]["name"] = event["args"]["name"].replace("concurrent", "plan 2")
    elif event.get("cat") == "communication":
        event["name"] = "copy to a peer 4 B"
json.dump(document, open(sys.argv[2], "w"))
PY
draw "$work/copies.json" --schemes 'plan 2' --output "$work/copies.svg" || fail 'no copies'
[ "$(grep -o '#8a5fb0' "$work/copies.svg" | wc -l)" -eq 8 ] || fail 'not eight copies'

echo '{"traceEvents": [3]}' >"$work/broken.json"
sed 's/simulated for/measured on/' "$work/trace.json" >"$work/both.json"
head -c 300 "$work/trace.json.gz" >"$work/cut.json.gz"
refused() {
  draw "$@" 2>"$work/said" && fail "drawn: $*"
  [ "$(wc -l <"$work/said")" -eq 1 ] || fail "$*: not one line: $(cat "$work/said")"
}
for input in "$work/broken.json" "$work/missing.json" "$work/figure.svg" "$work/cut.json.gz" "$work/both.json"; do
  refused "$input" --output "$work/none.svg"
done
refused "$work/trace.json" --output "$work/no/figure.svg"
refused "$work/trace.json" --only '[' --output "$work/none.svg"
refused "$work/trace.json" "$work/trace.json.gz" --output "$work/none.svg"
draw "$work/trace.json" --only nothing --output "$work/none.svg" 2>"$work/said" && fail 'nothing was drawn'
grep -qF "'nothing' is in none of gelu-ar" "$work/said" || fail 'does not name the cases'
draw "$work/trace.json" --schemes nothing --output "$work/none.svg" 2>"$work/said" && fail 'no row was drawn'
grep -qF "'nothing' is in none of sequential, concurrent" "$work/said" || fail 'does not name the schemes'

finish
