#!/usr/bin/env bash
# mpirun of Open MPI starts the ranks.
. "$(dirname "$0")/checks.bash" || exit
command -v mpirun.openmpi >/dev/null || skip 'mpirun of Open MPI, which is not installed'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
two_jobs 'mpirun of Open MPI' mpirun.openmpi -n 2
two_jobs 'mpirun of Open MPI through a shell' mpirun.openmpi -n 3 bash -c '"$@"' bash
ELBOWROOM_TOKEN=0123456789abcdef0123 two_jobs 'mpirun of Open MPI with a token' mpirun.openmpi -n 2
finish
