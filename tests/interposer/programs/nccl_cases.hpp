#pragma once

#include <cstdint>

#include "interposer/nccl/functions.hpp"
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

inline constexpr Case kCollectiveCases[] = {
    {"ncclGroupStart", group_begins},
    {"ncclGroupEnd", [] { group_ends(&ncclGroupEnd); }},
    {"ncclAllReduce", [] { sized(kOf4MiB, 7, 2, [](nccl::Stream stream) { return all_reduce(stream, kFloats); }); }},
    {"ncclReduce",
     [] {
       sized(kOf4MiB, 8, 2,
             [](nccl::Stream stream) { return ncclReduce(in(1), out(2), kFloats, kFloat, 5, 6, communicator(7), stream); });
     }},
    {"ncclBcast",
     [] {
       sized(kOf4MiB, 6, 1, [](nccl::Stream stream) { return ncclBcast(out(1), kFloats, kFloat, 4, communicator(5), stream); });
     }},
    {"ncclBroadcast",
     [] {
       sized(kOf4MiB, 7, 2,
             [](nccl::Stream stream) { return ncclBroadcast(in(1), out(2), kFloats, kFloat, 5, communicator(6), stream); });
     }},
    {"ncclReduceScatter",  // each of the four ranks names its part
     [] {
       sized(kOf16MiB, 7, 2,
             [](nccl::Stream stream) { return ncclReduceScatter(in(1), out(2), kFloats, kFloat, 5, communicator(6), stream); });
     }},
    {"ncclAllGather",
     [] {
       sized(kOf4MiB, 6, 2,
             [](nccl::Stream stream) { return ncclAllGather(in(1), out(2), kFloats, kFloat, communicator(5), stream); });
     }},
    {"ncclGather",
     [] {
       sized(kOf4MiB, 7, 2,
             [](nccl::Stream stream) { return ncclGather(in(1), out(2), kFloats, kFloat, 5, communicator(6), stream); });
     }},
    {"ncclScatter",  // the root sends to each of the four ranks
     [] {
       sized(kOf16MiB, 7, 2,
             [](nccl::Stream stream) { return ncclScatter(in(1), out(2), kFloats, kFloat, 5, communicator(6), stream); });
     }},
    {"ncclSend",
     [] {
       sized(kOf4MiB, 6, 1, [](nccl::Stream stream) { return ncclSend(in(1), kFloats, kFloat, 4, communicator(5), stream); });
     }},
    {"ncclRecv",
     [] {
       sized(kOf4MiB, 6, 1, [](nccl::Stream stream) { return ncclRecv(out(1), kFloats, kFloat, 4, communicator(5), stream); });
     }},
};
