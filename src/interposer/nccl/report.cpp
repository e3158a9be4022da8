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

// Names of NCCL's numbers for collectives.
constexpr std::array<const char*, BudgetCounts::kFunctions> kFunctionNames{"broadcast",      "reduce",     "all_gather",
                                                                           "reduce_scatter", "all_reduce", "other"};

void write_budgets(ReportWriter& out, const BudgetCounts& counts) {
  out.key("budgets").begin_object();
  for (std::size_t i = 0; i < counts.functions.size(); ++i) {
    const std::uint64_t asked = counts.functions[i].asked.load();
    if (asked == 0) { continue; }
    out.key(kFunctionNames[i]).begin_object().key("asked").number(asked);
    out.key("lowered").number(counts.functions[i].lowered.load()).end_object();
  }
  out.end_object().key("agreement").begin_object();
  for (std::size_t i = 0; i < counts.communicators.size(); ++i) {
    const std::uint64_t communicators = counts.communicators[i].load();
    if (communicators == 0) { continue; }
    const auto refusal = static_cast<BudgetRefusal>(i);
    out.key(refusal == BudgetRefusal::none ? "possible" : text(refusal)).number(communicators);
  }
  out.end_object();
}

}  // namespace

const char* text(BudgetRefusal refusal) {
  switch (refusal) {
    case BudgetRefusal::none:
      return "";
    case BudgetRefusal::nothing_asked:
      return "nothing asks for a budget";
    case BudgetRefusal::one_rank:
      return "one rank";
    case BudgetRefusal::old_library:
      return "NCCL before 2.28 names no communicator to its plugin";
    case BudgetRefusal::several_hosts:
      return "the ranks are on several hosts";
    case BudgetRefusal::many_ranks:
      return "more than 64 ranks";
    case BudgetRefusal::own_thresholds:
      return "NCCL_THREAD_THRESHOLDS is set";
    case BudgetRefusal::own_threads:
      return "NCCL_SINGLE_PROC_MEM_REG_ENABLE is set";
    case BudgetRefusal::no_memory:
      return "the ranks found no memory to share";
    case BudgetRefusal::count:
      break;
  }
  return "";
}

void write_report(ReportWriter& out) {
  out.key("nccl").begin_object();
  out.key("calls").number(state().calls.load(std::memory_order_relaxed));
  out.key("communicators_made").number(state().communicators.count());
  out.key("communicators").begin_array();
  state().communicators.for_each([&](const MadeCommunicator& made) { write_communicator(out, made); });
  out.end_array();
  if (const char* name = state().users_tuner.load(std::memory_order_relaxed)) { out.key("user_tuner").text(name); }
  write_budgets(out, state().budgets);
  out.end_object();
}

}  // namespace elbowroom::interposer::nccl
