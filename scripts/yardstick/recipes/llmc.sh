#!/usr/bin/env bash
# llm.c, GPT-2 355M, ZeRO-1, C++, MPI and NCCL. Without MPI (make train_gpt2cu NO_USE_MPI=1) step.sh starts each rank in the background, with
# -pr RANK -pg 2 -pi fs -pf FOLDER.
# Clones into the current folder; `elbowroom` is on the PATH. Follows the project's own instructions of 2025 and was not run as it stands.
set -euo pipefail
elbowroom=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
git clone https://github.com/karpathy/llm.c && cd llm.c
pip install tiktoken requests tqdm numpy && python3 dev/data/tinyshakespeare.py
sed -i 's/PreferredLocation, cudaCpuDeviceId/PreferredLocation, cudaMemLocation{cudaMemLocationTypeHost, 0}/' llmc/cuda_utils.cuh    # for CUDA 13
make train_gpt2cu
cat >step.sh <<'END'
./train_gpt2cu -i dev/data/tinyshakespeare/tiny_shakespeare_train.bin -j dev/data/tinyshakespeare/tiny_shakespeare_val.bin \
  -e d24 -b 16 -t 1024 -d 32768 -r 0 -z 1 -v 100000 -s 100000 -x 600 -pn 2 -pr $OMPI_COMM_WORLD_RANK
END
python3 "$elbowroom/scripts/yardstick" --json llmc.json --page llmc.md --timeout 300 --skip 400 \
  --command 'llmc=mpirun -np 2 bash step.sh' --step '\| (?P<ms>[0-9.]+) ms \|'
