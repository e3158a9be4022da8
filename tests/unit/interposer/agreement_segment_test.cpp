#include "interposer/nccl/agreement_segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace elbowroom::interposer::nccl {
namespace {

namespace fs = std::filesystem;

/// Boards of communicators that no other process has: tests may run at the same time. What it leaves in shared memory it takes away
/// again.
class AgreementSegmentOfAJob : public testing::Test {
 protected:
  ~AgreementSegmentOfAJob() override {
    for (const fs::path& path : names()) { fs::remove_all(path); }
  }

  static std::uint64_t named(std::uint64_t communicator) {
    static const auto process = static_cast<std::uint64_t>(getpid());
    return process << 32U | communicator;
  }
  static std::vector<fs::path> names() {
    std::array<char, 64> prefix{};
    std::snprintf(prefix.data(), prefix.size(), "elbowroom-ranks-%u-%08llx", geteuid(),
                  static_cast<unsigned long long>(named(0) >> 32U));
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator("/dev/shm")) {
      if (entry.path().filename().string().starts_with(prefix.data())) { found.push_back(entry.path()); }
    }
    return found;
  }
  /// Where the board of that communicator of two ranks has its name.
  [[nodiscard]] static fs::path name_of(std::uint64_t communicator) {
    const std::vector<fs::path> before = names();
    AgreementSegment first;
    EXPECT_TRUE(first.open(named(communicator), 2));
    std::vector<fs::path> found = names();
    std::erase_if(found, [&](const fs::path& path) { return std::ranges::find(before, path) != before.end(); });
    return found.size() == 1 ? found.front() : fs::path();
  }
  static void put_back(const fs::path& path, std::time_t seconds) {
    const std::array<timespec, 2> times{{{0, UTIME_OMIT}, {std::time(nullptr) - seconds, 0}}};
    EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// As a rank leaves it that is killed before the others come.
  [[nodiscard]] static fs::path left_behind(std::uint64_t communicator) {
    const fs::path path = name_of(communicator);
    const pid_t child = fork();
    if (child == 0) {
      AgreementSegment alone;
      static_cast<void>(alone.open(named(communicator), 2));
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(fs::exists(path));
    return path;
  }
};

TEST_F(AgreementSegmentOfAJob, HasANameUntilAllHaveCome) {
  AgreementSegment first, second;
  EXPECT_TRUE(first.open(named(1), 2));
  EXPECT_EQ(names().size(), 1U);
  EXPECT_TRUE(second.open(named(1), 2));
  EXPECT_TRUE(names().empty());
  first.seat().next();  // both have come: one of them leads
  second.seat().next();
  EXPECT_NE(first.seat().leads(), second.seat().leads());
}

TEST_F(AgreementSegmentOfAJob, LosesItsNameWithARankThatLeavesBefore) {
  EXPECT_FALSE(name_of(1).empty());
  EXPECT_TRUE(names().empty());
}

TEST_F(AgreementSegmentOfAJob, IsRemovedADayAfterItWasLeftBehind) {
  const fs::path forgotten = left_behind(1);
  const fs::path young = left_behind(2);
  put_back(forgotten, 25 * 3600);
  put_back(young, 23 * 3600);
  AgreementSegment other;
  EXPECT_TRUE(other.open(named(3), 2));
  EXPECT_FALSE(fs::exists(forgotten));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(AgreementSegmentOfAJob, LeavesOldFilesOfOthers) {
  const fs::path beside = fs::path("/dev/shm") / ("elbowroom-of-a-user-" + std::to_string(getpid()));
  const fs::path shared = left_behind(1);
  fs::permissions(shared, fs::perms(0640));
  std::ofstream(beside) << "kept";
  put_back(beside, 25 * 3600);
  put_back(shared, 25 * 3600);
  AgreementSegment other;
  EXPECT_TRUE(other.open(named(2), 2));
  EXPECT_TRUE(fs::exists(beside));
  EXPECT_TRUE(fs::exists(shared));
  fs::remove(beside);
}

// None of it is followed, written to or taken away.
TEST_F(AgreementSegmentOfAJob, TrustsNothingThatItFindsUnderItsName) {
  const fs::path path = name_of(1);
  const std::string board = text_of(left_behind(1));
  fs::remove(path);
  const fs::path target = fs::path("/dev/shm") / ("elbowroom-target-" + std::to_string(getpid()));
  const auto put = [](const fs::path& to, const std::string& text, fs::perms mode = fs::perms(0600)) {
    std::ofstream(to) << text;
    fs::permissions(to, mode);
  };
  put(target, board);
  const auto expect_refused = [&](const char* what) {
    {
      AgreementSegment segment;
      EXPECT_FALSE(segment.open(named(1), 2)) << what;
      EXPECT_FALSE(segment.seat().sits()) << what;
    }
    EXPECT_TRUE(fs::exists(fs::symlink_status(path))) << what;
    fs::remove(path);
  };
  fs::create_symlink(target, path);
  expect_refused("a link");
  put(path, "layout 2" + board.substr(8));
  expect_refused("another layout");
  put(path, board, fs::perms(0666));
  expect_refused("a file for all");
  put(path, board.substr(0, board.size() - 1));
  expect_refused("a short file");
  put(path, board + "more");
  expect_refused("a long file");
  EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_refused("a pipe");
  fs::create_directory(path);
  expect_refused("a folder");
  EXPECT_EQ(text_of(target), board);
  fs::remove(target);
}

TEST_F(AgreementSegmentOfAJob, TrustsNoFileOfAnotherUser) {
  const fs::path path = left_behind(1);
  if (chown(path.c_str(), 65'534, 65'534) != 0) { GTEST_SKIP() << "nobody else's file can be made"; }
  AgreementSegment segment;
  EXPECT_FALSE(segment.open(named(1), 2));
  put_back(path, 25 * 3600);
  AgreementSegment other;
  EXPECT_TRUE(other.open(named(2), 2));
  EXPECT_TRUE(fs::exists(path));
}

/// What `open` says where another file system lies over shared memory; 77: none can.
int opened_over(unsigned long flags, const char* options) {
  const pid_t child = fork();
  if (child == 0) {
    const bool alone = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (!alone || mount("none", "/dev/shm", "tmpfs", flags, options) != 0) { _exit(77); }
    AgreementSegment segment;
    const bool opened = segment.open(1, 2);
    std::error_code none;
    if (!opened && !fs::is_empty("/dev/shm", none)) { _exit(2); }
    _exit(opened ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_F(AgreementSegmentOfAJob, NeedsRoomAndLeavesNothingWhereThereIsNone) {
  const int with_room = opened_over(0, "size=1m");
  if (with_room == 77) { GTEST_SKIP() << "nothing can be mounted"; }
  EXPECT_EQ(with_room, 1);
  EXPECT_EQ(opened_over(0, "size=4k"), 0) << "full";
  EXPECT_EQ(opened_over(0, "nr_inodes=1"), 0) << "no file more";
  EXPECT_EQ(opened_over(MS_RDONLY, "size=1m"), 0) << "to be read only";
}

/// Numbers of two processes, each the first one of its namespace.
TEST_F(AgreementSegmentOfAJob, TellsProcessesWithEqualIdsApart) {
  AgreementSegment here;
  EXPECT_TRUE(here.open(named(1), 2));
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWPID) != 0) { _exit(77); }
    if (fork() != 0) {
      int status = 0;
      wait(&status);
      _exit(WEXITSTATUS(status));
    }
    AgreementSegment there;
    _exit(there.open(named(1), 2) && (there.seat().process() & 0xffffffffU) == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) { GTEST_SKIP() << "no process may have a namespace of its own"; }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(here.seat().process() & 0xffffffffU, static_cast<std::uint64_t>(getpid()));
  struct stat space{};
  ASSERT_EQ(stat("/proc/self/ns/pid", &space), 0);
  EXPECT_EQ(here.seat().process() >> 32U, static_cast<std::uint64_t>(space.st_ino));
}

}  // namespace
}  // namespace elbowroom::interposer::nccl
