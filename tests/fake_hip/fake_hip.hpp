#pragma once

#include <cstddef>
#include <cstdint>

#include "values.hpp"

/// A stand-in for libamdhip64.so.6 with two devices like one GCD of an MI250X each. Device memory is host memory; what is put on
/// streams runs on the host in the order that streams, events and wait values give, on whichever thread next calls the runtime; and
/// every operation takes a modelled time, which events report. A kernel does what was registered under its name, or nothing.
///
/// Each stream is a queue. An operation runs as soon as everything before it is done, or only when the program asks (lazily): then
/// a program that reads a result without waiting for it finds that it is not there yet.
///
/// The modelled time: a stream's operations follow each other. Kernels of all streams of one device share it. They run
/// one after another, in the order in which they could begin. A kernel of a stream of the greatest priority begins at once. So
/// sequential work adds up, and a prioritised collective runs beside compute. What the host asks for after it has waited for
/// something begins after that.
///
/// The environment, read when the library is loaded:
///   ELBOWROOM_FAKE_HIP_DEVICES=2             how many devices; 0: hipGetDeviceCount says hipErrorNoDevice
///   ELBOWROOM_FAKE_HIP_ARCH=gfx90a           what gcnArchName says, as "gfx90a:sramecc+:xnack-"
///   ELBOWROOM_FAKE_HIP_MEMORY=68702699520    bytes of each device
///   ELBOWROOM_FAKE_HIP_PRIORITY=ignored      priorities have no effect on the modelled time, as on drivers that ignore them
///   ELBOWROOM_FAKE_HIP_PRIORITY=none         the range of priorities is empty
///   ELBOWROOM_FAKE_HIP_LAZY=1                operations run only when the program synchronises or queries
///   ELBOWROOM_FAKE_HIP_STICKY=1              hipGetLastError tells the last failure, as from ROCm 7 on, not the last result
///   ELBOWROOM_FAKE_HIP_FAIL=NAME:CODE[:N]    the N-th call (first: 1, the default) of the exported function NAME, and all later
///                                            ones, return CODE; several are separated by commas
/// Functions that are absent in older versions are all there; hide one from a program with ELBOWROOM_FAKE_HIP_FAIL=NAME:801.
namespace hip = elbowroom::interposer::hip;

inline constexpr unsigned kFakeAttributes = 4;
inline constexpr unsigned kFakeMaskWords = 8;

/// One call as the runtime got it. Fields that a call does not have are zero.
struct FakeHipCall {
  const char* name;  ///< the exported name that was called, e.g. "hipLaunchKernel_spt"
  int device;        ///< the calling thread's current one
  hip::Stream stream;
  hip::Event event;
  hip::Event start_event, stop_event;  ///< of hipExtLaunchKernel and its like
  const void* function;                ///< of a launch: the host function or the hip::Function
  hip::GraphExec exec;
  unsigned grid[3], block[3];  ///< in blocks and threads, whatever the function counts in
  std::size_t shared;
  void** parameters;
  void** extra;
  unsigned long long flags;
  int priority;                           ///< of a stream that is created
  std::uint32_t cu_mask[kFakeMaskWords];  ///< of hipExtStreamCreateWithCUMask
  unsigned attribute_count;               ///< of which the first kFakeAttributes are kept
  hip::LaunchAttribute attributes[kFakeAttributes];
  int result;  ///< what an injected failure made it; 0 otherwise
};

/// What a registered kernel is run with.
struct FakeLaunch {
  const char* kernel;
  int device;
  unsigned grid[3], block[3];
  std::size_t dynamic_shared;
  void** arguments;  ///< as kernelParams: one pointer to each argument. Null where the program passed `extra`, whose buffer is next
  const void* argument_buffer;
  std::size_t argument_bytes;
  std::uint64_t begin_ns, end_ns;  ///< modelled
};

struct FakeKernel {
  const char* name;
  int registers = 32;                               ///< VGPRs
  int static_shared = 0;                            ///< bytes
  int max_threads = 1024;                           ///< of a block
  std::size_t argument_count = 0;                   ///< how many of kernelParams are kept, 16 bytes each at most; 0: none are read
  const std::size_t* argument_sizes = nullptr;      ///< bytes of each of them; null: 8 each
  void (*run)(const FakeLaunch& launch) = nullptr;  ///< null: the kernel does nothing
  /// Whether the kernel can end now; null: yes. Asked while it is first on its stream (a kernel that waits for a word of memory).
  bool (*can_run)(const FakeLaunch& launch) = nullptr;
  /// Modelled duration; null: 2 us and 20 ns for each round of blocks over the CUs.
  std::uint64_t (*nanoseconds)(const FakeLaunch& launch) = nullptr;
};

/// An operation of another library (a collective) that behaves like a kernel of that name.
struct FakeOperation {
  const char* name;
  void* data;
  bool (*can_run)(
      void* data);          ///< null: yes. It is called only while the operation is first on its stream, and may note that it is
  void (*run)(void* data);  ///< null: nothing
  std::uint64_t nanoseconds;
};

#pragma GCC visibility push(default)
extern "C" {
/// Kernels that hipModuleGetFunction finds by name, in every module whose image is not empty and does not begin with "broken"
/// (which hipModuleLoadData refuses: hipErrorInvalidImage). A later registration replaces an earlier one. `kernel` is copied, its
/// strings and arrays are not. "spin" and "await_word" of src/backend_hip/kernels are there from the start, by the modelled time,
/// and stay.
void fake_hip_register_kernel(const FakeKernel* kernel);
/// Puts an operation on a stream; 0, or the error of an injected failure of "fake_hip_enqueue" or of a bad handle. Written to the
/// log as a launch under that name.
int fake_hip_enqueue(hip::Stream stream, const FakeOperation* operation);

/// Kernels without a module, for tests of launches; they do what is registered under their name.
hip::Function fake_hip_function(const char* name, int registers, int static_shared);
const void* fake_hip_symbol(const char* name, int registers, int static_shared);  ///< as a host function

/// Another kernel's host function lies there now, as after the unloading of the library that it was in.
void fake_hip_reuse_symbol(const void* host_function, const char* name);
/// The next stream or event that is made gets this one's handle, as after its end.
void fake_hip_reuse(const void* handle);
/// Whether entry points of the runtime call each other by their exported names (1) or not (0, the start).
void fake_hip_set_nested(int nested);
/// How often the exported function of that name was called while calls were written down; fake_hip_reset does not forget it.
std::size_t fake_hip_times_called(const char* name);
/// Forgets the log, pending failures, captures and what was set below; handles and memory stay valid.
void fake_hip_reset();
std::size_t fake_hip_call_count();
const FakeHipCall* fake_hip_call(std::size_t index);
/// Off: calls are not written down, and nothing fails (benchmarks).
void fake_hip_set_logging(int on);
/// Asked at each call before it takes effect: anything but 0 is returned to the caller instead. Null: nothing fails.
void fake_hip_set_failure(int (*decide)(const FakeHipCall* call));
/// As ELBOWROOM_FAKE_HIP_FAIL; "" ends it. The text is copied.
void fake_hip_set_failing(const char* text);
/// 0: queries of events and streams say that nothing has finished, whatever ran; 1 (the start): the truth.
void fake_hip_set_finished(int finished);
/// A capture of the stream begins just before the next question whether an event has passed, or for a time, as by another thread.
void fake_hip_capture_when_asked(hip::Stream stream);
/// As ELBOWROOM_FAKE_HIP_LAZY.
void fake_hip_set_lazy(int lazy);
/// So many devices from here on; 0: as many as the environment said.
void fake_hip_set_devices(int devices);
/// Whether any operation is still waiting on a stream, and how many allocations of device memory and of streams are alive: what a
/// program forgot to wait for or to free.
std::size_t fake_hip_waiting();
std::size_t fake_hip_allocations();
std::size_t fake_hip_streams();
}
#pragma GCC visibility pop
