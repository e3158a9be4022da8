#include "ranks/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/most_ranks.hpp"
#include "base/text_hash.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::ranks {
namespace {

constexpr int kMostPort = 65'535;

std::optional<int> number_in(std::string_view text, int least, int most) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && rest == text.data() + text.size();
  return whole && number >= least && number <= most ? std::optional(number) : std::nullopt;
}

Error wrong(const char* name, std::string_view value, std::string_view expected) {
  return invalid_input(fmt::format("{}: '{}', expected {}", name, value, expected));
}

/// A number that is there and within its limits.
Result<int> required(const Lookup& lookup, const char* name, int below, const Launcher& launcher, int size) {
  const std::string expected = fmt::format("0 to {} ({} is {})", below - 1, launcher.size, size);
  const std::optional<std::string> value = lookup(name);
  if (!value) { return invalid_input(fmt::format("{}: not set, expected {}", name, expected)); }
  const std::optional<int> number = number_in(*value, 0, below - 1);
  return number ? Result<int>(*number) : wrong(name, *value, expected);
}

Result<int> local_rank(const Lookup& lookup, const Launcher& launcher, const Membership& membership) {
  if (!lookup(launcher.local_rank)) { return membership.rank; }
  return required(lookup, launcher.local_rank, membership.size, launcher, membership.size);
}

bool is_loopback(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

/// Whether all ranks are on one host: as the launcher says, or else as the host of rank 0 does.
bool all_here(const Lookup& lookup, const Launcher& launcher, int size) {
  if (const std::optional<std::string> own = lookup(kRankHost.name)) { return is_loopback(*own); }
  if (const auto local = launcher.local_size == nullptr ? std::nullopt : lookup(launcher.local_size)) {
    return number_in(*local, size, kMostRanks).has_value();
  }
  if (const auto hosts = launcher.hosts == nullptr ? std::nullopt : lookup(launcher.hosts)) { return *hosts == "1"; }
  const std::optional<std::string> host = launcher.host == nullptr ? std::nullopt : lookup(launcher.host);
  return !host || is_loopback(*host);
}

/// Empty where nothing that is set tells this job from another.
std::string job_of(const Lookup& lookup, const Launcher& launcher) {
  std::string job;
  const auto add = [&](const char* name) {
    const std::optional<std::string> value = name == nullptr ? std::nullopt : lookup(name);
    if (value) { job += fmt::format(" {}={}", name, *value); }
  };
  add(kJob.name);
  add(kRankPort.name);
  std::ranges::for_each(launcher.job, add);
  const bool by_hand = job.empty() && launcher.size == std::string_view(kRanks.name);
  return job.empty() && !by_hand ? job : fmt::format("{}{}", launcher.name, job);
}

/// Ranks in an order of the user's: nobody but rank 0 knows where it is.
Status check_placement(const Lookup& lookup, const Launcher& launcher, int rank) {
  const bool of_slurm = launcher.size == std::string_view("SLURM_STEP_NUM_TASKS");
  if (!of_slurm || lookup(kRankHost.name) || lookup("SLURM_STEP_NUM_NODES") == "1") { return {}; }
  const std::optional<std::string> order = lookup("SLURM_DISTRIBUTION");
  if (order && order->starts_with("arbitrary")) {
    return invalid_input(
        fmt::format("{}: not set, expected the host of rank 0 (SLURM_DISTRIBUTION is {})", kRankHost.name, *order));
  }
  const std::optional<std::string> node = lookup("SLURM_NODEID");
  if (rank != 0 || !node || *node == "0") { return {}; }
  return invalid_input(fmt::format("{}: not set, expected the host of rank 0 (SLURM_NODEID is {}: it is not the first of {})",
                                   kRankHost.name, *node, launcher.host));
}

/// Where the launcher says that all processes are on one host, or says nothing, rank 0 is on this one.
Result<std::string> unsaid_host(const Lookup& lookup, const Launcher& launcher, int size) {
  const std::optional<std::string> local = launcher.local_size == nullptr ? std::nullopt : lookup(launcher.local_size);
  if (!local || number_in(*local, size, kMostRanks)) { return std::string(kLoopback); }
  return invalid_input(fmt::format("{}: not set, expected the host of rank 0 ({} is {}, {} is {}, and {} does not say it)",
                                   kRankHost.name, launcher.size, size, launcher.local_size, *local, launcher.name));
}

Result<std::string> host_of(const Lookup& lookup, const Launcher& launcher, int size) {
  if (std::optional<std::string> own = lookup(kRankHost.name)) { return *std::move(own); }
  if (launcher.host == nullptr) { return unsaid_host(lookup, launcher, size); }
  std::optional<std::string> said = lookup(launcher.host);
  if (!said) { return unsaid_host(lookup, launcher, size); }
  std::optional<std::string> first = first_host(*said);
  return first ? Result<std::string>(*std::move(first)) : wrong(launcher.host, *said, "the name of a host or a list of them");
}

Result<int> port_of(const Lookup& lookup, const Launcher& launcher) {
  const bool own = lookup(kRankPort.name).has_value();
  const char* const name = own ? kRankPort.name : launcher.port;
  const std::optional<std::string> said = name == nullptr ? std::nullopt : lookup(name);
  if (!said) { return kDefaultPort; }
  const int beside = own ? 0 : launcher.port_beside;
  const std::optional<int> port = number_in(*said, 1, kMostPort - beside);
  return port ? Result<int>(*port + beside) : wrong(name, *said, fmt::format("1 to {}", kMostPort - beside));
}

/// `srun --mpi=pmi2` sets the variables of MPICH's ranks and neither of those that tell about a host.
bool is_slurms(const Lookup& lookup, const Launcher& launcher) {
  const bool of_mpich = launcher.size == std::string_view("PMI_SIZE");
  return of_mpich && !lookup(launcher.local_size) && lookup("SLURM_STEP_NUM_TASKS") == lookup("PMI_SIZE") &&
         lookup("SLURM_PROCID") == lookup("PMI_RANK");
}

/// Two jobs whose first hosts are one seldom have one port.
int port_of_job(const std::string& job) {
  constexpr std::uint64_t ports = 512;
  return job.empty() ? kDefaultPort : kDefaultPort + static_cast<int>(detail::hash_of(job) % ports);
}

struct LaunchedRank {
  const Launcher* launcher = nullptr;
  int rank = 0;
  int size = 1;
};

/// By the nearest launcher; absent where none has set anything.
Result<std::optional<LaunchedRank>> own_rank(const Lookup& lookup) {
  for (const Launcher& launcher : launchers()) {
    const std::optional<std::string> ranks = lookup(launcher.size);
    if (!ranks || is_slurms(lookup, launcher)) { continue; }
    const std::optional<int> size = number_in(*ranks, 1, kMostRanks);
    if (!size) { return wrong(launcher.size, *ranks, fmt::format("1 to {} ranks", kMostRanks)); }
    const Result<int> rank = required(lookup, launcher.rank, *size, launcher, *size);
    if (!rank) { return rank.error(); }
    return std::optional(LaunchedRank{&launcher, *rank, *size});
  }
  return std::optional<LaunchedRank>();
}

/// Our own variables are nobody else's: one alone is a mistake.
Status check_own(const Lookup& lookup) {
  if (!lookup(kRank.name) || lookup(kRanks.name)) { return {}; }
  return invalid_input(
      fmt::format("{}: not set, expected the number of ranks ({} is {})", kRanks.name, kRank.name, *lookup(kRank.name)));
}

}  // namespace

std::span<const Launcher> launchers() {
  static constexpr std::array all{
      Launcher{"elbowroom launch", kRanks.name, kRank.name, kLocalRank.name, nullptr, kRankHost.name, kRankPort.name},
      // The store that torchrun's own processes meet at listens at MASTER_PORT.
      Launcher{"torchrun",
               "WORLD_SIZE",
               "RANK",
               "LOCAL_RANK",
               "LOCAL_WORLD_SIZE",
               "MASTER_ADDR",
               "MASTER_PORT",
               1,
               nullptr,
               {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}},
      Launcher{"mpirun (Open MPI)",
               "OMPI_COMM_WORLD_SIZE",
               "OMPI_COMM_WORLD_RANK",
               "OMPI_COMM_WORLD_LOCAL_RANK",
               "OMPI_COMM_WORLD_LOCAL_SIZE",
               nullptr,
               nullptr,
               0,
               nullptr,
               {"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports"}},
      Launcher{"mpirun (MPICH)",
               "PMI_SIZE",
               "PMI_RANK",
               "MPI_LOCALRANKID",
               "MPI_LOCALNRANKS",
               nullptr,
               nullptr,
               0,
               nullptr,
               {"PMI_JOBID"},
               "hydra_pmi_proxy"},
      // SLURM_NTASKS is set in a batch script as well, which runs once.
      Launcher{"srun",
               "SLURM_STEP_NUM_TASKS",
               "SLURM_PROCID",
               "SLURM_LOCALID",
               nullptr,
               "SLURM_STEP_NODELIST",
               nullptr,
               0,
               "SLURM_STEP_NUM_NODES",
               {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
  };
  return all;
}

Result<std::optional<Membership>> membership_of(const Lookup& lookup) {
  if (Status good = check_own(lookup); !good) { return good.error(); }
  const Result<std::optional<LaunchedRank>> own = own_rank(lookup);
  if (!own) { return own.error(); }
  if (!*own || (*own)->size == 1) { return std::optional<Membership>(); }
  const auto& [launcher, rank, size] = **own;
  if (Status placed = check_placement(lookup, *launcher, rank); !placed) { return placed.error(); }
  Membership membership{launcher->name, rank, size, 0, "", kDefaultPort};
  const Result<int> local = local_rank(lookup, *launcher, membership);
  if (!local) { return local.error(); }
  Result<std::string> host = host_of(lookup, *launcher, size);
  if (!host) { return host.error(); }
  const Result<int> port = port_of(lookup, *launcher);
  if (!port) { return port.error(); }
  membership.local_rank = *local;
  membership.host = *std::move(host);
  membership.port = *port;
  membership.here = all_here(lookup, *launcher, size);
  membership.named = lookup(kRankHost.name) || lookup(kRankPort.name);
  membership.job = job_of(lookup, *launcher);
  membership.process_of_host = launcher->process_of_host;
  const bool port_said = lookup(kRankPort.name) || (launcher->port != nullptr && lookup(launcher->port));
  if (!port_said && !membership.here && !membership.named) { membership.port = port_of_job(membership.job); }
  return std::optional(std::move(membership));
}

bool speaks_for_all(const Lookup& lookup) {
  const Result<std::optional<LaunchedRank>> own = own_rank(lookup);
  if (!own || !*own || (*own)->rank == 0) { return true; }
  // In a cluster's pods WORLD_SIZE and RANK may be those of the pod, in which torchrun then starts ranks. It alone sets LOCAL_RANK.
  const Launcher& launcher = *(*own)->launcher;
  return launcher.size == std::string_view("WORLD_SIZE") && !lookup(launcher.local_rank);
}

std::optional<std::string> first_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      const std::string_view part = list.substr(0, list.find_first_of("[],"));
      if (part.empty()) { return std::nullopt; }
      host += part;
      list.remove_prefix(part.size());
      continue;
    }
    const std::size_t end = list.find(']');
    const std::string_view first = list.substr(1, list.find_first_of("-,]", 1) - 1);
    if (end == std::string_view::npos || first.empty()) { return std::nullopt; }
    host += first;
    list.remove_prefix(end + 1);
  }
  return host.empty() ? std::nullopt : std::optional(host);
}

}  // namespace elbowroom::ranks
