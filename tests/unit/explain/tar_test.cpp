#include "explain/tar.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace elbowroom::explain {
namespace {

std::string entry(const std::string& name, char type, const std::string& content) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, fmt::format("{:011o}", content.size()));
  header[156] = type;
  header.replace(257, 7, "ustar  ");
  std::string padded = content;
  padded.resize((content.size() + 511) / 512 * 512);
  return header + padded;
}

std::string content(TarFiles& files) {
  std::string text;
  std::array<char, 7> piece{};
  for (;;) {
    const Result<std::size_t> got = files.read(piece);
    if (!got) { return got.error().message; }
    if (*got == 0) { return text; }
    text.append(piece.data(), *got);
  }
}

TEST(TarFiles, GiveTheRegularFiles) {
  const std::string long_name(150, 'n');
  const std::string archive = entry("folder/", '5', "") + entry("a.json", '0', std::string(700, 'a')) +
                              entry("././@LongLink", 'L', long_name) + entry("nnn", '0', "b") + std::string(1024, '\0');
  ASSERT_TRUE(is_tar(archive.substr(0, 512)));
  TextSource source(archive);
  TarFiles files(source);
  EXPECT_EQ(files.next().value(), "a.json");
  EXPECT_EQ(content(files), std::string(700, 'a'));
  EXPECT_EQ(files.next().value(), long_name);  // the content of a file may be left unread
  EXPECT_EQ(files.next().value(), std::nullopt);
}

TEST(TarHeader, BeginsAFileThatIsReadAgain) {
  const std::string header = tar_header("folder/a.json", 700);
  ASSERT_EQ(header.size(), kTarBlock);
  EXPECT_TRUE(is_tar(header));
  EXPECT_EQ(header.substr(124, 11), "00000001274") << "700 is 1274 in octal digits";
  // The sum of all bytes, with blanks in its own place, is octal too.
  std::string blank = header;
  blank.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : blank) { sum += static_cast<unsigned char>(c); }
  EXPECT_EQ(header.substr(148, 6), fmt::format("{:06o}", sum));
  TextSource source(header + std::string(1024, 'a') + std::string(1024, '\0'));
  TarFiles files(source);
  EXPECT_EQ(files.next().value(), "folder/a.json");
  EXPECT_EQ(content(files), std::string(700, 'a'));
  EXPECT_EQ(files.next().value(), std::nullopt);
}

TEST(TarFiles, SayThatAnArchiveIsDamaged) {
  const std::string archive = entry("a.json", '0', std::string(700, 'a'));
  TextSource cut(archive.substr(0, 800));
  TarFiles files(cut);
  EXPECT_EQ(files.next().value(), "a.json");
  EXPECT_EQ(content(files), "an archive that is cut off");
  TextSource other(archive + std::string(512, 'x'));
  TarFiles rest(other);
  EXPECT_EQ(rest.next().value(), "a.json");
  EXPECT_EQ(rest.next().error().message, "a damaged archive");
}

}  // namespace
}  // namespace elbowroom::explain
