#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "fake_cuda.hpp"

/// What lies behind the handles. The first word tells the kinds apart, as the driver does, so that a CUkernel passed for a
/// CUfunction is refused.
namespace fake {

enum class Kind : std::uint64_t { kContext = 0xc0c0, kStream, kEvent, kFunction, kKernel, kGraph, kExec };

struct Context {
  Kind kind = Kind::kContext;
  int device = 0;
  unsigned sms = 132;
};

struct Graph {
  Kind kind = Kind::kGraph;
};

struct Capture {
  Graph* graph = nullptr;
  cu::Stream origin = nullptr;
  int mode = 0;
  bool invalidated = false, ended = false;
};

struct Stream {
  Kind kind = Kind::kStream;
  Context* context = nullptr;
  unsigned flags = 0;
  Capture* capture = nullptr;
  bool of_interposer = false;  // as of an event
};

struct Event {
  Kind kind = Kind::kEvent;
  unsigned flags = 0;
  Capture* capture = nullptr;
  bool of_begin = false;       // recorded by a launch
  double recorded_at = -1.0;   // by the clock; before 0: there was none
  bool of_interposer = false;  // which made it: what it asks and records of it is counted, and not written down
};

struct Function {
  Kind kind = Kind::kFunction;
  std::string name;
  int registers = 0, static_shared = 0, max_dynamic = 48 * 1024;
  std::atomic<bool> loaded{false};  ///< by a question for its attributes, as under lazy loading
};

struct Kernel {
  Kind kind = Kind::kKernel;
  Function* function = nullptr;
};

struct Exec {
  Kind kind = Kind::kExec;
};

/// The object of a handle, or null where it is of another kind.
template <class T, class Handle>
T* object(Handle handle) {
  auto* candidate = reinterpret_cast<T*>(handle);
  return reinterpret_cast<std::uintptr_t>(handle) > 0xfff && candidate->kind == T{}.kind ? candidate : nullptr;
}

/// Writes a call down and asks the failure hook; what it returns is the call's result where it is not 0.
int enter(FakeCall call);
/// The same of a call about an event or a stream.
int enter_of(cu::Event event, FakeCall call);
int enter_of(cu::Stream stream, FakeCall call);
FakeCall named(const char* name);
/// Counts a call that is not written down.
void reached(const char* name);

// Programs ask for these as well.
#pragma GCC visibility push(default)
Capture* capture_of(cu::Stream stream);
void set_capture(cu::Stream stream, Capture* capture);
/// Whether this thread may not make calls now that a capture in global mode forbids; marks the capture as broken.
bool breaks_capture();
inline constexpr int kCaptureUnsupported = 900;  ///< CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
void begin_capture(cu::Stream stream, int mode);
Graph* end_capture(cu::Stream stream, bool& broken);
#pragma GCC visibility pop
int exchange_capture_mode(int mode);
void forget_captures();

Context* current_context();
bool finished();
bool begun();
double now();

/// The address of an exported driver function as cuGetProcAddress finds it; null: none, with *version_too_old telling why.
void* find_proc(const char* base, int version, unsigned long long flags, bool& version_too_old);

}  // namespace fake
