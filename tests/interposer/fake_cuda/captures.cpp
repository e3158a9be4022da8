#include <atomic>
#include <mutex>
#include <utility>

#include "objects.hpp"

namespace {

std::mutex capture_mutex;
std::vector<fake::Capture*> live;
std::atomic<std::size_t> live_count{0};  // read without the lock, which a forked child may find held
std::vector<cu::Stream> capturing_streams;
thread_local int thread_mode = cu::kCaptureModeGlobal;

}  // namespace

namespace fake {

Capture* capture_of(cu::Stream stream) {
  Stream* known = object<Stream>(stream);
  return known == nullptr ? nullptr : known->capture;
}

void set_capture(cu::Stream stream, Capture* capture) {
  Stream* known = object<Stream>(stream);
  if (known == nullptr || known->capture == capture) { return; }
  const std::lock_guard lock(capture_mutex);
  known->capture = capture;
  if (capture != nullptr) { capturing_streams.push_back(stream); }
}

void begin_capture(cu::Stream stream, int mode) {
  auto* capture = new Capture;
  capture->graph = new Graph;
  capture->origin = stream;
  capture->mode = mode;
  {
    const std::lock_guard lock(capture_mutex);
    live.push_back(capture);
    live_count = live.size();
  }
  set_capture(stream, capture);
}

Graph* end_capture(cu::Stream stream, bool& broken) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr || capture->origin != stream) { return nullptr; }
  const std::lock_guard lock(capture_mutex);
  for (const cu::Stream member : capturing_streams) {
    if (object<Stream>(member)->capture == capture) { object<Stream>(member)->capture = nullptr; }
  }
  std::erase(live, capture);
  live_count = live.size();
  capture->ended = true;
  broken = capture->invalidated;
  return capture->graph;
}

bool breaks_capture() {
  if (thread_mode == cu::kCaptureModeRelaxed || live_count == 0) { return false; }
  const std::lock_guard lock(capture_mutex);
  bool broken = false;
  for (Capture* capture : live) {
    if (capture->mode == cu::kCaptureModeGlobal) {
      capture->invalidated = true;
      broken = true;
    }
  }
  return broken;
}

int exchange_capture_mode(int mode) { return std::exchange(thread_mode, mode); }

void forget_captures() {
  const std::lock_guard lock(capture_mutex);
  for (const cu::Stream member : capturing_streams) { object<Stream>(member)->capture = nullptr; }
  for (Capture* capture : live) { capture->ended = true; }
  capturing_streams.clear();
  live.clear();
  live_count = 0;
}

}  // namespace fake
