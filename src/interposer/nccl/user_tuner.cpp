#include "interposer/nccl/user_tuner.hpp"

#include <dlfcn.h>
#include <strings.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "interposer/nccl/environment.hpp"
#include "interposer/process/loader.hpp"

namespace elbowroom::interposer::nccl {
namespace {

constexpr int kOldest = 2;
constexpr int kNewest = 6;
constexpr float kNotPossible = -1.0F;

template <class Tuner>
const Tuner& as(const UserTuner& tuner) {
  return *static_cast<const Tuner*>(tuner.symbol);
}

// NCCL's word for symbols of the program itself; any beginning of it counts.
void* open_library(const char* name) {
  constexpr const char* kStatic = "STATIC_PLUGIN";
  if (*name == '\0') { return nullptr; }
  const bool in_program = strncasecmp(name, kStatic, std::strlen(name)) == 0;
  return process::next_dlopen()(in_program ? nullptr : name, RTLD_NOW | RTLD_LOCAL);
}

bool is_short_name(std::string_view name) {
  const bool is_file = name.starts_with("lib") && name.ends_with(".so");
  return name.find('/') == std::string_view::npos && !is_file;
}

void* open_tuner(const char* name) {
  if (name == nullptr || *name == '\0') { return open_library("libnccl-tuner.so"); }
  if (void* found = open_library(name); found != nullptr) { return found; }
  if (!is_short_name(name)) { return nullptr; }
  std::array<char, 1280> file;
  std::snprintf(file.data(), file.size(), "libnccl-tuner-%s.so", name);
  return open_library(file.data());
}

// NCCL has loaded it by now, or it has none.
void* loaded_net_plugin(const char* name) {
  std::array<char, 1280> file;
  if (name == nullptr || *name == '\0') { return process::next_dlopen()("libnccl-net.so", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); }
  if (void* found = process::next_dlopen()(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); found != nullptr) { return found; }
  std::snprintf(file.data(), file.size(), "libnccl-net-%s.so", name);
  return is_short_name(name) ? process::next_dlopen()(file.data(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : nullptr;
}

// From 2.28 on the variable may hold several names; the first that is loaded.
void* net_plugin() {
  Variable names = variable("NCCL_NET_PLUGIN");
  if (!names.set) { return loaded_net_plugin(nullptr); }
  char* rest = nullptr;
  for (char* name = strtok_r(names.text.data(), ",", &rest); name != nullptr; name = strtok_r(nullptr, ",", &rest)) {
    if (void* found = loaded_net_plugin(name); found != nullptr) { return found; }
  }
  return nullptr;
}

// Never this library itself, which a run around this one may have left in the variable.
bool is_own(const void* symbol, int version) {
  const std::array<const void*, kNewest - kOldest + 1> own{&ncclTunerPlugin_v2, &ncclTunerPlugin_v3, &ncclTunerPlugin_v4,
                                                           &ncclTunerPlugin_v5, &ncclTunerPlugin_v6};
  return symbol == own[static_cast<std::size_t>(version - kOldest)];
}

UserTuner newest_in(void* library, int newest) {
  for (int version = newest; version >= kOldest; --version) {
    std::array<char, 32> name;
    std::snprintf(name.data(), name.size(), "ncclTunerPlugin_v%d", version);
    const void* symbol = dlsym(library, name.data());
    if (symbol != nullptr && !is_own(symbol, version)) { return {version, symbol}; }
  }
  return {};
}

// As NCCL asks a plugin of version 2: what it may choose is read from the table, its choice becomes the cheapest.
Result ask_v2(const TunerV2& tuner, void* context, const TunerQuestion& question) {
  auto* costs = reinterpret_cast<float*>(question.costs);
  constexpr int kCollnetChain = 3, kNvls = 4, kNvlsTree = 5, kSimple = 2;
  const auto cost = [&](int algorithm, int protocol) -> float& { return costs[algorithm * question.protocols + protocol]; };
  const auto possible = [&](int algorithm) { return algorithm < question.algorithms && cost(algorithm, kSimple) != kNotPossible; };
  int algorithm = -1;
  int protocol = -1;
  const Result result = tuner.get_coll_info(context, question.function, question.bytes, possible(kCollnetChain) ? 1 : 0,
                                            possible(kNvls) || possible(kNvlsTree) ? 1 : 0, question.pipelined, &algorithm,
                                            &protocol, question.channels);
  const bool chosen = algorithm >= 0 && algorithm < question.algorithms && protocol >= 0 && protocol < question.protocols;
  if (result == kSuccess && chosen && cost(algorithm, protocol) != kNotPossible) { cost(algorithm, protocol) = 0.0F; }
  return result;
}

}  // namespace

UserTuner UserTuner::find(int newest, Logger log) {
  Variable name = variable("ELBOWROOM_RUN_TUNER_PLUGIN");
  if (!name.set) { name = variable_of_files("NCCL_TUNER_PLUGIN"); }
  if (name.set && strcasecmp(name.text.data(), "none") == 0) { return {}; }
  void* library = open_tuner(name.set ? name.text.data() : nullptr);
  if (library == nullptr) { library = net_plugin(); }
  const UserTuner found = library == nullptr ? UserTuner() : newest_in(library, newest);
  if (log != nullptr && found.version != 0) {
    log(kLogInfo, kLogTuning, __func__, __LINE__, "TUNER/Plugin: elbowroom asks %s (v%d) first", found.name(), found.version);
  }
  return found;
}

const char* UserTuner::name() const { return version == 0 ? "" : *static_cast<const char* const*>(symbol); }

Result UserTuner::init(const TunedCommunicator& of, void** context) const {
  switch (version) {
    case 2:
      return as<TunerV2>(*this).init(of.ranks, of.nodes, of.log, context);
    case 3:
      return as<TunerV3>(*this).init(of.ranks, of.nodes, of.log, context);
    case 4:
      return as<TunerV4>(*this).init(of.ranks, of.nodes, of.log, context);
    case 5:
      return as<TunerV5>(*this).init(context, of.id, of.ranks, of.nodes, of.log, of.domains, of.constants);
    case 6:
      return as<TunerV6>(*this).init(context, of.id, of.ranks, of.nodes, of.log, of.domains, of.constants);
    default:
      return kSuccess;
  }
}

Result UserTuner::ask(void* context, const TunerQuestion& q) const {
  switch (version) {
    case 2:
      if (q.costs != nullptr) { return ask_v2(as<TunerV2>(*this), context, q); }
      return as<TunerV2>(*this).get_coll_info(context, q.function, q.bytes, q.collnet, q.nvls, q.pipelined, q.algorithm, q.protocol,
                                              q.channels);
    case 3:
      return as<TunerV3>(*this).get_coll_info(context, q.function, q.bytes, q.pipelined, q.costs, q.algorithms, q.protocols,
                                              q.channels);
    case 4:
      return as<TunerV4>(*this).get_coll_info(context, q.function, q.bytes, q.pipelined, q.costs, q.algorithms, q.protocols,
                                              q.registered, q.channels);
    case 5:
      return as<TunerV5>(*this).get_coll_info(context, q.function, q.bytes, q.pipelined, q.costs, q.algorithms, q.protocols,
                                              q.registered, q.channels);
    case 6:
      return as<TunerV6>(*this).get_coll_info(context, q.function, q.bytes, q.pipelined, q.costs, q.algorithms, q.protocols,
                                              q.registered, q.channels);
    default:
      return kSuccess;
  }
}

Result UserTuner::end(void* context) const {
  switch (version) {
    case 2:
      return as<TunerV2>(*this).destroy(context);
    case 3:
      return as<TunerV3>(*this).destroy(context);
    case 4:
      return as<TunerV4>(*this).destroy(context);
    case 5:
      return as<TunerV5>(*this).finalize(context);
    case 6:
      return as<TunerV6>(*this).finalize(context);
    default:
      return kSuccess;
  }
}

}  // namespace elbowroom::interposer::nccl
