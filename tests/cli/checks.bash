# What the scripts beside this one share. Source it, call `expect` and what follows it, end with `finish`.
set -u
# Without these a script would compare nothing and write to the root of the file system.
: "${ELBOWROOM_BIN:?is not set; it names the command to test}" "${ELBOWROOM_SOURCE_DIR:?is not set; it names the source tree}"
failures=0
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache # what a test finds is not for the runs of who runs it
out=$work/stdout err=$work/stderr
command_line=

fail() {
  echo "FAIL: elbowroom $command_line: $1"
  sed 's/^/  stdout: /' "$out" | head -30
  sed 's/^/  stderr: /' "$err" | head -30
  failures=$((failures + 1))
}

# expect CODE ARGUMENT...: runs the command and compares its exit code.
expect() {
  local code=$1 got
  shift
  command_line=$*
  "$ELBOWROOM_BIN" "$@" >"$out" 2>"$err"
  got=$?
  [ "$got" -eq "$code" ] || fail "exit $got, expected $code"
}

# says TEXT: standard output has it.
says() { grep -qF -- "$1" "$out" || fail "standard output lacks: $1"; }

# silent: nothing on standard error.
silent() { [ ! -s "$err" ] || fail "standard error is not empty"; }

# complains TEXT: standard error is one line that has it, standard output is empty.
complains() {
  grep -qF -- "$1" "$err" || fail "standard error lacks: $1"
  [ "$(wc -l <"$err")" -eq 1 ] || fail "standard error is not one line"
  [ ! -s "$out" ] || fail "standard output is not empty"
}

# has_option NAME: the help on standard output begins a line with it, alone or as one of several names.
has_option() { grep -qE -- "^ +([^ ]+,)?$1([ ,=]|\$)" "$out" || fail "help lacks: $1"; }

# usable BACKEND: `elbowroom list` shows it as usable here.
usable() { "$ELBOWROOM_BIN" list | grep -E "^  $1 " | grep -qv unusable; }

# nobody_left: no process with this test's folder in its command line.
nobody_left() {
  local tries=0 left=
  while ((++tries < 100)); do
    left=$(grep -alF -- "$work/" /proc/[0-9]*/cmdline 2>/dev/null)
    [ -z "$left" ] && return
    sleep 0.05
  done
  fail "processes are left: $left"
}

finish() {
  [ "$failures" -eq 0 ]
  exit
}
