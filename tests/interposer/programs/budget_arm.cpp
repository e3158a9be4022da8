#include <array>
#include <fstream>
#include <functional>
#include <string>

#include "comparing_ranks.hpp"

// Ranks whose `auto` compares budgets. A step has six all-reduces of 64 MiB, each beside a product. A communicator has 24 channels,
// so that 16 and 8 blocks are compared. Time is the fake driver's; whatever happens, the watch ends a rank that has other blocks
// than the others.

namespace {

constexpr std::size_t kFloats = 16U << 20U;
constexpr std::size_t kPerStep = 6;
constexpr std::size_t kSteps = 700;

/// Milliseconds of a collective by its blocks.
using Cost = std::function<double(unsigned)>;
double eight_is_best(unsigned blocks) { return blocks == 8 ? 0.8 : 1.0; }
double all_are_equal(unsigned) { return 1.0; }

/// What a rank runs on.
struct Device {
  cu::Stream comm, compute;
  cu::Function gemm, send;
  double clock = 1.0;

  Device() {
    use_device(0);
    // Without a plugin NCCL asks nobody, and a communicator has its 24 channels.
    const bool has_plugin = std::getenv("NCCL_TUNER_PLUGIN") != nullptr;
    EXPECT(fake_nccl_load_tuner(5) == (has_plugin ? 5 : 0));
    comm = make_stream();
    compute = make_stream();
    gemm = fake_function("gemm", 64, 0);
    send = fake_function("ncclDevKernel_SendRecv", 96, 0);
    fake_set_clock(clock);
  }
  void pass(double milliseconds) { fake_set_clock(clock += milliseconds); }
  // Its times come to the interposer every 0.2 ms: what follows is not to be further ahead than a comparison can be. All other
  // collectives are under way when a product is launched beside them, however slow the host is.
  void begin_collective() {
    const bool waits = ++collectives_ % 16 == 0;
    if (waits) { usleep(250); }
    fake_set_finished(waits ? 1 : 0);
  }
  void launch_product() {
    fake_set_finished(1);
    EXPECT(launch_on(compute, gemm) == 0);
  }
  /// Its blocks.
  unsigned all_reduce(nccl::Communicator communicator, const Cost& cost) {
    fake_reset();
    begin_collective();
    EXPECT(ncclAllReduce(nullptr, nullptr, kFloats, 7, 0, communicator, comm) == 0);
    const unsigned blocks = last_collective().grid[0];
    launch_product();
    pass(cost(blocks));
    return blocks;
  }
  void send_and_receive() {
    EXPECT(cuLaunchKernel(send, 8, 1, 1, 640, 1, 1, 0, comm, nullptr, nullptr) == 0);
    pass(0.1);
  }

 private:
  std::size_t collectives_ = 0;
};

/// Every rank's collectives are the same; `last` is what each had in the end.
void run_alike(const Job& job, const Cost& cost, unsigned last, unsigned long long id = 1) {
  run_ranks(job, [&](Rank rank) {
    Device device;
    const nccl::Communicator communicator = tuned(id, job.ranks);
    unsigned blocks = 0;
    for (std::size_t i = 0; i < job.steps; ++i) {
      rank.before(i);
      blocks = device.all_reduce(communicator, cost);
      rank.after(i);
    }
    EXPECT(last == 0 || blocks == last);
    std::exit(0);
  });
}

// 8 blocks take a fifth less. One process decides, the other follows, and both end with 8.
void kept() {
  const Reports reports;
  run_alike({.steps = kSteps * kPerStep}, eight_is_best, 8);
  EXPECT_COUNT(reports, R"("state":"settled","reason":"","decides":"this process","blocks":8,"decisions":1)", 1U);
  EXPECT_COUNT(reports, R"({"blocks":8,"us":4800.)", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","blocks":8)", 1U);
  EXPECT_COUNT(reports, R"("arm":"budget 8","gain_percent":20.)", 1U);
  EXPECT_COUNT(reports, R"("arm":"budget 8")", 2U);
  EXPECT_COUNT(reports, R"("blocks":4,)", 0U);
}

// Containers that share memory: both ranks are process 1, and yet one follows the other.
void equal_ids() {
  const Reports reports;
  run_alike({.steps = kSteps * kPerStep, .own_ids = true}, eight_is_best, 8);
  EXPECT_COUNT(reports, R"("decides":"this process","blocks":8)", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","blocks":8)", 1U);
  EXPECT_COUNT(reports, R"("why_alone":"")", 2U);
}

void nothing_gained() {
  const Reports reports;
  run_alike({.steps = kSteps * kPerStep}, all_are_equal, 24);
  EXPECT_COUNT(reports, R"("decides":"this process","blocks":0,"decisions":1)", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","blocks":0)", 1U);
}

// As the stages of a pipeline: the first sends twice a step, the second five times. Each compares its own controls and ends with a
// verdict; what they would have to agree on is not compared.
void different_sequences() {
  const Reports reports;
  const Job job{.steps = kSteps * kPerStep};
  run_ranks(job, [&](Rank rank) {
    Device device;
    const nccl::Communicator communicator = tuned(1, job.ranks);
    for (std::size_t i = 0; i < job.steps; ++i) {
      rank.before(i);
      const std::size_t sends = rank.number() == 0 ? 2 : 5;
      if (i % kPerStep < sends) { device.send_and_receive(); }
      EXPECT(device.all_reduce(communicator, eight_is_best) == 24);
      rank.after(i);
    }
    std::exit(0);
  });
  EXPECT_COUNT(reports, R"("ab":{"state":"settled","arm":"plain","collectives_per_repetition":8,"decisions":1)", 1U);
  EXPECT_COUNT(reports, R"("ab":{"state":"settled","arm":"plain","collectives_per_repetition":11,"decisions":1)", 1U);
  EXPECT_COUNT(reports, R"("reason":"the ranks repeat different collectives","decides":"this process")", 1U);
}

// What the user says of blocks, or of how sums are made, stays.
void refused() {
  const Reports reports;
  const std::array<std::array<const char*, 2>, 3> cases{{{"NCCL_MAX_CTAS", "the number of blocks is set"},
                                                         {"NCCL_MIN_NCHANNELS", "the number of blocks is set"},
                                                         {"NCCL_ALGO", "NCCL_ALGO or NCCL_PROTO is set"}}};
  for (const auto& [variable, why] : cases) {
    setenv(variable, "8", 1);
    run_alike({.steps = 100 * kPerStep}, eight_is_best, 24);
    unsetenv(variable);
    EXPECT_COUNT(reports, ("\"" + std::string(why) + "\":1").c_str(), 2U);
    reports.forget();
  }
}

// Both ranks in one process and in one group, as a program without a launcher calls them.
void one_process() {
  const Reports reports;
  run_ranks({.ranks = 1}, [](const Rank&) {
    Device device;
    const std::array<nccl::Communicator, 2> ranks{tuned(1, 2), tuned(1, 2)};
    const std::array<cu::Stream, 2> streams{device.comm, make_stream()};
    for (std::size_t i = 0; i < kSteps * kPerStep; ++i) {
      fake_reset();
      device.begin_collective();
      EXPECT(ncclGroupStart() == 0);
      for (std::size_t rank = 0; rank < 2; ++rank) {
        EXPECT(ncclAllReduce(nullptr, nullptr, kFloats, 7, 0, ranks[rank], streams[rank]) == 0);
      }
      EXPECT(ncclGroupEnd() == 0);
      const unsigned blocks = last_collective().grid[0];
      device.launch_product();
      device.pass(eight_is_best(blocks));
      EXPECT(i + 1 < kSteps * kPerStep || blocks == 8);
    }
    std::exit(0);
  });
  EXPECT_COUNT(reports, R"("decides":"this process","blocks":8)", 1U);
}

// Two by two ranks with a communicator for each row and each column: the first decides, the second and third hand on what it
// decided.
void handed_on() {
  const Reports reports;
  const Job job{.ranks = 4, .steps = kSteps * kPerStep};
  run_ranks(job, [&](Rank rank) {
    Device device;
    const nccl::Communicator row = tuned(10 + rank.number() / 2, 2);
    const nccl::Communicator column = tuned(12 + rank.number() % 2, 2);
    unsigned blocks = 0;
    for (std::size_t i = 0; i < job.steps; ++i) {
      rank.before(i);
      blocks = device.all_reduce(i % 2 == 0 ? row : column, eight_is_best);
      rank.after(i);
      EXPECT(i + 2 < job.steps || blocks == 8);
    }
    std::exit(0);
  });
  EXPECT_COUNT(reports, R"("decides":"this process","blocks":8)", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","blocks":8)", 3U);
}

// The ranks of a first communicator, which ends, have another first process than those of the second one: whoever followed is free
// to decide.
void free_again() {
  const Reports reports;
  const Job job{.ranks = 3, .steps = kSteps * kPerStep};
  run_ranks(job, [&](Rank rank) {
    Device device;
    const nccl::Communicator all = tuned(5, 3);
    for (std::size_t i = 0; i < 10; ++i) {
      rank.before(i);
      device.all_reduce(all, eight_is_best);
      rank.after(i);
    }
    fake_end_tuned(all);
    // The first rank goes on alone.
    const nccl::Communicator rest = rank.number() == 0 ? nullptr : tuned(6, 2);
    for (std::size_t i = 10; i < job.steps; ++i) {
      rank.before(i);
      if (rest != nullptr) { device.all_reduce(rest, eight_is_best); }
      rank.after(i);
    }
    std::exit(0);
  });
  EXPECT_COUNT(reports, R"("decides":"this process","blocks":8)", 1U);
  EXPECT_COUNT(reports, R"("decides":"another process","blocks":8)", 1U);
}

// Ranks run ahead of each other by up to six steps and stop for milliseconds.
void delayed() {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    run_alike({.ranks = 3, .steps = 400 * kPerStep, .ahead = 40, .jitter_us = 2000, .seed = seed}, eight_is_best, 0, seed);
  }
}

// A rank is killed at some collective, the one that decides or one that follows: before, while and after arms change. The others go
// on with what holds then.
void killed() {
  std::minstd_rand random(11);
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    const std::size_t dies = 300 + random() % 1500;
    const bool decider = seed % 2 == 0;
    run_alike({.ranks = 3, .steps = 2400, .ahead = 10, .jitter_us = 300, .dies = dies, .seed = seed, .first_dies = decider},
              eight_is_best, 0, seed);
  }
}

// The last rank calls past the hooks: NCCL asks, but its calls are unseen. Nothing is ever agreed, and nobody waits.
void never_acknowledges() {
  const Reports reports;
  const Job job{.ranks = 3, .steps = 300 * kPerStep};
  run_ranks(job, [&](Rank rank) {
    Device device;
    const nccl::Communicator communicator = tuned(1, job.ranks);
    for (std::size_t i = 0; i < job.steps; ++i) {
      rank.before(i);
      if (rank.number() + 1 == job.ranks) {
        EXPECT(fake_ask_tuner(communicator, 4, 4 * kFloats, 1).channels == 0);
      } else {
        EXPECT(device.all_reduce(communicator, eight_is_best) == 24);
      }
      rank.after(i);
    }
    std::exit(0);
  });
  EXPECT_COUNT(reports, R"("decides":"this process","blocks")", 0U);
}

// A second run begins with what the first one kept, through the agreement, and checks it.
void remembered() {
  const Reports reports;
  run_alike({.steps = kSteps * kPerStep}, eight_is_best, 8);
  const std::string text = reports.all();
  const std::string key = R"("choices":[{"sequence":")";
  const std::size_t at = text.find(key);
  EXPECT(at != std::string::npos);
  const fs::path choices = reports.folder() / "choices";
  std::ofstream(choices) << "device Fake Device\n" << text.substr(at + key.size(), 16) << " 22809 budget 8\n";
  setenv("ELBOWROOM_RUN_CHOICES", choices.c_str(), 1);
  for (const auto& entry : fs::directory_iterator(reports.folder())) {
    if (entry.path() != choices) { fs::remove(entry.path()); }
  }
  // Found after 24 collectives, in force some twenty later: long before a comparison could have ended.
  run_alike({.steps = 15 * kPerStep}, eight_is_best, 8, 2);
  EXPECT_COUNT(reports, R"("blocks":8,"decisions":0,"remembered":8)", 1U);
}

// Below `elbowroom run`, which has set everything: tests/cli/run_budgets.sh.
void job() { run_alike({.steps = kSteps * kPerStep}, eight_is_best, 0); }

// The watch itself: ranks with unequal blocks do not go unseen.
void watched() {
  const pid_t child = fork();
  if (child == 0) {
    Device device;
    fake_launched(tuned(1, 2), 24);
    fake_launched(tuned(1, 2), 8);
    _exit(0);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

constexpr Case kCases[] = {{"kept", kept},
                           {"equal_ids", equal_ids},
                           {"nothing_gained", nothing_gained},
                           {"different_sequences", different_sequences},
                           {"refused", refused},
                           {"one_process", one_process},
                           {"handed_on", handed_on},
                           {"free_again", free_again},
                           {"delayed", delayed},
                           {"killed", killed},
                           {"never_acknowledges", never_acknowledges},
                           {"remembered", remembered},
                           {"job", job},
                           {"watched", watched}};

}  // namespace

int main(int argc, char** argv) {
  ask_interposer();
  fake_nccl_watch();
  return run_case(kCases, argc, argv);
}
