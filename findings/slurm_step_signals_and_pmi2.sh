#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12), a cluster of this one host that lives for a minute. Two facts about the tasks of a step:
#   scancel JOB sends SIGCONT and then SIGTERM, once each, to every process of the step: to a task, to what it has started, and to what that has
#   moved into a session of its own. So a wrapper that hands signals on gives its program a second SIGTERM, while the program saves its state.
#   srun --mpi=pmi2 sets PMI_RANK, PMI_SIZE, PMI_FD and PMI_JOBID as well, and not MPI_LOCALRANKID or MPI_LOCALNRANKS: by PMI_SIZE alone a task looks
#   like a rank of MPICH's mpiexec that does not know its host.
# Needs root: slurmd starts tasks as their users.
set -euo pipefail
[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null && command -v python3 >/dev/null || { echo 'skipped: needs root, apt and python3'; exit 77; }
for tool in slurmctld slurmd munged; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed (apt-get install slurmctld slurmd slurm-client munge)"; exit 77; }
done
[[ $(slurmctld -V) == 'slurm-wlm 22.05.8' ]] || { echo "skipped: $(slurmctld -V), the facts are of 22.05.8"; exit 77; }
work=$(mktemp -d)
end() { for file in "$work"/*.pid; do [ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null; done; sleep 1; rm -rf "$work"; }
trap end EXIT
chmod 755 "$work"
cd "$work"
mkdir state
dd if=/dev/urandom of=munge.key bs=1 count=128 2>/dev/null && chmod 600 munge.key
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" --log-file="$work/munge.log" --seed-file="$work/munge.seed"
cat >slurm.conf <<CONF
ClusterName=facts
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/ctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/ctld.log
SlurmdLogFile=$work/slurmd.log
AuthInfo=socket=$work/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPort=16917
SlurmdPort=16918
ReturnToService=2
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=1 RealMemory=100 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld && slurmd
for ((tries = 0; tries < 60; ++tries)); do [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 1 ] && break; sleep 0.5; done
srun -Q -n1 --mpi=pmi2 env | grep -E '^(PMI|MPI)_' | cut -d= -f1 | sort >pmi2
paste -sd' ' pmi2
cat >noting.py <<'PY'
import os, signal, sys, time
who, folder = sys.argv[1:3]
noted = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}
signal.pthread_sigmask(signal.SIG_BLOCK, noted)
if who == "task":
    for name in ("child", "session"):
        if os.fork() == 0:
            if name == "session":
                os.setsid()
            os.execv(sys.executable, [sys.executable, __file__, name, folder])
got = []
open(f"{folder}/{who}.begun", "w").close()
until = time.monotonic() + 8
while time.monotonic() < until:
    info = signal.sigtimedwait(noted, 0.5)
    if info:
        got.append(signal.Signals(info.si_signo).name)
        open(f"{folder}/{who}", "w").write(" ".join(got) + "\n")
PY
srun -Q -n1 -J noting python3 noting.py task "$work" >/dev/null 2>&1 &
until [ -e task.begun ] && [ -e child.begun ] && [ -e session.begun ]; do sleep 0.1; done
scancel -n noting
sleep 3
head -v -n 1 task child session
wait || true
[ "$(paste -sd' ' pmi2)" = 'PMI_FD PMI_JOBID PMI_RANK PMI_SIZE' ]
for who in task child session; do [ "$(cat "$who")" = 'SIGCONT SIGTERM' ]; done
echo 'as described'
