#!/usr/bin/env bash
# torchtitan's small Llama 3 with FSDP2, which waits for its host. Its rate is tokens per second of a rank.
# Clones into the current folder; `elbowroom` is on the PATH. Follows the project's own instructions of 2025 and was not run as it stands.
set -euo pipefail
elbowroom=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
git clone https://github.com/pytorch/torchtitan && cd torchtitan && pip install -r requirements.txt
python3 "$elbowroom/scripts/yardstick" --json titan.json --page titan.md --timeout 300 --skip 400 \
  --command 'titan=env NGPU=2 MODULE=llama3 CONFIG=llama3_debugmodel ./run_train.sh --training.steps 600 --metrics.log_freq 1' \
  --step 'tps: (?P<per_second>[0-9,]+)'
