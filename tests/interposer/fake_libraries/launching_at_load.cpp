#include <thread>

// A library that has a thread of its own launch while it is loaded, and waits for it.

extern "C" int launch_for_library();

namespace {

struct Warmed {
  Warmed() {
    std::thread([] {
      for (int i = 0; i < 3; ++i) { launch_for_library(); }
    }).join();
  }
};
const Warmed warmed;

}  // namespace
