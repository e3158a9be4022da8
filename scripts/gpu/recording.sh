# Sourced by scripts that record programs, with their arguments: makes OUT, leaves NVLink multicast off, finds the binaries (libraries.sh) and
# writes what the machine is to OUT/machine.txt. What follows OUT stays in "$@".
out=${1:?usage: $0 OUT [OPTIONS]}
shift
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1  # multicast can put a shared host's GPUs out of service
. scripts/gpu/libraries.sh
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,power.draw,power.limit,temperature.gpu --format=csv | tee "$out/machine.txt"
python3 -c 'import torch; print(torch.__version__, torch.version.cuda)' | tee -a "$out/machine.txt"  # read once before it is timed
