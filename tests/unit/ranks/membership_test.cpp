#include "ranks/membership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace elbowroom::ranks {
namespace {

using Environment = std::map<std::string, std::string>;

Lookup variables_of(const Environment& environment) {
  return [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
}

Result<std::optional<Membership>> membership_in(const Environment& environment) { return membership_of(variables_of(environment)); }

std::string complaint_of(const Environment& environment) {
  const auto membership = membership_in(environment);
  return membership ? "no complaint" : membership.error().message;
}

TEST(Membership, IsAbsentForAProcessOfItsOwn) {
  EXPECT_EQ(*membership_in({}), std::nullopt);
  EXPECT_EQ(*membership_in({{"RANK", "3"}, {"MASTER_ADDR", "node1"}}), std::nullopt);  // a variable of somebody's shell
  EXPECT_EQ(*membership_in({{"WORLD_SIZE", "1"}, {"RANK", "0"}}), std::nullopt);
  // A batch script of Slurm runs once, whatever number of tasks was asked for.
  EXPECT_EQ(*membership_in({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}), std::nullopt);
}

TEST(Membership, IsWhatEachLauncherSays) {
  const std::map<std::string, std::pair<Environment, Membership>> cases = {
      {"own",
       {{{"ELBOWROOM_RANKS", "4"},
         {"ELBOWROOM_RANK", "3"},
         {"ELBOWROOM_LOCAL_RANK", "1"},
         {"ELBOWROOM_HOST", "node1"},
         {"ELBOWROOM_PORT", "5"}},
        {"elbowroom launch", 3, 4, 1, "node1", 5, false, true, "elbowroom launch ELBOWROOM_PORT=5"}}},
      // The store of torchrun itself listens at MASTER_PORT.
      {"torchrun",
       {{{"WORLD_SIZE", "4"}, {"RANK", "2"}, {"LOCAL_RANK", "0"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}},
        {"torchrun", 2, 4, 0, "node1", 29'501, false, false, "torchrun MASTER_ADDR=node1 MASTER_PORT=29500"}}},
      {"Open MPI",
       {{{"OMPI_COMM_WORLD_SIZE", "2"},
         {"OMPI_COMM_WORLD_RANK", "1"},
         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
         {"PMIX_NAMESPACE", "75497473"}},
        {"mpirun (Open MPI)", 1, 2, 1, "127.0.0.1", kDefaultPort, true, false, "mpirun (Open MPI) PMIX_NAMESPACE=75497473"}}},
      {"MPICH",
       {{{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"MPI_LOCALRANKID", "0"}, {"ELBOWROOM_HOST", "node7"}},
        {"mpirun (MPICH)", 1, 2, 0, "node7", kDefaultPort, false, true, "", "hydra_pmi_proxy"}}},
      {"srun",
       {{{"SLURM_STEP_NUM_TASKS", "16"}, {"SLURM_PROCID", "9"}, {"SLURM_LOCALID", "1"}, {"SLURM_STEP_NODELIST", "node[07-08]"}},
        {"srun", 9, 16, 1, "node07", kDefaultPort, false, false, ""}}},
  };
  for (const auto& [name, one] : cases) {
    const auto membership = membership_in(one.first);
    ASSERT_TRUE(membership) << name << ": " << membership.error().message;
    EXPECT_EQ(*membership, one.second) << name;
  }
}

TEST(Membership, IsThatOfTheNearestLauncher) {
  Environment both{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"WORLD_SIZE", "8"}, {"RANK", "5"}};
  EXPECT_EQ((**membership_in(both)).launcher, "torchrun");
  EXPECT_EQ((**membership_in(both)).rank, 5);
  both.insert({{"ELBOWROOM_RANKS", "2"}, {"ELBOWROOM_RANK", "0"}});
  EXPECT_EQ((**membership_in(both)).launcher, "elbowroom launch");
}

/// As srun of Slurm 22.05 sets them for two tasks.
Environment of_srun(const Environment& more) {
  Environment environment{
      {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"},  {"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_NODES", "2"},
      {"SLURM_JOB_ID", "7"},         {"SLURM_STEP_ID", "3"}, {"SLURM_NODEID", "1"},  {"SLURM_STEP_NODELIST", "rack-a[01-02]"}};
  for (const auto& [name, value] : more) { environment[name] = value; }
  return environment;
}

TEST(Membership, IsOfOneHostWhereTheLauncherSaysSo) {
  const auto here = [](const Environment& environment) { return (**membership_in(environment)).here; };
  const Environment torchrun{{"WORLD_SIZE", "2"},         {"RANK", "1"},       {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "rack-a01"}, {"MASTER_PORT", "1"}};
  EXPECT_TRUE(here(torchrun)) << "whatever the host is called";
  Environment two_hosts = torchrun;
  two_hosts["LOCAL_WORLD_SIZE"] = "1";
  EXPECT_FALSE(here(two_hosts));
  EXPECT_FALSE(here(of_srun({})));
  EXPECT_TRUE(here(of_srun({{"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_STEP_NODELIST", "rack-a01"}})));
  EXPECT_FALSE(here(of_srun({{"SLURM_STEP_NUM_NODES", "1"}, {"ELBOWROOM_HOST", "rack-a02"}})));
}

TEST(Membership, JobsOfALauncherDiffer) {
  const auto job = [](const Environment& environment) { return (**membership_in(environment)).job; };
  EXPECT_EQ(job(of_srun({})), "srun SLURM_JOB_ID=7 SLURM_STEP_ID=3");
  EXPECT_NE(job(of_srun({})), job(of_srun({{"SLURM_STEP_ID", "4"}})));
  EXPECT_NE(job(of_srun({})), job(of_srun({{"ELBOWROOM_JOB", "x"}})));
  EXPECT_EQ(job({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}, {"MPI_LOCALNRANKS", "2"}}), "") << "only its process tells";
}

TEST(Membership, JobsOfSeveralHostsHavePortsOfTheirOwn) {
  const auto port = [](const Environment& environment) { return (**membership_in(environment)).port; };
  EXPECT_NE(port(of_srun({})), port(of_srun({{"SLURM_STEP_ID", "4"}})));
  EXPECT_GE(port(of_srun({})), kDefaultPort);
  EXPECT_LT(port(of_srun({})), kDefaultPort + 512);
  EXPECT_EQ(port(of_srun({{"ELBOWROOM_PORT", "77"}})), 77);
}

TEST(Membership, SrunWithPmi2IsSlurms) {
  const Environment pmi2 = of_srun({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"PMI_JOBID", "7.3"}});
  EXPECT_EQ((**membership_in(pmi2)).launcher, "srun");
  EXPECT_EQ((**membership_in(pmi2)).host, "rack-a01");
  // mpiexec of MPICH starts its proxies by srun, and its ranks have srun's variables as well.
  Environment mpich = of_srun({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}});
  EXPECT_EQ((**membership_in(mpich)).launcher, "mpirun (MPICH)");
}

TEST(Membership, RanksInAnotherOrderThanTheirHostsAreRefused) {
  EXPECT_EQ(complaint_of(of_srun({{"SLURM_DISTRIBUTION", "arbitrary"}})),
            "ELBOWROOM_HOST: not set, expected the host of rank 0 (SLURM_DISTRIBUTION is arbitrary)");
  EXPECT_EQ(complaint_of(of_srun({{"SLURM_PROCID", "0"}})),
            "ELBOWROOM_HOST: not set, expected the host of rank 0 (SLURM_NODEID is 1: it is not the first of SLURM_STEP_NODELIST)");
  EXPECT_EQ(complaint_of(of_srun({{"SLURM_DISTRIBUTION", "arbitrary"}, {"ELBOWROOM_HOST", "rack-a02"}})), "no complaint");
  EXPECT_EQ(complaint_of(of_srun({{"SLURM_DISTRIBUTION", "cyclic"}})), "no complaint");
}

TEST(Membership, OwnVariablesSayWhereRankZeroIs) {
  const Environment torchrun{{"WORLD_SIZE", "4"},      {"RANK", "2"},
                             {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"},
                             {"ELBOWROOM_PORT", "99"}, {"ELBOWROOM_HOST", "node2"}};
  EXPECT_EQ((**membership_in(torchrun)).host, "node2");
  EXPECT_EQ((**membership_in(torchrun)).port, 99);
  EXPECT_EQ((**membership_in(torchrun)).local_rank, 2);  // LOCAL_RANK is not set: one host
}

TEST(Membership, ComplaintsNameVariableValueAndWhatWasExpected) {
  const std::map<std::string, Environment> cases = {
      {"ELBOWROOM_RANKS: 'two', expected 1 to 4096 ranks", {{"ELBOWROOM_RANKS", "two"}}},
      {"WORLD_SIZE: '4097', expected 1 to 4096 ranks", {{"WORLD_SIZE", "4097"}, {"RANK", "0"}}},
      {"WORLD_SIZE: '0', expected 1 to 4096 ranks", {{"WORLD_SIZE", "0"}, {"RANK", "0"}}},
      {"RANK: not set, expected 0 to 1 (WORLD_SIZE is 2)", {{"WORLD_SIZE", "2"}}},
      {"RANK: '2', expected 0 to 1 (WORLD_SIZE is 2)", {{"WORLD_SIZE", "2"}, {"RANK", "2"}}},
      {"RANK: '1x', expected 0 to 1 (WORLD_SIZE is 2)", {{"WORLD_SIZE", "2"}, {"RANK", "1x"}}},
      {"PMI_RANK: '-1', expected 0 to 1 (PMI_SIZE is 2)", {{"PMI_SIZE", "2"}, {"PMI_RANK", "-1"}}},
      {"LOCAL_RANK: '2', expected 0 to 1 (WORLD_SIZE is 2)", {{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"LOCAL_RANK", "2"}}},
      {"ELBOWROOM_RANKS: not set, expected the number of ranks (ELBOWROOM_RANK is 1)", {{"ELBOWROOM_RANK", "1"}}},
      {"ELBOWROOM_PORT: '65536', expected 1 to 65535", {{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"ELBOWROOM_PORT", "65536"}}},
      {"MASTER_PORT: '65535', expected 1 to 65534", {{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_PORT", "65535"}}},
      {"SLURM_STEP_NODELIST: '[', expected the name of a host or a list of them",
       {{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NODELIST", "["}}},
      {"ELBOWROOM_HOST: not set, expected the host of rank 0 (OMPI_COMM_WORLD_SIZE is 8, OMPI_COMM_WORLD_LOCAL_SIZE is 4, and "
       "mpirun "
       "(Open MPI) does not say it)",
       {{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "7"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}},
  };
  for (const auto& [complaint, environment] : cases) { EXPECT_EQ(complaint_of(environment), complaint); }
}

TEST(Membership, RankZeroAndWhoIsNoOtherRankSpeak) {
  const auto speaks = [](const Environment& environment) { return speaks_for_all(variables_of(environment)); };
  EXPECT_TRUE(speaks({}));
  EXPECT_TRUE(speaks({{"RANK", "3"}}));  // a variable of somebody's shell
  EXPECT_TRUE(speaks({{"WORLD_SIZE", "1"}, {"RANK", "0"}}));
  EXPECT_TRUE(speaks({{"WORLD_SIZE", "2"}, {"RANK", "0"}}));
  EXPECT_FALSE(speaks({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"LOCAL_RANK", "0"}}));
  EXPECT_TRUE(speaks({{"WORLD_SIZE", "2"}, {"RANK", "1"}}));  // of a pod, not of a process
  EXPECT_FALSE(speaks({{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_STEP_NODELIST", "["}}));
  // Where rank 0 is does not matter here.
  EXPECT_FALSE(speaks({{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "7"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}));
  // What cannot be is no rank.
  EXPECT_TRUE(speaks({{"WORLD_SIZE", "2"}, {"RANK", "2"}}));
  EXPECT_TRUE(speaks({{"WORLD_SIZE", "2"}}));
  EXPECT_TRUE(speaks({{"ELBOWROOM_RANKS", "two"}, {"ELBOWROOM_RANK", "1"}}));
  // The nearest launcher counts.
  EXPECT_TRUE(speaks({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "3"}}));
}

TEST(FirstHost, IsTheFirstOfSlurmsList) {
  EXPECT_EQ(first_host("node1"), "node1");
  EXPECT_EQ(first_host("node1,node2"), "node1");
  EXPECT_EQ(first_host("node[03-05,7],gpu1"), "node03");
  EXPECT_EQ(first_host("node[7,9]"), "node7");
  EXPECT_EQ(first_host("rack[1-2]-[10-12].site"), "rack1-10.site");
  for (const char* none : {"", ",node1", "node[", "node[]", "node]", "node[1", "node[-3]"}) {
    EXPECT_EQ(first_host(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace elbowroom::ranks
