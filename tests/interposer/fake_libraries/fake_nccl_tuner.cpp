#include <dlfcn.h>
#include <strings.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_nccl.hpp"
#include "interposer/nccl/tuner_abi.hpp"

// A tuner plugin as NCCL 2.20 to 2.30 loads and asks it. The table has Ring/Simple (1,2) as the cheapest of what is possible; NVLS
// (4) and CollNet (2, 3) are not.

namespace {

using namespace nccl;

constexpr int kAlgorithms = 7;
constexpr int kProtocols = 3;
using Costs = std::array<std::array<float, kProtocols>, kAlgorithms>;

int version = 0;
void* plugin = nullptr;

template <class Tuner>
Tuner& as() {
  return *static_cast<Tuner*>(plugin);
}

void* open_tuner(const char* name) {
  const char* first = name == nullptr || *name == '\0' ? "libnccl-tuner.so" : name;
  if (void* found = dlopen(first, RTLD_NOW | RTLD_LOCAL); found != nullptr) { return found; }
  std::array<char, 255> file;
  std::snprintf(file.data(), file.size(), "libnccl-tuner-%s.so", first);
  return name != nullptr && std::strchr(name, '/') == nullptr ? dlopen(file.data(), RTLD_NOW | RTLD_LOCAL) : nullptr;
}

Costs costs() {
  Costs table;
  for (auto& row : table) { row.fill(-1.0F); }
  table[0] = {90.0F, 80.0F, 70.0F};
  table[1] = {60.0F, 50.0F, 40.0F};
  return table;
}

void say(int level, unsigned long, const char*, int, const char* format, ...) {
  if (std::getenv("FAKE_NCCL_DEBUG") != nullptr) { std::fprintf(stderr, "%d: %s\n", level, format); }
}

}  // namespace

int fake_nccl_load_tuner(int newest) {
  version = 0;
  const char* name = std::getenv("NCCL_TUNER_PLUGIN");
  if (name != nullptr && strcasecmp(name, "none") == 0) { return 0; }
  void* library = open_tuner(name);
  for (int candidate = newest; library != nullptr && candidate >= 2; --candidate) {
    std::array<char, 32> symbol;
    std::snprintf(symbol.data(), symbol.size(), "ncclTunerPlugin_v%d", candidate);
    plugin = dlsym(library, symbol.data());
    if (plugin != nullptr) { return version = candidate; }
  }
  return 0;
}

nccl::Communicator fake_tuned_communicator(unsigned long long id, int ranks, int nodes) {
  auto* communicator = new FakeCommunicator{{}, nullptr, ranks, nullptr, id};
  const auto rank_count = static_cast<std::size_t>(ranks);
  const auto node_count = static_cast<std::size_t>(nodes);
  void** context = &communicator->tuner;
  int result = 0;
  if (version == 2) { result = as<TunerV2>().init(rank_count, node_count, &say, context); }
  if (version == 3) { result = as<TunerV3>().init(rank_count, node_count, &say, context); }
  if (version == 4) { result = as<TunerV4>().init(rank_count, node_count, &say, context); }
  if (version == 5) { result = as<TunerV5>().init(context, id, rank_count, node_count, &say, nullptr, nullptr); }
  if (version == 6) { result = as<TunerV6>().init(context, id, rank_count, node_count, &say, nullptr, nullptr); }
  const auto handle = reinterpret_cast<nccl::Communicator>(communicator);
  if (result == 0) { return handle; }
  fake_end_tuned(handle);  // as NCCL does, with the context as it was left
  return nullptr;
}

void fake_end_tuned(nccl::Communicator communicator) {
  FakeCommunicator* ended = fake_communicator(communicator);
  if (version == 2) { as<TunerV2>().destroy(ended->tuner); }
  if (version == 3) { as<TunerV3>().destroy(ended->tuner); }
  if (version == 4) { as<TunerV4>().destroy(ended->tuner); }
  if (version == 5) { as<TunerV5>().finalize(ended->tuner); }
  if (version == 6) { as<TunerV6>().finalize(ended->tuner); }
  delete ended;
}

FakeAnswer fake_ask_tuner(nccl::Communicator communicator, int function, std::size_t bytes, int pipelined) {
  void* context = fake_communicator(communicator)->tuner;
  Costs table = costs();
  auto** passed = reinterpret_cast<float**>(table.data());
  FakeAnswer answer{0, 0, -1};
  int protocol = -1;
  if (version == 2) {
    answer.result =
        as<TunerV2>().get_coll_info(context, function, bytes, 0, 0, pipelined, &answer.algorithm, &protocol, &answer.channels);
    return answer;
  }
  if (version == 3) {
    answer.result =
        as<TunerV3>().get_coll_info(context, function, bytes, pipelined, passed, kAlgorithms, kProtocols, &answer.channels);
  } else if (version == 4) {
    answer.result =
        as<TunerV4>().get_coll_info(context, function, bytes, pipelined, passed, kAlgorithms, kProtocols, 0, &answer.channels);
  } else if (version != 0) {
    const auto ask = version == 5 ? as<TunerV5>().get_coll_info : as<TunerV6>().get_coll_info;
    answer.result = ask(context, function, bytes, pipelined, passed, kAlgorithms, kProtocols, 0, &answer.channels);
  }
  float least = 1e9F;
  for (int algorithm = 0; algorithm < kAlgorithms; ++algorithm) {
    for (const float cost : table[static_cast<std::size_t>(algorithm)]) {
      if (cost >= 0.0F && cost < least) {
        least = cost;
        answer.algorithm = algorithm;
      }
    }
  }
  return answer;
}

std::size_t fake_chunk_size(nccl::Communicator communicator) {
  std::size_t chunk = 1000;
  const bool asks = version == 6 && as<TunerV6>().get_chunk_size != nullptr;
  if (asks) { as<TunerV6>().get_chunk_size(fake_communicator(communicator)->tuner, 4, 1U << 20U, 1, 2, 24, &chunk); }
  return chunk;
}
