#include "backend_gpu/module_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "backend_gpu/data_kernels.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/own_kernel.hpp"

namespace elbowroom::gpu {
namespace {

constexpr Bytes kPiece = mebibytes(64);  // that is compared at once
constexpr int kNoCarveout = -1;          // the driver's own choice

/// The first byte that differs, of two areas of the current device.
Result<std::optional<std::int64_t>> first_difference(const Runtime& runtime, const void* one, const void* other, Bytes size) {
  std::vector<std::byte> piece_of_one;
  std::vector<std::byte> piece_of_other;
  for (std::int64_t from = 0; from < size.count(); from += kPiece.count()) {
    const auto bytes = static_cast<std::size_t>(std::min(kPiece.count(), size.count() - from));
    for (const auto& [piece, area] : {std::pair{&piece_of_one, one}, std::pair{&piece_of_other, other}}) {
      piece->resize(bytes);
      const Status copied =
          runtime.call(runtime.calls.memcpy, piece->data(), static_cast<const std::byte*>(area) + from, bytes, kDeviceToHost);
      if (!copied) { return copied.error(); }
    }
    const auto [differs, same] = std::ranges::mismatch(piece_of_one, piece_of_other);
    if (differs != piece_of_one.end()) { return std::optional(from + std::distance(piece_of_one.begin(), differs)); }
  }
  return std::optional<std::int64_t>();
}

class UserKernel final : public ComputeKernel {
 public:
  UserKernel(Platform& platform, const ModuleKernel& what, std::uint64_t seed) : platform_(platform), what_(what), seed_(seed) {}

  Status prepare(const std::vector<int>& devices) {
    for (const int device : devices.empty() ? std::vector{platform_.devices().front().index} : devices) {
      if (Status added = add_function(device, !devices.empty()); !added) { return added; }
    }
    facts_.blocks = Blocks(what_.grid.product());
    return poison();
  }

  [[nodiscard]] const ComputeFacts& facts() const override { return facts_; }

  Status launch(int device, StreamHandle stream, const ComputeSettings& settings) override {
    OnDevice& here = devices_.at(device);
    ++here.launches;
    if (calls().set_attribute) {
      const int carveout = settings.carveout ? static_cast<int>(settings.carveout->count()) : kNoCarveout;
      if (Status set = set_attribute(here.function, FunctionAttribute::carveout, carveout); !set) { return set; }
    }
    const auto side = [](std::int64_t extent) { return static_cast<unsigned>(extent); };
    const auto shared = static_cast<unsigned>((what_.dynamic_shared + settings.pad).count());
    return runtime().call(calls().launch, here.function, side(what_.grid.x), side(what_.grid.y), side(what_.grid.z),
                          side(what_.block.x), side(what_.block.y), side(what_.block.z), shared, stream, here.arguments.data(),
                          nullptr);
  }

  Status poison() override {
    for (auto& [device, here] : devices_) {
      if (Status filled = fill(device, here); !filled) { return filled; }
    }
    return {};
  }

  Status verify() override {
    for (auto& [device, here] : devices_) {
      if (Status same = compare_with_alone(device, here); !same) { return same; }
    }
    return {};
  }

 private:
  struct OnDevice {
    Function function = nullptr;
    std::vector<Memory> buffers;          ///< in the order of the arguments that are buffers
    std::vector<void*> addresses;         ///< of these; what their arguments point to
    std::vector<ModuleArgument> scalars;  ///< all arguments, of which the numbers are pointed to
    std::vector<void*> arguments;         ///< pointers to each
    int launches = 0;                     ///< since the buffers were filled
  };

  [[nodiscard]] const Runtime& runtime() const { return platform_.runtime(); }
  [[nodiscard]] const KernelCalls& calls() const { return runtime().calls.application; }
  Status set_attribute(Function function, FunctionAttribute which, int value) const {
    return runtime().call(calls().set_attribute, function, static_cast<int>(which), value);
  }

  Status add_function(int device, bool with_memory) {
    const Result<Function> function = platform_.module_function(what_.file, what_.function, device);
    if (!function) { return function.error(); }
    Result<KernelFootprint> footprint = read_footprint(runtime(), calls(), *function, Threads(what_.block.product()));
    if (!footprint) { return footprint.error(); }
    footprint->dynamic_shared = what_.dynamic_shared;
    footprint->cluster = what_.cluster;
    facts_.footprint = *footprint;
    if (Status formed = form_clusters(*function); !formed) { return formed; }
    const Bytes room = platform_.device(device).limits.shared_per_block - footprint->static_shared;
    if (what_.dynamic_shared > room) {
      return invalid_input(fmt::format("compute.dynamic_shared: {}, expected at most {} ({} has {} B of its own)",
                                       what_.dynamic_shared.count(), room.count(), what_.function,
                                       footprint->static_shared.count()));
    }
    if (Status allowed = allow_dynamic_shared(runtime(), calls(), *function, room); !allowed) { return allowed; }
    return with_memory ? add_memory(device, *function) : Status();
  }

  [[nodiscard]] Status form_clusters(Function function) const {
    if (what_.cluster == 1) { return {}; }
    if (!calls().set_attribute) {
      return invalid_input(fmt::format("compute.cluster: {}, expected 1 ({} has no clusters)", what_.cluster, platform_.title()));
    }
    for (const auto& [side, blocks] : {std::pair{FunctionAttribute::cluster_width, what_.cluster},
                                       {FunctionAttribute::cluster_height, 1},
                                       {FunctionAttribute::cluster_depth, 1}}) {
      if (Status formed = set_attribute(function, side, blocks); !formed) { return formed; }
    }
    return {};
  }

  Status add_memory(int device, Function function) {
    OnDevice& here = devices_[device];
    here.function = function;
    here.scalars = what_.arguments;
    here.addresses.reserve(here.scalars.size());
    for (ModuleArgument& argument : here.scalars) {
      if (const auto* buffer = std::get_if<ModuleBuffer>(&argument)) {
        Result<Memory> memory = allocate(runtime(), buffer->bytes);
        if (!memory) {
          return Error{memory.error().kind, fmt::format("compute.arguments on GPU {}: {}", device, memory.error().message)};
        }
        here.buffers.push_back(std::move(*memory));
        here.addresses.push_back(here.buffers.back().get());
        here.arguments.push_back(static_cast<void*>(&here.addresses.back()));
      } else {
        here.arguments.push_back(std::visit([](auto& value) -> void* { return &value; }, argument));
      }
    }
    return {};
  }

  /// Calls `act(buffer, memory, at)` for each buffer; `at` is its place among the arguments.
  template <class Act>
  Status for_each_buffer(OnDevice& here, Act act) const {
    auto memory = here.buffers.begin();
    for (std::size_t at = 0; at < what_.arguments.size(); ++at) {
      const auto* buffer = std::get_if<ModuleBuffer>(&what_.arguments[at]);
      if (buffer == nullptr) { continue; }
      if (Status done = act(*buffer, (memory++)->get(), at); !done) { return done; }
    }
    return {};
  }

  Status fill(int device, OnDevice& here) {
    if (Status used = runtime().use_device(device); !used) { return used; }
    here.launches = 0;
    const Status filled = for_each_buffer(here, [&](const ModuleBuffer& buffer, void* memory, std::size_t at) {
      if (buffer.fill == ModuleBuffer::Fill::zero) {
        return runtime().call(runtime().calls.memset_async, memory, 0, static_cast<std::size_t>(buffer.bytes.count()), nullptr);
      }
      return fill_uniform(platform_, device, memory, buffer.bytes / size_of(buffer.dtype), buffer.dtype, seed_ + at);
    });
    return filled ? runtime().call(runtime().calls.device_synchronize) : filled;
  }

  /// The buffers hold what a run alone left when this returns.
  Status compare_with_alone(int device, OnDevice& here) {
    if (Status used = runtime().use_device(device); !used) { return used; }
    std::map<std::size_t, Memory> seen;
    Status kept = for_each_buffer(here, [&](const ModuleBuffer& buffer, void* memory, std::size_t at) -> Status {
      if (!buffer.compared) { return {}; }
      Result<Memory> copy = allocate(runtime(), buffer.bytes);
      if (!copy) { return copy.error(); }
      const auto bytes = static_cast<std::size_t>(buffer.bytes.count());
      void* const to = seen.emplace(at, std::move(*copy)).first->second.get();
      return runtime().call(runtime().calls.memcpy, to, memory, bytes, kDeviceToDevice);
    });
    if (!kept) { return kept; }
    const int launches = here.launches;
    if (Status filled = fill(device, here); !filled) { return filled; }
    for (int at = 0; at < launches; ++at) {
      if (Status launched = launch(device, nullptr, {}); !launched) { return launched; }
    }
    if (Status idle = runtime().call(runtime().calls.device_synchronize); !idle) { return idle; }
    return for_each_buffer(here, [&](const ModuleBuffer& buffer, void* memory, std::size_t at) -> Status {
      if (!buffer.compared) { return {}; }
      const auto differs = first_difference(runtime(), seen.at(at).get(), memory, buffer.bytes);
      if (!differs) { return differs.error(); }
      if (!*differs) { return {}; }
      return failed(fmt::format("module result on GPU {}: argument {} differs at byte {} from what {} leaves by itself", device, at,
                                **differs, what_.function));
    });
  }

  Platform& platform_;
  ModuleKernel what_;
  std::uint64_t seed_;
  ComputeFacts facts_;
  std::map<int, OnDevice> devices_;  ///< by number
};

}  // namespace

Result<std::unique_ptr<ComputeKernel>> make_module_kernel(Platform& platform, const ModuleKernel& what,
                                                          const std::vector<int>& devices, std::uint64_t seed) {
  auto made = std::make_unique<UserKernel>(platform, what, seed);
  if (Status ready = made->prepare(devices); !ready) { return ready.error(); }
  return std::unique_ptr<ComputeKernel>(std::move(made));
}

}  // namespace elbowroom::gpu
