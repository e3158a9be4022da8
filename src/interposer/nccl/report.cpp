#include "interposer/nccl/report.hpp"

#include "interposer/nccl/state.hpp"

namespace elbowroom::interposer::nccl {

void write_report(ReportWriter& out) {
  out.key("nccl").begin_object();
  out.key("calls").number(state().calls.load(std::memory_order_relaxed));
  out.key("communicators_made").number(state().communicators.load(std::memory_order_relaxed));
  out.key("greatest_ranks").number(static_cast<std::uint64_t>(state().greatest_ranks.load(std::memory_order_relaxed)));
  out.end_object();
}

}  // namespace elbowroom::interposer::nccl
