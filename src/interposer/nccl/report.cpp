#include "interposer/nccl/report.hpp"

#include "interposer/nccl/state.hpp"

namespace elbowroom::interposer::nccl {
namespace {

void write_communicator(ReportWriter& out, const MadeCommunicator& made) {
  const CommunicatorSettings& settings = made.settings;
  out.begin_object().key("call").text(made.call).key("ranks").number(static_cast<std::uint64_t>(made.ranks));
  if ((settings.fields & kMinBlocks) != 0) { out.key("min_blocks").number(static_cast<std::uint64_t>(settings.min_blocks)); }
  if ((settings.fields & kMaxBlocks) != 0) { out.key("max_blocks").number(static_cast<std::uint64_t>(settings.max_blocks)); }
  if ((settings.fields & kCtaPolicy) != 0) { out.key("cta_policy").number(static_cast<std::uint64_t>(settings.cta_policy)); }
  if (settings.refusal != SettingsRefusal::none) { out.key("refused").text(text(settings.refusal)); }
  out.end_object();
}

}  // namespace

void write_report(ReportWriter& out) {
  out.key("nccl").begin_object();
  out.key("calls").number(state().calls.load(std::memory_order_relaxed));
  out.key("communicators_made").number(state().communicators.count());
  out.key("communicators").begin_array();
  state().communicators.for_each([&](const MadeCommunicator& made) { write_communicator(out, made); });
  out.end_array();
  out.end_object();
}

}  // namespace elbowroom::interposer::nccl
