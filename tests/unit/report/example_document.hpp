#pragma once

#include "elbowroom/report/chrome_trace.hpp"
#include "elbowroom/report/result_document.hpp"

namespace elbowroom {

/// A made-up run on a made-up device that shows everything a report can hold. Round numbers, so that derived values can be
/// checked by eye: sequential 40 ms, critical path 24 ms. Nothing of this was measured or simulated.
inline Origin example_origin() {
  Origin origin;
  origin.provenance = Provenance::simulated;
  origin.backend = "example";
  origin.device.name = "Example GPU";
  origin.device.count = 2;
  origin.device.memory = mebibytes(16 * 1024);
  origin.versions = {{"driver", "1.2"}, {"nccl", "0.0.1"}};
  origin.seed = 7;

  DeviceLimits& limits = origin.device.limits;
  limits.name = "example";
  limits.title = "Example GPU";
  limits.architecture = "sm_00";
  limits.sms = Sms(10);
  limits.warp = Threads(32);
  limits.max_threads_per_block = Threads(1024);
  limits.max_threads_per_sm = Threads(2048);
  limits.max_blocks_per_sm = BlocksPerSm(32);
  limits.registers_per_sm = Registers(65536);
  limits.register_granule = Registers(256);
  limits.max_registers_per_thread = Registers(255);
  limits.shared_per_sm = kibibytes(228);
  limits.shared_per_block = kibibytes(227);
  limits.shared_reserved_per_block = kibibytes(1);
  limits.shared_granule = Bytes(128);
  limits.max_cluster = 8;
  limits.source = "made up for tests";
  return origin;
}

inline ModelWidth example_model() { return {Basis::extrapolated, 0.1, "nothing was measured on example"}; }

inline Summary example_time(double median, double low, double high) {
  return {Microseconds(median), Microseconds(low), Microseconds(high), 0.95, 20};
}

/// A result without timeline metrics.
inline SchemeResult example_result(const char* scheme, OverlapPlan plan, Summary time) {
  SchemeResult result;
  result.scheme = scheme;
  result.plan = plan;
  result.time = time;
  result.metrics = overlap_metrics(time.median, Microseconds(40'000), Microseconds(24'000));
  return result;
}

inline CaseResult example_case() {
  CaseResult result;
  auto& scenario = result.what.emplace<Scenario>();
  scenario.name = "example";
  scenario.iterations = 8;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(4096)};
  scenario.collective = {CollectiveOp::all_reduce, mebibytes(512), DataType::bf16, Blocks(8), std::nullopt};
  result.critical_path = Microseconds(24'000);
  result.hardware_limit = HardwareLimit{Microseconds(21'000),
                                        HardwareLimit::Busiest{DevicePart::link, false, Microseconds(18'000), Microseconds(3'000)}};
  result.compute_alone = example_time(22'000, 21'900, 22'100);
  result.comm_alone = example_time(18'000, 17'950, 18'050);

  OverlapPlan priority;
  priority.priority = true;
  OverlapPlan shaped = priority;
  shaped.blocks_per_sm = BlocksPerSm(5);
  shaped.pad = Bytes(38'016);

  result.results.push_back(example_result("sequential", {}, example_time(40'000, 39'900, 40'100)));
  result.results.push_back(example_result("concurrent", {}, example_time(40'400, 40'300, 40'500)));
  result.results.push_back(example_result("priority", priority, example_time(34'000, 33'900, 34'100)));
  result.results.push_back(example_result("shaped_priority", shaped, example_time(28'000, 27'800, 28'200)));

  SchemeResult& best = result.results.back();
  best.ratio = RatioSummary{0.7, 0.695, 0.705, 0.95, 20};
  best.metrics.overlap_rate = 0.875;
  best.metrics.compute_inflation = 0.16;
  best.metrics.comm_inflation = -0.025;
  best.limited_by = "shared_memory";
  best.note = "8 iterations recorded in a separate trial";
  result.results[0].metrics.overlap_rate = 0.0;
  result.results[0].limited_by = "threads";
  result.refusals.push_back({"shaped", "example reason: one block needs 262,144 registers, an SM of example has 65,536"});
  return result;
}

/// Every control in use, large numbers and microseconds.
inline CaseResult example_case_of_all_controls() {
  CaseResult result;
  auto& scenario = std::get<Scenario>(result.what);
  scenario.name = "example-µs";
  scenario.pattern = Pattern::pair;
  scenario.compute = TiledGemm{8192, 57344, 8192, 64, 64, 32, GridShape{16, 1024}, DataType::f32};
  scenario.collective = {CollectiveOp::all_to_all, mebibytes(896), DataType::bf16, std::nullopt, 4};

  OverlapPlan plan;
  plan.blocks_per_sm = BlocksPerSm(1);
  plan.pad = Bytes(232'448);
  plan.priority = true;
  plan.launch_gate = true;
  plan.comm_blocks = Blocks(24);
  plan.cluster = 1;
  plan.sm_target = Sms(108);
  plan.comm_threads = Threads(256);
  plan.carveout = Percent(100);
  plan.comm_sms = Sms(24);
  plan.copy_engine = true;
  SchemeResult tuned = example_result("tuned", plan, example_time(812.5, 810, 999.25));
  tuned.metrics = {};
  result.results.push_back(tuned);
  return result;
}

inline ResultDocument example_document() { return {example_origin(), {example_case(), example_case_of_all_controls()}}; }

inline Span example_span(const char* name, SpanKind kind, int device, std::int64_t stream, int begin_us, int end_us) {
  Span span;
  span.name = name;
  span.kind = kind;
  span.device = device;
  span.stream = stream;
  span.begin = std::chrono::microseconds(begin_us);
  span.end = std::chrono::microseconds(end_us);
  return span;
}

/// Two schemes on two devices; the clock's origin is far from zero, as a device's is.
inline TraceDocument example_trace() {
  Timeline sequential{Provenance::simulated, {}};
  Timeline shaped{Provenance::simulated, {}};
  for (const int device : {0, 1}) {
    sequential.spans.push_back(example_span("gelu", SpanKind::compute, device, 7, 5'000'000, 5'000'100));
    sequential.spans.push_back(example_span("all_reduce", SpanKind::communication, device, 7, 5'000'100, 5'000'180));
    shaped.spans.push_back(example_span("all_reduce", SpanKind::communication, device, 21, 9'000'020, 9'000'110));
    shaped.spans.push_back(example_span("gelu<\"float\\\">", SpanKind::compute, device, 7, 9'000'000, 9'000'120));
    shaped.spans.back().launch = LaunchShape{Blocks(4096), Threads(256), Registers(32), Bytes(0), Bytes(38'016), 1};
  }
  shaped.spans.front().end += Nanoseconds(1);
  return {example_origin(), {{"example sequential", sequential}, {"example shaped_priority", shaped}}};
}

}  // namespace elbowroom
