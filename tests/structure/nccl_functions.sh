#!/usr/bin/env bash
# tests/structure/nccl_functions.txt says of each function that NCCL exports that it is hooked, or why it is not.
set -euo pipefail
cd "$ELBOWROOM_SOURCE_DIR"

table=tests/structure/nccl_functions.txt
hooked=$(grep -oE '"nccl[A-Za-z]+"' src/interposer/cuda/hook_table.cpp | tr -d '"' | sort)
[ -n "$hooked" ] || { echo 'nccl_functions.sh: no hook was found' >&2; exit 1; }
stated=$(awk '$3 == "hooked" { print $1 }' "$table" | sort)
difference=$(diff <(echo "$hooked") <(echo "$stated")) || {
  printf 'nccl_functions.sh: %s and the hooks differ (<: hooked and not said, >: said and not hooked):\n%s\n' "$table" "$difference" >&2
  exit 1
}
without=$(awk '/^nccl/ && NF < 3 { print $1 }' "$table")
[ -z "$without" ] || { echo "nccl_functions.sh: neither hooked nor a reason: $without" >&2; exit 1; }
