#!/usr/bin/env bash
# `elbowroom explain`: traces however they are packed, one line for what is none, a document and a page.
. "$(dirname "$0")/checks.bash" || exit
cd "$work" || exit 1
command -v python3 >/dev/null || exit 77

expect 0 explain --help
has_option --json
has_option --html

# Two ranks of three steps each, of which rank 1 comes to its all-reduce 40 us later than rank 0.
cat >make.py <<'TEXT'
import json, sys
for rank in (0, 1):
    events, number = [], 100
    for step in range(3):
        at = 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 7, "ts": at, "dur": 1000, "args": {}})
        late = 40 * rank
        for name, stream, begin, end, launch in (("gemm_a", 7, 100, 300, 10), ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 20, 200 + late, 600, 20), ("gemm_b", 7, 602, 900, 30)):
            number += 1
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": at + begin, "dur": end - begin,
                           "args": {"device": 0, "stream": stream, "correlation": number}})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": at + launch, "dur": 1, "args": {"correlation": number}})
    document = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events, "traceName": "t"}
    json.dump(document, open(f"rank{rank}.json", "w"), indent=1)
TEXT
python3 make.py || exit 1

expect 0 explain rank0.json rank1.json --json plain.json
silent
says 'Communication is exposed'
says 'rank 1: last to 3 of 3 collectives'
[ "$(head -1 "$out" | wc -c)" -le 81 ] || fail 'the first line is longer than 80 columns'
python3 - plain.json <<'TEXT' || fail 'the document has other figures'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "elbowroom.explain/1" and len(document["ranks"]) == 2, document
# 300..600 of each step is exposed; 2 us later the next product begins, which was launched long before.
assert document["exposed_us"] == document["blocking_us"] == 300, document["exposed_us"]
assert document["rest_us"] == 0
assert [(one["collective"], one["count"], one["transfer_us"], one["waiting_us"]) for one in document["collectives"]] == [("all_reduce", [3, 3], 360, 40)]
TEXT

# However the traces are packed: the same document, but for the names of files.
same() { python3 - plain.json "$1" <<'TEXT' || fail "another document from $2"
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
for document in (a, b):
    for rank in document["ranks"]:
        del rank["file"]
assert a == b
TEXT
}
mkdir folder archive && gzip -c rank0.json >folder/rank0.json.gz && cp rank1.json folder && echo no trace >folder/notes.txt
expect 0 explain folder --json folder.json
same folder.json 'a folder'
tar cf both.tar rank0.json -C folder ../rank1.json 2>/dev/null && gzip -k both.tar
for file in both.tar both.tar.gz; do
  expect 0 explain "$file" --json archive.json
  same archive.json "$file"
done
if command -v zstd >/dev/null; then
  zstd -q rank0.json -o rank0.json.zst
  "$ELBOWROOM_BIN" explain rank0.json.zst rank1.json --json zstd.json >"$out" 2>"$err"
  if ! grep -q 'built without zstd' "$err"; then same zstd.json zstd; fi
fi
gzip -c rank0.json >both.gz && gzip -c rank1.json >rank1.json.gz
cat rank0.json | "$ELBOWROOM_BIN" explain - rank1.json.gz --json stdin.json >"$out" 2>"$err" || fail 'standard input is not read'
same stdin.json 'standard input'

# --json - : the document to standard output, words to standard error.
"$ELBOWROOM_BIN" explain rank0.json rank1.json --json - >dash.json 2>"$err" || fail '--json -'
same dash.json 'standard output'
grep -qF 'Communication is exposed' "$err" || fail 'no words beside --json -'

# --- what is none, and outputs that replace nothing -----------------------------------------------------------------------
echo '{"schema": "elbowroom.result/1"}' >other.json
expect 2 explain other.json
complains 'other.json: 33 bytes without "traceEvents", expected a trace of torch.profiler'
expect 2 explain missing.json
complains 'missing.json: cannot be read: No such file or directory'
mkdir empty
expect 2 explain empty
complains 'empty: no file in it is named like a trace'
expect 2 explain rank0.json --json rank0.json
complains "--json: 'rank0.json', expected another file than TRACE's"
expect 2 explain rank0.json --json rank1.json
complains 'rank1.json'
head -c 3000 rank0.json.gz >/dev/null 2>&1
gzip -c rank0.json | head -c 400 >cut.json.gz
expect 0 explain cut.json.gz
grep -qF 'cut.json.gz: packed by gzip and cut off behind' "$err" || fail 'what is lost is not said'

# --- two runs -------------------------------------------------------------------------------------------------------------
sed 's/"dur": 400/"dur": 300/' rank0.json >faster.json
expect 0 explain --compare rank0.json faster.json
says 'exposed communication'
expect 2 explain --compare rank0.json
complains '--compare: 1 traces, expected two'
expect 2 explain --compare rank0.json rank1.json --json -

# --- a page ---------------------------------------------------------------------------------------------------------------
"$ELBOWROOM_BIN" explain rank0.json rank1.json --html page.html >"$out" 2>"$err"
code=$?
if [ $code -eq 0 ]; then
  [ "$(head -1 page.html)" = '<!-- elbowroom.page/1 -->' ] || fail 'the page does not say what it is'
  grep -qF 'all_reduce' page.html || fail 'the page lacks the collective'
elif [ $code -ne 77 ]; then
  fail "--html: exit $code"
fi
finish
