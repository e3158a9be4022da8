# Sourced by scripts that run commands of elbowroom on scenarios, with their arguments: OUT gets a file for each scenario, and what every command
# printed. NVLink multicast stays off; libraries.sh finds the binaries.
out=${1:?usage: $0 OUT}
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0
. scripts/gpu/libraries.sh
failed=()

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

# tell_failed WHAT: the last of a script. Its exit code says whether all held.
tell_failed() {
  printf '%s\n' "${failed[@]}"
  ((${#failed[@]} == 0)) && echo "$1: all hold"
}
