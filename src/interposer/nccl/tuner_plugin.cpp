#include <array>
#include <memory>
#include <new>

#include "interposer/core/budget.hpp"
#include "interposer/core/policy.hpp"
#include "interposer/nccl/agreement_segment.hpp"
#include "interposer/nccl/environment.hpp"
#include "interposer/nccl/notes.hpp"
#include "interposer/nccl/state.hpp"
#include "interposer/nccl/user_tuner.hpp"

// This library as NCCL's tuner plugin. The user's own is asked first and as NCCL would ask it; where a budget holds, what it says
// is lowered.

namespace elbowroom::interposer::nccl {
namespace {

constexpr Result kSystemError = 2;

/// One communicator, as far as the plugin knows it.
struct Tuned {
  const UserTuner* user = nullptr;
  void* users = nullptr;  ///< the context of the user's plugin
  std::size_t ranks = 0;
  std::uintptr_t communicator =
      0;  ///< whose collectives these are, once a call of that communicator alone has led to a question; 0: not yet
  std::uintptr_t place = 0;  ///< of the context in NCCL's communicator
  bool may_agree = false;
  std::uint64_t source = 0;  ///< the process that is followed by this communicator, as it was known last
  bool unready = false;      ///< counted in SharedWish::unready
  AgreementSegment agreement;
};

template <int kNewest>
const UserTuner& users_tuner_for(Logger log) {
  static const UserTuner found = UserTuner::find(kNewest, log);
  return found;
}

// NCCL loads a plugin once in a process, and so do we. A second library of NCCL may know other versions of the interface.
const UserTuner& users_tuner(int newest, Logger log) {
  constexpr std::array<const UserTuner& (*)(Logger), 5> known{&users_tuner_for<2>, &users_tuner_for<3>, &users_tuner_for<4>,
                                                              &users_tuner_for<5>, &users_tuner_for<6>};
  return known[static_cast<std::size_t>(newest) - 2](log);
}

// Where the user names hosts, NCCL's may be parts of one: whether their ranks share memory shows when all of them come to a board.
bool surely_several_hosts(std::size_t nodes) { return nodes != 1 && !variable("NCCL_HOSTID").set; }

// What cannot be agreed is said once for each communicator.
BudgetRefusal refusal_of(const TunedCommunicator& of) {
  if (rules().budgets.count == 0 && !compares(rules())) { return BudgetRefusal::nothing_asked; }
  if (of.ranks < 2) { return BudgetRefusal::one_rank; }
  if (of.id == 0) { return BudgetRefusal::old_library; }
  if (surely_several_hosts(of.nodes)) { return BudgetRefusal::several_hosts; }
  if (of.ranks > AgreementBoard::kMostMembers) { return BudgetRefusal::many_ranks; }
  if (variable("NCCL_THREAD_THRESHOLDS").set) { return BudgetRefusal::own_thresholds; }
  if (any_set({"NCCL_SINGLE_PROC_MEM_REG_ENABLE"})) { return BudgetRefusal::own_threads; }
  return BudgetRefusal::none;
}

Result init(int newest, const TunedCommunicator& of, void** context) {
  const UserTuner& user = users_tuner(newest, of.log);
  if (user.version != 0) { state().users_tuner.store(user.name(), std::memory_order_relaxed); }
  *context = nullptr;
  std::unique_ptr<Tuned> tuned(new (std::nothrow) Tuned());
  if (tuned == nullptr) { return kSystemError; }
  tuned->user = &user;
  // NCCL ends a plugin that refused to start as well, and the user's gets what it had said then.
  if (const Result result = user.init(of, &tuned->users); result != kSuccess) {
    *context = tuned.release();
    return result;
  }
  tuned->ranks = of.ranks;
  tuned->place = reinterpret_cast<std::uintptr_t>(context);
  BudgetRefusal refusal = refusal_of(of);
  if (refusal == BudgetRefusal::none) {
    tuned->may_agree = tuned->agreement.open(of.id, static_cast<std::uint32_t>(of.ranks));
    if (!tuned->may_agree) { refusal = BudgetRefusal::no_memory; }
  }
  state().budgets.communicators[static_cast<std::size_t>(refusal)].fetch_add(1);
  if (of.log != nullptr) {
    const char* why = text(refusal);
    of.log(kLogInfo, kLogTuning, __func__, __LINE__, "TUNER/Plugin: elbowroom: %zu ranks, budgets %s", of.ranks,
           *why == '\0' ? "by agreement" : why);
  }
  *context = tuned.release();
  return kSuccess;
}

Result end(void* context) {
  if (context == nullptr) { return kSuccess; }
  const std::unique_ptr<Tuned> tuned(static_cast<Tuned*>(context));
  // Others that this process follows say so again with their next collective.
  if (tuned->agreement.seat().follows()) { state().shared.stop_following(); }
  if (tuned->unready) { state().shared.unready.fetch_sub(1, std::memory_order_relaxed); }
  return tuned->user->end(tuned->users);
}

// A question outside a call that was seen does not tell whose it is. In a group of several communicators it is of the one in which
// the context lies. What NCCL calls a communicator is the address of what holds its context.
std::uint32_t collectives_of(Tuned& tuned) {
  if (tuned.communicator == 0) { tuned.communicator = only_communicator(); }
  if (tuned.communicator == 0) { tuned.communicator = communicator_around(tuned.place); }
  return collectives_in_group(tuned.communicator);
}

// A process follows one that decides. It may be led by that one in several communicators, and on the way of others that follow it
// as well.
bool follows_one(Tuned& tuned, SharedWish& shared) {
  const std::uint64_t source = tuned.agreement.seat().source();
  std::uint64_t known = shared.source.load(std::memory_order_relaxed);
  if (source != tuned.source || known == 0) {
    if (known == 0 || known == tuned.source) { shared.source.store(known = source, std::memory_order_relaxed); }
    tuned.source = source;
  }
  return source != 0 && source == known;
}

void count_unready(Tuned& tuned, bool unready, SharedWish& shared) {
  if (unready == tuned.unready) { return; }
  tuned.unready = unready;
  if (unready) {
    shared.unready.fetch_add(1, std::memory_order_relaxed);
  } else {
    shared.unready.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Blocks are a rule's, the rest is what the comparison wishes.
std::uint32_t to_propose(const SharedWish& shared, std::uint64_t sequence) {
  return (shared.to_lead_with() & ~kBudgetBlocks) | wanted_budget(rules().budgets, sequence);
}

// Before this rank's next collective: what the others and the comparisons are to know. A process that leads others on says that it
// is ready when these are.
void lead(Tuned& tuned, SharedWish& shared) {
  AgreementSeat& seat = tuned.agreement.seat();
  const std::uint64_t ready = shared.ready.load(std::memory_order_relaxed);
  if (!seat.leads()) {
    if (seat.follows()) { shared.follows.store(true, std::memory_order_relaxed); }
    const bool all = !seat.follows() || (follows_one(tuned, shared) && shared.unready.load(std::memory_order_relaxed) == 0);
    seat.tell(all ? ready : 0);
    return;
  }
  seat.tell(ready);
  const bool all_ready = ready != 0 && seat.all_told(ready);
  count_unready(tuned, !all_ready, shared);
  if (all_ready) { shared.all_ready.fetch_add(1, std::memory_order_relaxed); }
  const bool hands_on = shared.follows.load(std::memory_order_relaxed);
  seat.lead(to_propose(shared, seat.sequence()), hands_on ? shared.source.load(std::memory_order_relaxed) : seat.process());
}

void account(const Tuned& tuned, AgreementSeat& seat, SharedWish& shared) {
  const std::uint32_t value = seat.value();
  const bool of_source = seat.follows() ? tuned.source == shared.source.load(std::memory_order_relaxed)
                                        : !shared.follows.load(std::memory_order_relaxed);
  if (of_source) { shared.agreed.store(value, std::memory_order_relaxed); }
  if (!seat.within_process()) { shared.with_processes.store(true, std::memory_order_relaxed); }
  // Of a process's own ranks the leader speaks for all.
  if (seat.led_by_sibling()) { return; }
  shared.asked.fetch_add(1, std::memory_order_relaxed);
  if (((value ^ shared.to_lead_with()) & ~kBudgetBlocks) == 0) { shared.as_wanted.fetch_add(1, std::memory_order_relaxed); }
}

std::uint32_t budget_for(Tuned& tuned) {
  AgreementSeat& seat = tuned.agreement.seat();
  if (!tuned.may_agree || simulates()) { return seat.value() & kBudgetBlocks; }
  lead(tuned, state().shared);
  const std::uint32_t blocks = seat.next(tuned.communicator != 0) & kBudgetBlocks;
  account(tuned, seat, state().shared);
  note_asked();
  return blocks;
}

// `chosen`: what NCCL will choose, as far as the interface tells.
Result ask(void* context, const TunerQuestion& question, Algorithm (*chosen)(const TunerQuestion&)) {
  Tuned& tuned = *static_cast<Tuned*>(context);
  if (const Result result = tuned.user->ask(tuned.users, question); result != kSuccess) { return result; }
  BudgetAsk budget;
  budget.collectives = collectives_of(tuned);
  budget.budget = budget_for(tuned);
  BudgetCounts::Of& count = state().budgets.of(question.function);
  count.asked.fetch_add(1, std::memory_order_relaxed);
  if (budget.budget == 0) { return kSuccess; }
  budget.decided = *question.channels;
  budget.bytes = question.bytes;
  budget.ranks = tuned.ranks;
  budget.algorithm = chosen(question);
  const int channels = channels_for(budget);
  if (channels != budget.decided) {
    *question.channels = channels;
    count.lowered.fetch_add(1, std::memory_order_relaxed);
  }
  return kSuccess;
}

Algorithm of_costs(const TunerQuestion& question) {
  const auto protocols = static_cast<std::size_t>(question.protocols);
  const std::size_t entries = static_cast<std::size_t>(question.algorithms) * protocols;
  return cheapest({reinterpret_cast<const float*>(question.costs), entries}, protocols);
}
Algorithm not_told(const TunerQuestion& /*question*/) { return Algorithm::unknown; }

// --- the five versions: what NCCL passes, put into one form ---

Result init_v2(std::size_t ranks, std::size_t nodes, Logger log, void** context) {
  return init(2, {.ranks = ranks, .nodes = nodes, .log = log}, context);
}
Result ask_v2(void* context, int function, std::size_t bytes, int collnet, int nvls, int pipelined, int* algorithm, int* protocol,
              int* channels) {
  TunerQuestion question{.function = function, .bytes = bytes, .pipelined = pipelined, .channels = channels};
  question.collnet = collnet;
  question.nvls = nvls;
  question.algorithm = algorithm;
  question.protocol = protocol;
  return ask(context, question, &not_told);
}

Result init_v3(std::size_t ranks, std::size_t nodes, Logger log, void** context) {
  return init(3, {.ranks = ranks, .nodes = nodes, .log = log}, context);
}
Result ask_v3(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms, int protocols,
              int* channels) {
  return ask(context, {function, bytes, pipelined, costs, algorithms, protocols, 0, channels}, &of_costs);
}

Result init_v4(std::size_t ranks, std::size_t nodes, Logger log, void** context) {
  return init(4, {.ranks = ranks, .nodes = nodes, .log = log}, context);
}
Result ask_v4(void* context, int function, std::size_t bytes, int pipelined, float** costs, int algorithms, int protocols,
              int registered, int* channels) {
  return ask(context, {function, bytes, pipelined, costs, algorithms, protocols, registered, channels}, &of_costs);
}

Result init_v5(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes, Logger log, void* domains,
               void* constants) {
  return init(5, {communicator, ranks, nodes, log, domains, constants}, context);
}

// Only where the user's plugin has one: a null pointer leaves NCCL its own.
Result chunk_size(void* context, int function, std::size_t bytes, int algorithm, int protocol, int channels, std::size_t* chunk) {
  const Tuned& tuned = *static_cast<const Tuned*>(context);
  return static_cast<const TunerV6*>(tuned.user->symbol)
      ->get_chunk_size(tuned.users, function, bytes, algorithm, protocol, channels, chunk);
}

Result init_v6(void** context, std::uint64_t communicator, std::size_t ranks, std::size_t nodes, Logger log, void* domains,
               void* constants) {
  const UserTuner& user = users_tuner(6, log);
  const bool sets_chunks = user.version == 6 && static_cast<const TunerV6*>(user.symbol)->get_chunk_size != nullptr;
  __atomic_store_n(&ncclTunerPlugin_v6.get_chunk_size, sets_chunks ? &chunk_size : nullptr, __ATOMIC_RELEASE);
  return init(6, {communicator, ranks, nodes, log, domains, constants}, context);
}

}  // namespace
}  // namespace elbowroom::interposer::nccl

using namespace elbowroom::interposer::nccl;

constinit TunerV2 ncclTunerPlugin_v2{"elbowroom", &init_v2, &ask_v2, &end};
constinit TunerV3 ncclTunerPlugin_v3{"elbowroom", &init_v3, &ask_v3, &end};
constinit TunerV4 ncclTunerPlugin_v4{"elbowroom", &init_v4, &ask_v4, &end};
constinit TunerV5 ncclTunerPlugin_v5{"elbowroom", &init_v5, &ask_v4, &end};
constinit TunerV6 ncclTunerPlugin_v6{"elbowroom", &init_v6, &ask_v4, &end, nullptr};
