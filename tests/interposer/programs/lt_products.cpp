#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "driver_program.hpp"
#include "fake_cublas_lt.hpp"
#include "plugin_program.hpp"

// Products of cublasLt as a framework makes them: the heuristic is asked for one algorithm, and the product takes it.

namespace {

using Descriptor = elbowroom::interposer::cuda::cublas_lt::OpaqueMatmulDescriptor;
using Algorithm = elbowroom::interposer::cuda::cublas_lt::OpaqueMatmulAlgorithm;
using HeuristicResult = elbowroom::interposer::cuda::cublas_lt::OpaqueHeuristicResult;
using Layout = elbowroom::interposer::cuda::cublas_lt::OpaqueMatrixLayout;

constexpr int kExecutionFailed = 13;

struct Streams {
  cu::Stream compute, comm;
};

/// Layouts of the first factor and of the result; null ones tell nothing.
struct Operands {
  Layout* a = nullptr;
  Layout* d = nullptr;
};

int multiply(Descriptor& descriptor, const Algorithm* algorithm, cu::Stream stream, Operands operands = {}) {
  using Call = int (*)(cublas_lt::Descriptor, Layout*, Layout*, const Algorithm*, cu::Stream);
  static const auto call = from_plugin<Call>("plugin_lt_matmul");
  return call(&descriptor, operands.a, operands.d, algorithm, stream);
}

int choose(Descriptor& descriptor, int requested, HeuristicResult* results, int* returned, Operands operands = {}) {
  using Call = int (*)(cublas_lt::Descriptor, Layout*, Layout*, int, HeuristicResult*, int*);
  static const auto call = from_plugin<Call>("plugin_lt_choose");
  return call(&descriptor, operands.a, operands.d, requested, results, returned);
}

Algorithm chosen_for(Descriptor& descriptor, Operands operands = {}) {
  HeuristicResult result{};
  int returned = 0;
  EXPECT(choose(descriptor, 1, &result, &returned, operands) == 0 && returned == 1);
  return result.algorithm;
}

/// The last launch: blocks as the algorithm has it, and what the product saw of the target.
bool launched_for(std::uint64_t chosen, std::uint64_t seen) {
  const FakeCall* call = fake_call(fake_call_count() - 1);
  return call->grid[0] == chosen && call->grid[1] == seen;
}

Streams streams_of_a_device() {
  use_device(0);
  return {make_stream(), make_stream()};
}

// By a collective of one rank: of several, products get their target outside windows as well.
void open_window(const Streams& streams) {
  fake_set_finished(0);
  EXPECT(from_plugin<int (*)(cu::Stream)>("plugin_lone_all_reduce")(streams.comm) == 0);
}
void close_window(const Streams& /*streams*/) { all_ends(); }

/// A thread whose products go to the compute stream.
Streams streams_with_product() {
  const Streams streams = streams_of_a_device();
  Descriptor descriptor;
  EXPECT(multiply(descriptor, nullptr, streams.compute) == 0 && descriptor.writes == 0 && launched_for(kAllSms, kAllSms));
  return streams;
}

// Inside a window both are for the target and leave the descriptor as it was; elsewhere neither is.
void lt_target() {
  const Streams streams = streams_with_product();
  open_window(streams);
  Descriptor descriptor;
  Algorithm algorithm = chosen_for(descriptor);
  EXPECT(algorithm.sms == 108 && descriptor.target == 0);
  EXPECT(multiply(descriptor, &algorithm, streams.compute) == 0 && descriptor.target == 0 && launched_for(108, 108));
  EXPECT(multiply(descriptor, nullptr, streams.compute) == 0 && descriptor.target == 0 && launched_for(108, 108));
  EXPECT(from_plugin<int (*)(cu::Stream)>("plugin_batched_gemm")(streams.compute) == 0 && launched_for(108, kAllSms));
  close_window(streams);
  const int writes = descriptor.writes;
  algorithm = chosen_for(descriptor);
  EXPECT(algorithm.sms == kAllSms);
  EXPECT(multiply(descriptor, &algorithm, streams.compute) == 0 && launched_for(kAllSms, kAllSms));
  EXPECT(descriptor.writes == writes);
}

// The rules: 108 SMs for bf16 products of 2^37 flop, and 100 on another device than this one for those of 2^31.
void lt_product_rules() {
  constexpr std::uint32_t bf16 = 14;
  const Streams streams = streams_with_product();
  open_window(streams);
  Descriptor descriptor;
  Layout a{bf16, 4096, 4096, 1};
  Layout d{bf16, 4096, 4096, 1};  // 2 x 4096^3 = 2^37
  const Algorithm algorithm = chosen_for(descriptor, {&a, &d});
  EXPECT(algorithm.sms == 108 && descriptor.target == 0);
  EXPECT(multiply(descriptor, &algorithm, streams.compute, {&a, &d}) == 0 && launched_for(108, 108));
  Layout wide{bf16, 16384, 1024, 1};
  Layout flat{bf16, 1024, 4096, 1};  // 2 x 1024 x 4096 x 16384 = 2^37, A transposed
  EXPECT(multiply(descriptor, nullptr, streams.compute, {&wide, &flat}) == 0 && launched_for(108, 108));
  Layout half = d;
  half.columns = 4095;
  Layout twice = half;
  twice.batches = 2;
  EXPECT(multiply(descriptor, nullptr, streams.compute, {&a, &half}) == 0 && launched_for(kAllSms, kAllSms));
  EXPECT(multiply(descriptor, nullptr, streams.compute, {&a, &twice}) == 0 && launched_for(108, 108));
  Layout f32 = a;
  f32.type = 0;
  EXPECT(multiply(descriptor, nullptr, streams.compute, {&f32, &d}) == 0 && launched_for(kAllSms, kAllSms));
  Layout small{bf16, 1024, 1024, 1};
  EXPECT(multiply(descriptor, nullptr, streams.compute, {&small, &small}) == 0 && launched_for(kAllSms, kAllSms));
  EXPECT(multiply(descriptor, nullptr, streams.compute) == 0 && launched_for(kAllSms, kAllSms));
  const auto gemm = from_plugin<int (*)(cu::Stream, int, int)>("plugin_gemm_of");
  EXPECT(gemm(streams.compute, static_cast<int>(bf16), 4096) == 0 && fake_call(fake_call_count() - 1)->grid[0] == 108);
  EXPECT(gemm(streams.compute, static_cast<int>(bf16), 4095) == 0 && fake_call(fake_call_count() - 1)->grid[0] == kAllSms);
  EXPECT(gemm(streams.compute, 0, 4096) == 0 && fake_call(fake_call_count() - 1)->grid[0] == kAllSms);
  close_window(streams);
  EXPECT(multiply(descriptor, nullptr, streams.compute, {&a, &d}) == 0 && launched_for(kAllSms, kAllSms));
}

void lt_first_question() {
  const Streams streams = streams_of_a_device();
  open_window(streams);
  Descriptor descriptor;
  EXPECT(chosen_for(descriptor).sms == kAllSms && descriptor.writes == 0);  // no product has said which stream
}

// What several ranks compute alike has one target on all of them, whatever a thread has asked for before.
void lt_first_of_ranks() {
  const Streams streams = streams_of_a_device();
  EXPECT(from_plugin<int (*)(cu::Stream, std::size_t)>("plugin_all_reduce")(streams.comm, 1024) == 0);
  const auto first_product = [&] {
    use_device(0);
    Descriptor descriptor;
    const Algorithm algorithm = chosen_for(descriptor);
    EXPECT(algorithm.sms == 108);
    EXPECT(multiply(descriptor, &algorithm, streams.compute) == 0 && launched_for(108, 108));
  };
  first_product();
  std::thread(first_product).join();
}

// On one rank the driver gives a new stream the handle of one that was destroyed, on another it does not. Both have the target.
void lt_ranks_without_stream() {
  for (const bool again : {true, false}) {
    const Streams streams = streams_of_a_device();
    EXPECT(from_plugin<int (*)(cu::Stream, std::size_t)>("plugin_all_reduce")(streams.comm, 1024) == 0);
    Descriptor descriptor;
    EXPECT(multiply(descriptor, nullptr, streams.compute) == 0);
    EXPECT(cuStreamSynchronize(streams.compute) == 0 && cuStreamDestroy_v2(streams.compute) == 0);
    if (again) { fake_reuse_stream(streams.compute); }
    const cu::Stream next = make_stream();
    const Algorithm algorithm = chosen_for(descriptor);
    EXPECT(algorithm.sms == 108 && multiply(descriptor, &algorithm, next) == 0 && launched_for(108, 108));
  }
}

// A captured product goes without a target, and so does the question for it.
void lt_captured_of_ranks() {
  const Streams streams = streams_of_a_device();
  EXPECT(from_plugin<int (*)(cu::Stream, std::size_t)>("plugin_all_reduce")(streams.comm, 1024) == 0);
  Descriptor descriptor;
  EXPECT(multiply(descriptor, nullptr, streams.compute) == 0 && launched_for(108, 108));
  EXPECT(cuStreamBeginCapture_v2(streams.compute, cu::kCaptureModeRelaxed) == 0);
  const Algorithm algorithm = chosen_for(descriptor);
  EXPECT(algorithm.sms == kAllSms && multiply(descriptor, &algorithm, streams.compute) == 0 && launched_for(kAllSms, kAllSms));
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(streams.compute, &graph) == 0);
}

void lt_own_target() {
  const Streams streams = streams_with_product();
  open_window(streams);
  Descriptor descriptor;
  descriptor.target = 120;
  const Algorithm algorithm = chosen_for(descriptor);
  EXPECT(algorithm.sms == 120);
  EXPECT(multiply(descriptor, &algorithm, streams.compute) == 0 && launched_for(120, 120));
  EXPECT(descriptor.target == 120 && descriptor.writes == 0);
}

void lt_untouched() {
  const Streams streams = streams_with_product();
  open_window(streams);
  Descriptor descriptor;
  const Algorithm algorithm = chosen_for(descriptor);
  EXPECT(algorithm.sms == kAllSms);
  EXPECT(multiply(descriptor, &algorithm, streams.compute) == 0 && launched_for(kAllSms, kAllSms));
  EXPECT(descriptor.writes == 0);
}

// A program that compares algorithms keeps the best one, for products outside windows as well.
void lt_several_algorithms() {
  const Streams streams = streams_with_product();
  open_window(streams);
  Descriptor descriptor;
  HeuristicResult results[2]{};
  int returned = 0;
  EXPECT(choose(descriptor, 2, results, &returned) == 0 && returned == 2 && results[0].algorithm.sms == kAllSms);
  EXPECT(descriptor.writes == 0);
}

// Algorithm and target that do not go together, whichever of them is ours: the product is made nevertheless.
void lt_refused() {
  const Streams streams = streams_with_product();
  Descriptor descriptor;
  descriptor.needs_match = true;
  const Algorithm for_all = chosen_for(descriptor);
  open_window(streams);
  EXPECT(multiply(descriptor, &for_all, streams.compute) == 0 && launched_for(kAllSms, kAllSms) && descriptor.target == 0);
  const Algorithm for_target = chosen_for(descriptor);
  EXPECT(for_target.sms == 108);
  close_window(streams);
  EXPECT(multiply(descriptor, &for_target, streams.compute) == 0 && launched_for(108, 108) && descriptor.target == 0);
  descriptor.no_algorithm = true;
  open_window(streams);
  EXPECT(chosen_for(descriptor).sms == kAllSms && descriptor.target == 0);
}

// The rules: 108 SMs for products of 2^37 flop, 96 for those of 2^34. An algorithm that was chosen for one target goes on working
// for products that get another one or none.
void lt_kept_algorithm() {
  constexpr std::uint32_t bf16 = 14;
  const Streams streams = streams_with_product();
  Descriptor descriptor;
  descriptor.needs_match = true;
  Layout large{bf16, 4096, 4096, 1};
  Layout medium{bf16, 2048, 2048, 1};
  Layout small{bf16, 64, 64, 1};
  open_window(streams);
  const Algorithm for_large = chosen_for(descriptor, {&large, &large});
  const Algorithm for_medium = chosen_for(descriptor, {&medium, &medium});
  EXPECT(for_large.sms == 108 && for_medium.sms == 96);
  EXPECT(multiply(descriptor, &for_medium, streams.compute, {&large, &large}) == 0 && launched_for(96, 96));
  EXPECT(multiply(descriptor, &for_large, streams.compute, {&small, &small}) == 0 && launched_for(108, 108));
  close_window(streams);
  EXPECT(multiply(descriptor, &for_medium, streams.compute, {&small, &small}) == 0 && launched_for(96, 96));
  EXPECT(descriptor.target == 0);
}

// What the library says of the program's own mistake reaches it, once and unchanged.
void lt_failing() {
  const Streams streams = streams_with_product();
  open_window(streams);
  Descriptor descriptor;
  const Algorithm algorithm = chosen_for(descriptor);
  for (const int status : {kExecutionFailed, static_cast<int>(cublas_lt::kInvalidValue)}) {
    descriptor.status = status;
    EXPECT(multiply(descriptor, &algorithm, streams.compute) == status && descriptor.target == 0);
  }
  close_window(streams);
  EXPECT(multiply(descriptor, &algorithm, streams.compute) == cublas_lt::kInvalidValue && descriptor.target == 0);
  open_window(streams);
  HeuristicResult result{};
  int returned = 0;
  descriptor.no_algorithm = true;
  descriptor.target = 100;
  EXPECT(choose(descriptor, 1, &result, &returned) == cublas_lt::kNotSupported && returned == 0 && descriptor.target == 100);
}

Descriptor shared;
Streams shared_streams;
std::thread second;
std::atomic<bool> first_inside{false};

void second_product() {
  use_device(0);
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0 && !first_inside && launched_for(108, 108));
}

// The first of two threads to use a descriptor returns while the other one's product reads it.
void lt_shared_descriptor() {
  shared_streams = streams_with_product();
  open_window(shared_streams);
  first_inside = true;
  shared.during = [] {
    second = std::thread(&second_product);
    // Long enough for the second to get into the library if nothing held it back.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT(shared.target == 108 && shared.writes == 1);
    first_inside = false;
  };
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0);
  second.join();
  EXPECT(shared.target == 0 && shared.writes == 4);
}

// The first one returns when the second one has: its stream's queue is full, and moves on when another device does.
void lt_awaited_sharer() {
  alarm(20);
  shared_streams = streams_with_product();
  open_window(shared_streams);
  shared.during = [] {
    for (int i = 0; i < 3; ++i) {
      std::thread([] {
        use_device(0);
        EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0);
      }).join();
    }
  };
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0 && shared.target == 0);
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0 && launched_for(108, 108) && shared.target == 0);
}

// A thread that is ended while it waits for the first one leaves nothing taken.
void lt_ended_sharer() {
  alarm(20);
  shared_streams = streams_with_product();
  open_window(shared_streams);
  shared.during = [] {
    second = std::thread([] {
      use_device(0);
      static_cast<void>(multiply(shared, nullptr, shared_streams.compute));
      pthread_testcancel();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT(pthread_cancel(second.native_handle()) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0);
  second.join();
  EXPECT(shared.target == 0 && multiply(shared, nullptr, shared_streams.compute) == 0 && shared.target == 0);
}

// A product that reads the descriptor without a target goes on doing so: nobody else sets one meanwhile.
void lt_plain_sharer() {
  shared_streams = streams_with_product();
  shared.during = [] {
    open_window(shared_streams);
    std::thread([] {
      use_device(0);
      EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0);
    }).join();
    EXPECT(shared.target == 0 && shared.writes == 0);
  };
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0);
  EXPECT(shared.target == 0 && shared.writes == 0);
  EXPECT(multiply(shared, nullptr, shared_streams.compute) == 0 && launched_for(108, 108));
}

constexpr Case kCases[] = {{"lt_target", lt_target},
                           {"lt_first_question", lt_first_question},
                           {"lt_first_of_ranks", lt_first_of_ranks},
                           {"lt_ranks_without_stream", lt_ranks_without_stream},
                           {"lt_captured_of_ranks", lt_captured_of_ranks},
                           {"lt_own_target", lt_own_target},
                           {"lt_untouched", lt_untouched},
                           {"lt_several_algorithms", lt_several_algorithms},
                           {"lt_refused", lt_refused},
                           {"lt_failing", lt_failing},
                           {"lt_shared_descriptor", lt_shared_descriptor},
                           {"lt_plain_sharer", lt_plain_sharer},
                           {"lt_awaited_sharer", lt_awaited_sharer},
                           {"lt_ended_sharer", lt_ended_sharer},
                           {"lt_product_rules", lt_product_rules},
                           {"lt_kept_algorithm", lt_kept_algorithm}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
