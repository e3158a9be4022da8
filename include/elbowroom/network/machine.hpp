#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// Links that join the GPUs of one host, as ring collectives see them. Rates are bytes per microsecond: 240 GB/s are 240e3.
struct HostLinks {
  double rate = 0;          ///< of one GPU in one direction, as rings of many ranks reach it
  double turn_share = 0;    ///< of a ring's step: what its first and last steps take in addition
  double packet_share = 0;  ///< of `rate`: what protocols reach that send flags with the data (LL128)
  Microseconds start{0};    ///< of a collective, before its first byte
  Microseconds rank{0};     ///< in addition, for each rank that data passes
  double switch_share = 0;  ///< of `rate`: what NVLS reaches, where switches add what they pass on; 0: they do not

  bool operator==(const HostLinks&) const = default;
};

/// What joins hosts. Each GPU has a way to every rail.
struct Rails {
  int count = 0;     ///< network adapters of a host; 0: hosts have nothing to do with each other
  double rate = 0;   ///< of one in one direction, by its data sheet
  double share = 1;  ///< of it that collectives reach

  bool operator==(const Rails&) const = default;
};

/// Equal hosts and what joins them.
struct MachineSpec {
  std::string name;    ///< "a100-4x200"
  std::string device;  ///< catalog name of its GPUs
  int host_gpus = 8;
  HostLinks links;
  Rails rails;

  bool operator==(const MachineSpec&) const = default;

  /// Bytes per microsecond that all GPUs of a host send to others together.
  [[nodiscard]] double host_rate() const { return rails.count * rails.rate * rails.share; }
};

ELBOWROOM_API std::span<const MachineSpec> machine_catalog();

/// The entry of that name. `invalid_input` names every valid name.
ELBOWROOM_API Result<MachineSpec> find_machine(std::string_view name);

/// The first entry with such GPUs; absent: there is none.
ELBOWROOM_API std::optional<MachineSpec> machine_with(std::string_view device);

/// Reads an `elbowroom.machine/1` document. `invalid_input` is one line that names `source`, the field and what was expected. Never
/// throws, whatever the text is.
ELBOWROOM_API Result<MachineSpec> parse_machine(std::string_view json, std::string_view source);

/// An `elbowroom.machine/1` document; parse_machine reads what this writes.
ELBOWROOM_API std::string to_json(const MachineSpec& machine);

}  // namespace elbowroom
