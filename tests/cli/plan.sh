#!/usr/bin/env bash
# `elbowroom plan` as a user calls it: figures, streams and exit codes of the contract.
. "$(dirname "$0")/checks.bash" || exit

gemm=(--threads 256 --registers 56 --static-shared 4096)

expect 0 plan --device h200 "${gemm[@]}" --comm nccl-2.28:544 --json
says '"schema": "elbowroom.plan/1"'
says '"pad_min": 53376'
says '"pad_max": 72704'
says '"pad_min": 72832'
says '"pad_max": 111616'
says '"pad_min": 111744'
[ ! -s "$err" ] || fail "JSON comes with words on standard error"
[ "$(grep -c '"blocks_per_sm": [1234],' "$out")" -eq 4 ] || fail "not four residencies"

expect 0 plan --device h200 "${gemm[@]}" --json -
says '"schema": "elbowroom.plan/1"'
says '"name": "nccl-2.32:544"'

# NCCL's static shared memory grew in 2.29: 36,800 + 82,240 + 1,024 B leave no room beside the least pad that caps at one block.
expect 0 plan --device h100 --threads 256 --registers 56 --comm nccl-2.30:512
says 'No residency has room for a nccl-2.30:512 block (shared memory at 1 block per SM): a pad buys SMs that drain sooner'
expect 0 plan --device h100 --threads 256 --registers 56 --comm nccl-2.28:512
says 'A pad of 115,840 to 127,616 B holds compute at 1 block per SM and makes room for a nccl-2.28:512 block'
expect 0 plan --device h100 --threads 256 --registers 56 --comm nccl-2.99:512
says 'nccl-2.99:512 (no row of its own: as nccl-2.32:512): 512 threads, 96 registers, 36,800 B static'
expect 2 plan --device h100 --threads 256 --registers 56 --comm nccl-2.32:symmetric
complains 'dynamic shared memory is not known of NCCL 2.32'

expect 0 plan --device h200 --threads 256 --registers 56 --static-shared 4K --comm 288,96,21568,82240,1
says '53,376'
says 'custom'

expect 0 plan --device mi250x --threads 256 --registers 32
says 'rccl-5.2 (whatever RCCL is here; --comm chooses)'
says 'fits up to pad 60,928'

expect 0 plan "${gemm[@]}"
grep -qE ':544 \((the newest known, whatever NCCL is here;|of the NCCL here,) --comm chooses\)' "$out" || fail 'the default is not named'
# Without a GPU: one short line, and the reasons stand in doctor.
if [ -s "$err" ] && [ "$(cat "$err")" != 'elbowroom: no GPU can be used here (elbowroom doctor says why): planning for h200, --device chooses' ]; then
  fail 'more or other words than that there is no GPU'
fi

expect 2 plan --device h300 "${gemm[@]}"
complains "--device: device 'h300' is not in the catalog, nearest is h100; expected one of v100, t4, a100, "
expect 0 plan --device "NVIDIA H100 80GB HBM3" "${gemm[@]}"
says 'device   h100 ('
# Every device of the catalog, with what its vendor's library launches there.
expect 0 list
devices=$(awk '/^[^ ]/ { inside = index($0, "Devices") == 1; next } inside { print $1 }' "$out")
[ "$(wc -w <<<"$devices")" -ge 28 ] || fail "list has $(wc -w <<<"$devices") devices"
for one in $devices; do
  expect 0 plan --device "$one" --threads 128 --registers 32
  says "device   $one ("
done
expect 0 plan --device v100 --threads 128 --registers 32 --json
says 'sm_70 code of the library for CUDA 12; for CUDA 13 none has any'
expect 2 bench --backend sim --device t4 --suite quick
complains 'device: t4 has no "simulator", from memory_gib to devices_per_host; expected a device file that has it, or one of a100, a40, '
# A device of one's own, by its file and by its name.
device=$work/devices/mine.json
mkdir -p "$work/devices"
sed 's/"name": "h200"/"name": "mine"/; s/"names": .*/"names": ["My board"],/; s/"sms": 132/"sms": 66/' "$ELBOWROOM_SOURCE_DIR/data/devices/h200.json" >"$device"
expect 0 plan --device "$device" "${gemm[@]}" --json
says '"sms": 66'
ELBOWROOM_DEVICE_PATH=$work/devices expect 0 plan --device 'MY BOARD' "${gemm[@]}" --json
says '"name": "mine"'
ELBOWROOM_DEVICE_PATH=$work/absent expect 2 plan --device mine "${gemm[@]}"
complains 'ELBOWROOM_DEVICE_PATH'
sed -i '/"warp": 32/d' "$device"
expect 2 plan --device "$device" "${gemm[@]}"
complains "$device: limits.warp: missing, expected a whole number from 1 to 128"
expect 2 plan --device "$work/absent.json" "${gemm[@]}"
complains 'absent.json'

expect 2 plan --device h200 "${gemm[@]}" --comm nccl-9
complains "--comm: comm kernel 'nccl-9' is not in the catalog"
for given in '' '--threads 256' '--registers 56'; do
  expect 2 plan $given
  complains 'FILE, or --threads with --registers, is required'
done
expect 2 plan --device h200 --threads 0 --registers 56
complains '--threads: 0, expected 1 or more'
expect 2 plan --device h200 --threads 256 --registers 56 --static-shared -1
complains "--static-shared: size '-1'"
expect 2 plan --device h200 --threads 1024 --registers 255
complains 'compute kernel: one block needs 262,144 registers, an SM of h200 has 65,536'
# NVIDIA's compilers give a kernel 48 KiB of static shared memory at most; what is launched may add to it. AMD's give all there is.
expect 0 plan --device h200 --threads 256 --registers 56 --static-shared 48K --dynamic-shared 100K
expect 2 plan --device h200 --threads 256 --registers 56 --static-shared 49153
complains 'compute kernel: 49,153 B static shared memory, expected at most 49,152 B on h200: more is dynamic'
expect 2 plan --device h200 --threads 256 --registers 56 --comm 288,96,64K,0,1
complains 'communication kernel: 65,536 B static shared memory, expected at most 49,152 B on h200: more is dynamic'
expect 0 plan --device mi300x --threads 256 --registers 56 --static-shared 64K
expect 2 plan --device h200 --registers 56
complains '--threads'
expect 2 plan --device h200 --threads many --registers 56
complains '--threads'
expect 0 plan --device h200 "${gemm[@]}" --json "$work/plan.json"
[ ! -s "$out" ] && grep -q '"schema": "elbowroom.plan/1"' "$work/plan.json" || fail 'no document in the file'
expect 0 plan --device h200 "${gemm[@]}" --json "$work/plan.json"
echo mine >"$work/notes"
expect 2 plan --device h200 "${gemm[@]}" --json "$work/notes"
complains 'notes: not an elbowroom.plan/1 document'
expect 2 plan --page "${gemm[@]}"
complains 'excludes --page'

finish
