#!/usr/bin/env bash
# torchrun starts the ranks: by its default, which meets at a free port, and at a port of its own that the host's name leads to.
. "$(dirname "$0")/checks.bash" || exit
# shellcheck disable=SC2206
torchrun=(${ELBOWROOM_TORCHRUN:-torchrun})
"${torchrun[@]}" --help >/dev/null 2>&1 || skip 'torchrun, which is not installed'
two_jobs torchrun "${torchrun[@]}" --nproc-per-node 2 --no-python
two_jobs 'torchrun --standalone' "${torchrun[@]}" --standalone --nproc-per-node 2 --no-python
job 'torchrun at the name of the host' sgemm "${torchrun[@]}" --nnodes 1 --nproc-per-node 2 --master-addr "$(hostname)" --master-port $((20000 + $$ % 9000)) --no-python
finish
