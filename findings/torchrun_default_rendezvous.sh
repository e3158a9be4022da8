#!/usr/bin/env bash
# torchrun without any option about a meeting, in PyTorch 2.11.0 and 2.15.0 (PyPI).
#   2.11.0: MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=none. Every job has the same three.
#   2.15.0: MASTER_ADDR=localhost, MASTER_PORT a free port, TORCHELASTIC_RUN_ID a new UUID: as 2.11.0 does with --standalone. Two jobs of one host do not meet,
#           and MASTER_ADDR is a name where it was an address.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen() { # VERSION
  python3 -m venv "$work/$1"
  "$work/$1/bin/pip" -q install "torch==$1" numpy >/dev/null
  "$work/$1/bin/torchrun" --nproc-per-node 2 --no-python bash -c 'echo "$RANK $MASTER_ADDR $MASTER_PORT $TORCHELASTIC_RUN_ID"' 2>/dev/null | sort | head -1
}
old=$(seen 2.11.0) new=$(seen 2.15.0)
printf '2.11.0: %s\n2.15.0: %s\n' "$old" "$new"
[ "$old" = '0 127.0.0.1 29500 none' ]
[[ $new =~ ^0\ localhost\ [0-9]+\ [0-9a-f]{8}-[0-9a-f-]{27}$ ]] && [[ $new != *' 29500 '* ]]
echo 'as described'
