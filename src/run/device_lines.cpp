#include "run/device_lines.hpp"

namespace elbowroom::run {
namespace {

constexpr std::string_view kDevice = "device ";

}  // namespace

bool DeviceLines::next(std::string_view& line) {
  while (!rest_.empty()) {
    ++number_;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    if (!line.starts_with(kDevice)) { return true; }
    device_ = line.substr(kDevice.size());
  }
  return false;
}

std::string& DeviceText::on(std::string_view device) {
  if (device != device_) {
    device_ = device;
    text_.append(kDevice).append(device).append("\n");
  }
  return text_;
}

}  // namespace elbowroom::run
