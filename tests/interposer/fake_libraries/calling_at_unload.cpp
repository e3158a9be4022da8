#include <thread>

// A library that has a thread of its own call while it is unloaded, and waits for it.

extern "C" void call_for_library();

namespace {

struct Flushed {
  Flushed() = default;
  ~Flushed() { std::thread(call_for_library).join(); }
  Flushed(const Flushed&) = delete;
  Flushed& operator=(const Flushed&) = delete;
};
const Flushed flushed;

}  // namespace
