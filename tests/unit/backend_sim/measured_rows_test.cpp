#include "backend_sim/measured_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace elbowroom::sim {
namespace {

using ::testing::HasSubstr;

const std::string kHeader =
    "kernel,n,grid_blocks,block_threads,registers,static_shared_bytes,blocks_per_sm_unshaped,collective,collective_MiB,gpus,"
    "iterations,pattern,comm_blocks,cluster,nccl_nthreads,scheme,priority,blocks_per_sm,dynamic_shared_bytes,time_ms\n";
const std::string kRow = "sgemm64,3072,2304,256,56,4096,4,all_reduce,512,2,8,pipeline,8,-1,256,concurrent,1,3,53376,39.774\n";

std::string error_of(const std::string& csv) {
  const auto rows = parse_measured_rows(csv, "rows.csv");
  return rows ? "" : rows.error().message;
}

std::string with(const std::string& from, const std::string& to) {
  std::string row = kRow;
  return kHeader + row.replace(row.find(from), from.size(), to);
}

TEST(MeasuredRows, ReadsEveryColumn) {
  const auto rows = parse_measured_rows(kHeader + kRow, "rows.csv");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  const MeasuredRow& row = rows->front();
  const auto& gemm = std::get<TiledGemm>(row.scenario.compute);
  EXPECT_EQ(gemm.m, 3'072);
  EXPECT_EQ(gemm.tile_m, 64);
  EXPECT_EQ(gemm.tile_k, 8);
  EXPECT_FALSE(gemm.grid.has_value());
  EXPECT_EQ(row.footprint->registers_per_thread, Registers(56));
  EXPECT_EQ(row.footprint->static_shared, Bytes(4'096));
  EXPECT_EQ(row.scenario.collective.bytes, mebibytes(512));
  EXPECT_EQ(row.scenario.collective.comm_blocks, Blocks(8));
  EXPECT_FALSE(row.scenario.collective.cluster.has_value());
  EXPECT_EQ(row.comm_threads, Threads(256));
  EXPECT_EQ(row.scenario.gpus, 2);
  EXPECT_EQ(row.scenario.iterations, 8);
  EXPECT_EQ(row.order, Order::concurrent);
  EXPECT_TRUE(row.priority);
  EXPECT_EQ(row.blocks_per_sm, 3);
  EXPECT_EQ(row.pad, Bytes(53'376));
  EXPECT_DOUBLE_EQ(row.time.count(), 39'774);
}

TEST(MeasuredRows, ElementwiseSizeFollowsFromItsBlocks) {
  const auto rows = parse_measured_rows(
      kHeader + "gelu,2048,65536,256,28,0,8,all_reduce,512,2,8,pipeline,0,-1,default,compute_only,0,8,0,1.022\n", "rows.csv");
  ASSERT_TRUE(rows);
  // 65,536 blocks x 256 threads x 16 B
  EXPECT_EQ(std::get<Elementwise>(rows->front().scenario.compute).bytes, mebibytes(256));
}

TEST(MeasuredRows, UnusualButLegalText) {
  // A byte order mark, carriage returns, blanks, empty lines, another order of columns, one more of them, four left to their
  // defaults.
  const auto rows = parse_measured_rows(
      "\xEF\xBB\xBFtime_ms,kernel,n,grid_blocks,block_threads,registers,static_shared_bytes,collective,collective_MiB,gpus,"
      "iterations,"
      "pattern, scheme ,priority,blocks_per_sm,dynamic_shared_bytes,grid\r\n"
      "\r\n"
      " 12.5 ,cublas,8192,0,0,0,0,all_gather,512,4,8,pair, comm_only,0,0,0,64x64\r\n"
      "  \n"
      "1.0,copy,0,64,256,28,0,all_reduce,512,2,8,pipeline,compute_only,0,8,0,\n",
      "rows.csv");
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_DOUBLE_EQ(rows->front().time.count(), 12'500);
  EXPECT_EQ(rows->front().order, Order::comm_only);
  EXPECT_EQ(rows->front().line, 3);
  EXPECT_FALSE(rows->front().scenario.collective.comm_blocks.has_value());
  EXPECT_FALSE(rows->front().scenario.collective.cluster.has_value());
  EXPECT_FALSE(rows->front().comm_threads.has_value());
  EXPECT_EQ(std::get<Elementwise>(rows->back().scenario.compute).op, ElementwiseOp::copy);
  EXPECT_EQ(rows->back().line, 5);
}

// Characters of a legal file replaced, removed and doubled: rows or one line, whatever comes out.
RC_GTEST_PROP(MeasuredRowsProperty, DamagedTextIsReadOrRefusedInOneLine, ()) {
  std::string text = kHeader + kRow + kRow;
  const int damages = *rc::gen::inRange(1, 8);
  for (int damage = 0; damage < damages; ++damage) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
    const char put = *rc::gen::element(',', '\n', '\r', '\0', '-', '.', 'e', '0', '9', ' ', '"', '\xFF');
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text[at] = put;
        break;
      case 1:
        text.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
        break;
      default:
        text.insert(at, 1, put);
    }
  }
  const auto rows = parse_measured_rows(text, "rows.csv");
  if (rows) {
    RC_ASSERT(!rows->empty());
  } else {
    RC_ASSERT(rows.error().kind == ErrorKind::invalid_input);
    RC_ASSERT(rows.error().message.starts_with("rows.csv:"));
    RC_ASSERT(rows.error().message.find('\n') == std::string::npos);
  }
}

TEST(MeasuredRows, RejectsWithOneLineThatNamesTheField) {
  EXPECT_THAT(error_of(""), HasSubstr("rows.csv:1: no column 'kernel'"));
  EXPECT_THAT(error_of(kHeader), HasSubstr("no rows"));
  EXPECT_THAT(error_of(kHeader + "sgemm64,1\n"), HasSubstr("rows.csv:2: 2 fields, expected 20"));
  EXPECT_THAT(error_of(with("sgemm64", "sgemm63")), HasSubstr("rows.csv:2: kernel: 'sgemm63'"));
  EXPECT_THAT(error_of(with("3072", "3100")), HasSubstr("n: '3100', expected a multiple of 64"));
  EXPECT_THAT(error_of(with("39.774", "0")), HasSubstr("time_ms: '0', expected a time above 0"));
  EXPECT_THAT(error_of(with("39.774", "nan")), HasSubstr("time_ms"));
  EXPECT_THAT(error_of(with("concurrent", "parallel")), HasSubstr("scheme: 'parallel', expected one of compute_only"));
  EXPECT_THAT(error_of(with("512,2,8", "512,9,8")), HasSubstr("gpus: '9', expected a whole number from 2 to 8"));
  EXPECT_THAT(error_of(with("2304", "99999999999999999999")), HasSubstr("grid_blocks"));
}

}  // namespace
}  // namespace elbowroom::sim
