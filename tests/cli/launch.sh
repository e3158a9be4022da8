#!/usr/bin/env bash
# `elbowroom launch` starts a command once for each rank, passes signals on, and leaves no process behind however it ends.
. "$(dirname "$0")/checks.bash" || exit
cd "$work" || exit 1

# launched N SCRIPT: a launch in the background whose ranks run the script; each leaves its process id in pid.RANK.
launched() {
  local size=$1 rank tries=0
  rm -f pid.*
  printf 'echo $$ >"%s/pid.$ELBOWROOM_RANK"\n%s\n' "$work" "$2" >script
  command_line="launch -n $size ($2)"
  env --default-signal=INT,TERM "$ELBOWROOM_BIN" launch -n "$size" -- bash "$work/script" >"$out" 2>"$err" &
  launch=$!
  for ((rank = 0; rank < size; ++rank)); do
    until [ -s pid.$rank ] || ((++tries == 1000)); do sleep 0.02; done
  done
  began=$SECONDS
}

# ended CODE [SECONDS]
ended() {
  wait "$launch"
  local got=$?
  [ "$got" -eq "$1" ] || fail "exit $got, expected $1"
  ((SECONDS - began < ${2:-6})) || fail "took $((SECONDS - began)) s to end"
  nobody_left
}

# --- the environment ------------------------------------------------------------------------------------------------------
ELBOWROOM_TOKEN_FILE=/x ELBOWROOM_PORT=9 expect 0 launch -n 3 -- bash -c \
  'echo "$ELBOWROOM_RANK of $ELBOWROOM_RANKS, $ELBOWROOM_LOCAL_RANK here, ${ELBOWROOM_PORT-none} ${#ELBOWROOM_TOKEN} ${ELBOWROOM_TOKEN_FILE-none}"'
silent
for rank in 0 1 2; do says "$rank of 3, $rank here, none 32 none"; done
[ "$(wc -l <"$out")" -eq 3 ] || fail 'expected one line of each rank'
expect 0 launch -n 2 -- bash -c 'echo "$ELBOWROOM_JOB $ELBOWROOM_TOKEN"'
[ "$(sort -u "$out" | wc -l)" -eq 1 ] || fail 'ranks have different jobs or tokens'
cp "$out" first
expect 0 launch -n 2 -- bash -c 'echo "$ELBOWROOM_JOB $ELBOWROOM_TOKEN"'
cmp -s first "$out" && fail 'two launches have one token'
echo text | expect 0 launch -n 2 -- cat
[ ! -s "$out" ] || fail 'ranks have a standard input'
expect 0 launch -n 1 -- true
silent

# --- nodes that are parts of one host -------------------------------------------------------------------------------------
unset NCCL_HOSTID NCCL_SOCKET_IFNAME
expect 0 launch -n 4 --nodes 2 -- bash -c 'echo "$ELBOWROOM_RANK $ELBOWROOM_LOCAL_RANK $NCCL_HOSTID $NCCL_SOCKET_IFNAME"'
[ "$(sort "$out")" = '0 0 elbowroom-node-0 lo
1 1 elbowroom-node-0 lo
2 2 elbowroom-node-1 lo
3 3 elbowroom-node-1 lo' ] || fail 'ranks are not on two nodes'
NCCL_SOCKET_IFNAME=eth7 expect 0 launch -n 2 --nodes 2 -- bash -c 'echo "$NCCL_SOCKET_IFNAME"'
[ "$(sort -u "$out")" = eth7 ] || fail 'an interface that was set is not kept'
expect 0 launch -n 2 -- bash -c 'echo "${NCCL_HOSTID-none}"'
[ "$(sort -u "$out")" = none ] || fail 'one node has a name'
for nodes in 0 3 -2; do
  expect 2 launch -n 4 --nodes $nodes -- true
  complains "elbowroom launch: --nodes: $nodes, expected a divisor of 4 (ranks)"
done

# --- how it ends ----------------------------------------------------------------------------------------------------------
expect 3 launch -n 2 -- bash -c 'exit $((ELBOWROOM_RANK * 3))'
complains 'elbowroom launch: rank 1 ended with exit code 3'
expect 127 launch -n 2 -- ./nowhere
complains 'elbowroom launch: ./nowhere: cannot be run: No such file or directory'
: >plain
expect 126 launch -n 2 -- ./plain
complains 'elbowroom launch: ./plain: cannot be run: Permission denied'
expect 2 launch -n 0 -- true
complains '-n: 0, expected 1 to 4096'
expect 2 launch -n 2
complains 'no command, expected one after --'
expect 2 launch -n 2 true
complains 'expected -- before the command, see elbowroom launch --help'
expect 2 launch -- true
complains '--ranks is required'

launched 3 'exec sleep 60'
kill -s KILL "$(cat pid.1)"
ended 137
complains 'elbowroom launch: rank 1 was killed by SIGKILL'

# The others have a moment to say what they have, and no longer.
launched 2 '[ $ELBOWROOM_RANK = 0 ] || exit 4; sleep 0.5; echo kept'
ended 4
says kept
launched 2 '[ $ELBOWROOM_RANK = 0 ] || exit 4; trap "" TERM; while :; do sleep 0.1; done'
ended 4 12
complains 'elbowroom launch: rank 1 ended with exit code 4'
launched 2 '[ $ELBOWROOM_RANK = 0 ] || { sleep 0.3; exit 4; }; kill -s STOP $$'
ended 4 12
# What a rank leaves behind goes with it.
launched 2 "bash -c 'sleep 60; : $work/'  & disown"
ended 0

# --- signals --------------------------------------------------------------------------------------------------------------
launched 2 'trap "echo got it; exit 5" USR1; while :; do sleep 0.05; done'
kill -s USR1 $launch
ended 5
[ "$(grep -c 'got it' "$out")" -eq 2 ] || fail 'not every rank got the signal'
for signal in INT TERM; do
  launched 2 'exec sleep 60'
  kill -s $signal $launch
  ended $([ $signal = INT ] && echo 130 || echo 143)
  silent # who sends a signal knows why it ended
done
launched 3 'trap "" TERM; while :; do sleep 0.1; done'
kill -s KILL $launch
ended 137

finish
