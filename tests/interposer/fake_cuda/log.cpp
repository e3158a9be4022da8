#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "objects.hpp"

namespace {

std::mutex log_mutex;
std::deque<FakeCall> calls;
std::map<std::string, std::size_t, std::less<>> times_called;
bool logging = true;
std::atomic<int (*)(const FakeCall*)> failure{nullptr};
std::atomic<void (*)(const char*)> told_of_calls{nullptr};
int everything_finished = 1;
int everything_begun = 1;
double clock_milliseconds = -1.0;

}  // namespace

namespace fake {

FakeCall named(const char* name) {
  FakeCall call{};
  call.name = name;
  return call;
}

int enter(FakeCall call) {
  if (!logging) { return 0; }
  call.context = reinterpret_cast<cu::Context>(current_context());
  // Without the lock: it may call the driver itself.
  const auto decide = failure.load();
  if (decide != nullptr) { call.result = decide(&call); }
  const std::lock_guard lock(log_mutex);
  ++times_called[call.name];
  calls.push_back(call);
  return call.result;
}

template <class Object>
int enter_unless_own(const Object* object, const FakeCall& call) {
  if (object == nullptr || !object->of_interposer) { return enter(call); }
  reached(call.name);
  return 0;
}
int enter_of(cu::Event event, FakeCall call) { return enter_unless_own(object<Event>(event), call); }
int enter_of(cu::Stream stream, FakeCall call) { return enter_unless_own(object<Stream>(stream), call); }

void reached(const char* name) {
  if (const auto told = told_of_calls.load()) { told(name); }
  if (!logging) { return; }
  const std::lock_guard lock(log_mutex);
  ++times_called[name];
}

bool finished() { return everything_finished != 0; }
bool begun() { return everything_begun != 0; }
double now() { return clock_milliseconds; }

}  // namespace fake

void fake_reset() {
  const std::lock_guard lock(log_mutex);
  calls.clear();
  failure = nullptr;
  fake::forget_captures();
}

std::size_t fake_call_count() {
  const std::lock_guard lock(log_mutex);
  return calls.size();
}

const FakeCall* fake_call(std::size_t index) {
  const std::lock_guard lock(log_mutex);
  return index < calls.size() ? &calls[index] : nullptr;
}

std::size_t fake_times_called(const char* name) {
  const std::lock_guard lock(log_mutex);
  const auto known = times_called.find(name);
  return known == times_called.end() ? 0 : known->second;
}

const char* fake_times() {
  static std::string text;
  const std::lock_guard lock(log_mutex);
  text.clear();
  for (const auto& [name, times] : times_called) { text += (text.empty() ? "" : ", ") + name + " " + std::to_string(times); }
  return text.c_str();
}

void fake_forget_times() {
  const std::lock_guard lock(log_mutex);
  times_called.clear();
}

void fake_set_logging(int on) { logging = on != 0; }
void fake_set_failure(int (*decide)(const FakeCall* call)) { failure = decide; }
void fake_set_told(void (*told)(const char* name)) { told_of_calls = told; }
void fake_set_finished(int finished) { everything_finished = finished; }
void fake_set_begun(int begun) { everything_begun = begun; }
void fake_set_clock(double milliseconds) { clock_milliseconds = milliseconds; }

cu::Function fake_function(const char* name, int registers, int static_shared) {
  auto* function = new fake::Function;
  function->name = name;
  function->registers = registers;
  function->static_shared = static_shared;
  return reinterpret_cast<cu::Function>(function);
}

void fake_reuse_function(cu::Function function, const char* name) { fake::object<fake::Function>(function)->name = name; }

cu::Kernel fake_kernel(const char* name, int registers, int static_shared) {
  auto* kernel = new fake::Kernel;
  kernel->function = reinterpret_cast<fake::Function*>(fake_function(name, registers, static_shared));
  return reinterpret_cast<cu::Kernel>(kernel);
}
