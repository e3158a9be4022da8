#include "base/known_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace elbowroom::detail {
namespace {

namespace fs = std::filesystem;

class KnownFile : public ::testing::Test {
 protected:
  KnownFile() : folder_(fs::temp_directory_path() / ("elbowroom-known-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~KnownFile() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(KnownFile, IsARegularFileAndNothingElse) {
  std::ofstream(at("file")) << "text";
  EXPECT_TRUE(open_known(at("file"), O_RDONLY).is_open());
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  for (const std::string& other : {at("pipe"), at("."), std::string("/dev/null")}) {
    EXPECT_FALSE(open_known(other, O_RDONLY).is_open()) << other;
    EXPECT_EQ(errno, EINVAL) << other;
  }
  EXPECT_FALSE(open_known(at("missing"), O_RDONLY).is_open());
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(KnownFile, OfThisUsersLinkIsFollowed) {
  std::ofstream(at("file")) << "text";
  fs::create_symlink("file", at("link"));
  fs::permissions(folder_, fs::perms(0777));
  EXPECT_TRUE(leads_where_it_should(at("link")));
  EXPECT_TRUE(open_known(at("link"), O_RDONLY).is_open());
}

TEST_F(KnownFile, OfAnotherUsersLinkIsFollowedWhereOnlyWhoMayWriteCouldMakeIt) {
  if (geteuid() != 0) { GTEST_SKIP() << "another user's link needs root"; }
  fs::create_symlink("file", at("link"));
  std::ofstream(at("file")) << "text";
  ASSERT_EQ(lchown(at("link").c_str(), 65'534, 65'534), 0);
  fs::permissions(folder_, fs::perms(01777));
  EXPECT_FALSE(leads_where_it_should(at("link")));
  EXPECT_EQ(target_of(at("link")), at("link"));
  EXPECT_FALSE(open_known(at("link"), O_RDONLY).is_open());
  EXPECT_EQ(errno, ELOOP);
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_TRUE(open_known(at("link"), O_RDONLY).is_open());
}

}  // namespace
}  // namespace elbowroom::detail
