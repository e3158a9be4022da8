#!/usr/bin/env bash
# A Slurm of two hosts, which are network namespaces of this one: srun starts the ranks, scancel ends a program that saves its state.
. "$(dirname "$0")/checks.bash" || exit
for tool in slurmctld slurmd srun scancel munged ip nsenter unshare python3; do
  command -v "$tool" >/dev/null || skip "Slurm of two hosts: $tool is not installed"
done
[ "$(id -u)" -eq 0 ] && unshare -nm true 2>/dev/null || skip 'Slurm of two hosts, for which namespaces need root'
export SLURM_CONF=$work/slurm.conf
net=10.91.$(($$ % 200)) tag=er$(($$ % 10000))
hosts=(a01 a02)

# --- two hosts ---------------------------------------------------------------------------------------------------------------
take_away() {
  for file in "$work"/*.pid; do [ -s "$file" ] && kill "$(cat "$file")" 2>/dev/null; done
  sleep 1
  for host in "${hosts[@]}"; do ip netns del "$tag$host" 2>/dev/null; done
  ip link del "$tag" 2>/dev/null
  rm -rf "$work"
}
trap take_away EXIT
ip link add "$tag" type bridge && ip addr add "$net.254/24" dev "$tag" && ip link set "$tag" up || skip 'Slurm of two hosts, which need a bridge'
for at in 1 2; do
  host=${hosts[at - 1]}
  ip netns add "$tag$host" && ip link add "${tag}v$at" type veth peer name eth0 netns "$tag$host" && ip link set "${tag}v$at" master "$tag" up
  ip -n "$tag$host" addr add "$net.$at/24" dev eth0 && ip -n "$tag$host" link set eth0 up && ip -n "$tag$host" link set lo up
  # As the installers of Debian and Ubuntu leave it: a host knows its own name by a loopback address.
  printf '127.0.0.1 localhost\n127.0.1.1 rack-%s\n' "$host" >"$work/hosts.$host"
  printf '%s rack-a01\n%s rack-a02\n' "$net.1" "$net.2" | grep -v "rack-$host" >>"$work/hosts.$host"
  printf '%s.254 %s\n' "$net" "$(hostname)" >>"$work/hosts.$host"
done
printf '127.0.0.1 localhost\n%s.254 %s\n%s.1 rack-a01\n%s.2 rack-a02\n' "$net" "$(hostname)" "$net" "$net" >"$work/hosts"
mkdir "$work/state"
cat >"$SLURM_CONF" <<CONF
ClusterName=$tag
SlurmctldHost=$(hostname)($net.254)
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
AuthInfo=socket=$work/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPort=$((17000 + $$ % 900))
ReturnToService=2
NodeName=rack-a[01-02] NodeHostname=$(hostname) NodeAddr=$net.[1-2] Port=[$((18000 + $$ % 900))-$((18001 + $$ % 900))] CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
# within HOSTS COMMAND...: with that file as /etc/hosts.
cat >"$work/within" <<'WITHIN'
#!/usr/bin/env bash
exec unshare -m bash -c 'mount --make-rprivate / && mount --bind "$1" /etc/hosts && shift && exec "$@"' bash "$@"
WITHIN
chmod 755 "$work/within"
dd if=/dev/urandom of="$work/munge.key" bs=1 count=128 2>/dev/null
chmod 600 "$work/munge.key"
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" --log-file="$work/munge.log" --seed-file="$work/munge.seed" ||
  skip 'Slurm of two hosts: munged does not start'
"$work/within" "$work/hosts" slurmctld -f "$SLURM_CONF"
for host in "${hosts[@]}"; do "$work/within" "$work/hosts.$host" nsenter --net="/run/netns/$tag$host" slurmd -f "$SLURM_CONF" -N "rack-$host"; done
for ((tries = 0; tries < 60; ++tries)); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break
  sleep 0.5
done
[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] || { tail -n 4 "$work"/slurm*.log; skip 'Slurm of two hosts, whose nodes do not come up here'; }

# --- ranks --------------------------------------------------------------------------------------------------------------------
srun=("$work/within" "$work/hosts" srun -Q --overcommit)
two_jobs 'srun on one host' "${srun[@]}" -N1 -n2
two_jobs 'srun --mpi=pmi2 on one host' "${srun[@]}" -N1 -n2 --mpi=pmi2
export ELBOWROOM_TOKEN=0123456789abcdef0123
two_jobs 'srun on two hosts' "${srun[@]}" -N2 -n2
job 'srun --mpi=pmi2 on two hosts' sgemm "${srun[@]}" -N2 -n2 --mpi=pmi2
printf 'rack-a02\nrack-a01\n' >"$work/order"
mapfile -t command < <(bench sgemm)
SLURM_HOSTFILE=$work/order "${srun[@]}" -n2 --distribution=arbitrary "${command[@]}" >"$work/out" 2>"$work/err"
grep -qF 'ELBOWROOM_HOST: not set, expected the host of rank 0 (SLURM_DISTRIBUTION is arbitrary)' "$work/err" || fail 'another order of hosts is not refused'
export SLURM_HOSTFILE=$work/order ELBOWROOM_HOST=rack-a02
job 'srun in an order of the user' sgemm "${srun[@]}" -n2 --distribution=arbitrary
unset SLURM_HOSTFILE ELBOWROOM_HOST ELBOWROOM_TOKEN
mapfile -t command < <(bench sgemm)
"${srun[@]}" -N2 -n2 "${command[@]}" >"$work/out" 2>"$work/err" && fail 'two hosts meet without a token'
grep -qF 'ELBOWROOM_TOKEN: not set, expected a token of all ranks' "$work/err" || fail 'two hosts without a token: no reason'

# --- a program that saves its state when it is asked to end -----------------------------------------------------------------------
cat >"$work/saving.py" <<'PROGRAM'
import signal, sys, time
asked = 0
def ask(number, frame):
    global asked
    asked += 1
    if asked > 1:
        sys.exit("asked again while it saves")
signal.signal(signal.SIGTERM, ask)
open(sys.argv[1] + ".begun", "w").close()
while not asked:
    time.sleep(0.01)
until = time.monotonic() + 0.5
while time.monotonic() < until:
    time.sleep(0.02)
open(sys.argv[1], "w").close()
PROGRAM
saved=0
for ((run = 0; run < runs; ++run)); do
  "${srun[@]}" -N1 -n1 -J saving "$ELBOWROOM_BIN" run --quiet -- python3 "$work/saving.py" "$work/saved.$run" >/dev/null 2>&1 &
  for ((tries = 0; tries < 500; ++tries)); do
    [ -e "$work/saved.$run.begun" ] && break
    sleep 0.02
  done
  scancel -n saving
  wait
  for ((tries = 0; tries < 100; ++tries)); do
    [ -e "$work/saved.$run" ] && break
    sleep 0.05
  done
  if [ -e "$work/saved.$run" ]; then saved=$((saved + 1)); fi
done
echo "$saved of $runs states saved at scancel"
[ "$saved" -eq "$runs" ] || fail 'a state is lost at scancel'
finish
