// What holds of every training step, whatever shares it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

/// A small decoder that every number of ranks up to two along each axis divides.
TransformerStep any_request() {
  TransformerStep request = small_request();
  Parallelism& parallel = request.parallel;
  for (int* size : {&parallel.dp, &parallel.fsdp, &parallel.tp, &parallel.pp}) { *size = *rc::gen::element(1, 2); }
  parallel.micro = *rc::gen::element(1, 2, 4);
  request.decoder.vocabulary = *rc::gen::element(0, 256);
  request.decoder.activation = *rc::gen::element(Activation::gelu, Activation::swiglu);
  if (*rc::gen::arbitrary<bool>()) {
    request.decoder.experts = 4;
    parallel.ep = *rc::gen::element(1, 2);
  }
  if (parallel.ep > 1) { request.imbalance = *rc::gen::element(1.0, 1.5); }
  if (parallel.tp > 1) { parallel.sequence_parallel = *rc::gen::arbitrary<bool>(); }
  if (parallel.pp > 1 && parallel.micro > 1) {
    parallel.schedule = *rc::gen::element(PipelineSchedule::one_forward_one_backward, PipelineSchedule::interleaved);
  }
  const bool waits_in_layers = parallel.tp > 1 || parallel.ep > 1;
  if (waits_in_layers && parallel.pp == 1 && parallel.fsdp == 1 && parallel.micro > 1) {
    parallel.two_batch = *rc::gen::arbitrary<bool>();
  }
  request.optimizer = *rc::gen::arbitrary<bool>();
  request.bucket = *rc::gen::element(Bytes(1), kibibytes(64), mebibytes(25));
  using Ways = GradientCompression::Kind;
  request.compression =
      *rc::gen::element(GradientCompression{}, GradientCompression{Ways::bf16, 0, 0}, GradientCompression{Ways::fp8, 0, 0},
                        GradientCompression{Ways::powersgd, 8, 0}, GradientCompression{Ways::topk, 0, 0.1});
  request.gradients = request.compression.kind == Ways::bf16 ? DataType::f32 : DataType::bf16;
  return request;
}

double flop_of_all(const Step& step) {
  double sum = 0;
  for (int rank = 0; rank < step.ranks; ++rank) { sum += totals_of(step, rank).gemm_flop; }
  return sum;
}

RC_GTEST_PROP(TransformerSteps, AreReadBackAndCanBeScheduled, ()) {
  const Result<Step> step = transformer_step(any_request());
  // What a request may be refused for is an option of it, never the step that was made.
  const bool of_an_option = !step && step.error().message.starts_with("--");
  RC_ASSERT(static_cast<bool>(step) != of_an_option);
  RC_PRE(static_cast<bool>(step));
  RC_ASSERT(static_cast<bool>(validate(*step)));
  const Result<Step> read = parse_step(to_json(*step), "text");
  RC_ASSERT(static_cast<bool>(read));
  RC_ASSERT(*read == *step);
  // Written in an order that can be kept.
  const std::vector<int> order = *in_order(*step);
  for (std::size_t at = 0; at < order.size(); ++at) { RC_ASSERT(order[at] == static_cast<int>(at)); }
  // What two ranks exchange has one of each, and every operation that is waited for is on a rank that waits.
  for (const Operation& operation : step->operations) {
    for (const std::vector<int>& ranks : communicators_of(*step, operation)) {
      RC_ASSERT(computes(operation) || std::set<int>(ranks.begin(), ranks.end()).size() >= 2U);
    }
  }
  RC_ASSERT(static_cast<bool>(lower(*step, Order::concurrent, {})));
}

/// Sharing the work makes none and loses none: all ranks together do what replicas of one rank would.
RC_GTEST_PROP(TransformerSteps, DoTheSameProductsHoweverTheyAreShared, ()) {
  TransformerStep request = any_request();
  request.compression = {};
  request.gradients = DataType::bf16;
  // Uneven rows are rounded to whole eights.
  request.imbalance = 1;
  request.decoder.experts = 0;
  request.parallel.ep = 1;
  const Result<Step> step = transformer_step(request);
  RC_PRE(static_cast<bool>(step));
  TransformerStep alone = request;
  alone.parallel = {};
  alone.parallel.dp = 2;
  alone.sequence = request.tokens / request.parallel.micro;
  const int replicas = request.parallel.dp * request.parallel.fsdp;
  RC_ASSERT(flop_of_all(*step) == flop_of_all(*transformer_step(alone)) / 2 * replicas);
}

/// Equal stages without communication: p - 1 of m + p - 1 turns of each stage are idle, of v chunks a v-th of that.
TEST(TransformerSteps, IdleAsPipelinesMust) {
  for (const int stages : {2, 4}) {
    for (const int micro : {4, 8}) {
      for (const PipelineSchedule schedule : {PipelineSchedule::one_forward_one_backward, PipelineSchedule::interleaved}) {
        TransformerStep request = small_request();
        request.decoder.layers = 8;
        request.tokens = 16 * micro;
        request.optimizer = false;
        request.parallel.pp = stages;
        request.parallel.micro = micro;
        request.parallel.schedule = schedule;
        const Step step = *transformer_step(request);
        // A unit for each operation of a layer: so many on a stage for each micro-batch.
        std::vector<Microseconds> alone;
        double busy = 0;
        for (const Operation& operation : step.operations) {
          alone.emplace_back(computes(operation) ? 1 : 0);
          if (computes(operation)) { busy += 1.0 / stages; }
        }
        const double bubble = static_cast<double>(stages - 1) / micro / (schedule == PipelineSchedule::interleaved ? 2 : 1);
        EXPECT_NEAR(critical_path(step, *lower(step, Order::concurrent, {}), alone).count(), busy * (1 + bubble), 1e-6)
            << stages << " stages, " << micro << " micro-batches";
      }
    }
  }
}

}  // namespace
}  // namespace elbowroom
