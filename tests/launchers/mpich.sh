#!/usr/bin/env bash
# mpiexec of MPICH (Hydra) starts the ranks, and says nothing of its job: its proxy is found among the ancestors.
. "$(dirname "$0")/checks.bash" || exit
command -v mpiexec.hydra >/dev/null || skip 'mpiexec of MPICH, which is not installed'
two_jobs 'mpiexec of MPICH' mpiexec.hydra -n 2
two_jobs 'mpiexec of MPICH through a shell' mpiexec.hydra -n 3 bash -c '"$@"' bash
ELBOWROOM_TOKEN=0123456789abcdef0123 two_jobs 'mpiexec of MPICH with a token' mpiexec.hydra -n 2
finish
