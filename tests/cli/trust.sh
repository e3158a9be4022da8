#!/usr/bin/env bash
# What other users, the current folder, an environment and documents of others can do to who runs the program. Another user needs root.
. "$(dirname "$0")/run_checks.bash" || exit
tool=$real_bin
bench=(bench --backend sim --only sgemm --trials 2 --scheme sequential)

# no_escape FILE NAME: nothing that moves a cursor.
no_escape() { if grep -q $'\x1b' "$1"; then fail "$2 has an escape"; fi; }

# --- a library of the current folder -------------------------------------------------------------------------------------
if command -v cc >/dev/null; then
  mkdir "$work/here"
  for name in libamdhip64.so.6 libnvidia-ml.so.1 libamd_smi.so libnccl.so.2 libcuda.so.1 libhiprtc.so librccl.so.1; do
    echo '#include <stdio.h>
__attribute__((constructor)) static void ran(void) { fputs("code of the current folder ran\n", stderr); }' | cc -shared -fPIC -x c -o "$work/here/$name" -
  done
  for path in : /nonexistent: ::/nonexistent here; do
    folder=$work/here
    [ "$path" = here ] && folder=$work
    for arguments in list 'bench --suite quick --dry-run' 'run --quiet --energy -- true'; do
      command_line="$arguments (LD_LIBRARY_PATH=$path)"
      # shellcheck disable=SC2086
      (cd "$folder" && LD_LIBRARY_PATH=$path "$tool" $arguments) >"$out" 2>"$err"
      if grep -q 'code of the current folder' "$err"; then fail 'code of the current folder ran'; fi
    done
  done
else
  echo 'skipped: libraries of the current folder, which need a compiler'
fi

# --- the hook of Python is the installation's -----------------------------------------------------------------------------
# installed BASE FOLDER: the program below BASE, and a hook beside FOLDER's parent that says that it ran.
installed() {
  mkdir -p "$1/$2/bin" "$1/$2/lib" "$1/hook"
  cp "$tool" "$1/$2/bin/elbowroom"
  cp "$stand_in" "$1/$2/lib/libelbowroom_interposer.so"
  echo 'print("the hook ran")' >"$1/hook/sitecustomize.py"
}
if command -v python3 >/dev/null; then
  installed "$work/scratch" alice
  installed "$work/wheel" native
  hooked() { "$1/bin/elbowroom" run --quiet --backend cuda -- python3 -c pass >"$out" 2>"$err"; grep -q 'the hook ran' "$out"; }
  command_line='run -- python3'
  if hooked "$work/scratch/alice"; then fail 'a hook beside the installation ran'; fi
  hooked "$work/wheel/native" || fail "the hook of a wheel does not run: $(cat "$err")"
  chmod 777 "$work/wheel/hook"
  if hooked "$work/wheel/native"; then fail 'a hook that anybody may write ran'; fi
fi

# --- texts of others on a terminal ------------------------------------------------------------------------------------------
escape=$'\x1b]0;owned\x07'
cat >"$work/report" <<REPORT
{"schema": "elbowroom.run-process/1", "pid": 1, "program": "p\u001b]0;owned\u0007", "policy": "auto", "device": "NVIDIA \u001b[2J", "passed_through": ["lib\u001b[2J"], "driver_entries": ["dlsym:\u001b[2J"],
 "nccl": {"calls": 9, "communicators_made": 1, "greatest_ranks": 2}, "kernels": [],
 "ab": {"state": "settled", "arm": "gate", "decisions": 1, "collectives_per_repetition": 16, "arms": [], "library_version": 22809, "choices": []}}
REPORT
expect 0 run --verbose -- bash -c "cp '$work/report' \"\$ELBOWROOM_RUN_REPORT_DIR/1-1.json\""
no_escape "$err" 'run --verbose'
ELBOWROOM_BIN=$tool
awk -v escape="$escape" 'NR == 2 { sub(/^[^,]*/, "& " escape) } { print }' "$ELBOWROOM_SOURCE_DIR/data/h200x2.csv" >"$work/rows.csv"
expect 2 bench --validate "$work/rows.csv"
complains 'rows.csv:2: a control character, expected printable text'
no_escape "$err" 'bench --validate'

# --- links of another user ---------------------------------------------------------------------------------------------------
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if [ "$(id -u)" -ne 0 ] || ! nobody true 2>/dev/null; then
  echo 'skipped: links of another user, which need root'
  finish
fi
chmod 755 "$work"
mkdir "$work/home"
mkdir -m 1777 "$work/sticky"
: >"$work/home/empty"
nobody ln -s "$work/home/made" "$work/sticky/new.json"
nobody ln -s "$work/home/empty" "$work/sticky/old.json"
for link in new old; do
  expect 2 "${bench[@]}" --json "$work/sticky/$link.json"
  grep -qF "$link.json: a link of another user" "$err" || fail 'the link is not named'
  expect 2 tune --backend sim --only sgemm --budget 0.05 --profile "$work/sticky/$link.json"
  grep -qF "$link.json: a link of another user" "$err" || fail 'the link is not named'
done
[ "$(ls "$work/home")" = empty ] && [ ! -s "$work/home/empty" ] || fail 'a link of another user was followed'
nobody ln -s "$work/home/lock" "$work/sticky/mine.json.lock"
expect 2 tune --backend sim --only sgemm --budget 0.05 --profile "$work/sticky/mine.json"
[ ! -e "$work/home/lock" ] || fail 'a lock was made through a link of another user'
ln -s "$work/home/kept.json" "$work/sticky/own.json"
expect 0 "${bench[@]}" --json "$work/sticky/own.json"
[ -s "$work/home/kept.json" ] || fail "a link of one's own is not followed"

# A program with more rights than its user's takes no library of that user's.
cp "$tool" "$work/home/setuid" && chown 65534 "$work/home/setuid" && chmod 4755 "$work/home/setuid"
if [ "$("$work/home/setuid" --version 2>/dev/null)" ] && command -v cc >/dev/null; then
  chmod 755 "$work/here" "$work/home"
  ELBOWROOM_HIP_LIBRARY=$work/here/libamdhip64.so.6 "$work/home/setuid" list >"$out" 2>"$err"
  if grep -q 'code of the current folder' "$err"; then fail "a setuid program loads its user's library"; fi
fi
finish
