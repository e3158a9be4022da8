#include "recorder/activity.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "recorder/trace_text.hpp"

namespace elbowroom::recorder {
namespace {

std::string readable(const char* name) {
  if (name == nullptr) { return "unknown"; }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && demangled != nullptr ? demangled.get() : name;
}

template <class Record>
OnDevice placed(const Record& record) {
  return {record.start, record.end, record.deviceId, record.contextId, record.streamId, record.correlationId};
}

/// A record that was still open when its buffer was handed out has no end.
template <class Record>
bool ended(const Record& record, Recording& into) {
  const bool whole = record.start != 0 && record.end >= record.start;
  if (!whole) { ++into.unended; }
  return whole;
}

// The oldest layouts that have what is needed; CUPTI only appends to them.
void add_kernel(const CUpti_ActivityKernel9& record, Recording& into) {
  if (!ended(record, into)) { return; }
  Kernel kernel{placed(record)};
  kernel.name = into.names.id_of(readable(record.name));
  kernel.grid = {record.gridX, record.gridY, record.gridZ};
  kernel.block = {record.blockX, record.blockY, record.blockZ};
  kernel.cluster = std::max(1U, record.clusterX * record.clusterY * record.clusterZ);
  kernel.registers = record.registersPerThread;
  kernel.static_shared = record.staticSharedMemory;
  kernel.dynamic_shared = record.dynamicSharedMemory;
  kernel.in_graph = record.graphNodeId != 0;
  into.kernels.push_back(kernel);
}

template <class Record>
Copy copy_of(const Record& record) {
  Copy copy{placed(record)};
  copy.bytes = record.bytes;
  copy.kind = record.copyKind;
  copy.from = record.srcKind;
  copy.to = record.dstKind;
  return copy;
}

void add_peer_copy(const CUpti_ActivityMemcpyPtoP& record, Recording& into) {
  if (!ended(record, into)) { return; }
  Copy copy = copy_of(record);
  copy.from_device = static_cast<std::int32_t>(record.srcDeviceId);
  copy.to_device = static_cast<std::int32_t>(record.dstDeviceId);
  into.copies.push_back(copy);
}

void add_set(const CUpti_ActivityMemset& record, Recording& into) {
  if (!ended(record, into)) { return; }
  Copy copy{placed(record)};
  copy.bytes = record.bytes;
  copy.to = static_cast<std::uint8_t>(record.memoryKind);
  into.copies.push_back(copy);
}

void add_wait(const CUpti_ActivitySynchronization& record, Recording& into) {
  if (record.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) { return; }
  into.waits.push_back({record.start, std::max(record.start, record.end), record.correlationId, record.contextId, record.streamId,
                        record.cudaEventId});
}

}  // namespace

void ActivityReader::read(std::uint8_t* buffer, std::size_t valid, Recording& into) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cupti_.next_record(buffer, valid, &record) == CUPTI_SUCCESS) { add(*record, into); }
  std::size_t dropped = 0;
  if (cupti_.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) { into.dropped += dropped; }
}

void ActivityReader::add(const CUpti_Activity& record, Recording& into) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      add_kernel(reinterpret_cast<const CUpti_ActivityKernel9&>(record), into);
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy&>(record);
      if (ended(copy, into)) { into.copies.push_back(copy_of(copy)); }
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      add_peer_copy(reinterpret_cast<const CUpti_ActivityMemcpyPtoP&>(record), into);
      break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      add_set(reinterpret_cast<const CUpti_ActivityMemset&>(record), into);
      break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      add_call(reinterpret_cast<const CUpti_ActivityAPI&>(record), false, into);
      break;
    case CUPTI_ACTIVITY_KIND_DRIVER:
      add_call(reinterpret_cast<const CUpti_ActivityAPI&>(record), true, into);
      break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      add_wait(reinterpret_cast<const CUpti_ActivitySynchronization&>(record), into);
      break;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT: {
      const auto& mark = reinterpret_cast<const CUpti_ActivityCudaEvent&>(record);
      into.marks.push_back({mark.correlationId, mark.contextId, mark.streamId, mark.eventId});
      break;
    }
    default:
      break;
  }
}

void ActivityReader::add_call(const CUpti_ActivityAPI& call, bool driver, Recording& into) {
  const auto [found, fresh] = calls_.try_emplace(std::uint64_t{call.cbid} << 1 | (driver ? 1U : 0U));
  if (fresh) {
    const char* text = nullptr;
    const CUpti_CallbackDomain domain = driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
    const bool named = cupti_.callback_name(domain, call.cbid, &text) == CUPTI_SUCCESS && text != nullptr;
    found->second.matters = named && matters(text);
    if (found->second.matters) { found->second.name = into.names.id_of(without_version(text)); }
  }
  if (!found->second.matters || call.end < call.start) { return; }
  into.calls.push_back({call.start, call.end, call.correlationId, call.threadId, found->second.name, driver});
}

}  // namespace elbowroom::recorder
