#!/usr/bin/env bash
# Progress: one line on a terminal, never wider than it, whose share is of the time; a line a case elsewhere.
. "$(dirname "$0")/checks.bash" || exit
usable sim >/dev/null || { echo 'skipped: no simulator in this build'; exit 77; }
unset ELBOWROOM_PROFILE
cd "$work" || exit 1

expect 0 bench --backend sim --trials 2 --scheme concurrent
[ "$(wc -l <"$err")" -eq 3 ] || fail 'not a line a case'
[ "$(sed -n 1p "$err")" = 'elbowroom bench: [1/3] gelu-ar' ] || fail "no first line: $(sed -n 1p "$err")"
sed -n 2p "$err" | grep -qE '^elbowroom bench: \[2/3\] sgemm-ar-pair, about [0-9]+ s left for all$' || fail 'no second line'
expect 0 tune --backend sim --suite quick --only sgemm-ar-pair --budget 0.01
grep -qxF 'elbowroom tune: [1/1] sgemm-ar-pair' "$err" || fail 'no line of the case'
if grep -q $'\r' "$err"; then fail 'rewrites lines where there is no terminal'; fi

# On a terminal of WIDTH columns, 40 where that is not set, that becomes one of 24.
cat >terminal.py <<'PY'
import fcntl, os, pty, re, select, signal, struct, sys, termios, time
def width(fd, columns): fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
narrow_after, command = float(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    out = os.open("table", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    time.sleep(0.2)  # until the width is set
    os.execv(command[0], command)
start = int(os.environ.get("WIDTH", "40"))
width(fd, start)
ERASE = b"\r\x1b[K"
begin, data, held, columns, lines = time.monotonic(), b"", b"", start, []
def take():
    """False where nothing will come any more."""
    global data, held
    try: got = os.read(fd, 65536)
    except OSError: return False
    if not got: return False
    now = time.monotonic() - begin
    # A read may end within the bytes that erase the line.
    whole = held + got
    begun = next((size for size in (3, 2, 1) if whole.endswith(ERASE[:size])), 0)
    whole, held = whole[:len(whole) - begun], whole[len(whole) - begun:]
    for text in whole.split(ERASE):
        if text: lines.append((now, columns, text.decode("utf-8", "replace")))
    data += got
    return True
def make_narrow():
    """While the program stands still, and all that it wrote before is taken."""
    global columns
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
    while select.select([fd], [], [], 0.1)[0] and take(): pass
    columns = 24
    width(fd, 24)
    os.kill(pid, signal.SIGCONT)
while take():
    if time.monotonic() - begin > narrow_after and columns == start: make_narrow()
_, status = os.waitpid(pid, 0)
total = time.monotonic() - begin
assert status == 0, (status, data)
assert data.endswith(b"\r\x1b[K"), "the last line stays: %r" % data[-80:]
assert b"\n" not in data, "more than one line: %r" % data
wide = [text for _, columns, text in lines if len(text) > columns - 1]
# One that was under way when the terminal became narrow does not count.
assert len([text for text in wide if len(text) > start - 1]) == 0 and len(wide) <= 1, wide[:3]
shares = [(now / total, int(found.group(1)) / 100) for now, _, text in lines if (found := re.search(r" (\d+) %", text))]
print(len(lines), "lines", len(shares), "shares")
assert len(shares) > 20, len(shares)
if "--check-shares" in os.environ.get("CHECK", ""):
    apart = sorted(abs(time_share - share) for time_share, share in shares)
    assert apart[len(apart) // 2] < 0.25, ("the share is not that of the time", apart[len(apart) // 2])
    assert max(share for _, share in shares) > 0.8, shares[-1]
PY
command_line='bench (on a terminal)'
CHECK=--check-shares python3 terminal.py 1000 "$ELBOWROOM_BIN" bench --backend sim --suite controls --only '^gelu-ar-8b$' --trials 20 >"$out" 2>"$err" || fail "$(tail -1 "$err")"
for columns in 80 200; do
  command_line="bench (on a terminal of $columns columns)"
  WIDTH=$columns python3 terminal.py 1000 "$ELBOWROOM_BIN" bench --backend sim --suite controls --only '^gelu-ar-8b$' --trials 20 >"$out" 2>"$err" || fail "$(tail -1 "$err")"
done
command_line='bench (on a terminal that becomes narrow)'
python3 terminal.py 0.5 "$ELBOWROOM_BIN" bench --backend sim --suite controls --only '^gelu-ar-8b' --trials 20 >"$out" 2>"$err" || fail "$(tail -1 "$err")"
command_line='tune (on a terminal)'
python3 terminal.py 1000 "$ELBOWROOM_BIN" tune --backend sim --suite quick --only '^gelu-ar$' --budget 2 --profile p.json >"$out" 2>"$err" || fail "$(tail -1 "$err")"

finish
