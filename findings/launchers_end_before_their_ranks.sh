#!/usr/bin/env bash
# SIGTERM to `deepspeed` or to `accelerate launch` with one process ends the launcher alone. The ranks hear nothing and keep their GPUs.
#
# PyPI torch 2.15.0, deepspeed 0.19.8, accelerate 1.15.0, lightning-fabric 2.6.6; Linux, no GPU. Two ranks (accelerate: one) that write down the signal that
# they get and end. SIGTERM to the launcher's process, five seconds later:
#   launcher                    its exit code  ranks have got      ranks that go on
#   torchrun                                1  SIGTERM, SIGTERM    0
#   deepspeed --num_gpus 2                -15  nothing             2, and the process deepspeed.launcher.launch between
#   accelerate launch, 1 process          -15  nothing             1
#   Fabric, strategy ddp                    0  SIGTERM             1: rank 0 is the launcher, and the other rank's parent
#   torch.multiprocessing.spawn           -15  SIGINT, SIGINT      0: the kernel's signal for a parent's death
# Where a supervisor or `kill` asks one process, a launcher's end says nothing of its ranks: of these five torchrun alone lets all ranks save a checkpoint
# on SIGTERM. Ask the process group, and wait for the ranks. A wrapper that waits for its command alone ends with ranks at work, too early to collect what
# they write at their end.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.15.0 numpy setuptools wheel accelerate==1.15.0 lightning-fabric==2.6.6
"$work/env/bin/pip" -q install deepspeed==0.19.8
cat >"$work/rank.py" <<'PYTHON'
import os, signal, sys, time


def heard(number, _):
    open(f"{os.environ['MARKS']}/heard.{os.getpid()}.{signal.Signals(number).name}", "w").close()
    sys.exit(0)


def work(*_):
    signal.signal(signal.SIGTERM, heard)
    signal.signal(signal.SIGINT, heard)
    open(f"{os.environ['MARKS']}/begun.{os.getpid()}", "w").close()
    time.sleep(60)


if __name__ == "__main__":
    work()
PYTHON
cat >"$work/fabric.py" <<'PYTHON'
import lightning_fabric, rank

lightning_fabric.Fabric(accelerator="cpu", devices=2, strategy="ddp").launch()
rank.work()
PYTHON
cat >"$work/spawn.py" <<'PYTHON'
import rank, torch.multiprocessing

if __name__ == "__main__":
    torch.multiprocessing.spawn(rank.work, nprocs=2)
PYTHON
cat >"$work/launchers.py" <<'PYTHON'
import glob, os, signal, subprocess, sys, tempfile, time

ONE = "--cpu --num_processes 1 --num_machines 1 --mixed_precision no --dynamo_backend no".split()
LAUNCHERS = {
    "torchrun": (2, ["torchrun", "--nproc-per-node", "2", "rank.py"]),
    "deepspeed": (2, ["deepspeed", "--num_gpus", "2", "rank.py"]),
    "accelerate": (1, ["accelerate", "launch", *ONE, "rank.py"]),
    "fabric": (2, ["python", "fabric.py"]),
    "spawn": (2, ["python", "spawn.py"]),
}
for name, (ranks, command) in LAUNCHERS.items():
    with tempfile.TemporaryDirectory(dir=".") as marks, open("said", "a") as said:
        launcher = subprocess.Popen(command, env={**os.environ, "MARKS": os.path.abspath(marks)}, stdout=said, stderr=said, start_new_session=True)
        until = time.monotonic() + 120
        while len(begun := glob.glob(marks + "/begun.*")) < ranks and time.monotonic() < until:
            time.sleep(0.1)
        launcher.send_signal(signal.SIGTERM)
        code = launcher.wait(30)
        time.sleep(5)
        heard = sorted(path.rsplit(".", 1)[1] for path in glob.glob(marks + "/heard.*"))
        pids = [int(path.rsplit(".", 1)[1]) for path in begun]
        alive = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        print(name, "begun", len(begun), "code", code, "heard", *heard or ["nothing"], "alive", len(alive), flush=True)
        try:
            os.killpg(launcher.pid, signal.SIGKILL)  # its session is our own
        except ProcessLookupError:
            pass
        for pid in alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
PYTHON
cd "$work"
export PATH=$work/env/bin:$PATH DS_ACCELERATOR=cpu TORCH_EXTENSIONS_DIR=$work/extensions
python launchers.py | tee rows
diff rows - <<'ROWS' || { tail -5 said >&2; exit 1; }
torchrun begun 2 code 1 heard SIGTERM SIGTERM alive 0
deepspeed begun 2 code -15 heard nothing alive 2
accelerate begun 1 code -15 heard nothing alive 1
fabric begun 2 code 0 heard SIGTERM alive 1
spawn begun 2 code -15 heard SIGINT SIGINT alive 0
ROWS
echo 'as described'
