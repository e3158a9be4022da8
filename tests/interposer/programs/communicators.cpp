#include <unistd.h>

#include <cstring>
#include <string>

#include "driver_program.hpp"
#include "fake_nccl.hpp"
#include "small_stack.hpp"

// Communicators made under the rules `symmetric_blocks 16` and `symmetric_copies on`: at least 16 blocks and the policy of copy
// engines (2), where the program leaves both open. What NCCL does by itself is 1 to 64 blocks and policy 0.

namespace {

const nccl::UniqueId kId{};

nccl::Config config_of(unsigned version) {
  nccl::Config config;
  std::memset(&config, 0x5a, sizeof config);  // what lies behind the program's configuration is not its
  for (int* field : {&config.blocking, &config.cluster_size, &config.min_ctas, &config.max_ctas, &config.cta_policy}) {
    *field = nccl::kConfigUndefined;
  }
  config.size = nccl::config_size(version);
  config.magic = nccl::kConfigMagic;
  config.version = version;
  return config;
}

bool made_with(nccl::Communicator communicator, int least, int most, int policy) {
  const nccl::Config& config = fake_communicator(communicator)->config;
  return config.min_ctas == least && config.max_ctas == most && config.cta_policy == policy;
}

nccl::Communicator made(nccl::Config* config, int ranks = 2) {
  nccl::Communicator communicator = nullptr;
  EXPECT(ncclCommInitRankConfig(&communicator, ranks, kId, 0, config) == 0);
  return communicator;
}

void init_rank() {
  nccl::Communicator communicator = nullptr;
  EXPECT(ncclCommInitRank(&communicator, 2, kId, 0) == 0);
  EXPECT(made_with(communicator, 16, 64, 2));
  EXPECT(made_with(made(nullptr), 16, 64, 2));
  nccl::UniqueId id{};
  EXPECT(ncclCommInitRankScalable(&communicator, 2, 0, 1, &id, nullptr) == 0 && made_with(communicator, 16, 64, 2));
  nccl::Communicator all[2] = {};
  EXPECT(ncclCommInitAll(all, 2, nullptr) == 0 && made_with(all[1], 1, 64, 0));
}

// The program's own object stays as it is.
void own_config() {
  nccl::Config config = config_of(22809);
  const nccl::Config before = config;
  EXPECT(made_with(made(&config), 16, 64, 2));
  EXPECT(std::memcmp(&config, &before, sizeof config) == 0);
}

void own_fields() {
  nccl::Config minimum = config_of(22809);
  minimum.min_ctas = 4;
  minimum.max_ctas = 8;
  EXPECT(made_with(made(&minimum), 4, 8, 2));
  nccl::Config policy = config_of(22809);
  policy.cta_policy = 1;
  EXPECT(made_with(made(&policy), 16, 64, 1));
}

// 2.14 knows `blocking` alone, though four bytes of padding follow; 2.18 has no policy.
void older_program() {
  nccl::Config blocking_only = config_of(21403);
  EXPECT(made_with(made(&blocking_only), 1, 64, 0) && fake_communicator(made(&blocking_only))->passed == &blocking_only);
  nccl::Config no_policy = config_of(21801);
  EXPECT(made_with(made(&no_policy), 16, 64, 0));
}

// Without kernels on symmetric memory there is nothing to set; 2.27 has these and no policy of copies, which it would refuse.
void older_library() {
  fake_nccl_version(22605);
  nccl::Communicator communicator = nullptr;
  EXPECT(ncclCommInitRank(&communicator, 2, kId, 0) == 0 && made_with(communicator, 1, 64, 0));
  nccl::Config config = config_of(22605);
  EXPECT(made_with(made(&config), 1, 64, 0));
  fake_nccl_version(22705);
  EXPECT(made_with(made(nullptr), 16, 64, 0));
}

// A child without a configuration inherits, also what its parent was given; with one it is made like any other.
void children() {
  nccl::Config parents = config_of(22809);
  parents.min_ctas = 2;
  parents.max_ctas = 2;
  nccl::Communicator child = nullptr;
  EXPECT(ncclCommSplit(made(&parents), 0, 0, &child, nullptr) == 0 && made_with(child, 2, 2, 2));
  EXPECT(fake_communicator(child)->passed == nullptr);
  nccl::Config own = config_of(22809);
  EXPECT(ncclCommSplit(made(&parents), 0, 0, &child, &own) == 0 && made_with(child, 16, 64, 2));
  int excluded = 1;
  EXPECT(ncclCommShrink(made(&parents), &excluded, 1, &child, &own, 0) == 0 && made_with(child, 16, 64, 2));
}

void one_rank() { EXPECT(made_with(made(nullptr, 1), 1, 64, 0)); }

// Built for a version with more fields than are known here: they stay.
void newer_program() {
  struct {
    nccl::Config known;
    int more[8];
  } config = {config_of(23007), {1, 2, 3, 4, 5, 6, 7, 8}};
  config.known.version = 23500;
  config.known.size = sizeof config;
  fake_nccl_version(23500);
  EXPECT(made_with(made(&config.known), 16, 64, 2));
}

// NCCL says what is wrong, as it would without us.
void unreadable() {
  nccl::Config config = config_of(22809);
  config.magic = 1;
  nccl::Communicator communicator = nullptr;
  EXPECT(ncclCommInitRankConfig(&communicator, 2, kId, 0, &config) == 4);
  EXPECT(fake_communicator(communicator)->passed == &config);
}

// A limit in the environment or in the file that NCCL reads is the user's word.
void environment() {
  setenv("NCCL_MAX_NCHANNELS", "4", 1);
  EXPECT(made_with(made(nullptr), 1, 64, 2));
  unsetenv("NCCL_MAX_NCHANNELS");
  setenv("NCCL_CONF_FILE", "/tmp/elbowroom-no-such-file", 1);
  EXPECT(made_with(made(nullptr), 16, 64, 2));
  char path[] = "/tmp/elbowroom-conf-XXXXXX";
  const int file = mkstemp(path);
  const char text[] = "# NCCL_MIN_CTAS=9\nNCCL_CTA_POLICY=0\nNCCL_MAX_CTAS=8";
  EXPECT(file >= 0 && write(file, text, sizeof text - 1) == sizeof text - 1);
  setenv("NCCL_CONF_FILE", path, 1);
  const bool kept = made_with(made(nullptr), 1, 64, 0);
  unlink(path);
  EXPECT(kept);
}

// No rule asks for anything: what the program passes is what NCCL gets.
void untouched() {
  nccl::Config config = config_of(22809);
  EXPECT(fake_communicator(made(&config))->passed == &config);
  EXPECT(fake_communicator(made(nullptr))->passed == nullptr);
}

// NCCL's own settings are looked for in its files.
void small_stack() {
  EXPECT(setenv("NCCL_CONF_FILE", "/dev/null", 1) == 0);
  on_small_stack(&init_rank);
}

constexpr Case kCases[] = {{"small_stack", small_stack}, {"init_rank", init_rank},         {"own_config", own_config},
                           {"own_fields", own_fields},   {"older_program", older_program}, {"older_library", older_library},
                           {"children", children},       {"one_rank", one_rank},           {"newer_program", newer_program},
                           {"unreadable", unreadable},   {"environment", environment},     {"untouched", untouched}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
