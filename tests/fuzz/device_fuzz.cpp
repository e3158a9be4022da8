#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "elbowroom/model/device_file.hpp"
#include "elbowroom/plan/pad_ranges.hpp"
#include "fuzz/stop.hpp"

// parse_device never throws or crashes, its errors are one line, and the planner can work with what it accepts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace elbowroom;
  const Result<DeviceLimits> device = parse_device({reinterpret_cast<const char*>(data), size}, "device.json");
  if (!device) {
    check_line(device.error());
    return 0;
  }
  const KernelFootprint kernel{Threads(256), Registers(56), Bytes(4'096), Bytes(0), 1};
  const Result<std::vector<PadRange>> ranges = pad_ranges(*device, kernel);
  if (!ranges) {
    check_line(ranges.error());
  } else if (ranges->empty()) {
    stop("a kernel that runs has no residency", device->name);
  }
  return 0;
}
