#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "fake_hip.hpp"

// What the fake promises to the tests that rest on it.

extern "C" {
int hipGetDeviceCount(int* count);
int hipMalloc(void** pointer, std::size_t bytes);
int hipFree(void* pointer);
int hipMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int hipMemsetAsync(void* to, int value, std::size_t bytes, hip::Stream stream);
int hipStreamCreateWithPriority(hip::Stream* stream, unsigned flags, int priority);
int hipStreamCreate(hip::Stream* stream);
int hipStreamSynchronize(hip::Stream stream);
int hipStreamQuery(hip::Stream stream);
int hipStreamDestroy(hip::Stream stream);
int hipStreamWaitEvent(hip::Stream stream, hip::Event event, unsigned flags);
int hipStreamWaitValue32(hip::Stream stream, void* address, std::uint32_t value, unsigned flags, std::uint32_t mask);
int hipEventCreate(hip::Event* event);
int hipEventRecord(hip::Event event, hip::Stream stream);
int hipEventQuery(hip::Event event);
int hipEventSynchronize(hip::Event event);
int hipEventElapsedTime(float* milliseconds, hip::Event begin, hip::Event end);
int hipModuleLoadData(hip::Module* module, const void* image);
int hipModuleGetFunction(hip::Function* function, hip::Module module, const char* name);
int hipModuleLaunchKernel(hip::Function function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, hip::Stream,
                          void**, void**);
int hipGetLastError();
}

namespace {

int failures = 0;

#define EXPECT(condition)                                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      std::fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                                   \
    }                                                                               \
  } while (false)

hip::Stream stream_of_priority(int priority) {
  hip::Stream stream = nullptr;
  EXPECT(hipStreamCreateWithPriority(&stream, hip::kStreamNonBlocking, priority) == 0);
  return stream;
}

hip::Event new_event() {
  hip::Event event = nullptr;
  EXPECT(hipEventCreate(&event) == 0);
  return event;
}

hip::Function function(const char* name) {
  hip::Module module = nullptr;
  hip::Function found = nullptr;
  EXPECT(hipModuleLoadData(&module, "image") == 0 && hipModuleGetFunction(&found, module, name) == 0);
  return found;
}

struct Interval {
  unsigned long long begin = ~0ULL, end = 0;
};

void spin(hip::Stream stream, unsigned long long ticks, Interval* out) {
  void* arguments[] = {&ticks, &out};
  EXPECT(hipModuleLaunchKernel(function("spin"), 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == 0);
}

// Only a stream of the greatest priority begins beside what runs.
void overtaking() {
  Interval low, equal, high;
  spin(stream_of_priority(0), 1000, &low);
  spin(stream_of_priority(0), 10, &equal);
  spin(stream_of_priority(-1), 10, &high);
  EXPECT(low.end - low.begin == 1000 && equal.begin == low.end && high.begin < low.end);
}

void events_order_streams() {
  const hip::Stream first = stream_of_priority(0);
  const hip::Stream second = stream_of_priority(-1);
  const hip::Event begin = new_event();
  const hip::Event end = new_event();
  Interval a, b;
  EXPECT(hipEventRecord(begin, first) == 0);
  spin(first, 500, &a);
  EXPECT(hipEventRecord(end, first) == 0 && hipStreamWaitEvent(second, end, 0) == 0);
  spin(second, 5, &b);
  EXPECT(b.begin >= a.end);
  float milliseconds = 0;
  EXPECT(hipEventElapsedTime(&milliseconds, begin, end) == 0 && milliseconds >= 0.005F);  // 500 ticks of 10 ns
}

// What waits for a word of memory holds its own stream back and no other.
void waiting_for_a_word() {
  const hip::Stream held = stream_of_priority(0);
  const hip::Stream other = stream_of_priority(0);
  void* memory = nullptr;
  EXPECT(hipMalloc(&memory, 4) == 0);
  std::uint32_t word = 0;
  EXPECT(hipStreamWaitValue32(held, &word, 1, 0, ~0U) == 0 && hipMemsetAsync(memory, 7, 4, held) == 0);
  EXPECT(hipStreamQuery(held) == hip::kErrorNotReady && hipStreamSynchronize(other) == 0 && fake_hip_waiting() == 2);
  std::thread later([&] { __atomic_store_n(&word, 1U, __ATOMIC_RELEASE); });
  EXPECT(hipStreamSynchronize(held) == 0 && fake_hip_waiting() == 0);
  later.join();
  unsigned char read = 0;
  EXPECT(hipMemcpy(&read, memory, 1, hip::kMemcpyDeviceToHost) == 0 && read == 7);
  EXPECT(hipFree(memory) == 0);
}

// The default stream waits for blocking streams and they for it; a non-blocking one does neither.
void default_stream() {
  hip::Stream blocking = nullptr;
  EXPECT(hipStreamCreate(&blocking) == 0);
  std::uint32_t word = 0;
  unsigned char byte = 0;
  EXPECT(hipStreamWaitValue32(blocking, &word, 1, 0, ~0U) == 0);
  EXPECT(hipMemsetAsync(&byte, 1, 1, nullptr) == 0 && byte == 0);
  EXPECT(hipMemsetAsync(&byte, 2, 1, stream_of_priority(0)) == 0 && byte == 2);
  word = 1;
  EXPECT(hipStreamSynchronize(nullptr) == 0 && byte == 1);
}

void lazily() {
  fake_hip_set_lazy(1);
  unsigned char byte = 0;
  const hip::Stream stream = stream_of_priority(0);
  EXPECT(hipMemsetAsync(&byte, 1, 1, stream) == 0 && byte == 0);
  EXPECT(hipStreamSynchronize(stream) == 0 && byte == 1);
  fake_hip_reset();
}

int refuse(const FakeHipCall* call) { return std::strcmp(call->name, "hipStreamQuery") == 0 ? 999 : 0; }

void failures_on_request() {
  void* memory = nullptr;
  fake_hip_set_failing("hipMalloc:2:2,hipEventQuery:719");
  EXPECT(hipMalloc(&memory, 8) == 0 && hipFree(memory) == 0);
  EXPECT(hipMalloc(&memory, 8) == 2 && hipGetLastError() == 2 && hipGetLastError() == 0);
  EXPECT(hipEventQuery(new_event()) == 719);
  fake_hip_set_failing("");
  fake_hip_set_failure(&refuse);
  EXPECT(hipStreamQuery(nullptr) == 999 && hipStreamSynchronize(nullptr) == 0);
  fake_hip_reset();
  fake_hip_set_finished(0);
  EXPECT(hipStreamQuery(nullptr) == hip::kErrorNotReady);
  fake_hip_reset();
  EXPECT(hipMalloc(&memory, std::size_t{1} << 40U) == hip::kErrorOutOfMemory);
  hip::Module module = nullptr;
  EXPECT(hipModuleLoadData(&module, "broken") == hip::kErrorInvalidImage);
}

// Two ranks' parts of a collective end together.
struct Rank {
  bool* arrived;
  int own;
};

bool both_arrived(void* data) {
  const auto& rank = *static_cast<Rank*>(data);
  rank.arrived[rank.own] = true;
  return rank.arrived[0] && rank.arrived[1];
}

void collective() {
  bool arrived[2] = {false, false};
  Rank ranks[2] = {{arrived, 0}, {arrived, 1}};
  const hip::Stream streams[2] = {stream_of_priority(0), stream_of_priority(0)};
  const FakeOperation first{"ncclDevKernel_Generic", &ranks[0], &both_arrived, nullptr, 1000};
  const FakeOperation second{"ncclDevKernel_Generic", &ranks[1], &both_arrived, nullptr, 1000};
  EXPECT(fake_hip_enqueue(streams[0], &first) == 0 && fake_hip_waiting() == 1);
  EXPECT(fake_hip_enqueue(streams[1], &second) == 0 && fake_hip_waiting() == 0);
}

}  // namespace

int main() {
  int devices = 0;
  EXPECT(hipGetDeviceCount(&devices) == 0 && devices == 2);
  overtaking();
  events_order_streams();
  waiting_for_a_word();
  default_stream();
  lazily();
  failures_on_request();
  collective();
  return failures == 0 ? 0 : 1;
}
