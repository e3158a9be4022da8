# Sourced by scripts that run commands of elbowroom on scenarios, with `out` and `failed` set: a file for each scenario, and what every command printed.

# scenario NAME COMPUTE ITERATIONS SIZE: beside an all-reduce of that size on two GPUs.
scenario() {
  printf '{"schema": "elbowroom.scenario/1", "name": "%s", "gpus": 2, "iterations": %s, "pattern": "pipeline", "compute": %s, "collective": %s}\n' "$1" "$3" "$2" \
    "{\"op\": \"all_reduce\", \"bytes\": \"$4\", \"dtype\": \"bf16\"}" >"$out/$1.json"
}

# check NAME EXIT COMMAND...: keeps the output, remembers another exit code.
check() {
  local name=$1 expected=$2 code
  shift 2
  printf '\n== %s: %s\n' "$name" "$*"
  timeout --kill-after=5 110 "$@" 2>&1 | tee "$out/$name.txt"
  code=${PIPESTATUS[0]}
  [[ $code == "$expected" ]] || failed+=("$name: exit $code, expected $expected")
}
says() { grep -qF -- "$2" "$out/$1.txt" || failed+=("$1 does not say: $2"); }
