#include "elbowroom/report/run_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "golden.hpp"

namespace elbowroom {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

json kernel(std::string_view name, int launches, int in_window) {
  json written = json::object();
  written["name"] = name;
  written["footprint"] = {{"threads", 256}, {"registers", 32}, {"static_shared", 0}, {"dynamic_shared", 1024}, {"cluster", 1}};
  written["launches"] = launches;
  written["in_window"] = in_window;
  written["applied"] = {{"gate", 2}, {"shape", 1}, {"priority", 0}, {"sm_target", 0}};
  written["refused"] = {{"cluster launch", 3}};
  return written;
}

json collective(std::string_view name, int size_class, int count) {
  json written = json::object();
  written["name"] = name;
  written["size_class"] = size_class;
  written["count"] = count;
  return written;
}

/// What the interposer writes, with every field.
json process(int pid) {
  json written = json::object();
  written["schema"] = "elbowroom.run-process/1";
  written["pid"] = pid;
  written["program"] = "python3";
  written["policy"] = "auto";
  written["device_count_seen"] = 2;
  written["driver_entries"] = {"cuGetProcAddress"};
  written["launches"] = {{"total", 1000},       {"captured", 10}, {"graph_launches", 4},        {"in_window", 200},
                         {"in_order_only", 50}, {"untracked", 3}, {"collectives_forgotten", 2}, {"at_rest", 60}};
  written["collectives"] =
      json::array({collective("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 28, 8)});
  written["kernels"] = json::array({kernel("_ZN2at6native18layer_norm_forwardIfEEviPKT_", 100, 20),
                                    kernel("nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_NNT", 50, 40)});
  written["applied"] = {{"priority", 8}, {"gate", 4}, {"shape", 2}, {"sm_target", 0}};
  written["refused"] = {{"cluster launch", 6}, {"the collective queues behind another", 7}};
  written["relaunched"] = 1;
  written["passed_through"] = {"cuLaunchKernel: unknown struct size"};
  written["overhead"] = {
      {"nanoseconds", 250000}, {"calls", 1200}, {"nanoseconds_per_launch_outside", 100}, {"nanoseconds_per_launch_inside", 800}};
  written["device"] = "NVIDIA H200";
  written["gpus"] = {"0000:1B:00.0", "0000:1C:00.0"};
  written["begun_us"] = 1'500.25;
  written["steps"] = {{"repetitions", 90}, {"collectives", 16}, {"begin_us", 2'000.5}, {"end_us", 9'000.75}};
  written["ab"] = {
      {"state", "settled"},
      {"arm", "priority, gate"},
      {"decisions", 1},
      {"collectives_per_repetition", 8},
      {"arms", json::array({{{"arm", "plain"}, {"us", 8350.0}},
                            {{"arm", "priority"}, {"us", 8358.4}, {"gain_percent", -0.1}, {"low", -0.4}, {"high", 0.2}},
                            {{"arm", "priority, gate"}, {"us", 7530.0}, {"gain_percent", 9.82}, {"low", 9.5}, {"high", 10.1}}})},
      {"remembered", "priority, gate"},
      {"library_version", 22809},
      {"choices", json::array({{{"sequence", "00000000000000a1"},
                                {"arm", "priority, gate"},
                                {"gain_percent", 9.82},
                                {"low", 9.5},
                                {"high", 10.1},
                                {"decisions", 1}}})}};
  written["nccl"] = {
      {"calls", 96},
      {"communicators_made", 3},
      {"greatest_ranks", 2},
      {"rank", pid - 41},
  };
  return written;
}

ProcessReport parsed(const json& document) {
  Result<ProcessReport> report = parse_process_report(document.dump(), "1.json");
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? *std::move(report) : ProcessReport();
}

std::string refusal_of(const std::string& text) {
  const Result<ProcessReport> report = parse_process_report(text, "1.json");
  return report.ok() ? "" : report.error().message;
}

RunReport run_of(std::vector<ProcessReport> processes) {
  RunReport report;
  report.command = {"python3", "train.py", "--name", "two words"};
  report.policy = "auto";
  report.wall = std::chrono::duration<double>(12.34);
  report.processes = std::move(processes);
  return report;
}

TEST(RunReport, ReadsEveryField) {
  const ProcessReport report = parsed(process(41));
  EXPECT_EQ(report.pid, 41);
  EXPECT_EQ(report.program, "python3");
  EXPECT_EQ(report.policy, "auto");
  EXPECT_EQ(report.trial.state, TrialState::settled);
  EXPECT_EQ(report.trial.arm.text(), "priority, gate");
  EXPECT_EQ(report.device, "NVIDIA H200");
  EXPECT_THAT(report.gpus, ::testing::ElementsAre("0000:1B:00.0", "0000:1C:00.0"));
  EXPECT_EQ(report.begun, Microseconds(1'500.25));
  EXPECT_EQ(report.steps.value().repetitions, 90);
  EXPECT_EQ(report.steps->collectives, 16);
  EXPECT_EQ(report.steps->begin, Microseconds(2'000.5));
  EXPECT_EQ(report.steps->end, Microseconds(9'000.75));
  EXPECT_EQ(report.trial.decisions, 1);
  EXPECT_EQ(report.trial.repetition, 8);
  ASSERT_EQ(report.trial.arms.size(), 3U);
  EXPECT_EQ(report.trial.arms[0].step, Microseconds(8350));
  EXPECT_EQ(report.trial.arms[1].gain, -0.1);
  EXPECT_EQ(report.trial.arms[2].controls.text(), "priority, gate");
  EXPECT_EQ(report.trial.arms[2].high, 10.1);
  const RunActivity& activity = report.activity;
  EXPECT_EQ(activity.launches.total, 1000);
  EXPECT_EQ(activity.launches.captured, 10);
  EXPECT_EQ(activity.launches.graph_launches, 4);
  EXPECT_EQ(activity.launches.in_window, 200);
  EXPECT_EQ(activity.launches.in_order_only, 50);
  EXPECT_EQ(activity.launches.untracked, 3);
  EXPECT_EQ(activity.launches.collectives_forgotten, 2);
  EXPECT_EQ(activity.launches.at_rest, 60);
  ASSERT_EQ(activity.collectives.size(), 1U);
  EXPECT_EQ(activity.collectives[0].size_class, 28);
  EXPECT_EQ(activity.collectives[0].count, 8);
  ASSERT_EQ(activity.kernels.size(), 2U);
  EXPECT_EQ(activity.kernels[0].footprint, (KernelFootprint{Threads(256), Registers(32), Bytes(0), Bytes(1024), 1}));
  EXPECT_EQ(activity.kernels[0].launches, 100);
  EXPECT_EQ(activity.kernels[0].in_window, 20);
  EXPECT_EQ(activity.kernels[0].applied.shape, 1);
  EXPECT_EQ(activity.kernels[0].refused.at("cluster launch"), 3);
  EXPECT_EQ(activity.applied.priority, 8);
  EXPECT_EQ(activity.refused.at("cluster launch"), 6);
  EXPECT_EQ(activity.relaunched, 1);
  EXPECT_EQ(activity.passed_through.at("cuLaunchKernel: unknown struct size"), 1);
  EXPECT_EQ(activity.overhead.time, Nanoseconds(250000));
  EXPECT_EQ(activity.overhead.per_launch_inside, Microseconds(0.8));
}

TEST(RunReport, AbsentFieldsKeepTheirDefaults) {
  const ProcessReport report = parsed({{"schema", "elbowroom.run-process/1"}});
  EXPECT_EQ(report.activity.launches.total, 0);
  EXPECT_TRUE(report.activity.kernels.empty());
  EXPECT_FALSE(report.trial.state);
  EXPECT_FALSE(report.steps);
  EXPECT_FALSE(report.begun);
}

// The interposer writes 0 and "" for what it does not know.
TEST(RunReport, ZerosAndEmptyTextsAreNothing) {
  const ProcessReport report = parsed({{"schema", "elbowroom.run-process/1"},
                                       {"device", ""},
                                       {"begun_us", 0},
                                       {"steps", {{"repetitions", 0}, {"collectives", 0}, {"begin_us", 0}, {"end_us", 0}}},
                                       {"collectives", {{{"name", "ncclDevKernel"}, {"size_class", 0}}}},
                                       {"overhead", {{"nanoseconds_per_launch_inside", 0}}},
                                       {"nccl", {{"greatest_ranks", 0}}},
                                       {"ab",
                                        {{"state", ""},
                                         {"library_version", 0},
                                         {"collectives_per_repetition", 0},
                                         {"arms", {{{"arm", "gate"}, {"us", 0}}}},
                                         {"choices", {{{"sequence", "00000000000000a1"}, {"arm", "gate"}, {"decisions", 0}}}}}}});
  EXPECT_FALSE(report.device);
  EXPECT_FALSE(report.begun);
  EXPECT_FALSE(report.steps);
  EXPECT_FALSE(report.activity.collectives.at(0).size_class);
  EXPECT_FALSE(report.activity.overhead.per_launch_inside);
  EXPECT_FALSE(report.activity.library.version);
  EXPECT_FALSE(report.trial.state);
  EXPECT_FALSE(report.trial.arms.at(0).step);
  EXPECT_FALSE(report.trial.repetition);
  EXPECT_FALSE(report.trial.choices.at(0).decisions);
  EXPECT_FALSE(report.activity.library.ranks);
}

TEST(RunReport, KeepsTheWordsOfANewerProcess) {
  json newer = process(41);
  newer["ab"]["state"] = "resting";
  newer["ab"]["decides"] = "a vote";
  newer["ab"]["arm"] = "priority, clocks";
  const ProcessReport report = parsed(newer);
  EXPECT_EQ(report.trial.decides, Decider::not_known);
  EXPECT_NE(to_table(run_of({report})).find("process 41: resting, goes on with priority, clocks"), std::string::npos);
}

TEST(RunReport, EveryTruncationIsRefusedInOneLine) {
  const std::string text = process(41).dump();
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string message = refusal_of(text.substr(0, length));
    ASSERT_TRUE(message.starts_with("1.json: ")) << length;
    ASSERT_EQ(message.find('\n'), std::string::npos) << length;
  }
}

TEST(RunReport, NamesTheFieldThatIsWrong) {
  json document = process(41);
  document["launches"]["total"] = -1;
  EXPECT_EQ(refusal_of(document.dump()), "1.json: launches.total: -1, expected a whole number from 0 to 2^53");
  document = process(41);
  document["kernels"][1]["footprint"] = 3;
  EXPECT_EQ(refusal_of(document.dump()), "1.json: kernels[1].footprint: 3, expected an object");
  document = process(41);
  document["collectives"] = {1};
  EXPECT_EQ(refusal_of(document.dump()), "1.json: collectives[0]: 1, expected an object");
  document = process(41);
  document["ab"]["arms"][2]["us"] = "fast";
  EXPECT_EQ(refusal_of(document.dump()), "1.json: ab.arms[2].us: \"fast\", expected a finite number from 0");
  document = process(41);
  document["schema"] = "elbowroom.run/1";
  EXPECT_EQ(refusal_of(document.dump()), "1.json: schema: \"elbowroom.run/1\", expected \"elbowroom.run-process/1\"");
}

TEST(RunReport, SumsTwoProcesses) {
  json second = process(42);
  second["launches"]["in_window"] = 600;
  second["overhead"]["nanoseconds_per_launch_inside"] = 400;
  second["overhead"]["nanoseconds_per_launch_outside"] = 160;
  second["collectives"][0]["count"] = 24;
  second["collectives"].push_back(collective("ncclDevKernel_AllGather_RING_LL", 20, 5));
  second["kernels"][1]["in_window"] = 1;
  second["kernels"].push_back(kernel("fill", 7, 30));
  second["refused"] = {{"cluster launch", 1}};
  second["passed_through"] = {"cuLaunchKernel: unknown struct size", "cuLaunchCooperativeKernel: absent"};

  const RunActivity total = total_activity(std::vector{parsed(process(41)), parsed(second)});
  EXPECT_EQ(total.launches.total, 2000);
  EXPECT_EQ(total.launches.in_window, 800);
  EXPECT_EQ(total.launches.untracked, 6);
  EXPECT_EQ(total.launches.collectives_forgotten, 4);
  EXPECT_EQ(total.applied.priority, 16);
  EXPECT_EQ(total.relaunched, 2);
  EXPECT_EQ(total.refused,
            (std::map<std::string, std::int64_t>{{"cluster launch", 7}, {"the collective queues behind another", 7}}));
  EXPECT_EQ(total.passed_through, (std::map<std::string, std::int64_t>{{"cuLaunchKernel: unknown struct size", 2},
                                                                       {"cuLaunchCooperativeKernel: absent", 1}}));
  EXPECT_EQ(total.overhead.time, Nanoseconds(500000));
  EXPECT_DOUBLE_EQ(total.overhead.per_launch_inside.value().count(), 0.5);  // (200 x 0.8 + 600 x 0.4) / 800
  EXPECT_DOUBLE_EQ(total.overhead.per_launch_outside.value().count(),
                   128.4 / 1080);  // 60 of each at rest: (740 x 0.10 + 340 x 0.16) / 1080

  ASSERT_EQ(total.collectives.size(), 2U);
  EXPECT_EQ(total.collectives[0].name, "ncclDevKernel_AllGather_RING_LL");
  EXPECT_EQ(total.collectives[1].count, 32);

  ASSERT_EQ(total.kernels.size(), 3U);  // by launches in windows: 40 + 1, 20 + 20, 30
  EXPECT_EQ(total.kernels[0].in_window, 41);
  EXPECT_EQ(total.kernels[1].in_window, 40);
  EXPECT_EQ(total.kernels[1].launches, 200);
  EXPECT_EQ(total.kernels[1].refused.at("cluster launch"), 6);
  EXPECT_EQ(total.kernels[2].name, "fill");
}

TEST(RunReport, KernelsOfAnotherFootprintStayApart) {
  json second = process(42);
  second["kernels"][0]["footprint"]["dynamic_shared"] = 2048;
  EXPECT_EQ(total_activity(std::vector{parsed(process(41)), parsed(second)}).kernels.size(), 3U);
}

TEST(RunReport, DocumentHasTheContractsFieldsAndKeepsUnknownOnes) {
  json first = process(41);
  first["later_field"] = {1, 2};
  RunReport report = run_of({parsed(first), parsed(process(42))});
  report.exit_code = 3;
  report.damaged = {"7.json: not valid JSON at byte 4, expected an elbowroom.run-process/1 document"};
  const ordered_json document = ordered_json::parse(to_json(report));
  EXPECT_EQ(document["schema"], "elbowroom.run/1");
  EXPECT_EQ(document["provenance"], "measured");
  EXPECT_EQ(document["command"], (ordered_json{"python3", "train.py", "--name", "two words"}));
  EXPECT_EQ(document["backend"], "cuda");
  EXPECT_EQ(document["policy"], "auto");
  EXPECT_EQ(document["exit_code"], 3);
  EXPECT_EQ(document["wall_s"], 12.34);
  EXPECT_EQ(document["processes"].size(), 2U);
  EXPECT_EQ(document["processes"][0]["later_field"], (ordered_json{1, 2}));
  EXPECT_EQ(document["damaged_reports"].size(), 1U);
  EXPECT_EQ(document["total"]["launches"]["total"], 2000);
  EXPECT_EQ(document["total"]["applied"]["gate"], 8);
}

TEST(RunReport, ReadsWhatWasChosen) {
  const ProcessReport report = parsed(process(41));
  EXPECT_EQ(report.trial.remembered, ArmControls("priority, gate"));
  ASSERT_EQ(report.trial.choices.size(), 1U);
  EXPECT_EQ(report.trial.choices[0].sequence, "00000000000000a1");
  EXPECT_EQ(report.trial.choices[0].arm.text(), "priority, gate");
  EXPECT_EQ(report.trial.choices[0].gain, 9.82);
  EXPECT_EQ(report.trial.choices[0].decisions, 1);
}

TEST(RunReport, AddsUpWhatWasSeenOfNccl) {
  const json document = json::parse(to_json(run_of({parsed(process(43)), parsed(process(42))})));
  const json expected = {
      {"version", 22809}, {"calls", 192}, {"processes_unseen", 0}, {"communicators_made", 6}, {"greatest_ranks", 2},
  };
  EXPECT_EQ(document["total"]["nccl"], expected) << document["total"]["nccl"];
  EXPECT_EQ(document["processes"][0]["nccl"], process(43)["nccl"]) << "as the process wrote it";
  EXPECT_EQ(total_activity(std::vector{parsed(process(43)), parsed(process(42))}).library.rank, 1);
}

TEST(RunReport, NamesProcessesWhoseNcclCannotBeSeen) {
  json unseen = process(41);
  unseen["nccl"] = {{"calls", 0}, {"communicators_made", 0}};
  json of_others = unseen;
  of_others["collectives"][0]["name"] = "nvshmemi_kernel";
  json older = process(43);
  older.erase("nccl");
  const RunReport report = run_of({parsed(unseen), parsed(of_others), parsed(older), parsed(process(44))});
  EXPECT_EQ(json::parse(to_json(report))["total"]["nccl"]["processes_unseen"], 1);
  EXPECT_NE(to_table(report).find("nccl        unseen in 1 process, which launched its kernels: "), std::string::npos)
      << to_table(report);
  EXPECT_EQ(to_table(run_of({parsed(process(44))})).find("unseen"), std::string::npos);
}

TEST(RunReport, TableIsTheGoldenExample) {
  RunReport report = run_of({parsed(process(41)), parsed(process(42))});
  report.damaged = {"7.json: not valid JSON at byte 4, expected an elbowroom.run-process/1 document"};
  expect_golden("run_table.txt", to_table(report));
}

TEST(RunReport, TableOfARunWithoutDriverSaysSo) {
  EXPECT_EQ(to_table(run_of({})),
            "# elbowroom run: policy auto, exit code 0, 12.3 s\n"
            "# python3 train.py --name 'two words'\n"
            "# no process reported: none used the CUDA driver, or those that did are setuid or ended by _exit or exec\n");
  RunReport hip = run_of({});
  hip.backend = "hip";
  EXPECT_NE(to_table(hip).find("# no process reported: none used the HIP runtime,"), std::string::npos);
  hip.exit_code = 137;
  EXPECT_NE(to_table(hip).find("# no process reported: the command ended with 137, and what is killed"), std::string::npos);
  hip.driver_found = false;
  EXPECT_NE(to_table(hip).find("# no process reported: the HIP runtime is not installed here\n"), std::string::npos);
  hip.unseen_because = "'x' is linked statically";
  EXPECT_NE(to_table(hip).find("# no process reported: 'x' is linked statically\n"), std::string::npos);
}

}  // namespace
}  // namespace elbowroom
