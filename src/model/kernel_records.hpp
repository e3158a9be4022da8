#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/device_limits.hpp"

namespace elbowroom {

/// A compiled kernel as a file describes it.
struct KernelRecord {
  std::string name;          ///< as the compiler has it, mangled
  std::string architecture;  ///< "sm_90a", "gfx942"; empty where the text says none
  Registers registers;
  Bytes static_shared;
  Bytes dynamic_shared;            ///< of its launches; 0 where the file does not know them
  std::optional<Threads> threads;  ///< of its launches; absent where the file does not know them

  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
};

/// Reads what `cuobjdump -res-usage` prints. From sm_90 on its SHARED counts the bytes that the driver reserves, which are taken
/// off. `architecture` is that of a lone cubin, of which the text says none. Functions without registers are no kernels and left
/// out. `invalid_input` where no kernel is described.
Result<std::vector<KernelRecord>> parse_resource_usage(std::string_view text, std::string_view architecture);

/// Reads what `ptxas -v` (nvcc -Xptxas -v) prints of kernels. `invalid_input` likewise.
Result<std::vector<KernelRecord>> parse_ptxas_log(std::string_view text);

/// Reads the metadata of an AMD code object (ELF). `invalid_input` for another file, and where no kernel is described.
Result<std::vector<KernelRecord>> parse_amd_code_object(std::string_view bytes);

/// True: a bundle, hipcc's code for one device or several, lies in the bytes of a program, library or object, or is all of them.
bool holds_offload_bundle(std::string_view bytes);

/// Reads the metadata of the AMD code objects in the plain offload bundles of such a file. `invalid_input` where they describe no
/// kernel, and where all are compressed.
Result<std::vector<KernelRecord>> parse_offload_bundles(std::string_view bytes);

/// "sm_90" of a cubin (ELF); empty for another file.
std::string cubin_architecture(std::string_view bytes);

/// Of each kernel the code that the device runs: the newest of those that are not newer. `invalid_input` names the architectures
/// where there is none.
Result<std::vector<KernelRecord>> runnable_on(const DeviceLimits& device, const std::vector<KernelRecord>& records);

}  // namespace elbowroom
