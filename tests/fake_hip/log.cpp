#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "runtime.hpp"

namespace {

constexpr std::size_t kMostCalls = 200'000;  // kept; a bench makes more

struct Failing {
  std::string function;
  int code = 0;
  int from = 1;
  int calls = 0;
};

struct State {
  std::mutex mutex;
  std::deque<FakeHipCall> calls;
  std::vector<Failing> failing;
  int (*decide)(const FakeHipCall*) = nullptr;
  std::map<std::string, std::size_t, std::less<>> times;
  bool logging = true, finished = true, lazy = false;
  fake_hip::Stream* captured_when_asked = nullptr;
};

State& state();

// A child must find the mutex free, whatever other threads of its parent were doing.
void lock() { state().mutex.lock(); }
void unlock() { state().mutex.unlock(); }

std::vector<Failing> parse_failing(std::string_view text) {
  std::vector<Failing> found;
  while (!text.empty()) {
    std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    Failing failing;
    failing.function = entry.substr(0, entry.find(':'));
    entry.remove_prefix(std::min(entry.size(), failing.function.size() + 1));
    const auto [rest, error] = std::from_chars(entry.data(), entry.data() + entry.size(), failing.code);
    if (error != std::errc()) { continue; }
    if (rest != entry.data() + entry.size()) { std::from_chars(rest + 1, entry.data() + entry.size(), failing.from); }
    found.push_back(failing);
  }
  return found;
}

State& state() {
  static State* made = [] {
    auto* fresh = new State;
    fresh->failing = parse_failing(fake_hip::settings().failing);
    fresh->lazy = fake_hip::settings().lazy;
    pthread_atfork(&lock, &unlock, &unlock);
    return fresh;
  }();
  return *made;
}

int told_to_fail(const FakeHipCall& call) {
  for (Failing& failing : state().failing) {
    if (failing.function == call.name && ++failing.calls >= failing.from) { return failing.code; }
  }
  return state().decide != nullptr ? state().decide(&call) : 0;
}

thread_local int last_error = 0;

}  // namespace

namespace fake_hip {

std::mutex& runtime_mutex() { return state().mutex; }

std::vector<void*>& kept_objects() {
  static auto* made = new std::vector<void*>;
  return *made;
}

void*& reused_object() {
  static void* reused = nullptr;
  return reused;
}

FakeHipCall named(const char* name) {
  FakeHipCall call{};
  call.name = name;
  return call;
}

int enter(FakeHipCall& call, bool logged) {
  State& known = state();
  if (!known.logging) { return 0; }
  ++known.times[call.name];
  const std::string_view name = call.name;
  if (known.captured_when_asked != nullptr && (name == "hipEventQuery" || name == "hipEventElapsedTime")) {
    begin_capture(*std::exchange(known.captured_when_asked, nullptr), hip::kCaptureModeRelaxed, keep(new Graph));
  }
  call.device = current_device();
  call.result = told_to_fail(call);
  if (logged && known.calls.size() < kMostCalls) { known.calls.push_back(call); }
  return call.result;
}

int leave(int result) {
  const bool forgets = !settings().sticky;
  if (forgets || (result != hip::kSuccess && result != hip::kErrorNotReady)) { last_error = result; }
  return result;
}

int take_last_error() {
  const int error = last_error;
  last_error = 0;
  return error;
}
int peek_last_error() { return last_error; }
bool everything_finished() { return state().finished; }
bool is_lazy() { return state().lazy; }

}  // namespace fake_hip

void fake_hip_reset() {
  const std::lock_guard hold(state().mutex);
  state().calls.clear();
  state().failing.clear();
  state().decide = nullptr;
  state().lazy = fake_hip::settings().lazy;
  fake_hip::forget_captures();
}

std::size_t fake_hip_call_count() {
  const std::lock_guard hold(state().mutex);
  return state().calls.size();
}

const FakeHipCall* fake_hip_call(std::size_t index) {
  const std::lock_guard hold(state().mutex);
  return index < state().calls.size() ? &state().calls[index] : nullptr;
}

std::size_t fake_hip_times_called(const char* name) {
  const std::lock_guard hold(state().mutex);
  const auto found = state().times.find(std::string_view(name));
  return found == state().times.end() ? 0 : found->second;
}

void fake_hip_reuse(const void* handle) {
  const std::lock_guard hold(state().mutex);
  fake_hip::reused_object() = const_cast<void*>(handle);
}

void fake_hip_set_logging(int on) { state().logging = on != 0; }
void fake_hip_set_failure(int (*decide)(const FakeHipCall* call)) {
  const std::lock_guard hold(state().mutex);
  state().decide = decide;
}
void fake_hip_set_failing(const char* text) {
  const std::lock_guard hold(state().mutex);
  state().failing = parse_failing(text);
}
void fake_hip_set_finished(int finished) { state().finished = finished != 0; }
void fake_hip_capture_when_asked(hip::Stream stream) {
  const std::lock_guard hold(state().mutex);
  state().captured_when_asked = fake_hip::object<fake_hip::Stream>(stream);
}
void fake_hip_set_lazy(int lazy) { state().lazy = lazy != 0; }
