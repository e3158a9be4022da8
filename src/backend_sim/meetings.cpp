#include "backend_sim/meetings.hpp"

namespace elbowroom::sim {

Meetings::Meetings(const std::vector<DeviceTasks>& devices) {
  for (std::size_t device = 0; device < devices.size(); ++device) {
    for (std::size_t task = 0; task < devices[device].size(); ++task) {
      if (!devices[device][task].meeting) { continue; }
      const auto meeting = static_cast<std::size_t>(*devices[device][task].meeting);
      meetings_.resize(std::max(meetings_.size(), meeting + 1));
      meetings_[meeting].parts.push_back({device, task, 0, 0});
    }
  }
}

Meetings::Part& Meetings::part(int meeting, std::size_t device) {
  changed_.push_back(meeting);
  return *std::ranges::find(meetings_[static_cast<std::size_t>(meeting)].parts, device, &Part::device);
}

void Meetings::placed(int meeting, std::size_t device, std::int64_t blocks) { part(meeting, device).placed = blocks; }

void Meetings::done(int meeting, std::size_t device, std::int64_t blocks) { part(meeting, device).done += blocks; }

}  // namespace elbowroom::sim
