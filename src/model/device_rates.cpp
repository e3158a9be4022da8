#include "elbowroom/model/device_rates.hpp"

#include "elbowroom/model/device_facts.hpp"

namespace elbowroom {

std::optional<DeviceRates> rates_of(const DeviceLimits& device) {
  const DeviceFacts* facts = facts_of(device);
  return facts == nullptr ? std::nullopt : facts->rates;
}

}  // namespace elbowroom
