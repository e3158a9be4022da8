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

/// Ranks whose `auto` compares, with NCCL asking the interposer about every collective.

namespace fs = std::filesystem;

/// For a program that `elbowroom run` did not start.
inline void ask_interposer() {
  setenv("NCCL_CONF_FILE", "/tmp/elbowroom-no-such-file", 1);
  const char* interposer = std::getenv("ELBOWROOM_INTERPOSER");
  if (interposer == nullptr) { return; }
  setenv("NCCL_TUNER_PLUGIN", interposer, 1);
  setenv("ELBOWROOM_RUN_TUNER_PLUGIN", "none", 1);
  setenv("ELBOWROOM_RUN_JOB", std::to_string(getpid()).c_str(), 1);
}

/// The launch of the last collective since the log was emptied.
inline const FakeCall& last_collective() {
  for (std::size_t i = fake_call_count(); i > 0; --i) {
    const FakeCall& call = *fake_call(i - 1);
    if (call.grid[0] != 0 && call.block[0] == 544) { return call; }
  }
  static const FakeCall none{};
  return none;
}

inline nccl::Communicator tuned(unsigned long long id, std::size_t ranks, int nodes = 1) {
  const nccl::Communicator communicator = fake_tuned_communicator(id, static_cast<int>(ranks), nodes);
  EXPECT(communicator != nullptr);
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
