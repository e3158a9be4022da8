# What the tests of real launchers share. Source it, call what follows, end with `finish`. ELBOWROOM_LAUNCHER_RUNS says how often each is done.
set -u
: "${ELBOWROOM_BIN:?is not set; it names the command to test}" "${ELBOWROOM_SOURCE_DIR:?is not set; it names the source tree}"
runs=${ELBOWROOM_LAUNCHER_RUNS:-2}
failures=0
work=$(mktemp -d) || exit
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
unset ELBOWROOM_TOKEN ELBOWROOM_TOKEN_FILE ELBOWROOM_JOB ELBOWROOM_HOST ELBOWROOM_PORT RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
cases=(sgemm gelu-ar) # of two jobs: a rank of the other one would give another table
bench() { printf '%s\n' "$ELBOWROOM_BIN" bench --backend sim --only "$1" --trials 2 --scheme concurrent,priority --timeout 60; }

fail() {
  echo "FAIL: $1"
  failures=$((failures + 1))
}
skip() {
  echo "skipped: $1"
  exit 77
}
finish() {
  echo "$tables right tables"
  [ "$failures" -eq 0 ]
  exit
}

tables=0
for case in "${cases[@]}"; do
  mkdir "$work/$case.tmp"
  mapfile -t command < <(bench "$case")
  "${command[@]}" >"$work/$case.one" 2>/dev/null || skip 'the simulator, which does not run here'
done

# right NAME CASE: the table of one process, and nothing said but how far it is.
right() {
  if cmp -s "$work/$2.one" "$work/$2.out"; then
    tables=$((tables + 1))
    return
  fi
  fail "$1: another table of $2 than one process prints"
  head -5 "$work/$2.out" "$work/$2.err"
}

# job NAME CASE LAUNCHER...: one job, whose table has to be right.
job() {
  local name=$1 case=$2 command
  shift 2
  mapfile -t command < <(bench "$case")
  timeout 120 "$@" "${command[@]}" >"$work/$case.out" 2>"$work/$case.err" </dev/null
  right "$name" "$case"
}

# two_jobs NAME LAUNCHER...: two jobs at once on this host, each of which has to print its own table. Open MPI gets a folder for each: where two
# of its mpirun make /tmp/ompi.HOST.UID at once, one of them ends with "mkdir: File exists".
two_jobs() {
  local name=$1 run case command
  shift
  for ((run = 0; run < runs; ++run)); do
    for case in "${cases[@]}"; do
      mapfile -t command < <(bench "$case")
      OMPI_MCA_orte_tmpdir_base=$work/$case.tmp timeout 120 "$@" "${command[@]}" >"$work/$case.out" 2>"$work/$case.err" </dev/null &
    done
    wait
    for case in "${cases[@]}"; do right "$name" "$case"; done
  done
}
