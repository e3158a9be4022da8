#!/usr/bin/env bash
# `elbowroom explain` on traces of others, which lie beside the repository: all give an answer, and so do damaged ones.
. "$(dirname "$0")/checks.bash" || exit
traces=$ELBOWROOM_SOURCE_DIR/../shared/traces
if [ ! -d "$traces" ]; then
  echo "skipped: $traces is not there"
  exit 77
fi
command -v python3 >/dev/null || exit 77
cd "$work" || exit 1

for trace in "$traces"/*.gz; do
  expect 0 explain "$trace" --json "$(basename "$trace").doc"
  silent
  awk 'length($0) > 80 { exit 1 }' "$out" || fail 'a line is longer than 80 columns'
done
expect 0 explain "$traces"/two-of-128-rank*.json.gz --json two.doc

python3 - <<'TEXT' || fail 'a document has other figures'
import glob, json

def of(name):
    return json.load(open(name + ".doc"))

for name in glob.glob("*.doc"):
    document = json.load(open(name))
    step = document["step_us"]["mean"]
    assert abs(document["rest_us"]) <= 0.005 * step, name
    parts = sum(document[part] for part in ("compute_us", "exposed_us", "copies_us", "idle_us"))
    assert abs(parts - step) <= 0.005 * step, name

dlrm = of("dlrm-8-ranks-v100.tar.gz")
assert len(dlrm["ranks"]) == 8
counts = {}
for kind in dlrm["collectives"]:
    assert kind["transfer_us"] is not None, kind
    for rank, count in enumerate(kind["count"]):
        counts.setdefault(kind["collective"], [0] * 8)[rank] += count
# As the kernels' names have it: five of point-to-point kernels and three all-reduces on each rank.
assert counts == {"all_to_all": [5] * 8, "all_reduce": [3] * 8}, counts
assert all(rank["collectives"] == rank["matched"] == 8 for rank in dlrm["ranks"])
assert dlrm["stragglers"][0]["rank"] == "7" and dlrm["stragglers"][0]["of"] == 8, dlrm["stragglers"]

b200 = of("b200-multimem-rank0-of-8.json.gz")
assert sum(sum(kind["count"]) for kind in b200["collectives"] if kind["collective"] == "all_reduce") == 73
assert b200["communication_us"] > 0

ddp = of("ddp-v100-19370-kernels.json.gz")
assert sum(sum(kind["count"]) for kind in ddp["collectives"]) == 2020

mi300 = of("mi300-rccl-resnet.json.gz")
assert sum(sum(kind["count"]) for kind in mi300["collectives"]) == 17
assert {kind["collective"] for kind in mi300["collectives"]} <= {"all_reduce", "broadcast", "collective"}
assert len(of("two")["stragglers"]) == 2

# All steps are replayed within a percent, but those of a trace that lacks what its kernels waited for: it gets no predictions.
for name in glob.glob("*.doc"):
    document = json.load(open(name))
    lacks = name.startswith("rank0-of-16")
    assert (document["replay_error"] > 0.05) == lacks and (lacks or document["replay_error"] < 0.01), (name, document["replay_error"])
    assert document["what_if"] and all("refused" in one for one in document["what_if"]) == lacks, name
TEXT

# --- damaged ones ---------------------------------------------------------------------------------------------------------
gzip -dc "$traces/two-of-128-rank1.json.gz" >whole.json
cp "$traces/two-of-128-rank1.json.gz" whole.json.gz
python3 - <<'TEXT' || exit 1
import random
random.seed(1)
text = open("whole.json", "rb").read()
packed = open("whole.json.gz", "rb").read()

def write(number, content, end=".json"):
    open(f"damaged{number:02}{end}", "wb").write(content)

for number, share in enumerate((0.1, 0.5, 0.9, 0.999)):  # cut off
    write(number, text[: int(len(text) * share)])
for number, share in enumerate((0.1, 0.5, 0.9), 4):
    write(number, packed[: int(len(packed) * share)], ".json.gz")
for number, count in enumerate((1, 10, 1000), 7):  # bytes that are others
    other = bytearray(text)
    for _ in range(count):
        other[random.randrange(len(other))] = random.randrange(256)
    write(number, bytes(other))
for number, what in enumerate((b'"', b"{", b"}", b"]", b","), 10):  # every hundredth of one kind is lost
    parts = text.split(what)
    write(number, b"".join(part + (b"" if i % 100 == 99 else what) for i, part in enumerate(parts)))
write(15, text.replace(b'"ts": ', b'"ts": "x"', 50))
write(16, text.replace(b'"dur": ', b'"dur": -', 50))
write(17, text[1000:] + text[:1000])
write(18, b"\x00" * 100000 + text)
other = bytearray(packed)
other[len(other) // 2] ^= 0xFF
write(19, bytes(other), ".json.gz")
TEXT
answers=0
for file in damaged*; do
  command_line="explain $file"
  "$ELBOWROOM_BIN" explain "$file" >"$out" 2>"$err"
  code=$?
  if [ $code -eq 0 ]; then
    answers=$((answers + 1))
    [ -s "$out" ] || fail 'no answer'
  elif [ $code -eq 2 ]; then
    complains "$file: "
  else
    fail "exit $code"
  fi
done
[ "$(ls damaged* | wc -l)" -eq 20 ] || fail 'not 20 damaged traces'
[ "$answers" -ge 17 ] || fail "$answers of 20 damaged traces give an answer"
echo "$answers of 20 damaged traces give an answer"
finish
