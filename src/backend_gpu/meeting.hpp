#pragma once

#include <vector>

#include "backend_gpu/communicators.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_gpu/ranks_here.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::gpu {

/// How the devices of several processes begin a run together: a sum of one element, on streams of its own. It ends on all of them
/// within a few microseconds.
class Meeting {
 public:
  /// `comms` are of all ranks of the step; `platform` outlives the meeting.
  static Result<Meeting> make(const Platform& platform, const CommLibrary& library, const Communicators& comms,
                              const RanksHere& here);

  /// What comes on `streams` afterwards waits until all processes have got there. Uses one event of each rank here, which may be
  /// recorded again afterwards. Does not wait.
  [[nodiscard]] Status enqueue(const std::vector<StreamHandle>& streams, const std::vector<EventHandle>& events) const;

 private:
  struct Joined {
    int device;
    Stream stream;
    Memory word;
  };
  Meeting(const Platform& platform, const CommLibrary& library, const Communicators& comms)
      : runtime_(&platform.runtime()), library_(&library), comms_(&comms) {}
  Status add(int device);

  const Runtime* runtime_;
  const CommLibrary* library_;
  const Communicators* comms_;
  std::vector<Joined> joined_;
};

/// A recording of one run that began with a meeting, without it. Times are from its end, which is the same moment for all
/// processes, and devices are ranks. `failed` where a device has no record of it.
Result<Timeline> from_meeting(Timeline recorded, const RanksHere& here);

}  // namespace elbowroom::gpu
