#include <algorithm>
#include <cstring>

#include "runtime.hpp"

// The copies, fills, calls and waits that are put on streams, and the operations of other libraries.

using namespace fake_hip;

namespace fake_hip {

int finish_stream(Stream& stream) {
  if (!run_until([&] { return is_idle(stream); })) { return 719; }
  host_knows(end_of(stream));
  return 0;
}

}  // namespace fake_hip

namespace {

constexpr std::uint64_t kCopyNanoseconds = 1000;

std::uint64_t copy_nanoseconds(std::size_t bytes) { return kCopyNanoseconds + bytes / 1000; }

// A call that puts an operation on a stream.
template <class Make>
int put(const char* name, hip::Stream stream, bool per_thread, Make&& make) {
  FakeHipCall call = named(name);
  call.stream = stream;
  return make_call(call, [&] {
    Stream* known = stream_of(stream, per_thread);
    if (known == nullptr) { return hip::kErrorInvalidHandle; }
    enqueue(*known, make());
    return 0;
  });
}

Operation copying(void* to, const void* from, std::size_t bytes) {
  Operation operation;
  operation.run = [=](std::uint64_t, std::uint64_t) { std::memmove(to, from, bytes); };
  operation.nanoseconds = [=] { return copy_nanoseconds(bytes); };
  return operation;
}

template <class Word>
Operation filling(void* to, Word value, std::size_t count) {
  Operation operation;
  operation.run = [=](std::uint64_t, std::uint64_t) { std::fill_n(static_cast<Word*>(to), count, value); };
  operation.nanoseconds = [=] { return copy_nanoseconds(count * sizeof(Word)); };
  return operation;
}

// What the interposer's tests put on streams of addresses that are none is not touched.
Operation nothing() { return {}; }

// A synchronous copy: in the order of the default stream, and finished when it returns.
int copy_now(const char* name, void* to, const void* from, std::size_t bytes, hip::Stream stream, bool per_thread) {
  FakeHipCall call = named(name);
  call.stream = stream;
  return make_call(call, [&] {
    Stream* known = stream_of(stream, per_thread);
    if (known == nullptr) { return hip::kErrorInvalidHandle; }
    enqueue(*known, to == nullptr || from == nullptr ? nothing() : copying(to, from, bytes));
    return finish_stream(*known);
  });
}

// Comparisons of hipStreamWaitValue*, by its flags.
template <class Word>
bool satisfied(Word at, Word value, unsigned flags) {
  switch (flags & 3U) {
    case 0:
      return at >= value;
    case 1:
      return at == value;
    case 2:
      return (at & value) != 0;
    default:
      return (~(at | value)) != 0;
  }
}

template <class Word>
Operation waiting_for(void* address, Word value, unsigned flags, Word mask) {
  Operation operation;
  if (address != nullptr) {
    operation.can_run = [=] {
      return satisfied<Word>(__atomic_load_n(static_cast<Word*>(address), __ATOMIC_ACQUIRE) & mask, value, flags);
    };
  }
  return operation;
}

template <class Word>
Operation writing(void* address, Word value) {
  Operation operation;
  operation.run = [=](std::uint64_t, std::uint64_t) { __atomic_store_n(static_cast<Word*>(address), value, __ATOMIC_RELEASE); };
  return operation;
}

Operation calling(void (*function)(void*), void* data) {
  Operation operation;
  if (function != nullptr) {
    operation.run = [=](std::uint64_t, std::uint64_t) { function(data); };
  }
  return operation;
}

}  // namespace

int fake_hip_enqueue(hip::Stream stream, const FakeOperation* operation) {
  FakeHipCall call = named(operation->name);
  call.stream = stream;
  return make_call(call, [&] {
    Stream* known = stream_of(stream, false);
    if (known == nullptr) { return hip::kErrorInvalidHandle; }
    Operation made;
    made.is_kernel = true;
    const FakeOperation copy = *operation;
    if (copy.can_run != nullptr) {
      made.can_run = [copy] { return copy.can_run(copy.data); };
    }
    if (copy.run != nullptr) {
      made.run = [copy](std::uint64_t, std::uint64_t) { copy.run(copy.data); };
    }
    made.nanoseconds = [copy] { return copy.nanoseconds; };
    enqueue(*known, std::move(made));
    return 0;
  });
}

#pragma GCC visibility push(default)
extern "C" {

int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int, hip::Stream stream) {
  return put("hipMemcpyAsync", stream, false, [&] { return to == nullptr ? nothing() : copying(to, from, bytes); });
}
int hipMemcpyAsync_spt(void* to, const void* from, std::size_t bytes, int, hip::Stream stream) {
  return put("hipMemcpyAsync_spt", stream, kPerThread, [&] { return to == nullptr ? nothing() : copying(to, from, bytes); });
}
int hipMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, hip::Stream stream) {
  return put("hipMemcpyPeerAsync", stream, false, [&] { return copying(to, from, bytes); });
}
int hipMemcpy(void* to, const void* from, std::size_t bytes, int) { return copy_now("hipMemcpy", to, from, bytes, nullptr, false); }
int hipMemcpy_spt(void* to, const void* from, std::size_t bytes, int) {
  return copy_now("hipMemcpy_spt", to, from, bytes, nullptr, kPerThread);
}
int hipMemcpyWithStream(void* to, const void* from, std::size_t bytes, int, hip::Stream stream) {
  return copy_now("hipMemcpyWithStream", to, from, bytes, stream, false);
}
int hipMemcpyHtoD(void* to, void* from, std::size_t bytes) { return copy_now("hipMemcpyHtoD", to, from, bytes, nullptr, false); }
int hipMemcpyDtoH(void* to, void* from, std::size_t bytes) { return copy_now("hipMemcpyDtoH", to, from, bytes, nullptr, false); }
int hipMemcpyHtoDAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return put("hipMemcpyHtoDAsync", stream, false, [&] { return to == nullptr ? nothing() : copying(to, from, bytes); });
}
int hipMemcpyDtoHAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return put("hipMemcpyDtoHAsync", stream, false, [&] { return to == nullptr ? nothing() : copying(to, from, bytes); });
}
int hipMemcpyDtoDAsync(void* to, void* from, std::size_t bytes, hip::Stream stream) {
  return put("hipMemcpyDtoDAsync", stream, false, [&] { return to == nullptr ? nothing() : copying(to, from, bytes); });
}
int hipMemset(void* to, int value, std::size_t bytes) {
  return put("hipMemset", nullptr, false, [&] { return filling(to, static_cast<unsigned char>(value), bytes); });
}
int hipMemsetAsync(void* to, int value, std::size_t bytes, hip::Stream stream) {
  return put("hipMemsetAsync", stream, false,
             [&] { return to == nullptr ? nothing() : filling(to, static_cast<unsigned char>(value), bytes); });
}
int hipMemsetD8Async(void* to, unsigned char value, std::size_t count, hip::Stream stream) {
  return put("hipMemsetD8Async", stream, false, [&] { return to == nullptr ? nothing() : filling(to, value, count); });
}
int hipMemsetD32Async(void* to, int value, std::size_t count, hip::Stream stream) {
  return put("hipMemsetD32Async", stream, false, [&] { return to == nullptr ? nothing() : filling(to, value, count); });
}

int hipLaunchHostFunc(hip::Stream stream, void (*function)(void*), void* data) {
  return put("hipLaunchHostFunc", stream, false, [&] { return calling(function, data); });
}
int hipLaunchHostFunc_spt(hip::Stream stream, void (*function)(void*), void* data) {
  return put("hipLaunchHostFunc_spt", stream, kPerThread, [&] { return calling(function, data); });
}
int hipStreamAddCallback(hip::Stream stream, void (*callback)(hip::Stream, int, void*), void* data, unsigned) {
  return put("hipStreamAddCallback", stream, false, [&] {
    Operation operation;
    if (callback != nullptr) {
      operation.run = [=](std::uint64_t, std::uint64_t) { callback(stream, 0, data); };
    }
    return operation;
  });
}
int hipStreamWaitValue32(hip::Stream stream, void* address, std::uint32_t value, unsigned flags, std::uint32_t mask) {
  return put("hipStreamWaitValue32", stream, false, [&] { return waiting_for<std::uint32_t>(address, value, flags, mask); });
}
int hipStreamWaitValue64(hip::Stream stream, void* address, std::uint64_t value, unsigned flags, std::uint64_t mask) {
  return put("hipStreamWaitValue64", stream, false, [&] { return waiting_for<std::uint64_t>(address, value, flags, mask); });
}
int hipStreamBatchMemOp(hip::Stream stream, unsigned, void*, unsigned) {
  return put("hipStreamBatchMemOp", stream, false, nothing);
}
int hipWaitExternalSemaphoresAsync(const void*, const void*, unsigned, hip::Stream stream) {
  return put("hipWaitExternalSemaphoresAsync", stream, false, nothing);
}
int hipStreamWriteValue32(hip::Stream stream, void* address, std::uint32_t value, unsigned) {
  return put("hipStreamWriteValue32", stream, false, [&] { return writing<std::uint32_t>(address, value); });
}
int hipStreamWriteValue64(hip::Stream stream, void* address, std::uint64_t value, unsigned) {
  return put("hipStreamWriteValue64", stream, false, [&] { return writing<std::uint64_t>(address, value); });
}

}  // extern "C"
#pragma GCC visibility pop
