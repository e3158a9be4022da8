#include <vector>

#include "backend/dynamic_library.hpp"
#include "counters/amd_smi.hpp"

namespace elbowroom::counters {

Result<AmdSmiCalls> load_amd_smi() {
  const std::vector<std::string> names{"libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"};
  const Result<elbowroom::detail::DynamicLibrary> library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) return library.error();
  AmdSmiCalls calls;
  for (const Status& bound : {
           library->bind("amdsmi_init", calls.init),
           library->bind("amdsmi_shut_down", calls.shut_down),
           library->bind("amdsmi_status_code_to_string", calls.status_text),
           library->bind("amdsmi_get_processor_handle_from_bdf", calls.handle_from_bdf),
           library->bind("amdsmi_get_energy_count", calls.energy_count),
       }) {
    if (!bound) return bound.error();
  }
  // Where it is absent nobody asks for temperatures.
  static_cast<void>(library->bind("amdsmi_get_temp_metric", calls.temperature));
  library->keep_loaded();
  return calls;
}

}  // namespace elbowroom::counters
