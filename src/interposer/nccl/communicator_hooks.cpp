#include <algorithm>
#include <cstddef>
#include <cstring>

#include "interposer/nccl/config_abi.hpp"
#include "interposer/nccl/environment.hpp"
#include "interposer/nccl/functions.hpp"
#include "interposer/nccl/library_version.hpp"
#include "interposer/nccl/ranks.hpp"
#include "interposer/nccl/state.hpp"
#include "interposer/process/routes.hpp"

// What a communicator is made with is written into a copy of the program's configuration, or into a new one where it passes none.
// NCCL reads it before the call returns.

namespace elbowroom::interposer::nccl {
using namespace process;
namespace {

// Past its hook.
auto init_rank_config() {
  static constinit LibraryFunctions<1> functions(HookedLibrary::kNccl, {"ncclCommInitRankConfig"});
  return functions.get<decltype(&ncclCommInitRankConfig)>(0);
}

// Maxima count as well: NCCL duplicates rings up to the minimum of the configuration after it has applied them.
bool environment_sets_blocks() { return sets_blocks() || any_set({"NCCL_SYM_CTAS"}); }
bool environment_sets_policy() { return any_set({"NCCL_CTA_POLICY", "NCCL_ENV_PLUGIN"}); }

// A version without symmetric kernels has no use for any of it, and one without that policy refuses to make the communicator.
CommunicatorSettingSet known_to(unsigned library) {
  if (library < kPolicySince) { return 0; }
  return library < kCopiesSince ? kMinBlocks | kMaxBlocks : kMinBlocks | kMaxBlocks | kCtaPolicy;
}

// NCCL puts its defaults into fields that are newer than the version for which the program was built.
CommunicatorSettingSet fields_in(const Config& config) {
  CommunicatorSettingSet fields = 0;
  if (config.version >= kBlocksSince && config.size >= offsetof(Config, max_ctas) + sizeof(int)) {
    fields |= kMinBlocks | kMaxBlocks;
  }
  if (config.version >= kPolicySince && config.size >= offsetof(Config, cta_policy) + sizeof(int)) { fields |= kCtaPolicy; }
  return fields;
}

CommunicatorSettingSet fields_set(const Config& config, CommunicatorSettingSet present) {
  CommunicatorSettingSet fields = 0;
  if (config.min_ctas != kConfigUndefined) { fields |= kMinBlocks; }
  if (config.max_ctas != kConfigUndefined) { fields |= kMaxBlocks; }
  if (config.cta_policy != kConfigUndefined) { fields |= kCtaPolicy; }
  return fields & present;
}

// As NCCL_CONFIG_INITIALIZER of that library, or of the newest that is known here.
Config initial_config(unsigned library) {
  Config config;
  std::memset(&config, 0, sizeof config);
  config.magic = kConfigMagic;
  config.version = std::min(library, kConfigNewest);
  config.size = config_size(config.version);
  for (int* field : {&config.blocking, &config.cluster_size, &config.min_ctas, &config.max_ctas, &config.split_share,
                     &config.traffic_class, &config.collnet_enable, &config.cta_policy, &config.shrink_share, &config.nvls_ctas,
                     &config.channels_per_net_peer, &config.nvlink_centric_sched, &config.graph_usage_mode, &config.num_rma_ctx,
                     &config.max_p2p_peers, &config.graph_stream_ordering}) {
    *field = kConfigUndefined;
  }
  return config;
}

void write(const CommunicatorSettings& settings, Config& config) {
  if ((settings.fields & kMinBlocks) != 0) { config.min_ctas = settings.min_blocks; }
  if ((settings.fields & kMaxBlocks) != 0) { config.max_ctas = settings.max_blocks; }
  if ((settings.fields & kCtaPolicy) != 0) { config.cta_policy = settings.cta_policy; }
}

/// The configuration of one communicator that is being made.
class Making {
 public:
  /// `refusal`: why nothing can be passed to it.
  template <auto Ours>
  Making(const CallTarget<Ours>& target, const char* call, int ranks, Config* asked,
         SettingsRefusal refusal = SettingsRefusal::none)
      : passed_(asked), made_{call, ranks, {}} {
    made_.settings.refusal = refusal;
    if (!target.followed()) {
      made_.settings.refusal = SettingsRefusal::unreadable;
    } else if (!rules().sets_communicators()) {
      made_.settings.refusal = SettingsRefusal::nothing_asked;
    } else if (refusal == SettingsRefusal::none) {
      decide(library_version(), asked);
    }
  }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  [[nodiscard]] Config* passed() const { return passed_; }
  [[nodiscard]] bool changes() const { return made_.settings.fields != 0; }
  /// In a group or of a communicator that does not block the making has only begun; what goes wrong then is the program's to see.
  int done(int result, const Communicator* made, std::uint64_t name) const {
    if (result != 0 && result != kInProgress) { return result; }
    state().communicators.add(made_);
    if (made != nullptr && made_.ranks != 1) { meet(*made, name); }
    return result;
  }

 private:
  static constexpr int kInProgress = 7;
  static constexpr std::size_t kLeastConfig = 16;

  void decide(unsigned library, const Config* asked) {
    if (asked == nullptr) {
      ours_.config = initial_config(library);
    } else if (asked->magic == kConfigMagic && asked->size >= kLeastConfig && asked->size <= sizeof ours_) {
      std::memcpy(&ours_, asked, asked->size);
    } else {
      made_.settings.refusal = SettingsRefusal::unreadable;
      return;
    }
    CommunicatorFacts facts;
    facts.ranks = made_.ranks;
    facts.known_to_library = known_to(library);
    facts.in_configuration = fields_in(ours_.config);
    facts.set_by_program = fields_set(ours_.config, facts.in_configuration);
    facts.own_blocks = environment_sets_blocks();
    facts.own_policy = environment_sets_policy();
    made_.settings = settings_for(rules(), facts);
    if (made_.settings.fields == 0) { return; }
    write(made_.settings, ours_.config);
    passed_ = &ours_.config;
  }

  // A newer NCCL's configuration begins like this one.
  union Ours {
    Config config;
    std::array<std::byte, 512> room;
  };

  Ours ours_{};
  Config* passed_;
  MadeCommunicator made_;
};

// A child without a configuration gets its parent's, and with it what the parent was given.
SettingsRefusal without(const Config* config) { return config == nullptr ? SettingsRefusal::inherited : SettingsRefusal::none; }

}  // namespace
}  // namespace elbowroom::interposer::nccl

using namespace elbowroom::interposer;
using namespace elbowroom::interposer::nccl;
using process::CallTarget;

// Without a configuration both functions do the same.
int ncclCommInitRank(nccl::Communicator* made, int ranks, nccl::UniqueId id, int rank) {
  const CallTarget<&ncclCommInitRank> target(__builtin_return_address(0));
  const Making making(target, "ncclCommInitRank", ranks, nullptr);
  const int result = making.changes() ? init_rank_config()(made, ranks, id, rank, making.passed()) : target(made, ranks, id, rank);
  return making.done(result, made, name_of({&id, 1}));
}

int ncclCommInitRankConfig(nccl::Communicator* made, int ranks, nccl::UniqueId id, int rank, nccl::Config* config) {
  const CallTarget<&ncclCommInitRankConfig> target(__builtin_return_address(0));
  const Making making(target, "ncclCommInitRankConfig", ranks, config);
  return making.done(target(made, ranks, id, rank, making.passed()), made, name_of({&id, 1}));
}

int ncclCommInitRankScalable(nccl::Communicator* made, int ranks, int rank, int id_count, nccl::UniqueId* ids,
                             nccl::Config* config) {
  const CallTarget<&ncclCommInitRankScalable> target(__builtin_return_address(0));
  const Making making(target, "ncclCommInitRankScalable", ranks, config);
  const std::size_t count = ids == nullptr || id_count < 0 ? 0 : static_cast<std::size_t>(id_count);
  return making.done(target(made, ranks, rank, id_count, ids, making.passed()), made, name_of({ids, count}));
}

int ncclCommInitAll(nccl::Communicator* made, int devices, const int* list) {
  const CallTarget<&ncclCommInitAll> target(__builtin_return_address(0));
  const Making making(target, "ncclCommInitAll", devices, nullptr, SettingsRefusal::no_configuration);
  return making.done(target(made, devices, list), nullptr, 0);
}

int ncclCommSplit(nccl::Communicator parent, int color, int key, nccl::Communicator* made, nccl::Config* config) {
  const CallTarget<&ncclCommSplit> target(__builtin_return_address(0));
  const Making making(target, "ncclCommSplit", 0, config, without(config));
  const std::uint64_t name = name_of_child(parent, color);
  return making.done(target(parent, color, key, made, making.passed()), made, name);
}

int ncclCommShrink(nccl::Communicator parent, int* excluded, int excluded_count, nccl::Communicator* made, nccl::Config* config,
                   int flags) {
  const CallTarget<&ncclCommShrink> target(__builtin_return_address(0));
  const Making making(target, "ncclCommShrink", 0, config, without(config));
  const std::uint64_t name = name_of_child(parent, 0);
  return making.done(target(parent, excluded, excluded_count, made, making.passed(), flags), made, name);
}

// A rank that joins has no parent, so that the ranks know no name in common.
int ncclCommGrow(nccl::Communicator parent, int ranks, const nccl::UniqueId* id, int rank, nccl::Communicator* made,
                 nccl::Config* config) {
  const CallTarget<&ncclCommGrow> target(__builtin_return_address(0));
  const Making making(target, "ncclCommGrow", ranks, config, parent == nullptr ? SettingsRefusal::none : without(config));
  return making.done(target(parent, ranks, id, rank, made, making.passed()), made, 0);
}
