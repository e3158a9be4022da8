# What the tests of ranks share: ranks in the background, each with its output, and what they said together.
. "$(dirname "${BASH_SOURCE[0]}")/checks.bash" || exit
cd "$work" || exit 1
usable sim || exit 77
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
limit=60
quick=(bench --backend sim --only sgemm --trials 2)  # the case that is simulated in no time
token=0123456789abcdef
port=

# A port of this test's own: below those that launch takes and those of connections.
new_port() { port=$((10000 + (($$ * 7 + ${port:-0} + 1) % 9000))); }

# start RANK SIZE [VARIABLE=VALUE...] -- ARGUMENT...: a rank in the background.
pids=()
start() {
  local rank=$1 size=$2 variables=()
  shift 2
  while [ "$1" != -- ]; do
    variables+=("$1")
    shift
  done
  shift
  env ELBOWROOM_RANK="$rank" ELBOWROOM_RANKS="$size" ELBOWROOM_PORT="$port" "${variables[@]}" \
    timeout -s KILL $limit "$ELBOWROOM_BIN" "$@" >"out.$rank" 2>"err.$rank" &
  pids[rank]=$!
}

# begin NAME: a kind of trouble.
begin() {
  command_line="($1)"
  rm -f out.* err.*
  : >"$out"
  : >"$err"
  pids=()
  new_port
  began=$SECONDS
}

# ended RANK CODE
ended() {
  wait "${pids[$1]}" 2>/dev/null
  local got=$?
  [ "$got" -eq "$2" ] || fail "rank $1: exit $got, expected $2"
}

# one_line TEXT: what all ranks said together, but for rank 0's progress.
one_line() {
  cat err.* 2>/dev/null | grep -vE '^elbowroom (bench|tune): \[[0-9]+/' >"$err"
  grep -qF -- "$1" "$err" || fail "standard error lacks: $1"
  [ "$(wc -l <"$err")" -eq 1 ] || fail "standard error is not one line"
  ((SECONDS - began < ${2:-15})) || fail "took $((SECONDS - began)) s"
}
