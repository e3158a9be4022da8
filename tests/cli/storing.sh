#!/usr/bin/env bash
# What is stored, where others hold locks, take part or interfere. Two more users need root.
. "$(dirname "$0")/checks.bash" || exit

profile=$work/profile.json
tunes() { expect "$1" tune --backend sim --only gelu-ar --budget 0.05 --profile "${2:-$profile}"; }

# --- a lock that somebody holds ------------------------------------------------------------------------------------------
tunes 0
(exec 9>"$profile.lock" && flock 9 && exec sleep 60) &
holder=$!
until ! flock -n "$profile.lock" true; do sleep 0.05; done
tunes 1
grep -qF "$profile.lock: held by another process that writes nothing for 5 s" "$err" || fail 'the lock is not named'
kill "$holder"

# --- no lock: said before anything is measured ---------------------------------------------------------------------------
mkfifo "$work/pipe.json.lock"
expect 2 tune --backend sim --only gelu-ar --profile "$work/pipe.json"
complains "--profile: $work/pipe.json.lock: not a regular file, expected a lock"

# --- a file system without locks, where a stand-in of flock says so -------------------------------------------------------
no_locks=$(dirname "$ELBOWROOM_BIN")/../tests/stand_ins/libno_locks.so
if [ -e "$no_locks" ]; then
  mkdir "$work/tmp"
  for errno in 38 37 95 524; do
    profile=$work/without-$errno.json
    NO_LOCKS_ERRNO=$errno LD_PRELOAD=$no_locks tunes 0
    grep -qF "$profile.lock: its file system has no locks, stored without one" "$err" || fail "no notice of errno $errno"
    [ -s "$profile" ] || fail "nothing is stored where flock says $errno"
    NO_LOCKS_ERRNO=$errno LD_PRELOAD=$no_locks TMPDIR=$work/tmp expect 0 run --off gate -- bash -c 'echo "$ELBOWROOM_RUN_POLICY $ELBOWROOM_RUN_REPORT_DIR"'
    grep -q "^auto $work/tmp/elbowroom-unlocked-" "$out" || fail "run falls back where flock says $errno"
    if grep -q 'without a report' "$err"; then fail "run goes without its folder where flock says $errno"; fi
    [ -z "$(ls "$work/tmp")" ] || fail "run leaves folders where flock says $errno"
  done
else
  echo 'skipped: file systems without locks, for which no stand-in was built'
fi

# --- other users ---------------------------------------------------------------------------------------------------------
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --groups "$user,4242" "$@"; }
if [ "$(id -u)" -ne 0 ] || ! as 12345 true 2>/dev/null; then
  echo 'skipped: what other users do, which needs root'
  finish
fi
if ! as 12345 test -x "$ELBOWROOM_BIN"; then
  echo "skipped: what other users do, who may not enter the folder of $ELBOWROOM_BIN"
  finish
fi
chmod 755 "$work"
mkdir -m 770 "$work/group" && chgrp 4242 "$work/group"
tool=$ELBOWROOM_BIN
for user in 12345 12346 12345; do
  command_line="tune (user $user in a folder of a group)"
  as "$user" env HOME="$work" "$tool" tune --backend sim --only gelu-ar --budget 0.05 --profile "$work/group/profile.json" >"$out" 2>"$err" || fail 'a member of the group cannot store'
done
finish
