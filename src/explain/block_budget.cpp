#include "explain/block_budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/device_limits.hpp"
#include "explain/words.hpp"

namespace elbowroom::explain {
namespace {

bool is_ring(const Trace& trace, std::size_t row) {
  const std::string& name = trace.texts.text(trace.rows.name[row]);
  return name.starts_with("ncclDevKernel_") && name.find("SendRecv") == std::string::npos;
}

}  // namespace

bool has_symmetric_kernel(const Trace& trace, const Collective& collective) {
  const std::span<const CollectiveFacts> known = collectives();
  const auto facts =
      std::find_if(known.begin(), known.end(), [&](const CollectiveFacts& one) { return one.name == collective.op; });
  return facts != known.end() && !facts->without_symmetric && is_ring(trace, collective.row);
}

BlockBudget::BlockBudget(const RankView& view) : trace_(view.trace) {
  for (const Collective& one : view.collectives) {
    const std::optional<std::int64_t> blocks = ring_blocks(one.row);
    if (!blocks || *blocks <= greatest_) { continue; }
    greatest_ = *blocks;
    threads_ = trace_.shapes[trace_.rows.shape[one.row]].block[0];
  }
  const std::optional<DeviceLimits> device = catalog_device(trace_);
  const DeviceFacts* facts = device ? facts_of(*device) : nullptr;
  if (facts != nullptr) { speeds_ = facts->simulated; }
  if (greatest_ == 0) {
    refusal_ = "no collective is a ring of NCCL's whose blocks the trace has";
  } else if (!speeds_ || !(rate(greatest_) > 0)) {
    refusal_ = fmt::format("how fast {} sends on fewer blocks is not known",
                           device_name(trace_).empty() ? "this device" : device_name(trace_));
  }
}

std::optional<std::int64_t> BlockBudget::ring_blocks(std::size_t row) const {
  const std::uint32_t shape = trace_.rows.shape[row];
  if (shape == kNone || !is_ring(trace_, row)) { return std::nullopt; }
  const std::int64_t blocks = trace_.shapes[shape].grid[0];
  return blocks > 0 && blocks <= 1024 ? std::optional(blocks) : std::nullopt;
}

double BlockBudget::rate(std::int64_t blocks) const {
  constexpr std::int64_t kSynchronizing = 32;  // threads of a block that move no data
  const double of_threads = static_cast<double>(threads_ - kSynchronizing) * speeds_->comm_thread_rate;
  return std::min(static_cast<double>(blocks) * std::min(of_threads, speeds_->comm_sm_rate), speeds_->link_rate);
}

double BlockBudget::rate_ratio(std::int64_t blocks) const { return rate(blocks) / rate(greatest_); }

Time BlockBudget::transfer(std::size_t row, Time time, std::int64_t blocks) const {
  const std::optional<std::int64_t> own = ring_blocks(row);
  const bool keeps = !own || (blocks <= greatest_ ? *own <= blocks : *own < greatest_);
  if (keeps) { return time; }
  const auto startup = std::min(time, static_cast<Time>(speeds_->comm_startup * 1000));
  return startup + static_cast<Time>(static_cast<double>(time - startup) * rate(*own) / rate(blocks));
}

}  // namespace elbowroom::explain
