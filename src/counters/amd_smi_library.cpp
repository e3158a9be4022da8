#include <vector>

#include "backend/dynamic_library.hpp"
#include "counters/amd_smi.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::counters {

Result<AmdSmiCalls> load_amd_smi() {
  std::vector<std::string> names{"libamd_smi.so", "/opt/rocm/lib/libamd_smi.so"};
  if (const auto chosen = read(kAmdSmiLibrary)) { names = {*chosen}; }
  const Result<elbowroom::detail::DynamicLibrary> library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) { return library.error(); }
  AmdSmiCalls calls;
  for (const Status& bound : {
           library->bind("amdsmi_init", calls.init),
           library->bind("amdsmi_shut_down", calls.shut_down),
           library->bind("amdsmi_status_code_to_string", calls.status_text),
           library->bind("amdsmi_get_processor_handle_from_bdf", calls.handle_from_bdf),
           library->bind("amdsmi_get_energy_count", calls.energy_count),
       }) {
    if (!bound) { return bound.error(); }
  }
  const auto may_lack = [](const Status&) {};
  may_lack(library->bind("amdsmi_get_temp_metric", calls.temperature));
  may_lack(library->bind("amdsmi_get_clock_info", calls.clock));
  may_lack(library->bind("amdsmi_get_socket_handles", calls.sockets));
  may_lack(library->bind("amdsmi_get_processor_handles", calls.devices));
  may_lack(library->bind("amdsmi_get_gpu_device_bdf", calls.bdf_of));
  library->keep_loaded();
  return calls;
}

}  // namespace elbowroom::counters
