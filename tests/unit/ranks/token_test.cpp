#include "ranks/token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace elbowroom::ranks {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Result<std::optional<std::string>> token_in(const std::map<std::string, std::string>& environment) {
  return token_of([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

class TokenFile : public ::testing::Test {
 protected:
  TokenFile() : path_(fs::temp_directory_path() / ("elbowroom-token-" + std::to_string(getpid()))) {}
  ~TokenFile() override { fs::remove(path_); }

  Result<std::optional<std::string>> with(const std::string& text, mode_t mode) {
    fs::remove(path_);
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
    return token_in({{"ELBOWROOM_TOKEN_FILE", path_.string()}});
  }

  fs::path path_;
};

TEST(Token, IsThatOfTheVariable) {
  EXPECT_EQ(*token_in({}), std::nullopt);
  EXPECT_EQ(*token_in({{"ELBOWROOM_TOKEN", "0123456789abcdef"}}), "0123456789abcdef");
}

TEST(Token, OneThatCanBeGuessedOrSentNowhereIsRefusedWithoutBeingShown) {
  const auto shorter = token_in({{"ELBOWROOM_TOKEN", "0123456789abcde"}});
  EXPECT_EQ(shorter.error().message, "ELBOWROOM_TOKEN: 15 characters, expected 16 to 256");
  EXPECT_TRUE(token_in({{"ELBOWROOM_TOKEN", std::string(256, 'x')}}));
  EXPECT_FALSE(token_in({{"ELBOWROOM_TOKEN", std::string(257, 'x')}}));
}

TEST(Token, VariableAndFileTogetherAreAContradiction) {
  const auto both = token_in({{"ELBOWROOM_TOKEN", "0123456789abcdef"}, {"ELBOWROOM_TOKEN_FILE", "/x"}});
  EXPECT_EQ(both.error().message, "ELBOWROOM_TOKEN_FILE: '/x', expected it unset beside ELBOWROOM_TOKEN");
}

TEST_F(TokenFile, IsReadWhereOnlyItsUserCan) {
  EXPECT_EQ(*with("0123456789abcdef\n", 0600), "0123456789abcdef");
  EXPECT_EQ(*with("0123456789abcdef", 0400), "0123456789abcdef");
  EXPECT_THAT(with("0123456789abcdef", 0640).error().message,
              HasSubstr("mode 0640, expected that only its user can read it (0600)"));
  EXPECT_THAT(with("0123456789abcdef", 0604).error().message, HasSubstr("ELBOWROOM_TOKEN_FILE: "));
  EXPECT_THAT(with("short", 0600).error().message, HasSubstr("ELBOWROOM_TOKEN_FILE: 5 characters"));
  EXPECT_FALSE(with(std::string(300, 'x'), 0600));
}

TEST_F(TokenFile, ThatIsNoFileIsNamed) {
  EXPECT_THAT(token_in({{"ELBOWROOM_TOKEN_FILE", path_.string()}}).error().message, HasSubstr("No such file or directory"));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(token_in({{"ELBOWROOM_TOKEN_FILE", path_.string()}}).error().message, HasSubstr("no regular file"));
}

TEST(Token, EachNewOneIsAnother) {
  const auto one = new_token();
  const auto other = new_token();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_NE(*one, *other);
}

}  // namespace
}  // namespace elbowroom::ranks
