#!/usr/bin/env bash
# `elbowroom report`: a page of every kind of document, one line for what is none, and no file of the user's replaced.
. "$(dirname "$0")/checks.bash" || exit
command -v python3 >/dev/null || exit 77
documents=$ELBOWROOM_SOURCE_DIR/tests/unit/page/documents
golden=$ELBOWROOM_SOURCE_DIR/tests/unit/report/golden
cd "$work" || exit 1

expect 0 report --help
has_option -o,--output,--html
"$ELBOWROOM_BIN" report "$golden/result.json" --html built.html >"$out" 2>"$err"
if [ $? -eq 77 ]; then # built without d3
  complains 'install node-d3'
  exit 77
fi

# --- the page of a suite ----------------------------------------------------------------------------------------------
"$ELBOWROOM_BIN" bench --backend sim --suite quick --trials 2 --json quick.json --trace quick.trace.json >"$out" 2>"$err" || fail 'no documents'
expect 0 report quick.json quick.trace.json
says 'report.html: 2 documents, '
silent
[ "$(head -1 report.html)" = '<!-- elbowroom.page/1 -->' ] || fail 'a page does not say what it is'
[ "$(stat -c %s report.html)" -lt 1000000 ] || fail "the page of the quick suite has $(stat -c %s report.html) bytes"
grep -qE '(src|href)="?https?:|@import' report.html && fail 'the page asks for something'
# model FILE: what the page shows, for a look at it by python3.
model() { sed -n 's|^<script type="application/json" id="model">\(.*\)</script>$|\1|p' "$1"; }
model report.html | python3 -c '
import json, sys
documents = json.load(sys.stdin)["documents"]
assert [one["schema"] for one in documents] == ["elbowroom.result/1", "elbowroom.trace/1"], documents
assert all(one["provenance"] == "simulated" for one in documents)
tracks = documents[1]["sections"][0]["views"][0]["tracks"]
# Two devices under five schemes, eight kernels and eight collectives on each.
assert len(tracks) == 10, len(tracks)
assert all([lane["kind"] for lane in track["lanes"]] == ["compute", "communication"] for track in tracks)
assert all(lane["spans"] == 8 for track in tracks for lane in track["lanes"])
' || fail 'the page does not show the suite'

# What simulated times rest on stands beside them, also for a device on which nothing was measured.
expect 0 bench --suite quick --only '^gelu-ar$' --backend sim --device a100 --scheme concurrent --trials 2 --trace a100.json
expect 0 report a100.json -o a100.html
grep -qF 'nothing was measured on a100;' a100.html || fail 'a page hides what its times rest on'
# Simulated copies are copies too: eight to peers and eight within the device, whose kernels move the same data.
expect 0 bench --suite controls --only '^gelu-ag$' --backend sim --scheme copy_engine --trials 2 --trace engines.json
expect 0 report engines.json -o engines.html
model engines.html | python3 -c '
import json, sys
tracks = json.load(sys.stdin)["documents"][0]["sections"][0]["views"][0]["tracks"]
copies = [lane["spans"] for track in tracks if track["label"] == "copy_engine" for lane in track["lanes"] if lane["kind"] == "copy"]
assert copies and sum(copies) == 32, copies
' || fail 'simulated copies are drawn as kernels'

# --- outputs ----------------------------------------------------------------------------------------------------------
expect 0 report quick.json
expect 0 report quick.json --html ''"$work"'/report.html'
expect 0 report quick.json --output -
[ "$(head -1 "$out")" = '<!-- elbowroom.page/1 -->' ] || fail 'no page on standard output'
printf 'mine\n' >notes.html
expect 2 report quick.json --html notes.html
complains 'elbowroom report: --html: notes.html: not an elbowroom.page/1 document, expected one, an empty file or a new name'
[ "$(cat notes.html)" = mine ] || fail 'a file of the user'"'"'s is replaced'
expect 2 report quick.json -o ./quick.json
complains "expected another file than"
expect 2 report quick.json -o no/page.html
complains 'no/page.html: cannot be written: No such file or directory'
expect 2 report
complains 'file is required'

# --- packed and damaged files -----------------------------------------------------------------------------------------
gzip -k quick.trace.json
expect 0 report quick.trace.json.gz -o packed.html
sed 's/quick.trace.json.gz/quick.trace.json/g; s/packed.html/plain.html/g' packed.html >unpacked.html
expect 0 report quick.trace.json -o plain.html
cmp -s unpacked.html plain.html || fail 'a packed trace gives another page'
head -c 300 quick.trace.json.gz >cut.json.gz
expect 2 report cut.json.gz -o none.html
complains 'elbowroom report: cut.json.gz: packed by gzip and damaged, expected a whole file'
# A bomb is refused while its text is small, not after a gigabyte.
{ printf '{"traceEvents": ['; head -c 134217728 /dev/zero | tr '\0' ' '; echo ']}'; } | gzip -9 >bomb.json.gz
expect 2 report bomb.json.gz -o none.html
complains 'elbowroom report: bomb.json.gz: over 200 times as much text as the packed file'
sed 's/simulated for/measured on/' quick.trace.json >both.json
expect 2 report both.json -o none.html
complains 'otherData.device: "measured on'
expect 2 report missing.json -o none.html
complains 'missing.json: cannot be read: No such file or directory'
expect 2 report . -o none.html
complains '.: cannot be read: Is a directory'
# A line for each of them, and no page.
expect 2 report both.json quick.json missing.json -o none.html
[ "$(wc -l <"$err")" -eq 2 ] || fail 'not a line for each bad file'
[ ! -e none.html ] || fail 'a page of a part of what was asked for'

# Forty documents of all kinds, whole and damaged: each gives a page or one line that names it.
python3 - "$documents" "$golden" <<'PY' || exit 1
import json, pathlib, random, sys
documents, golden = map(pathlib.Path, sys.argv[1:])
whole = [golden / "result.json", golden / "trace.json", *sorted(documents.glob("*.json"))]
random.seed(23)
number = 0
def keep(text):
    global number
    pathlib.Path(f"forty-{number}.json").write_text(text, encoding="utf-8")
    number += 1
for path in whole:
    keep(path.read_text(encoding="utf-8"))
def members(value, path=()):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield path + (key,)
        yield from members(inner, path + (key,))
while number < 40:
    text = random.choice(whole).read_text(encoding="utf-8")
    kind = number % 3
    if kind == 0:
        keep(text[: random.randrange(len(text))])
        continue
    if kind == 1:
        at = random.randrange(len(text))
        keep(text[:at] + random.choice('{}[]",:x0') + text[at + 1 :])
        continue
    document = json.loads(text)
    *inner, last = random.choice(list(members(document)))
    holder = document
    for key in inner:
        holder = holder[key]
    holder[last] = random.choice([None, -1, 1e308, "word", [], {}, [[]], True])
    keep(json.dumps(document))
PY
pages=0 lines=0
for number in $(seq 0 39); do
  command_line="report forty-$number.json"
  "$ELBOWROOM_BIN" report "forty-$number.json" -o "forty.html" >"$out" 2>"$err"
  case $? in
    0) pages=$((pages + 1)); silent ;;
    2) lines=$((lines + 1)); complains "elbowroom report: forty-$number.json: " ;;
    *) fail 'neither a page nor a line' ;;
  esac
done
[ $((pages + lines)) -eq 40 ] && [ "$pages" -ge 6 ] && [ "$lines" -ge 10 ] || fail "$pages pages and $lines lines"

finish
