#!/usr/bin/env bash
# bench and tune with several ranks: the same as with one process, and every kind of trouble is one line, in time, that names the rank or the variable.
. "$(dirname "$0")/ranks_checks.bash" || exit

# --- as with one process ------------------------------------------------------------------------------------------------
for arguments in '--suite quick --only gemm' '--suite quick --only sgemm-ar-pair --device mi300x --scheme concurrent,priority --plan comm_blocks=8' '--sweep comm_blocks=8:16 --only sgemm'; do
  rm -f one.* two.*
  extra=(--trials 3)
  case $arguments in *suite*) extra+=(--trace one.trace) ;; esac
  expect 0 bench --backend sim $arguments "${extra[@]}" --json one.json
  mv "$out" one.txt
  expect 0 launch -n 3 -- "$ELBOWROOM_BIN" bench --backend sim $arguments "${extra[@]/one.trace/two.trace}" --json two.json
  cmp -s one.txt "$out" || fail 'prints something else than one process'
  cmp -s one.json two.json || fail 'writes another result than one process'
  [ ! -e one.trace ] || cmp -s one.trace two.trace || fail 'writes another trace than one process'
done
rm -f one.* two.*
ELBOWROOM_SIM_NOISE=3 expect 0 bench --backend sim --only sgemm --trials 5 --json one.json
ELBOWROOM_SIM_NOISE=3 expect 0 launch -n 2 -- "$ELBOWROOM_BIN" bench --backend sim --only sgemm --trials 5 --json two.json
cmp -s one.json two.json || fail 'with noise writes another result than one process'
expect 0 launch -n 2 -- "$ELBOWROOM_BIN" tune --backend sim --only sgemm --budget 0.5 --json tuned.json --profile "$work/p.json"
grep -q '"elbowroom.tune/1"' tuned.json || fail 'no document of a search'
# Who launches them is told by their environment.
begin torchrun
for rank in 1 0; do
  env RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank MASTER_ADDR=localhost MASTER_PORT=$((port - 1)) \
    timeout $limit "$ELBOWROOM_BIN" "${quick[@]}" >"out.$rank" 2>"err.$rank" &
  pids[rank]=$!
done
ended 0 0
ended 1 0
grep -q sgemm out.0 || fail 'rank 0 prints no table'
[ ! -s out.1 ] && [ ! -s err.1 ] || fail 'rank 1 prints something'

# MPI is not asked for, so it is tried where it is.
for mpirun in mpiexec.hydra mpirun.openmpi; do
  command -v $mpirun >/dev/null || continue
  rm -f two.*
  begin $mpirun
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  timeout $limit $mpirun -n 2 "$ELBOWROOM_BIN" bench --backend sim --suite quick --only gemm --trials 3 --json two.json >"$out" 2>"$err" || fail 'fails'
  "$ELBOWROOM_BIN" bench --backend sim --suite quick --only gemm --trials 3 >one.txt 2>/dev/null
  cmp -s one.txt "$out" || fail 'prints something else than one process'
done

# A scenario that only rank 0 has is handed around.
begin 'a file of rank 0'
"$ELBOWROOM_BIN" list >/dev/null
cat >mine.json <<'JSON'
{"schema": "elbowroom.scenario/1", "name": "mine", "gpus": 2, "iterations": 2, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "gelu", "bytes": "64M", "dtype": "f32"},
 "collective": {"op": "all_reduce", "bytes": "64M", "dtype": "f32"}}
JSON
start 1 2 -- bench --backend sim --scenario nowhere.json --trials 2
start 0 2 -- bench --backend sim --scenario mine.json --trials 2
ended 0 0
ended 1 0
grep -q mine out.0 || fail 'rank 0 prints no table'

# --- trouble -------------------------------------------------------------------------------------------------------------
begin 'a file that rank 0 lacks'
start 1 2 -- bench --backend sim --scenario mine.json
start 0 2 -- bench --backend sim --scenario nowhere.json
ended 0 2
ended 1 0
one_line 'elbowroom bench: nowhere.json: '

begin 'port taken'
python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(); print("ready", flush=True); time.sleep(60)' "$port" >ready &
taker=$!
until [ -s ready ]; do sleep 0.02; done
start 0 2 ELBOWROOM_TOKEN=$token -- "${quick[@]}"
ended 0 1
kill $taker
wait $taker 2>/dev/null
one_line "ELBOWROOM_PORT: port $port of 127.0.0.1 cannot be listened at: Address already in use"

begin 'no token on another interface'
start 0 2 ELBOWROOM_HOST=192.0.2.1 -- "${quick[@]}"
ended 0 2
one_line 'ELBOWROOM_TOKEN: not set, expected a token of all ranks, because rank 0 is on 192.0.2.1 (without one, one host alone)'

begin 'a token that others can read'
echo $token >token
chmod 644 token
start 0 2 ELBOWROOM_TOKEN_FILE=token -- "${quick[@]}"
ended 0 2
one_line 'rank 0: ELBOWROOM_TOKEN_FILE: token: mode 0644, expected that only its user can read it (0600)'

begin 'a token file that half of the ranks lack'
chmod 600 token
for rank in 0 2; do start $rank 4 ELBOWROOM_TOKEN_FILE=token -- "${quick[@]}" --timeout 2; done
start 1 4 ELBOWROOM_TOKEN_FILE=token.1 -- "${quick[@]}" --timeout 2
ended 1 2
ended 2 0
ended 0 1
mv err.1 said.1
one_line 'rank'
grep -qF 'ranks 1, 3: not come' "$err" || fail 'does not name those who did not come'
grep -qF 'rank 1: ELBOWROOM_TOKEN_FILE: token.1: cannot be read: No such file or directory' said.1 || fail 'rank 1 does not say why'

begin 'missing rank'
start 0 3 -- "${quick[@]}" --timeout 1
start 1 3 -- "${quick[@]}" --timeout 5
ended 0 1
ended 1 0
one_line "elbowroom bench: rank 2: not come to a socket of this host within 1.0 s (2 of 3 ranks are there)"

begin 'rank 0 missing'
start 1 2 -- "${quick[@]}" --timeout 1
ended 1 1
one_line "elbowroom bench: rank 1: rank 0: not at a socket of this host within 1.0 s: Connection refused"

begin 'two processes of a rank'
start 1 3 -- "${quick[@]}"
first=${pids[1]}
env ELBOWROOM_RANK=1 ELBOWROOM_RANKS=3 ELBOWROOM_PORT=$port timeout $limit "$ELBOWROOM_BIN" "${quick[@]}" 2>err.twin &
twin=$!
start 0 3 -- "${quick[@]}"
ended 0 2
wait $first $twin
one_line 'elbowroom bench: rank 1: two processes say that they are it'

begin 'another number of ranks'
start 0 2 -- "${quick[@]}"
start 1 3 -- "${quick[@]}"
ended 0 2
ended 1 2
one_line "elbowroom bench: rank 1: number of ranks: 3, expected 2 (rank 0's)"

begin 'another version'
start 0 2 -- "${quick[@]}"
python3 - "$port" <<'PY' || fail 'rank 0 does not refuse the other version'
import socket, struct, sys, time
import os
text = lambda t: struct.pack("<q", len(t)) + t
job = 0xCBF29CE484222325
for byte in b"elbowroom launch ELBOWROOM_PORT=" + sys.argv[1].encode():
    job = (job ^ byte) * 0x100000001B3 % 2**64
hello = text(b"elbowroom ranks 2") + text(b"0.0.1") + struct.pack("<qqQ", 1, 2, job) + text(b"n" * 16)
for _ in range(200):
    peer = socket.socket(socket.AF_UNIX)
    try:
        peer.connect(f"\0elbowroom-ranks-{os.geteuid()}-{job:016x}-0")
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
peer.sendall(bytes([1]) + struct.pack("<I", len(hello)) + hello)
# A challenge with a number of 16 bytes and no proof, which needs none on one host; its answer is empty as well.
challenge = peer.recv(5 + 8 + 16 + 8, socket.MSG_WAITALL)
peer.sendall(bytes([8, 0, 0, 0, 0]))
sys.exit(challenge[0] != 7 or peer.recv(5, socket.MSG_WAITALL) != bytes([6, 0, 0, 0, 0]))
PY
ended 0 2
one_line 'elbowroom bench: rank 1: version: 0.0.1, expected '

begin 'another device'
start 0 2 -- "${quick[@]}"
start 1 2 -- "${quick[@]}" --device a100
ended 0 2
ended 1 0
one_line "elbowroom bench: rank 1: device: a100, expected h200 (rank 0's)"

begin 'another seed'
start 0 2 -- "${quick[@]}"
start 1 2 -- "${quick[@]}" --seed 7
ended 0 2
ended 1 0
one_line "elbowroom bench: rank 1: seed: 7, expected 1 (rank 0's)"

begin 'noise of one rank alone'
start 0 2 -- "${quick[@]}"
start 1 2 ELBOWROOM_SIM_NOISE=3 -- "${quick[@]}"
ended 0 2
ended 1 0
one_line "elbowroom bench: rank 1: version of simulator_noise: 3 %, expected none (rank 0's)"

begin 'a backend that one rank cannot open'
start 0 2 -- "${quick[@]}"
start 1 2 ELBOWROOM_SIM_NOISE=loud -- "${quick[@]}"
ended 0 2
ended 1 0
one_line "elbowroom bench: rank 1: backend sim: ELBOWROOM_SIM_NOISE: 'loud', expected a number from 0 to 20 percent"

begin 'more GPUs than ranks'
start 0 2 -- "${quick[@]}" -g 4
start 1 2 -- "${quick[@]}" -g 4
ended 0 2
ended 1 0
one_line 'elbowroom bench: gpus: 4, expected at most 2 (ranks that elbowroom launch started)'

begin 'a wrong option'
start 0 2 -- "${quick[@]}" --min-reduction 200
start 1 2 -- "${quick[@]}" --min-reduction 200
ended 0 2
ended 1 0
one_line 'elbowroom bench: --min-reduction: 200, expected -1000 to 100 percent'

begin 'a wrong time limit'
start 0 2 -- bench --backend sim --timeout 0
start 1 2 -- bench --backend sim --timeout 0
ended 0 2
ended 1 2
one_line 'elbowroom bench: --timeout: 0, expected 0.001 to 86400 seconds'

# environment TEXT VARIABLE=VALUE...: contradictory or malformed.
environment() {
  local text=$1
  shift
  begin "$*"
  env "$@" timeout $limit "$ELBOWROOM_BIN" "${quick[@]}" 2>err.0
  [ $? -eq 2 ] || fail 'expected exit 2'
  one_line "elbowroom bench: $text"
}
environment "ELBOWROOM_RANK: '2', expected 0 to 1 (ELBOWROOM_RANKS is 2)" ELBOWROOM_RANK=2 ELBOWROOM_RANKS=2
environment 'ELBOWROOM_RANKS: not set, expected the number of ranks (ELBOWROOM_RANK is 1)' ELBOWROOM_RANK=1
environment 'RANK: not set, expected 0 to 3 (WORLD_SIZE is 4)' WORLD_SIZE=4
environment "OMPI_COMM_WORLD_SIZE: 'many', expected 1 to 4096 ranks" OMPI_COMM_WORLD_SIZE=many OMPI_COMM_WORLD_RANK=0
environment "SLURM_PROCID: '9', expected 0 to 7 (SLURM_STEP_NUM_TASKS is 8)" SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=9
environment "ELBOWROOM_PORT: '0', expected 1 to 65535" WORLD_SIZE=2 RANK=0 ELBOWROOM_PORT=0
environment 'ELBOWROOM_HOST: not set, expected the host of rank 0 (OMPI_COMM_WORLD_SIZE is 2, OMPI_COMM_WORLD_LOCAL_SIZE is 1' \
  OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1

# --- in the middle of a run ----------------------------------------------------------------------------------------------
long=(bench --backend sim --suite paper --trials 200 --timeout 1 --json "$work/long.json")

# midway: ranks 0 and 1 are at work.
midway() {
  local tries=0
  rm -f long.json
  start 0 2 -- "${long[@]}"
  start 1 2 -- "${long[@]}"
  until [ -s long.json ] || ((++tries == 1000)); do sleep 0.02; done
}

# bench_of RANK: the process that `timeout` watches.
bench_of() { cat "/proc/${pids[$1]}/task/${pids[$1]}/children"; }

begin 'killed rank'
midway
kill -s KILL $(bench_of 1)
ended 1 137
ended 0 1
one_line ': rank 1: its connection has ended'
python3 -c 'import json; assert json.load(open("long.json"))["cases"]' || fail 'what was measured is lost'

begin 'rank 0 killed'
midway
kill -s KILL $(bench_of 0)
ended 0 137
ended 1 1
one_line 'elbowroom bench: rank 1: rank 0: its connection has ended'

begin 'rank that hangs'
midway
stopped=$(bench_of 1)
kill -s STOP $stopped
ended 0 1
one_line ': rank 1: no answer within 5.0 s' 20
kill -s KILL $stopped
ended 1 137

begin 'rank 0 that hangs'
midway
stopped=$(bench_of 0)
kill -s STOP $stopped
ended 1 1
one_line 'elbowroom bench: rank 1: rank 0: not heard of for 5.0 s' 20
kill -s KILL $stopped
ended 0 137

begin 'a signal to all'
midway
kill -s TERM $(bench_of 1) $(bench_of 0)
ended 0 143
ended 1 0
one_line 'elbowroom bench: interrupted by SIGTERM; '

begin 'a rank killed before it comes'
command_line='launch, a rank killed before it comes'
"$ELBOWROOM_BIN" launch -n 4 -- bash -c '[ $ELBOWROOM_RANK != 2 ] || kill -s KILL $$; exec "$@"' bash "$ELBOWROOM_BIN" "${quick[@]}" 2>err.0
[ $? -eq 137 ] || fail 'expected exit 137'
one_line 'elbowroom launch: rank 2 was killed by SIGKILL'

begin 'a host that is none'
start 0 2 ELBOWROOM_TOKEN=$token ELBOWROOM_HOST=nowhere.invalid -- "${quick[@]}"
ended 0 2
one_line "elbowroom bench: host of rank 0: 'nowhere.invalid': "

nobody_left

finish
