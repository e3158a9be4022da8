#!/usr/bin/env bash
# Open MPI 4.1.4 (Debian 12): two mpirun of one user that begin at once on one host make the same folder, $TMPDIR/ompi.HOST.UID. Where it is not
# there yet, now and then one of them ends with "A call to mkdir was unable to create the desired directory ... File exists" and starts no rank.
# The folder goes with the last job, so that every first pair of jobs meets this. OMPI_MCA_orte_tmpdir_base gives each job a folder of its own.
# Seen: 1 of 120 pairs, and 2 of 120 jobs of ours; with a folder each 0 of 120.
# Takes Open MPI as it is installed (apt-get install openmpi-bin); exit code 77: it is not there, or another version.
set -euo pipefail
command -v mpirun.openmpi >/dev/null || { echo 'skipped: mpirun.openmpi is not installed'; exit 77; }
version=$(mpirun.openmpi --version | sed -n 's/.*(\(OpenRTE\|Open MPI\)) //p' | head -1)
[[ $version == 4.1.4 ]] || { echo "skipped: Open MPI $version, expected 4.1.4"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp" "$work/first" "$work/second"
export TMPDIR=$work/tmp

# pair FOLDER FOLDER: whether one of two jobs ended in its mkdir.
pair() {
  OMPI_MCA_orte_tmpdir_base=$1 mpirun.openmpi -n 1 true >"$work/a" 2>&1 &
  OMPI_MCA_orte_tmpdir_base=$2 mpirun.openmpi -n 1 true >"$work/b" 2>&1 &
  wait
  grep -q 'File exists' "$work/a" "$work/b"
}

for ((apart = 0; apart < 120; ++apart)); do
  if pair "$work/first" "$work/second"; then echo "with a folder each a job ended in mkdir as well"; exit 1; fi
done
for ((pairs = 1; pairs <= 2000; ++pairs)); do
  if pair "$TMPDIR" "$TMPDIR"; then
    echo "pair $pairs of jobs in one folder: one of them ended with 'File exists'; 120 pairs with a folder each did not"
    exit 0
  fi
done
echo "none of 2000 pairs of jobs in one folder ended in mkdir"
exit 1
