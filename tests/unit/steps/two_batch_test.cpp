#include "steps/two_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_of(const Step& step) {
  std::vector<std::string> names;
  for (const Operation& operation : step.operations) { names.push_back(operation.name); }
  return names;
}

/// By name, what each operation is and what it waits for by name: all that a step says but its order.
std::map<std::string, std::pair<Operation, std::vector<std::string>>> without_order(const Step& step) {
  std::map<std::string, std::pair<Operation, std::vector<std::string>>> all;
  for (Operation operation : step.operations) {
    operation.after.clear();
    all[operation.name] = {operation, names_before(step, operation.name)};
  }
  return all;
}

/// Names of the operations of one micro-batch, in their order.
std::vector<std::string> names_of_batch(const Step& step, int micro) {
  std::vector<std::string> names;
  for (const std::string& name : names_of(step)) {
    if (name.starts_with("m" + std::to_string(micro) + ".")) { names.push_back(name); }
  }
  return names;
}

/// A micro-batch has the kernels a and c, and b between them communicates. The update waits for d, the exchange of gradients.
Step two_micro_batches() {
  const Work kernel = Compute(LibraryGemm{64, 64, 64});
  const Work communicates = Collective{};
  Step step;
  const auto add = [&](const char* name, const Work& what, std::vector<Dependency> after) {
    Operation operation;
    operation.name = name;
    operation.what = what;
    operation.after = std::move(after);
    step.operations.push_back(std::move(operation));
  };
  add("m0.a", kernel, {{7, true}});
  add("m0.b", communicates, {{0, false}});
  add("m0.c", kernel, {{1, false}});
  add("m1.a", kernel, {{7, true}});
  add("m1.b", communicates, {{3, false}});
  add("m1.c", kernel, {{4, false}});
  add("d", communicates, {{5, false}});
  add("update", kernel, {{6, false}});
  return step;
}

// m0 waits for b, so m1 begins; when m1 waits, m0 goes on. Nobody hands over at d: the update is no part of a micro-batch.
TEST(TwoBatch, TheOtherOneComputesWhileOneWaits) {
  const Step step = steps::side_by_side(two_micro_batches(), {3, 7});
  EXPECT_THAT(names_of(step), ElementsAre("m0.a", "m0.b", "m1.a", "m1.b", "m0.c", "m1.c", "d", "update"));
  EXPECT_THAT(names_before(step, "m0.a"), ElementsAre("update@-1"));
  EXPECT_THAT(names_before(step, "m1.c"), ElementsAre("m1.b"));
  EXPECT_THAT(names_before(step, "update"), ElementsAre("d"));
}

/// One layer of two experts on two ranks, two micro-batches.
TransformerStep experts_in_pairs() {
  TransformerStep request = small_request();
  request.decoder.layers = 1;
  request.decoder.experts = 2;
  request.optimizer = false;
  request.parallel.ep = 2;
  request.parallel.micro = 2;
  request.parallel.two_batch = true;
  return request;
}

// While the tokens of m0 are under way to the experts m1 attends, and while they come back the experts of m1 compute. The last
// forward turn goes on into the backward pass.
TEST(TwoBatch, TurnsEndWithAnAllToAll) {
  const std::vector<std::string> names = names_of(*transformer_step(experts_in_pairs()));
  std::vector<std::string> ends_of_turns;
  for (std::size_t at = 0; at + 1 < names.size(); ++at) {
    if (names[at].substr(0, 2) != names[at + 1].substr(0, 2)) { ends_of_turns.push_back(names[at]); }
  }
  EXPECT_THAT(ends_of_turns,
              ElementsAre("m0.l0.dispatch", "m1.l0.dispatch", "m0.l0.combine", "m1.l0.combine", "m0.l0.combine.dx",
                          "m1.l0.combine.dx", "m0.l0.dispatch.dx", "m1.l0.dispatch.dx", "m0.l0.norm1.dx", "m1.l0.norm1.dx"));
}

// Every operation takes one unit. A micro-batch has 28 kernels: 8 up to the dispatch, 3 of its expert, 1 and 1 where the passes
// meet, 3 of the expert backward, 2 products beside dispatch.dx, 10 behind it. One after the other each waits for three of its four
// all-to-alls, and the gradients are exchanged at the end: 2 (28 + 3) + 1. In pairs only that is left: 2 x 28 + 1.
TEST(TwoBatch, HidesWhatALayerCommunicates) {
  TransformerStep request = experts_in_pairs();
  const auto length = [&](bool two_batch) {
    request.parallel.two_batch = two_batch;
    const Step step = *transformer_step(request);
    const std::vector<Microseconds> alone(step.operations.size(), Microseconds(1));
    return critical_path(step, *lower(step, Order::concurrent, {}), alone).count();
  };
  EXPECT_EQ(length(false), 63);
  EXPECT_EQ(length(true), 57);
}

/// Of any request that may have pairs.
TransformerStep any_pairs() {
  using Ways = GradientCompression::Kind;
  TransformerStep request = small_request();
  Parallelism& parallel = request.parallel;
  parallel.micro = *rc::gen::element(2, 4, 6);
  request.tokens = 16 * 12;
  parallel.dp = *rc::gen::element(1, 2);
  parallel.tp = *rc::gen::element(1, 2);
  if (parallel.tp == 1 || *rc::gen::arbitrary<bool>()) {
    request.decoder.experts = 4;
    parallel.ep = parallel.tp == 1 ? 2 : *rc::gen::element(1, 2);
    request.imbalance = parallel.ep == 1 ? 1 : *rc::gen::element(1.0, 1.5);
  } else {
    parallel.sequence_parallel = *rc::gen::arbitrary<bool>();
  }
  request.decoder.vocabulary = *rc::gen::element(0, 256);
  request.decoder.tied = request.decoder.vocabulary > 0 && *rc::gen::arbitrary<bool>();
  request.bucket = *rc::gen::element(Bytes(1), kibibytes(64), mebibytes(25));
  if (parallel.dp > 1 || parallel.ep > 1) {
    request.compression = *rc::gen::element(GradientCompression{}, GradientCompression{Ways::fp8, 0, 0},
                                            GradientCompression{Ways::powersgd, 8, 0}, GradientCompression{Ways::topk, 0, 0.1});
  }
  request.repeats = *rc::gen::element(1, 2);
  return request;
}

/// Nothing but the order between micro-batches is another one: what is done, what waits for what, and how each goes on by itself.
RC_GTEST_PROP(TwoBatches, ChangeTheOrderAlone, ()) {
  TransformerStep request = any_pairs();
  const Result<Step> after_each_other = transformer_step(request);
  RC_ASSERT(static_cast<bool>(after_each_other));
  request.parallel.two_batch = true;
  const Step step = *transformer_step(request);
  RC_ASSERT(without_order(step) == without_order(*after_each_other));
  RC_ASSERT(names_of(step) != names_of(*after_each_other));
  const std::vector<int> order = *in_order(step);
  RC_ASSERT(std::ranges::is_sorted(order));
  for (int micro = 0; micro < request.parallel.micro; ++micro) {
    RC_ASSERT(names_of_batch(step, micro) == names_of_batch(*after_each_other, micro));
  }
}

/// Gradients are added in turn, so that those of the last micro-batch are the sums that ranks exchange.
RC_GTEST_PROP(TwoBatches, DoEverythingInTurn, ()) {
  TransformerStep request = any_pairs();
  request.parallel.two_batch = true;
  const Step step = *transformer_step(request);
  const std::vector<std::string> names = names_of(step);
  std::map<std::string, std::size_t> place;
  for (std::size_t at = 0; at < names.size(); ++at) { place[names[at]] = at; }
  for (int micro = 1; micro < request.parallel.micro; ++micro) {
    for (const std::string& name : names_of_batch(step, micro)) {
      RC_ASSERT(place.at("m" + std::to_string(micro - 1) + name.substr(2)) < place.at(name));
    }
  }
}

/// Between a communication and what computes with it stands the other side.
RC_GTEST_PROP(TwoBatches, TakeTurns, ()) {
  TransformerStep request = any_pairs();
  request.parallel.two_batch = true;
  const Step step = *transformer_step(request);
  const std::vector<std::string> names = names_of(step);
  const auto side = [](const std::string& name) { return name[1] % 2; };
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (!names[at].starts_with("m") || !computes(step.operations[at])) { continue; }
    for (const Dependency& before : step.operations[at].after) {
      if (computes(step.operations[static_cast<std::size_t>(before.operation)])) { continue; }
      RC_ASSERT(std::any_of(names.begin() + before.operation, names.begin() + static_cast<std::ptrdiff_t>(at),
                            [&](const std::string& name) { return name.starts_with("m") && side(name) != side(names[at]); }));
    }
  }
}

}  // namespace
}  // namespace elbowroom
