#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "comparing_ranks.hpp"

// Ranks whose `auto` compares priority and gate. A step has six all-reduces, each beside a product. What each rank did with each of
// its collectives is compared with what the others did with the same one. Each rank's device has a clock of its own, so that ranks
// that chose by themselves would not choose alike.

namespace {

constexpr std::size_t kFloats = 1024;
constexpr std::size_t kPerStep = 6;
constexpr std::size_t kSteps = 480;
constexpr std::size_t kMostSteps = kSteps * kPerStep;

/// What was done with a collective.
constexpr std::uint8_t kPlain = 1;
constexpr std::uint8_t kPriority = 2;
constexpr std::uint8_t kGate = 4;
constexpr std::uint8_t kGated = kPlain | kPriority | kGate;

/// Milliseconds of a collective on the device of a rank, by what was done with it.
using Cost = std::function<double(std::size_t rank, std::uint8_t done)>;
double gate_is_best(std::size_t, std::uint8_t done) { return done == kGated ? 0.8 : 1.0; }
/// The first rank gains by the gate what all the others lose.
double only_the_first_gains(std::size_t rank, std::uint8_t done) { return done == kGated ? rank == 0 ? 0.8 : 1.25 : 1.0; }
double only_the_first_loses(std::size_t rank, std::uint8_t done) { return done == kGated ? rank == 0 ? 1.25 : 0.8 : 1.0; }

using Seen = std::array<std::array<std::atomic<std::uint8_t>, kMostSteps>, kMostRanks>;

Seen& seen() {
  static auto* mapped = new (mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Seen{};
  return *mapped;
}

/// What a rank runs on.
class Device {
 public:
  explicit Device(std::size_t rank) : rank_(rank) {
    use_device(0);
    comm_ = make_stream();
    compute_ = make_stream();
    gemm_ = fake_function("gemm", 64, 0);
    send_ = fake_function("ncclDevKernel_SendRecv", 96, 0);
    fake_set_clock(clock_);
  }
  std::uint8_t all_reduce(nccl::Communicator communicator, const Cost& cost, std::size_t floats = kFloats) {
    fake_reset();
    EXPECT(ncclAllReduce(nullptr, nullptr, floats, 7, 0, communicator, comm_) == 0);
    const FakeCall& launched = last_collective();
    const bool priority = attribute_of(launched, cu::kLaunchPriority) != nullptr;
    const bool gate = attribute_of(launched, cu::kLaunchCompletionEvent) != nullptr;
    const auto done = static_cast<std::uint8_t>(kPlain | (priority ? kPriority : 0) | (gate ? kGate : 0));
    EXPECT(launch_on(compute_, gemm_) == 0);
    pass(cost(rank_, done));
    // Its times come to the interposer every 0.2 ms: what follows is not to be further ahead than a comparison can be.
    if (++collectives_ % 16 == 0) { usleep(250); }
    return done;
  }
  void send_and_receive() {
    EXPECT(cuLaunchKernel(send_, 8, 1, 1, 640, 1, 1, 0, comm_, nullptr, nullptr) == 0);
    pass(0.1);
  }

 private:
  void pass(double milliseconds) { fake_set_clock(clock_ += milliseconds); }

  std::size_t rank_;
  cu::Stream comm_, compute_;
  cu::Function gemm_, send_;
  double clock_ = 1.0;
  std::size_t collectives_ = 0;
};

/// Which collectives of all ranks are the same one: all with the same communicator.
void check_same(const Job& job) {
  for (std::size_t step = 0; step < job.steps; ++step) {
    std::uint8_t here = 0;
    for (std::size_t rank = 0; rank < job.ranks; ++rank) {
      const std::uint8_t done = seen()[rank][step];
      if (done == 0) { continue; }
      if (here != 0 && done != here) { std::fprintf(stderr, "collective %zu: %u and %u\n", step, here, done); }
      EXPECT(here == 0 || done == here);
      here = done;
    }
  }
}

std::size_t count_of(std::size_t rank, std::uint8_t done) {
  return static_cast<std::size_t>(std::ranges::count_if(seen()[rank], [&](const auto& each) { return each == done; }));
}
std::uint8_t last_of(const Job& job, std::size_t rank) { return seen()[rank][job.steps - 1]; }

/// The first collective that was tried with something.
std::size_t first_tried(std::size_t rank) {
  const auto& all = seen()[rank];
  return static_cast<std::size_t>(std::ranges::find_if(all, [](const auto& each) { return each > kPlain; }) - all.begin());
}

/// `collective(device, rank, i)` says what was done with number i.
template <class Collective, class Prepare>
void run(const Job& job, Prepare prepare, Collective collective) {
  new (&seen()) Seen{};
  run_ranks(job, [&](Rank rank) {
    Device device(rank.number());
    auto communicators = prepare(rank.number());
    for (std::size_t i = 0; i < job.steps; ++i) {
      rank.before(i);
      seen()[rank.number()][i] = collective(device, communicators, rank.number(), i);
      rank.after(i);
    }
    std::exit(0);
  });
}

/// All ranks share one communicator, and every collective is of it.
void run_alike(const Job& job, const Cost& cost, unsigned long long number = 1, std::size_t ranks_elsewhere = 0) {
  run(
      job, [&](std::size_t) { return made(number, job.ranks + ranks_elsewhere); },
      [&](Device& device, nccl::Communicator communicator, std::size_t, std::size_t) {
        return device.all_reduce(communicator, cost);
      });
}

// One process decides by what its own device gains, and the others follow, whatever theirs do.
void together() {
  const Reports reports;
  const Job job{.ranks = 3, .steps = kMostSteps};
  run_alike(job, only_the_first_gains);
  check_same(job);
  for (std::size_t rank = 0; rank < job.ranks; ++rank) {
    EXPECT(last_of(job, rank) == kGated);
    EXPECT(count_of(rank, kPlain) > 5 * kPerStep && count_of(rank, kPlain | kPriority) > 5 * kPerStep);
  }
  EXPECT_COUNT(reports, R"("ab":{"state":"settled","arm":"priority, gate")", 3U);
  EXPECT_COUNT(reports, R"("decides":"this process","why_alone":"")", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","why_alone":"")", 2U);
  EXPECT_COUNT(reports, R"("arm":"priority, gate","gain_percent":20.)", 1U);
  EXPECT_COUNT(reports, R"("arm":"priority, gate","gain_percent":0.)", 2U);
  reports.forget();
  run_alike(job, only_the_first_loses, 2);
  check_same(job);
  for (std::size_t rank = 0; rank < job.ranks; ++rank) { EXPECT(last_of(job, rank) == kPlain); }
  EXPECT_COUNT(reports, R"("ab":{"state":"settled","arm":"plain")", 3U);
}

// The last step, an evaluation, ends the repetition. All still say what they settled for.
void ends_otherwise() {
  const Reports reports;
  const Job job{.ranks = 2, .steps = kMostSteps / 4 * 3};
  run(
      job, [&](std::size_t) { return made(1, job.ranks); },
      [&](Device& device, nccl::Communicator communicator, std::size_t, std::size_t i) {
        if (i + kPerStep >= job.steps) { device.send_and_receive(); }
        return device.all_reduce(communicator, gate_is_best);
      });
  EXPECT_COUNT(reports, R"("state":"settled","arm":"priority, gate","collectives_per_repetition":1)", 2U);
}

// As the stages of a pipeline: the first sends twice a step, the second five times. Each decides by itself, and says why.
void apart() {
  const Reports reports;
  const Job job{.steps = kMostSteps};
  run(
      job, [&](std::size_t) { return made(1, job.ranks); },
      [&](Device& device, nccl::Communicator communicator, std::size_t rank, std::size_t i) {
        if (i % kPerStep < (rank == 0 ? 2U : 5U)) { device.send_and_receive(); }
        return device.all_reduce(communicator, only_the_first_gains);
      });
  EXPECT(last_of(job, 0) == kGated && last_of(job, 1) == kPlain);
  EXPECT(first_tried(0) == first_tried(1) && first_tried(0) < job.steps);
  EXPECT_COUNT(reports, R"("decides":"each process","why_alone":"the ranks did not come together")", 2U);
}

// Two stages of two ranks, with a communicator for each stage and one of all: they compare from the same step on, as each waits for
// the others.
void stages() {
  const Job job{.ranks = 4, .steps = kMostSteps};
  run(
      job, [](std::size_t rank) { return std::array{made(10 + rank / 2, 2), made(20, 4)}; },
      [](Device& device, const auto& communicators, std::size_t rank, std::size_t i) {
        if (i % kPerStep < (rank < 2 ? 2U : 5U)) { device.send_and_receive(); }
        return device.all_reduce(communicators[i % kPerStep == 5 ? 1 : 0], gate_is_best);
      });
  for (std::size_t rank = 0; rank < job.ranks; ++rank) {
    EXPECT(last_of(job, rank) == kGated);
    EXPECT(first_tried(rank) / kPerStep == first_tried(0) / kPerStep);
  }
}

// Ranks of another host share no memory with these.
void several_hosts() {
  const Reports reports;
  const Job job{.steps = kMostSteps};
  run_alike(job, only_the_first_gains, 1, 2);
  EXPECT(last_of(job, 0) == kGated && last_of(job, 1) == kPlain);
  EXPECT_COUNT(reports, R"("decides":"each process","why_alone":"the ranks did not come together")", 2U);
}

// Two by two ranks with a communicator for each row and each column: the first decides for all, and checks that from 2,760 on.
void handed_on() {
  const Reports reports;
  const Job job{.ranks = 4, .steps = kMostSteps / 4 * 3};
  run(
      job, [](std::size_t rank) { return std::array{made(10 + rank / 2, 2), made(12 + rank % 2, 2)}; },
      [](Device& device, const auto& communicators, std::size_t, std::size_t i) {
        return device.all_reduce(communicators[i % 2], only_the_first_gains);
      });
  for (std::size_t rank = 0; rank < job.ranks; ++rank) { EXPECT(last_of(job, rank) == kGated); }
  EXPECT_COUNT(reports, R"("decides":"this process")", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","why_alone":"")", 3U);
}

// The last of these repeats something else, which the first one learns by those that lead it: nobody is timed beside it.
void one_differs() {
  const Reports reports;
  const Job job{.ranks = 4, .steps = kMostSteps};
  run(
      job, [](std::size_t rank) { return std::array{made(10 + rank / 2, 2), made(12 + rank % 2, 2)}; },
      [](Device& device, const auto& communicators, std::size_t rank, std::size_t i) {
        if (rank == 3 && i % kPerStep == 0) { device.send_and_receive(); }
        return device.all_reduce(communicators[i % 2], gate_is_best);
      });
  EXPECT_COUNT(reports, R"("decides":"each process","why_alone":"the ranks did not come together")", 4U);
}

// Two communicators have the third rank in common, and each another first process: the rank follows one of them, and the other one
// decides for itself.
void two_deciders() {
  const Reports reports;
  const Job job{.ranks = 3, .steps = kMostSteps};
  run(
      job, [](std::size_t rank) { return std::array{rank == 1 ? nullptr : made(1, 2), rank == 0 ? nullptr : made(2, 2)}; },
      [](Device& device, const auto& communicators, std::size_t rank, std::size_t i) {
        const std::size_t which = rank == 2 ? i % 2 : rank;
        return device.all_reduce(communicators[which], gate_is_best);
      });
  EXPECT_COUNT(reports, R"("decides":"this process","why_alone":"")", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","why_alone":"")", 1U);
  EXPECT_COUNT(reports, R"("decides":"each process","why_alone":"the ranks did not come together")", 1U);
}

// A phase of other collectives has a choice of its own; what was chosen before is found again.
void phases() {
  // A trial of three arms takes 60 steps, and the check of what it chose begins 120 steps later at the earliest.
  const Job job{.steps = 170 * kPerStep};
  constexpr std::size_t kFirst = 100 * kPerStep;
  constexpr std::size_t kSecond = 20 * kPerStep;
  run(
      job, [&](std::size_t) { return made(1, job.ranks); },
      [](Device& device, nccl::Communicator communicator, std::size_t, std::size_t i) {
        const bool evaluates = i >= kFirst && i < kFirst + kSecond;
        return device.all_reduce(communicator, only_the_first_gains, evaluates ? 64 * kFloats : kFloats);
      });
  check_same(job);
  EXPECT(seen()[1][kFirst - 1] == kGated);
  EXPECT(seen()[1][kFirst + 1] == kPlain && last_of(job, 1) == kGated);
}

// Ranks run ahead of each other by up to six steps and stop for milliseconds.
void delayed() {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const Job job{.ranks = 3, .steps = 250 * kPerStep, .ahead = 40, .jitter_us = 2000, .seed = seed};
    run_alike(job, only_the_first_gains, seed);
    check_same(job);
    EXPECT(count_of(2, kPlain | kPriority) > 0);
  }
}

// A rank is killed at some collective, the one that decides or one that follows: before, while and after arms change. The others go
// on with what holds then. They end before they have waited for so long that they would choose by themselves, at the 64th step.
void killed() {
  std::minstd_rand random(5);
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const std::size_t dies = 30 + random() % 360;
    const Job job{.ranks = 3, .steps = 400, .ahead = 10, .jitter_us = 300, .dies = dies, .seed = seed, .first_dies = seed % 2 == 0};
    run_alike(job, gate_is_best, seed);
    check_same(job);
  }
}

constexpr Case kCases[] = {CASE(together),      CASE(ends_otherwise), CASE(apart),       CASE(stages),
                           CASE(several_hosts), CASE(handed_on),      CASE(one_differs), CASE(two_deciders),
                           CASE(phases),        CASE(delayed),        CASE(killed)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
