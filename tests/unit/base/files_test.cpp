#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/known_file.hpp"

namespace elbowroom::detail {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("elbowroom-files-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "real");
    fs::create_directory_symlink(folder_ / "real", folder_ / "other");
  }
  ~Files() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(Files, SpellingsOfOneNameAreOneFile) {
  for (const bool there : {false, true}) {
    if (there) { std::ofstream(at("real/x")) << "text"; }
    const auto identity = identity_of(at("real/x"));
    ASSERT_TRUE(identity);
    EXPECT_EQ(identity, identity_of(at("real/./x")));
    EXPECT_EQ(identity, identity_of(at("other/x")));
    EXPECT_EQ(identity, identity_of(at("other/../real//x")));
    EXPECT_NE(identity, identity_of(at("real/y")));
    EXPECT_NE(identity, identity_of(at("x")));
  }
  fs::create_hard_link(at("real/x"), at("hard"));
  EXPECT_EQ(identity_of(at("hard")), identity_of(at("real/x")));
}

TEST_F(Files, ALinkIsWhatItNames) {
  fs::create_symlink("real/new", at("link"));
  EXPECT_EQ(identity_of(at("link")), identity_of(at("other/new")));
  EXPECT_EQ(target_of(at("link")), at("real/new"));
}

TEST_F(Files, FoldersDevicesAndNamesWithoutAFolderAreNoFiles) {
  EXPECT_FALSE(identity_of(at("real")));
  EXPECT_FALSE(identity_of("/dev/null"));
  EXPECT_FALSE(identity_of(at("missing/x")));
  EXPECT_FALSE(identity_of(""));
}

TEST_F(Files, APartialFileTakesItsPlaceOrGoes) {
  std::ofstream(at("x")) << "before";
  fs::permissions(at("x"), fs::perms::owner_read | fs::perms::owner_write);
  {
    Result<PartialFile> given_up = PartialFile::beside(at("x"));
    ASSERT_TRUE(given_up);
    EXPECT_TRUE(given_up->write("half"));
  }
  EXPECT_EQ(text_of(at("x")), "before");
  Result<PartialFile> first = PartialFile::beside(at("x"));
  Result<PartialFile> second = PartialFile::beside(at("x"));  // at the same time, under a name of its own
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->write("first") && second->write("second"));
  EXPECT_TRUE(first->take_place());
  EXPECT_EQ(text_of(at("x")), "first");
  EXPECT_TRUE(second->sync() && second->take_place());
  EXPECT_EQ(text_of(at("x")), "second");
  EXPECT_EQ(fs::status(at("x")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3) << "x, real, other";
}

TEST_F(Files, PartialFilesOfKilledWritersGoAfterAnHour) {
  const auto hours_ago = [](int hours) { return fs::file_time_type::clock::now() - std::chrono::hours(hours); };
  for (const char* name : {".elbowroom-7-0.partial", ".elbowroom-7-1.partial", ".elbowroom-7.other", "mine.partial"}) {
    std::ofstream(at(name)) << "half";
    fs::last_write_time(at(name), hours_ago(2));
  }
  fs::last_write_time(at(".elbowroom-7-1.partial"), hours_ago(0));  // its writer may be at work
  const Result<PartialFile> file = PartialFile::beside(at("x"));
  ASSERT_TRUE(file);
  file->remove_abandoned();
  EXPECT_FALSE(fs::exists(at(".elbowroom-7-0.partial")));
  for (const char* name : {".elbowroom-7-1.partial", ".elbowroom-7.other", "mine.partial"}) {
    EXPECT_TRUE(fs::exists(at(name))) << name;
  }
}

TEST_F(Files, AWriteThatNobodyReadsFailsAndEndsNothing) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const Status written = write_all(ends[1], "text", "the pipe");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "the pipe: cannot be written: Broken pipe");
  close(ends[1]);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

}  // namespace
}  // namespace elbowroom::detail
