#include "report/document_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace elbowroom::detail {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSchema = "elbowroom.example/1";
constexpr std::string_view kOurs = R"({"schema": "elbowroom.example/1", "a": 1})";

class DocumentFile : public ::testing::Test {
 protected:
  DocumentFile() { std::filesystem::create_directories(folder_); }
  ~DocumentFile() override { std::filesystem::remove_all(folder_); }
  void put(std::string_view text) { std::ofstream(path_) << text; }
  [[nodiscard]] std::string text() const { return *read_file(path_); }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("elbowroom-document-" + std::to_string(getpid()));
  std::string path_ = folder_ / "file.json";
};

TEST_F(DocumentFile, IsWrittenAndWrittenAgain) {
  ASSERT_TRUE(can_write(path_, kSchema));
  ASSERT_TRUE(write_document(path_, kSchema, kOurs));
  EXPECT_EQ(text(), kOurs);
  ASSERT_TRUE(can_write(path_, kSchema));
  const std::string more = R"({"schema": "elbowroom.example/1", "a": 2})";
  ASSERT_TRUE(write_document(path_, kSchema, more));
  EXPECT_EQ(text(), more);
}

TEST_F(DocumentFile, OfSomebodyElseStays) {
  for (const std::string_view foreign : {R"({"schema": "elbowroom.other/1"})", "notes of mine", R"({"a": 1})"}) {
    put(foreign);
    EXPECT_FALSE(can_write(path_, kSchema)) << foreign;
    EXPECT_FALSE(write_document(path_, kSchema, kOurs)) << foreign;
    EXPECT_EQ(text(), foreign);
  }
}

TEST_F(DocumentFile, ThatIsEmptyIsReplaced) {
  put("");
  EXPECT_TRUE(can_write(path_, kSchema));
  EXPECT_TRUE(write_document(path_, kSchema, kOurs));
  EXPECT_EQ(text(), kOurs);
}

TEST_F(DocumentFile, NeedsAFolder) {
  const std::string nowhere = folder_ / "none" / "file.json";
  const Status refused = can_write(nowhere, kSchema);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused.error().message, HasSubstr(nowhere));
  EXPECT_FALSE(can_write(folder_, kSchema));
  EXPECT_FALSE(read_file(nowhere));
}

TEST_F(DocumentFile, ThatIsNewReplacesNone) {
  ASSERT_TRUE(write_new_file(path_, "a"));
  EXPECT_FALSE(write_new_file(path_, "b"));
  EXPECT_EQ(text(), "a");
}

}  // namespace
}  // namespace elbowroom::detail
