#include "model/work_sharing.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <variant>

#include "base/mixed_hash.hpp"

namespace elbowroom::detail {
namespace {

/// Of a step's operations few have one hash and share nothing. What is left out here is compared all the same.
class SharingHash {
 public:
  std::size_t operator()(const Operation* operation) const {
    MixedHash hash;
    hash.mix(operation->what.index());
    std::visit([&](const auto& work) { mix(hash, work); }, operation->what);
    for (const int axis : operation->along) { hash.mix(axis); }
    for (const Coordinate& coordinate : operation->at) {
      hash.mix(coordinate.axis);
      hash.mix(coordinate.at);
    }
    hash.mix(operation->group.value_or(-1));
    hash.mix(operation->at_group.value_or(-1));
    return hash.value();
  }

 private:
  static void mix(MixedHash& hash, const Compute& compute) {
    hash.mix(compute.index());
    hash.mix(memory_of(compute).count());
    hash.mix(std::hash<double>{}(flop_of(compute)));
  }
  static void mix(MixedHash& hash, const RecordedKernel& kernel) {
    hash.mix(std::hash<std::string>{}(kernel.name));
    for (const Microseconds time : kernel.times) { hash.mix(std::hash<double>{}(time.count())); }
    hash.mix(kernel.blocks.count());
  }
  static void mix(MixedHash& hash, const Collective& collective) {
    hash.mix(collective.op);
    hash.mix(collective.bytes.count());
    hash.mix(collective.root.value_or(0));
  }
  static void mix(MixedHash& hash, const SendRecv& transfer) {
    hash.mix(transfer.bytes.count());
    hash.mix(transfer.from);
    hash.mix(transfer.to);
  }
};

struct SharingEqual {
  bool operator()(const Operation* one, const Operation* other) const { return shares_memory(*one, *other); }
};

}  // namespace

std::vector<int> first_sharing_memory(const Step& step) {
  std::vector<int> first;
  first.reserve(step.operations.size());
  std::unordered_map<const Operation*, int, SharingHash, SharingEqual> known;
  for (const Operation& operation : step.operations) {
    first.push_back(known.try_emplace(&operation, static_cast<int>(first.size())).first->second);
  }
  return first;
}

}  // namespace elbowroom::detail
