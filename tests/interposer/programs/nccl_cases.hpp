#pragma once

#include <cstdint>

#include "interposer/nccl/functions.hpp"
#include "past_hooks.hpp"
#include "program.hpp"
#include "report_of.hpp"

/// Cases of the collectives that NCCL and RCCL have both, named by their hooks: what a call is given reaches the library, and what
/// the hook tells of it shows in the report. The library is fake_libraries/echo_nccl.cpp.

#pragma GCC visibility push(default)
extern "C" bool echo_nccl_counts(std::size_t arguments, const std::uint64_t* own);
#pragma GCC visibility pop

// A program of each vendor defines these.
nccl::Stream make_any_stream();  // on the first device
int launch_all_reduce(nccl::Stream stream);

inline constexpr std::size_t kMost = 32;
inline constexpr std::size_t kFloats = 1U << 20U;  // 4 MiB
inline constexpr int kFloat = 7;
inline constexpr const char* kOf4MiB = R"("size_class":22,)";
inline constexpr const char* kOf16MiB = R"("size_class":24,)";
inline constexpr const char* kOfUnknownSize = R"("size_class":0,)";

// Whatever stands for the argument of that number.
template <class Type>
Type number(std::uintptr_t value) {
  return reinterpret_cast<Type>(value);
}
inline const void* in(std::uintptr_t value) { return number<const void*>(value); }
inline void* out(std::uintptr_t value) { return number<void*>(value); }
inline nccl::Communicator communicator(std::uintptr_t value) { return number<nccl::Communicator>(value); }

// The kernel is of the size that the call named; `count_at`: the place of its count, before that of its type.
template <class Call>
void sized(const char* expected, std::size_t arguments, std::size_t count_at, Call call) {
  EXPECT(holds(report_of([=] {
                 const nccl::Stream stream = make_any_stream();
                 std::uint64_t own[kMost] = {};
                 own[count_at] = kFloats;
                 own[count_at + 1] = kFloat;
                 own[arguments - 1] = reinterpret_cast<std::uintptr_t>(stream);
                 EXPECT(call(stream) == 0 && echo_nccl_counts(arguments, own));
               }),
               expected));
}

inline int all_reduce(nccl::Stream stream, std::size_t floats) {
  return ncclAllReduce(in(1), out(2), floats, kFloat, 5, communicator(6), stream);
}

// The calls of a group become one kernel, of all their bytes.
inline void group_begins() {
  EXPECT(holds(report_of([] {
                 const nccl::Stream stream = make_any_stream();
                 EXPECT(ncclGroupStart() == 0 && all_reduce(stream, kFloats / 2) == 0 && all_reduce(stream, kFloats / 2) == 0);
                 EXPECT(ncclGroupEnd() == 0);
               }),
               kOf4MiB));
}

// What comes after a group is not of it.
template <class End>
void group_ends(End end) {
  EXPECT(holds(report_of([=] {
                 const nccl::Stream stream = make_any_stream();
                 EXPECT(ncclGroupStart() == 0 && all_reduce(stream, kFloats) == 0 && end() == 0);
                 EXPECT(launch_all_reduce(stream) == 0);
               }),
               kOfUnknownSize));
}

/// The stream is the last argument.
#define SIZED(call, expected, arguments, count_at, ...) \
  HOOK(call, sized(expected, arguments, count_at, [](nccl::Stream stream) { return call(__VA_ARGS__, stream); }))

// A scatter and a reduce-scatter name the part of each of the four ranks.
inline constexpr Case kCollectiveCases[] = {
    {"ncclGroupStart", group_begins},
    HOOK(ncclGroupEnd, group_ends(&ncclGroupEnd)),
    HOOK(ncclAllReduce, sized(kOf4MiB, 7, 2, [](nccl::Stream stream) { return all_reduce(stream, kFloats); })),
    SIZED(ncclReduce, kOf4MiB, 8, 2, in(1), out(2), kFloats, kFloat, 5, 6, communicator(7)),
    SIZED(ncclBcast, kOf4MiB, 6, 1, out(1), kFloats, kFloat, 4, communicator(5)),
    SIZED(ncclBroadcast, kOf4MiB, 7, 2, in(1), out(2), kFloats, kFloat, 5, communicator(6)),
    SIZED(ncclReduceScatter, kOf16MiB, 7, 2, in(1), out(2), kFloats, kFloat, 5, communicator(6)),
    SIZED(ncclAllGather, kOf4MiB, 6, 2, in(1), out(2), kFloats, kFloat, communicator(5)),
    SIZED(ncclGather, kOf4MiB, 7, 2, in(1), out(2), kFloats, kFloat, 5, communicator(6)),
    SIZED(ncclScatter, kOf16MiB, 7, 2, in(1), out(2), kFloats, kFloat, 5, communicator(6)),
    SIZED(ncclSend, kOf4MiB, 6, 1, in(1), kFloats, kFloat, 4, communicator(5)),
    SIZED(ncclRecv, kOf4MiB, 6, 1, out(1), kFloats, kFloat, 4, communicator(5)),
};
