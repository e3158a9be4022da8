#!/usr/bin/env bash
# Who is no rank of the run, or cannot prove it, ends nothing: it is sent away, counted, and named with the time limit.
. "$(dirname "$0")/ranks_checks.bash" || exit

begin 'wrong token'
start 0 2 ELBOWROOM_TOKEN=$token -- "${quick[@]}" --timeout 2
start 1 2 ELBOWROOM_TOKEN=${token}x -- "${quick[@]}" --timeout 2
ended 0 1
ended 1 1
grep -qE "rank 1: not come to port $port of 127.0.0.1 within 2.0 s \(1 of 2 ranks are there; connections refused: [0-9]+ without this run's token\)" err.0 ||
  fail 'rank 0 does not say whom it sent away'
grep -qF "rank 1: rank 0: not at port $port of 127.0.0.1 within 2.0 s: who is met there has another ELBOWROOM_TOKEN" err.1 || fail 'rank 1 does not say why'
cat err.* | grep -q "$token" && fail 'shows the token'

begin 'a wrong token beside the right one'
start 0 2 ELBOWROOM_TOKEN=$token -- "${quick[@]}"
start 1 2 ELBOWROOM_TOKEN=${token}x -- "${quick[@]}" --timeout 1
ended 1 1
start 1 2 ELBOWROOM_TOKEN=$token -- "${quick[@]}"
ended 0 0
ended 1 0

begin 'too few descriptors'
ulimit -S -n 16
start 0 24 ELBOWROOM_TOKEN=$token -- "${quick[@]}" --timeout 2
ulimit -S -n "$(ulimit -H -n)"
for ((rank = 1; rank < 24; ++rank)); do start $rank 24 ELBOWROOM_TOKEN=$token -- "${quick[@]}" --timeout 3; done
ended 0 1
grep -qE 'ranks are there; connections refused: .*[0-9]+ for want of descriptors' err.0 || fail "does not say why ranks are missing: $(cat err.0)"
wait

begin 'another user without a token'
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -c pass 2>/dev/null; then
  start 0 2 -- "${quick[@]}" --timeout 2
  setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 - "$port" <<'PY' || fail 'another user is told something'
import socket, sys, time
name = 0xCBF29CE484222325
for byte in b"elbowroom launch ELBOWROOM_PORT=" + sys.argv[1].encode():
    name = (name ^ byte) * 0x100000001B3 % 2**64
until = time.monotonic() + 10
while True:
    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.connect(f"\0elbowroom-ranks-0-{name:016x}-0")
        break
    except ConnectionRefusedError:
        assert time.monotonic() < until
        time.sleep(0.05)
peer.settimeout(5)
sys.exit(peer.recv(1) != b"")
PY
  ended 0 1
  one_line "rank 1: not come to a socket of this host within 2.0 s (1 of 2 ranks are there; connections refused: 1 of other users)"
else
  echo 'skipped: another user, which needs root and a Python for all'
fi

begin 'strangers at the port'
start 0 2 ELBOWROOM_TOKEN=$token -- "${quick[@]}"
python3 - "$port" <<'PY'
import socket, sys, time
said = [b"GET / HTTP/1.1\r\n\r\n", b"", b"\1\0\0\0\x7f", b"\3\0\0\0\0", bytes(range(256)) * 64]
peers = []
while len(peers) < len(said):
    try:
        peers.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5))
        peers[-1].sendall(said[len(peers) - 1])
    except ConnectionRefusedError:
        time.sleep(0.05)
PY
start 1 2 ELBOWROOM_TOKEN=$token -- "${quick[@]}"
ended 0 0
ended 1 0
nobody_left

finish
