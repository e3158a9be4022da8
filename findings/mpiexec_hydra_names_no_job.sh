#!/usr/bin/env bash
# MPICH 4.0.2 (Debian 12: mpich, libmpich12, hwloc's library): mpiexec.hydra sets nothing in the environment of its ranks that tells one job from
# another. PMI_RANK, PMI_SIZE, MPI_LOCALRANKID and MPI_LOCALNRANKS are those of any other job; PMI_FD and HYDI_CONTROL_FD are numbers of descriptors, and
# PMI_FD differs from rank to rank. Open MPI sets PMIX_NAMESPACE and Slurm SLURM_JOB_ID and SLURM_STEP_ID.
# What is equal on all ranks of a host and of no other job: the process that made the other end of PMI_FD, which SO_PEERCRED names. It is
# hydra_pmi_proxy, their common ancestor, also where a shell stands between.
#   seen: two jobs at once: environments equal but for rank and descriptors; peers of job A 16935 16935, of job B 16936 16936
set -euo pipefail
command -v apt-get >/dev/null && command -v python3 >/dev/null || { echo 'skipped: needs apt and python3'; exit 77; }
. /etc/os-release
[ "${ID}${VERSION_ID:-}" = debian12 ] || { echo "skipped: the packages are Debian 12's"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download mpich=4.0.2-3+b1 libmpich12=4.0.2-3+b1 libhwloc15=2.9.0-1 libslurm38 >/dev/null
for package in *.deb; do dpkg -x "$package" root; done
libraries=$(find root -name '*.so*' -printf '%h\n' | sort -u | sed "s|^|$work/|" | paste -sd:)
export LD_LIBRARY_PATH=$libraries PATH=$work/root/usr/bin:$PATH
cat >rank.py <<'PY'
import os, socket, struct, sys, time
job, rank = sys.argv[1], os.environ["PMI_RANK"]
pmi = socket.socket(fileno=os.dup(int(os.environ["PMI_FD"])))
peer = struct.unpack("3i", pmi.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
names = sorted(n for n in os.environ if n.startswith(("PMI", "MPI", "HYD")))
same = [f"{n}={os.environ[n]}" for n in names if n not in ("PMI_RANK", "PMI_FD", "HYDI_CONTROL_FD", "MPI_LOCALRANKID")]
open(f"{job}.{rank}", "w").write(f"{peer}\n{open(f'/proc/{peer}/comm').read()}{' '.join(same)}\n")
time.sleep(1)
PY
for job in a b; do timeout 60 mpiexec.hydra -n 2 bash -c "python3 rank.py $job; exit 0" & done
wait
head -v -n 3 a.0 a.1 b.0 b.1
[ "$(sed -n 1p a.0)" = "$(sed -n 1p a.1)" ] && [ "$(sed -n 1p b.0)" = "$(sed -n 1p b.1)" ] && [ "$(sed -n 1p a.0)" != "$(sed -n 1p b.0)" ]
[ "$(sed -n 2p a.0)" = hydra_pmi_proxy ]
[ "$(sed -n 3p a.0)" = "$(sed -n 3p b.0)" ] # nothing there tells the jobs apart
echo 'as described'
