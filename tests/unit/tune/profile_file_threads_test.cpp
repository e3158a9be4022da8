#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "elbowroom/tune/profile_file.hpp"
#include "unit/tune/choices.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;
using testing::choice;

Profile of(StoredChoice stored) {
  Profile profile;
  profile.put(std::move(stored));
  return profile;
}

class ProfileFile : public ::testing::Test {
 protected:
  ProfileFile() : folder_(fs::temp_directory_path() / ("elbowroom-profile-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "profile.json").string();
  }
  ~ProfileFile() override { fs::remove_all(folder_); }

  Status store(const StoredChoice& stored) { return add_to_profile(path_, of(stored), sink()); }
  NoticeSink sink() {
    return [this](std::string_view line) { notices_.emplace_back(line); };
  }

  fs::path folder_;
  std::string path_;
  std::vector<std::string> notices_;
};

TEST_F(ProfileFile, WritersAtOnceLoseNothing) {
  constexpr int writers = 8;
  constexpr int choices_each = 12;
  std::vector<std::thread> threads;
  for (int writer = 0; writer < writers; ++writer) {
    threads.emplace_back([this, writer] {
      for (int at = 0; at < choices_each; ++at) {
        EXPECT_TRUE(add_to_profile(path_, of(choice(writer * choices_each + at)), {}));
        // A reader never sees half a file.
        EXPECT_TRUE(load_profile(path_));
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  const Result<Profile> profile = load_profile(path_);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->choices().size(), static_cast<std::size_t>(writers * choices_each));
}

TEST_F(ProfileFile, LeavesNothingButItselfAndItsLock) {
  ASSERT_TRUE(store(choice(29)));
  ASSERT_TRUE(store(choice(30)));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) { names.push_back(entry.path().filename()); }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"profile.json", "profile.json.lock"}));
  struct stat facts = {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0644U);
}

/// Of a file; 0: it is not there.
mode_t mode_of(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
}

TEST_F(ProfileFile, ALockThatSomebodyHoldsIsWaitedForSeconds) {
  ASSERT_TRUE(store(choice(29)));
  const int held = ::open((path_ + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  const Status stored = store(choice(30));
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().message, path_ + ".lock: held by another process that writes nothing for 5 s");
  EXPECT_EQ(load_profile(path_)->choices().size(), 1U);
  close(held);
  EXPECT_TRUE(store(choice(30)));
}

TEST_F(ProfileFile, TheLockIsForThoseWhoMayReplaceTheProfile) {
  const std::string lock = path_ + ".lock";
  fs::permissions(folder_, fs::perms(0755));
  ASSERT_TRUE(store(choice(29)));
  EXPECT_EQ(mode_of(lock), 0600U);
  fs::permissions(lock, fs::perms(0644));  // of an older version
  ASSERT_TRUE(store(choice(29)));
  EXPECT_EQ(mode_of(lock), 0600U);
  fs::permissions(folder_, fs::perms(0775));
  ASSERT_TRUE(store(choice(29)));
  EXPECT_EQ(mode_of(lock), 0660U);
  fs::permissions(folder_, fs::perms(0777));
  ASSERT_TRUE(store(choice(29)));
  EXPECT_EQ(mode_of(lock), 0600U);
}

TEST_F(ProfileFile, OnlyARegularFileIsALock) {
  const std::string elsewhere = (folder_ / "elsewhere").string();
  fs::create_symlink(elsewhere, path_ + ".lock");
  EXPECT_FALSE(store(choice(29)));
  EXPECT_FALSE(fs::exists(elsewhere));
  fs::remove(path_ + ".lock");
  ASSERT_EQ(mkfifo((path_ + ".lock").c_str(), 0600), 0);
  EXPECT_EQ(store(choice(29)).error().message, path_ + ".lock: not a regular file, expected a lock");
}

TEST_F(ProfileFile, OneThatIsNotThereIsEmpty) {
  EXPECT_TRUE(load_profile(path_)->choices().empty());
  EXPECT_TRUE(load_profile_or_none(path_, sink()).choices().empty());
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ProfileFile, ADamagedOneIsIgnoredWithOneLineAndKeptBeside) {
  const std::string damaged = "{\"schema\": \"elbowroom.profile/1\"}";
  std::ofstream(path_) << damaged;
  EXPECT_TRUE(load_profile_or_none(path_, sink()).choices().empty());
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_EQ(notices_.front(), "profile ignored: " + path_ + ": choices: missing, expected a list");
  ASSERT_TRUE(store(choice(29)));
  EXPECT_EQ(notices_.size(), 2U);
  EXPECT_EQ(load_profile(path_)->choices().size(), 1U);
  std::ostringstream kept;
  kept << std::ifstream(path_ + ".damaged").rdbuf();
  EXPECT_EQ(kept.str(), damaged);
}

TEST_F(ProfileFile, KeepsEveryDamagedOne) {
  const std::string begin = R"({"schema": "elbowroom.profile/1", )";
  for (const char* text : {"first", "second", "third"}) {
    std::ofstream(path_) << begin << text;
    ASSERT_TRUE(add_to_profile(path_, Profile(), {}));
  }
  for (const auto& [suffix, rest] : {std::pair(".damaged", "first"), {".damaged.2", "second"}, {".damaged.3", "third"}}) {
    const std::string text = begin + rest;
    std::stringstream kept;
    kept << std::ifstream(path_ + suffix).rdbuf();
    EXPECT_EQ(kept.str(), text);
  }
}

TEST_F(ProfileFile, AReadErrorSetsNothingAside) {
  ASSERT_TRUE(store(choice(29)));
  // The second reading fails for want of a descriptor: the lock has the last one.
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int first_free = dup(STDERR_FILENO);
  close(first_free);
  const rlimit few{static_cast<rlim_t>(first_free) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Status stored = store(choice(30));
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().message, path_ + ": cannot be read: Too many open files");
  EXPECT_EQ(load_profile(path_)->choices().size(), 1U);
  EXPECT_FALSE(fs::exists(path_ + ".damaged"));
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ProfileFile, ADamagedOneKeepsItsNameUntilAnotherIsThere) {
  const std::string damaged = R"({"schema": "elbowroom.profile/1", )";
  std::ofstream(path_) << damaged;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};  // as on a full disk
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  const Status stored = store(choice(29));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(stored);
  std::ostringstream kept;
  kept << std::ifstream(path_).rdbuf();
  EXPECT_EQ(kept.str(), damaged);
  EXPECT_FALSE(fs::exists(path_ + ".damaged"));
}

TEST_F(ProfileFile, LeavesWhatIsNoProfileAlone) {
  const std::string scenario = R"({"schema": "elbowroom.scenario/1", "name": "mine"})";
  for (const std::string& text : {scenario, std::string(R"({"schema": "elbowroom.profile/2"})"), std::string("import torch\n")}) {
    std::ofstream(path_) << text;
    const Status added = add_to_profile(path_, Profile(), {});
    ASSERT_FALSE(added);
    EXPECT_NE(added.error().message.find("elbowroom.profile/1"), std::string::npos) << added.error().message;
    std::stringstream kept;
    kept << std::ifstream(path_).rdbuf();
    EXPECT_EQ(kept.str(), text);
    EXPECT_FALSE(std::filesystem::exists(path_ + ".damaged") || std::filesystem::exists(path_ + ".lock"));
  }
  std::filesystem::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(add_to_profile(path_, Profile(), {})) << "a pipe, and as little a device";
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(ProfileFile, AnEmptyFileIsBegun) {
  std::ofstream(path_).flush();
  ASSERT_TRUE(store(choice(29)));
  EXPECT_TRUE(notices_.empty());
  EXPECT_FALSE(std::filesystem::exists(path_ + ".damaged"));
}

TEST_F(ProfileFile, KeepsItsMode) {
  ASSERT_TRUE(add_to_profile(path_, Profile(), {}));
  std::filesystem::permissions(path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  ASSERT_TRUE(add_to_profile(path_, Profile(), {}));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(ProfileFile, ALinkIsFollowed) {
  const std::string target = (folder_ / "target.json").string();
  fs::create_symlink(target, path_);
  ASSERT_TRUE(store(choice(29)));
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(load_profile(target)->choices().size(), 1U);
}

TEST_F(ProfileFile, SaysWhereItCannotWrite) {
  path_ = (folder_ / "missing" / "profile.json").string();
  const Status stored = store(choice(29));
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.error().message, path_ + ": cannot be written: No such file or directory");
  path_ = folder_.string();
  EXPECT_EQ(load_profile(path_).error().message, path_ + ": not a regular file, expected a profile");
}

}  // namespace
}  // namespace elbowroom
