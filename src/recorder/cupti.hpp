#pragma once

#include <cupti.h>

#include <string>

#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// CUPTI's Activity API and nothing more. Drivers up to 580 allow one subscriber of its Callback API: ours would make the program's
/// own profiler lose its events without a word.
struct Cupti {
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetVersion) version = nullptr;
};

/// The libcupti that the program has mapped, else the toolkit's. Empty: it is there; otherwise why not.
std::string load(Cupti& cupti);

/// Devices whose primary context this process uses; 0 where the driver does not say.
int devices_in_use();

/// The device's name and SMs; both empty where the driver does not say.
Device driver_device(int id);

}  // namespace elbowroom::recorder
