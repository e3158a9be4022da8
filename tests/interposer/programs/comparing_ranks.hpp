#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "driver_program.hpp"
#include "fake_nccl.hpp"
#include "ranks.hpp"

/// Ranks whose `auto` compares.

namespace fs = std::filesystem;

/// The launch of the last collective since the log was emptied.
inline const FakeCall& last_collective() {
  for (std::size_t i = fake_call_count(); i > 0; --i) {
    const FakeCall& call = *fake_call(i - 1);
    if (call.grid[0] != 0 && call.block[0] == 544) { return call; }
  }
  static const FakeCall none{};
  return none;
}

/// A communicator of that number in this job.
inline nccl::Communicator made(unsigned long long number, std::size_t ranks) {
  static const pid_t job = getppid();
  nccl::UniqueId id{};
  std::snprintf(id.bytes.data(), id.bytes.size(), "%d %llu", job, number);
  nccl::Communicator communicator = nullptr;
  EXPECT(ncclCommInitRank(&communicator, static_cast<int>(ranks), id, 0) == 0);
  return communicator;
}

/// Where the ranks leave their reports.
class Reports {
 public:
  Reports() : folder_(fs::temp_directory_path() / ("elbowroom-comparing-ranks-" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
    setenv("ELBOWROOM_RUN_REPORT_DIR", folder_.c_str(), 1);
  }
  ~Reports() { fs::remove_all(folder_); }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  [[nodiscard]] std::string all() const {
    std::ostringstream text;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".json") { text << std::ifstream(entry.path()).rdbuf() << "\n"; }
    }
    return text.str();
  }
  [[nodiscard]] std::size_t count(const std::string& part) const {
    const std::string text = all();
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) { ++found; }
    return found;
  }
  void forget() const {
    for (const auto& entry : fs::directory_iterator(folder_)) { fs::remove(entry.path()); }
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

#define EXPECT_COUNT(reports, part, times)                                                                          \
  do {                                                                                                              \
    if ((reports).count(part) != (times)) {                                                                         \
      std::fprintf(stderr, "%s:%d: expected %s %d times in\n%s", __FILE__, __LINE__, part, static_cast<int>(times), \
                   (reports).all().c_str());                                                                        \
      std::exit(1);                                                                                                 \
    }                                                                                                               \
  } while (false)
