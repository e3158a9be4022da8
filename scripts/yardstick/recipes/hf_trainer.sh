#!/usr/bin/env bash
# A trainer of Hugging Face: GPT-2 large from its configuration, DDP. It prints one rate for all its steps.
# Clones into the current folder; `elbowroom` is on the PATH. Follows the project's own instructions of 2025 and was not run as it stands.
set -euo pipefail
elbowroom=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
git clone --depth 1 https://github.com/huggingface/transformers
pip install ./transformers && pip install -r transformers/examples/pytorch/language-modeling/requirements.txt
cat >clm.sh <<'END'
torchrun --nproc-per-node 2 transformers/examples/pytorch/language-modeling/run_clm.py \
  --model_type gpt2 --config_overrides n_embd=1280,n_layer=36,n_head=20 --tokenizer_name gpt2 \
  --dataset_name Salesforce/wikitext --dataset_config_name wikitext-2-raw-v1 --block_size 1024 --per_device_train_batch_size 4 --bf16 \
  --do_train --max_steps 1000 --logging_steps 50 --save_strategy no --overwrite_output_dir --output_dir /tmp/clm
END
python3 "$elbowroom/scripts/yardstick" --json clm.json --page clm.md --timeout 900 \
  --command 'clm=bash clm.sh' --step 'train_steps_per_second\D+(?P<per_second>[0-9.]+)'
