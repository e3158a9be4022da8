#pragma once

#include <mutex>

#include "interposer/core/core.hpp"
#include "interposer/core/own_mutex.hpp"
#include "interposer/core/table.hpp"
#include "interposer/hip/runtime_calls.hpp"

namespace elbowroom::interposer::hip {

/// A stream of ours with the greatest priority that carries the collectives of one stream of the program. It is forked from it
/// before each and joined to it after, so that the program's order holds. HIP has no priority of a launch, and a stream keeps the
/// one it was made with.
struct Carrier {
  hip::Stream stream = nullptr;  ///< null: there is none
  hip::Event fork = nullptr, join = nullptr;
};

/// The carriers of a process, each made when a collective first needs it. One for each of the program's streams, because what one
/// stream carries for two would wait for what the program lets run at once.
class Carriers {
 public:
  explicit Carriers(const RuntimeCalls& calls) : calls_(calls) {}

  /// None where the stream has the greatest priority itself, the device knows no priorities, or something could not be made.
  Carrier of(StreamId id, hip::Stream stream, int device);
  /// The program destroys its stream.
  void remove(StreamId id);

 private:
  static constexpr std::size_t kCarriers = 1024;

  Carrier make(hip::Stream stream, int device);  // with the lock held
  void destroy(const Carrier& carrier);

  const RuntimeCalls& calls_;
  OwnMutex mutex_;
  FixedTable<Carrier, kCarriers> entries_{};
};

}  // namespace elbowroom::interposer::hip
