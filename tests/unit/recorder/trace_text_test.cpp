#include "recorder/trace_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "unit/explain/trace_text.hpp"

namespace elbowroom::recorder {
namespace {

constexpr const char* kReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

/// A product on stream 7, and on stream 20 an all-reduce that waits for it by event 3, with their calls.
Recording recording() {
  Recording result;
  Kernel product;
  product.begin = 1'700'000'000'000'001'500;
  product.end = 1'700'000'000'000'101'507;
  product.context = 1;
  product.stream = 7;
  product.correlation = 11;
  product.name = result.names.id_of("gemm \"a\"");
  product.grid = {132, 2, 1};
  product.block = {256, 1, 1};
  product.registers = 168;
  product.static_shared = 1024;
  product.dynamic_shared = 212'000;
  Kernel reduce = product;
  reduce.begin = product.end + 2'000;
  reduce.end = reduce.begin + 50'000;
  reduce.stream = 20;
  reduce.correlation = 14;
  reduce.name = result.names.id_of(kReduce);
  reduce.cluster = 4;
  result.kernels = {product, reduce};
  Copy copy;
  copy.begin = reduce.end;
  copy.end = reduce.end + 1'000;
  copy.stream = 7;
  copy.correlation = 15;
  copy.bytes = 4096;
  copy.kind = 8;
  copy.from = copy.to = 3;
  result.copies = {copy};
  const NameId launch = result.names.id_of("cudaLaunchKernel");
  result.calls = {{1'700'000'000'000'000'000, 1'700'000'000'000'000'700, 11, 99, launch, false},
                  {1'700'000'000'000'001'000, 1'700'000'000'000'001'600, 14, 99, result.names.id_of("cuLaunchKernelEx"), true}};
  // The event was recorded twice before the wait; the second time, by call 12, counts.
  result.marks = {{9, 1, 7, 3}, {12, 1, 7, 3}, {16, 1, 7, 3}, {10, 1, 7, 4}};
  result.clocks = {{1'700'000'000'000'050'000, 0, 1485, 1980, true}};
  result.waits = {{1'700'000'000'000'000'900, 1'700'000'000'000'000'950, 13, 1, 20, 3}, {0, 0, 2, 1, 20, 3}};
  return result;
}

std::string text_of(const Recording& what, const Header& header) {
  std::string text;
  write_trace(what, header, [&](std::string_view piece) { text += piece; });
  return text;
}

TEST(RecordedTrace, IsReadAsKinetosIs) {
  const Header header{1, 2, "node", 4711, {{0, "NVIDIA H100 80GB HBM3", 132}}};
  const explain::Trace trace = explain::test::TraceText::read(text_of(recording(), header));
  EXPECT_EQ(trace.rank, 1);
  EXPECT_EQ(trace.world_size, 2);
  EXPECT_EQ(trace.clock, "node");
  EXPECT_EQ(trace.devices.at(0).name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(trace.devices.at(0).sms, 132);
  ASSERT_EQ(trace.rows.size(), 3U);
  EXPECT_EQ(trace.texts.text(trace.rows.name[0]), "gemm \"a\"");
  EXPECT_EQ(trace.rows.begin[0], 1'700'000'000'000'001'500);
  EXPECT_EQ(trace.rows.end[0], 1'700'000'000'000'101'507);
  EXPECT_EQ(trace.launched(0), 1'700'000'000'000'000'000);
  EXPECT_EQ(trace.shapes.at(trace.rows.shape[0]).shared, 213'024) << "1,024 and 212,000";
  EXPECT_EQ(trace.shapes.at(trace.rows.shape[0]).grid, (std::array<std::int64_t, 3>{132, 2, 1}));
  EXPECT_EQ(trace.rows.work[1], explain::Work::communication);
  EXPECT_EQ(trace.launched(1), 1'700'000'000'000'001'000) << "a call of the driver";
  EXPECT_EQ(trace.rows.kind[2], explain::RowKind::copy);
  ASSERT_EQ(trace.clocks.size(), 1U);
  EXPECT_EQ(trace.clocks[0].at, 1'700'000'000'000'050'000);
  EXPECT_DOUBLE_EQ(trace.clocks[0].below_most, 0.25) << "1,485 of 1,980 MHz";
  EXPECT_EQ(trace.texts.text(trace.rows.name[2]), "Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(trace.rows.bytes[2], 4096);
  EXPECT_TRUE(trace.lost.empty());
}

TEST(RecordedTrace, NamesWhatAStreamWaitsFor) {
  const explain::Trace trace = explain::test::TraceText::read(text_of(recording(), {}));
  ASSERT_EQ(trace.waits.size(), 1U) << "the event of the other wait was recorded before the recording began";
  EXPECT_EQ(trace.texts.text(trace.waits[0].stream), "20");
  EXPECT_EQ(trace.texts.text(trace.waits[0].on), "7");
  EXPECT_EQ(trace.waits[0].correlation, 12U);
}

TEST(RecordedTrace, HasMoreOfAKernelThanKineto) {
  const auto document = nlohmann::json::parse(text_of(recording(), {}));
  const auto& arguments = document["traceEvents"].at(3)["args"];
  EXPECT_EQ(arguments["static shared memory"], 1024);
  EXPECT_EQ(arguments["dynamic shared memory"], 212'000);
  EXPECT_EQ(arguments["cluster"], 4);
}

TEST(RecordedTrace, OfNothingIsADocument) { EXPECT_TRUE(nlohmann::json::parse(text_of({}, {}))["traceEvents"].empty()); }

TEST(Calls, MatterWhereTheyLaunchOrWait) {
  for (const char* name : {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaGraphLaunch_v10000", "cudaMemcpyAsync_v3020",
                           "cudaMemsetAsync_v3020", "cudaStreamWaitEvent_v3020", "cudaDeviceSynchronize_v3020"}) {
    EXPECT_TRUE(matters(name)) << name;
  }
  for (const char* name : {"cudaGetDevice_v3020", "cudaEventQuery_v3020", "cudaEventRecord_v3020", "cudaGraphAddMemcpyNode_v10000",
                           "cudaFuncSetAttribute_v9000"}) {
    EXPECT_FALSE(matters(name)) << name;
  }
  EXPECT_EQ(without_version("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(without_version("cuMemcpyAsync_v2"), "cuMemcpyAsync");
  EXPECT_EQ(without_version("my_value"), "my_value");
}

}  // namespace
}  // namespace elbowroom::recorder
