#include "interposer/core/core_state.hpp"

// Products of cuBLAS, which a rule may give fewer SMs beside a collective.

namespace elbowroom::interposer {

SmTarget Core::on_library_gemm(StreamId stream, const Product& product, std::uint64_t host_time_ns) {
  CoreState::Hold hold(*state_);
  if (!state_->sets_targets()) { return {}; }
  state_->meet_stream(stream, hold);
  state_->refresh(host_time_ns, hold);
  const SmTarget target = state_->sm_target(stream, product);
  if (target.sms != 0) { state_->known.trial.on_acted(); }
  return target;
}

void Core::on_library_gemm_done(LaunchOutcome outcome) {
  const CoreState::Hold hold(*state_);
  Totals& totals = state_->known.totals;
  totals.applied.sm_target += outcome == LaunchOutcome::ok ? 1 : 0;
}

SmTarget CoreState::sm_target(StreamId id, const Product& product) {
  const Stream* stream = known.lanes.find_stream(id);
  if (stream == nullptr || captures.load(std::memory_order_relaxed) != 0) { return {}; }
  const std::uint32_t target = rules.target_of(product, names_on(*stream));
  // A rule may have been made for a larger device of the same name.
  const std::uint32_t sms = known.devices[static_cast<std::size_t>(stream->info.device)].sms;
  if (target == 0 || (sms != 0 && target >= sms)) { return {}; }
  // Ranks that compute one product twice must get one result, and a target may let the library choose another algorithm. What is
  // beside a product, and when, each rank sees for itself, and so it does which arm is faster.
  if (has_several_ranks()) {
    if (!compares(rules)) { return {target}; }
    ++known.totals.refused[static_cast<std::size_t>(Refusal::own_choice)];
    return {};
  }
  return {known.lanes.any_beside(stream->info.device, stream->clock) ? target : 0};
}

}  // namespace elbowroom::interposer
