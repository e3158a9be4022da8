#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/stop.hpp"
#include "model/kernel_records.hpp"

// The readers of compilers' texts and code objects never throw or crash; their errors are one line, their kernels have registers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace elbowroom;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& records : {parse_resource_usage(text, cubin_architecture(text)), parse_ptxas_log(text),
                              parse_amd_code_object(text), parse_offload_bundles(text)}) {
    if (!records) {
      check_line(records.error());
    } else if (records->empty()) {
      stop("neither a kernel nor an error", "");
    }
  }
  return 0;
}
