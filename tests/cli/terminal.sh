#!/usr/bin/env bash
# Tables fit a terminal of 80 columns, --wide and a pipe have all columns, and NO_COLOR leaves colours out.
. "$(dirname "$0")/checks.bash" || exit
usable sim >/dev/null || { echo 'skipped: no simulator in this build'; exit 77; }
cd "$work" || exit 1
unset ELBOWROOM_PROFILE NO_COLOR
export TERM=xterm ELBOWROOM_PYTHON=/nonexistent

cat >terminal.py <<'PY'
import fcntl, os, pty, struct, sys, termios
columns, command = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    os.dup2(os.open("terminal.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    os.execv(command[0], command)
text = b""
while True:
    try: got = os.read(fd, 65536)
    except OSError: break
    if not got: break
    text += got
sys.stdout.write(text.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY

# on COLUMNS ARGUMENT...: its standard output is a terminal; no line with a blank to break at is longer.
on() {
  local columns=$1
  shift
  command_line="$* (on $columns columns)"
  python3 terminal.py "$columns" "$ELBOWROOM_BIN" "$@" >"$out" 2>"$err"
  local got=$?
  [ "$got" -le 1 ] || fail "exit $got, expected 0 or 1"
  [ -s "$out" ] || fail 'nothing was printed'
  awk -v most="$columns" '{ gsub(/\x1b\[[0-9;]*m/, "") } length > most && substr($0, 30, most - 30) ~ / /' "$out" | grep -m1 . >"$err" && fail "a line is longer than $columns columns"
}

step='step transformer --preset llama-3-8b --layers 2 --tokens 8192 --dp 2 --json'
expect 0 $step step.json
on 80 list
on 80 plan --device h200 --threads 256 --registers 56 --static-shared 4096
grep -q 'limited by' "$out" && fail 'the narrow table has the columns of the wide one'
on 80 bench --suite quick --only gemm --backend sim --trials 2
grep -q -- '--wide adds cluster, ratio' "$out" || fail 'the columns that are left out are not named'
on 80 bench --suite quick --dry-run
on 80 bench --backend sim --suite quick --only sgemm-ar-pair --trials 2 --sweep blocks_per_sm,comm_blocks=2:4:8:12:16:20:24:28:32
on 80 tune --backend sim --scenario step.json --budget 0.2 --profile p.json
grep -q -- '--wide adds trials' "$out" || fail 'the columns that are left out are not named'
on 80 profile list --profile p.json
on 80 $step again.json
expect 0 bench --suite quick --only sgemm-ar-pair --backend sim --trials 2 --json result.json
on 80 report result.json --html page.html
head -9 "$ELBOWROOM_SOURCE_DIR/data/h200x2.csv" >rows.csv
on 80 validate rows rows.csv
on 80 doctor
grep -q $'\x1b\\[3[23]m' "$out" || fail 'no colours on a terminal'
NO_COLOR=1 on 80 doctor
grep -q $'\x1b' "$out" && fail 'NO_COLOR is not respected'
TERM=dumb on 80 doctor
grep -q $'\x1b' "$out" && fail 'colours on a dumb terminal'

on 200 bench --suite quick --only gemm --backend sim --trials 2
grep -q -- '--wide' "$out" && fail 'a wide terminal lacks columns'
cp "$out" wide
for columns in 80 200; do
  command_line="bench --wide on $columns columns"
  python3 terminal.py "$columns" "$ELBOWROOM_BIN" bench --suite quick --only gemm --backend sim --trials 2 --wide >"$out" 2>"$err"
  cmp -s "$out" wide || fail 'not all columns'
done
expect 0 bench --suite quick --only gemm --backend sim --trials 2
cmp -s "$out" wide || fail 'a pipe has another table'

expect 0 list --json
python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "elbowroom.list/1", document
assert {"sim"} <= {one["name"] for one in document["backends"] if one["usable"]}, document
assert all(one["why_not"] for one in document["backends"] if not one["usable"]), document
assert {"a40", "h200", "mi300x"} <= {one["name"] for one in document["devices"]}, document
for section in ("comm_kernels", "suites", "schemes", "collectives", "controls", "environment"): assert document[section], section
' "$out" || fail 'no document'
expect 2 list --json FILE

# A choice is taken out, the others stay.
expect 0 tune --backend sim --suite quick --only sgemm-ar-pair --budget 0.01 --profile p.json
expect 0 profile list --profile p.json
[ "$(wc -l <"$out")" -eq 2 ] || fail 'expected two choices'
second=$(sed -n '2s/^ *2 //p' "$out")
expect 0 profile remove 1 --profile p.json
says 'removed   1 simulated h200'
expect 0 profile list --profile p.json
[ "$(sed 's/^ *1 //' "$out")" = "$second" ] || fail 'the other choice did not stay'
expect 2 profile remove 2 --profile p.json
complains 'number: 2, expected 1 to 1'
expect 2 profile remove 1 --profile none.json
finish
