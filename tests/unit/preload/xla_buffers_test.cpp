#include "preload/xla_buffers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elbowroom/model/comm_environment.hpp"
#include "preload/controls.hpp"
#include "preload/same_bits.hpp"

namespace elbowroom::preload {
namespace {

using ::testing::HasSubstr;

const XlaFlag& kSwitch = xla_buffer_flags()[0];
const XlaFlag& kList = xla_buffer_flags()[1];

/// The flags of a library that comes in pieces of this size.
XlaFlagSearch search_in(std::string_view library, std::size_t piece) {
  XlaFlagSearch search;
  for (; !library.empty(); library.remove_prefix(std::min(piece, library.size()))) { search.add(library.substr(0, piece)); }
  return search;
}

std::string between_zeros(std::string_view name) { return std::string(1, '\0') + std::string(name) + '\0'; }

// Names stand in a library as parts of fields and functions, too: only a text of its own is a flag.
TEST(XlaBuffers, AreFoundWhereverTheLibraryIsCut) {
  const std::string with = "code" + between_zeros(kSwitch.name) + "_" + std::string(kList.name) + "B";
  const std::string both = with + between_zeros(kList.name) + std::string(200, 'x');
  const std::string none =
      "\x32" + std::string(kSwitch.name) + between_zeros("set_" + std::string(kList.name)) + std::string(kList.name);
  for (std::size_t piece = 1; piece <= both.size(); ++piece) {
    EXPECT_TRUE(search_in(with, piece).has(kSwitch)) << piece;
    EXPECT_FALSE(search_in(with, piece).has(kList)) << piece;
    EXPECT_TRUE(search_in(both, piece).has(kSwitch) && search_in(both, piece).has(kList)) << piece;
    EXPECT_FALSE(search_in(none, piece).has(kSwitch) || search_in(none, piece).has(kList)) << piece;
  }
  EXPECT_FALSE(XlaFlagSearch().has(kSwitch));
}

TEST(XlaBuffers, StandBeforeTheUsersFlags) {
  EXPECT_EQ(xla_flags(kSwitch, {}), "--xla_gpu_experimental_enable_nccl_symmetric_buffers=true");
  EXPECT_EQ(xla_flags(kList, {{"XLA_FLAGS", "--xla_dump_to=/tmp"}}),
            "--xla_enable_nccl_symmetric_buffers_for_collectives=all --xla_dump_to=/tmp");
}

TEST(XlaBuffers, AreTheUsersWhereTheirFlagsNameThem) {
  const auto names = [](std::string flags) { return names_xla_buffers({{"XLA_FLAGS", std::move(flags)}}); };
  EXPECT_TRUE(names("--xla_gpu_experimental_enable_nccl_symmetric_buffers=false"));
  EXPECT_TRUE(names(" --xla_a=1\t--xla_gpu_experimental_enable_nccl_symmetric_buffers"));
  EXPECT_TRUE(names("--xla_enable_nccl_symmetric_buffers_for_collectives=AllReduce:1024 --xla_a=1"));
  EXPECT_FALSE(names("--xla_gpu_experimental_enable_nccl_symmetric_buffers_too=1"));
  EXPECT_FALSE(names("xla_gpu_experimental_enable_nccl_symmetric_buffers=1"));
  EXPECT_FALSE(names(""));
  EXPECT_FALSE(names_xla_buffers({}));
}

TEST(XlaBuffers, AreRefusedWithMulticastAndWithFlagsInAFile) {
  EXPECT_TRUE(check_xla_buffers({{"NCCL_NVLS_ENABLE", "0"}}));
  for (const Variables& on : {Variables{}, Variables{{"NCCL_NVLS_ENABLE", "1"}}, Variables{{"NCCL_NVLS_ENABLE", ""}}}) {
    ASSERT_FALSE(check_xla_buffers(on));
    EXPECT_EQ(check_xla_buffers(on).error().message,
              "--set: xla_symmetric_buffers is not there with NVLink multicast, expected NCCL_NVLS_ENABLE=0 in the environment");
  }
  const Status file = check_xla_buffers({{"NCCL_NVLS_ENABLE", "0"}, {"XLA_FLAGS", " /etc/flags"}});
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("names the file ' /etc/flags', expected flags"));
}

TEST(XlaBuffers, HaveTheBlocksThatWereMeasuredUnlessTheUserChose) {
  EXPECT_EQ(xla_symmetric_blocks({}), "32");
  EXPECT_FALSE(xla_symmetric_blocks({{"NCCL_SYM_CTAS", "8"}}));
}

TEST(XlaBuffers, AreOffUnlessAskedFor) {
  EXPECT_FALSE(read_controls({})->xla_buffers);
  EXPECT_EQ(read_controls({.settings = {"xla_symmetric_buffers=1"}})->xla_buffers, true);
  EXPECT_EQ(read_controls({.settings = {"xla_symmetric_buffers=0"}})->xla_buffers, false);
  const Result<Controls> twice = read_controls({.settings = {"xla_symmetric_buffers=0", "xla_symmetric_buffers=1"}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "--set: 'xla_symmetric_buffers=1' sets what another one sets, expected one");
  EXPECT_FALSE(check_same_bits(*read_controls({.settings = {"xla_symmetric_buffers=1"}})));
  EXPECT_TRUE(check_same_bits(*read_controls({.settings = {"xla_symmetric_buffers=0"}})));
}

}  // namespace
}  // namespace elbowroom::preload
