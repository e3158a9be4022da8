// What sizes become that ranks do not share: rounded, or refused with the next size that works.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

/// Small, of sizes and ranks that mostly do not divide.
TransformerStep any_odd_request() {
  TransformerStep request = small_request();
  Parallelism& parallel = request.parallel;
  for (int* size : {&parallel.dp, &parallel.fsdp, &parallel.tp, &parallel.pp}) { *size = *rc::gen::element(1, 2, 3, 5, 6, 7); }
  // At most 4,096 ranks.
  if (parallel.pp > 3) { parallel.fsdp = 1; }
  request.decoder.layers = *rc::gen::inRange(1, 9);
  request.decoder.hidden = *rc::gen::inRange(8, 512);
  request.decoder.ffn = *rc::gen::inRange(8, 512);
  request.decoder.heads = *rc::gen::inRange(1, 16);
  request.decoder.kv_heads = *rc::gen::inRange(1, static_cast<int>(request.decoder.heads) + 1);
  request.decoder.vocabulary = *rc::gen::inRange(8, 512);
  request.tokens = *rc::gen::inRange(16, 512);
  request.sequence = *rc::gen::element<std::optional<std::int64_t>>(std::nullopt, 17, 32);
  parallel.micro = *rc::gen::inRange(1, 5);
  if (*rc::gen::arbitrary<bool>()) {
    request.decoder.experts = *rc::gen::inRange(2, 9);
    parallel.ep = *rc::gen::element(1, 2, 3);
  }
  if (parallel.tp > 1) { parallel.sequence_parallel = *rc::gen::arbitrary<bool>(); }
  if (parallel.pp == 1 && parallel.fsdp == 1 && (parallel.tp > 1 || parallel.ep > 1)) {
    parallel.two_batch = *rc::gen::arbitrary<bool>();
  }
  if (parallel.pp > 1 && *rc::gen::arbitrary<bool>()) { parallel.schedule = PipelineSchedule::interleaved; }
  request.bucket = *rc::gen::element(Bytes(1), kibibytes(64));
  return request;
}

/// Sets the option that the refusal names to the size that it names; its name, empty where it names none.
std::string followed(std::string_view message, TransformerStep& request) {
  constexpr std::string_view says = "; the next is ";
  const std::size_t at = message.find(says);
  if (at == std::string_view::npos) { return {}; }
  std::int64_t next = 0;
  std::from_chars(message.data() + at + says.size(), message.data() + message.size(), next);
  const std::string option(message.substr(2, message.find(':') - 2));
  Decoder& decoder = request.decoder;
  const auto set = [next](auto& member) { member = static_cast<std::decay_t<decltype(member)>>(next); };
  if (option == "hidden") { set(decoder.hidden); }
  if (option == "ffn") { set(decoder.ffn); }
  if (option == "heads") { set(decoder.heads); }
  if (option == "kv-heads") { set(decoder.kv_heads); }
  if (option == "vocabulary") { set(decoder.vocabulary); }
  if (option == "layers") { set(decoder.layers); }
  if (option == "experts") { set(decoder.experts); }
  if (option == "tokens") { set(request.tokens); }
  if (option == "sequence") { set(request.sequence); }
  if (option == "micro") { set(request.parallel.micro); }
  return option;
}

/// Who does what refusals say gets a step whose collectives divide, and changes no option twice but for another one's sake.
RC_GTEST_PROP(NextSizes, LeadToAStep, ()) {
  TransformerStep request = any_odd_request();
  Result<Step> step = transformer_step(request);
  std::map<std::string, int> changes;
  while (!step) {
    const std::string message = step.error().message;
    const std::string option = followed(message, request);
    if (option.empty()) { RC_DISCARD(message); }
    // Heads decide about hidden, and tokens about sequences.
    RC_ASSERT(++changes[option] <= (option == "hidden" ? 3 : 1));
    step = transformer_step(request);
  }
  RC_TAG(changes.size());
  RC_ASSERT(static_cast<bool>(validate(*step)));
}

}  // namespace
}  // namespace elbowroom
