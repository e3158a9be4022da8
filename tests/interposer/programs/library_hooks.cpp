#include <algorithm>

#include "fake_nccl.hpp"
#include "hook_cases.hpp"
#include "interposer/cuda/cublas_functions.hpp"
#include "nccl_cases.hpp"

// Hooks of NCCL and cuBLAS: what a call is given reaches the library, and what the hook tells of it shows.

#pragma GCC visibility push(default)
extern "C" {
bool echo_cublas_counts(std::size_t arguments, const std::uint64_t* own);
cublas::Handle fake_cublas_handle(cu::Stream stream);
}
#pragma GCC visibility pop

nccl::Stream make_any_stream() {
  use_device(0);
  return make_stream();
}
int launch_all_reduce(nccl::Stream stream) {
  return launch_on(static_cast<cu::Stream>(stream), fake_function(kAllReduce, 96, 0), 24);
}

namespace {

// A communicator that a hook saw is in the report.
template <class Make>
void communicator_made(int made_in_all, int greatest, int rank, Make make) {
  const std::string expected = R"("communicators_made":)" + std::to_string(made_in_all) + R"(,"greatest_ranks":)" +
                               std::to_string(greatest) + R"(,"rank":)" + std::to_string(rank) + "}";
  EXPECT(holds(report_of([=] {
                 use_device(0);
                 nccl::Communicator made[2] = {};
                 EXPECT(make(made) == 0 && fake_communicator(made[0])->ranks == 2 && launch_all_reduce(make_stream()) == 0);
               }),
               expected.c_str()));
}

template <class Make>
void child_made(int greatest, Make make) {
  communicator_made(2, greatest, 1, [=](nccl::Communicator* made) {
    nccl::Communicator parent = nullptr;
    EXPECT(ncclCommInitRankConfig(&parent, 2, {}, 1, nullptr) == 0);
    return make(parent, made);
  });
}

// Beside a collective a product is made for 108 SMs, by the rules.
template <class Call>
void product(std::size_t arguments, Call call) {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  const cublas::Handle handle = fake_cublas_handle(lanes.compute);
  const std::uint64_t own[kMost] = {reinterpret_cast<std::uintptr_t>(handle)};
  EXPECT(call(handle) == 0 && echo_cublas_counts(arguments, own));
  EXPECT(fake_call(fake_call_count() - 1)->grid[0] == 108);
}

constexpr Case kNccl[] = {
    HOOK(ncclGroupSimulateEnd, group_ends([] { return ncclGroupSimulateEnd(nullptr); })),
    SIZED(ncclAlltoAll, kOf16MiB, 6, 2, in(1), out(2), kFloats, kFloat, communicator(5)),
    HOOK(ncclCommInitRank, communicator_made(1, 2, 1, [](nccl::Communicator* made) { return ncclCommInitRank(made, 2, {}, 1); })),
    HOOK(ncclCommInitRankConfig,
         communicator_made(1, 2, 1, [](nccl::Communicator* made) { return ncclCommInitRankConfig(made, 2, {}, 1, nullptr); })),
    HOOK(ncclCommInitRankScalable, communicator_made(1, 2, 1,
                                                     [](nccl::Communicator* made) {
                                                       nccl::UniqueId id{};
                                                       return ncclCommInitRankScalable(made, 2, 1, 1, &id, nullptr);
                                                     })),
    HOOK(ncclCommInitAll, communicator_made(1, 2, 0, [](nccl::Communicator* made) { return ncclCommInitAll(made, 2, nullptr); })),
    HOOK(ncclCommSplit, child_made(2, [](nccl::Communicator parent,
                                         nccl::Communicator* made) { return ncclCommSplit(parent, 0, 0, made, nullptr); })),
    HOOK(ncclCommShrink, child_made(2,
                                    [](nccl::Communicator parent, nccl::Communicator* made) {
                                      int excluded = 1;
                                      return ncclCommShrink(parent, &excluded, 1, made, nullptr, 0);
                                    })),
    HOOK(ncclCommGrow, child_made(3,
                                  [](nccl::Communicator parent, nccl::Communicator* made) {
                                    const nccl::UniqueId id{};
                                    return ncclCommGrow(parent, 3, &id, -1, made, nullptr);
                                  })),
};

constexpr Case kCublas[] = {
    HOOK(cublasGemmEx, product(19,
                               [](cublas::Handle handle) {
                                 return cublasGemmEx(handle, 2, 3, 4, 5, 6, in(7), in(8), 9, 10, in(11), 12, 13, in(14), out(15),
                                                     16, 17, 18, 19);
                               })),
    HOOK(cublasGemmStridedBatchedEx, product(23,
                                             [](cublas::Handle handle) {
                                               return cublasGemmStridedBatchedEx(handle, 2, 3, 4, 5, 6, in(7), in(8), 9, 10, 11,
                                                                                 in(12), 13, 14, 15, in(16), out(17), 18, 19, 20,
                                                                                 21, 22, 23);
                                             })),
    HOOK(cublasSgemm_v2, product(14,
                                 [](cublas::Handle handle) {
                                   return cublasSgemm_v2(handle, 2, 3, 4, 5, 6, number<const float*>(7), number<const float*>(8), 9,
                                                         number<const float*>(10), 11, number<const float*>(12), number<float*>(13),
                                                         14);
                                 })),
    HOOK(cublasSgemmStridedBatched, product(18,
                                            [](cublas::Handle handle) {
                                              return cublasSgemmStridedBatched(
                                                  handle, 2, 3, 4, 5, 6, number<const float*>(7), number<const float*>(8), 9, 10,
                                                  number<const float*>(11), 12, 13, number<const float*>(14), number<float*>(15),
                                                  16, 17, 18);
                                            })),
};

template <std::size_t N>
bool has(const Case (&cases)[N], const char* name) {
  return std::any_of(std::begin(cases), std::end(cases), [&](const Case& known) { return std::strcmp(known.name, name) == 0; });
}

}  // namespace

int main(int argc, char** argv) {
  const bool lists = argc == 2 && std::strcmp(argv[1], "list") == 0;
  if (argc < 2) { return 2; }
  if (lists || has(kCollectiveCases, argv[1])) {
    const int result = run_cases_of(kCollectiveCases, "libnccl.so.2", argc, argv);
    if (!lists) { return result; }
  }
  if (lists || has(kNccl, argv[1])) {
    const int result = run_cases_of(kNccl, "libnccl.so.2", argc, argv);
    if (!lists) { return result; }
  }
  return run_cases_of(kCublas, "libcublas.so.13", argc, argv);
}
