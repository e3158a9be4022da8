#include <algorithm>
#include <string_view>

#include "interposer/process/driver_answers.hpp"
#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/loader_visit.hpp"
#include "interposer/process/object_stays.hpp"
#include "interposer/process/symbol_routes.hpp"

// What a program gets that asks the driver itself, by cuGetProcAddress or hipGetProcAddress.

namespace elbowroom::interposer::process {
namespace {

// Of the flags of cuGetProcAddress and hipGetProcAddress: forms whose stream 0 is the thread's own.
constexpr std::uint64_t kPerThreadFormsAsked = 2;

bool is_called(const Hook& hook, std::string_view name) { return name == hook.base || name == hook.symbol; }

bool is_exported_at(const Hook& hook, const void* found) {
  return hook.state->real.load(std::memory_order_relaxed) == found ||
         find_loaded_symbol(object_prefix(hook.library), hook.symbol) == found;
}

// Other versions of the function that the hook is of.
template <class Predicate>
bool has_form(const Hook& hook, Predicate&& wanted) {
  return std::ranges::any_of(hooks(), [&](const Hook& other) {
    return std::string_view(other.base) == hook.base && other.stream == hook.stream && wanted(other.since);
  });
}

// What a program asked for, and how to ask the driver.
struct Question {
  int version;
  std::uint64_t flags;
  AskEntry ask;
};

// Whether `found` answers in the version that the hook is of. The driver alone is asked for others: whoever stands before it may
// have functions that call what it was given last. Those of a function that has one form are of that one where the driver's is. Of
// several forms nobody knows which one it is.
bool answers(const Hook& hook, const void* found, const Question& question) {
  const auto driver = [&](int version) { return question.ask(hook.base, version, question.flags); };
  if (!is_in_driver(found)) {
    if (has_form(hook, [&](int since) { return since != hook.since; })) { return false; }
    found = driver(question.version);
  }
  const bool has_older = has_form(hook, [&](int since) { return since < hook.since; });
  return found != nullptr && (!has_older || driver(hook.since - 1) != found) && driver(hook.since) == found;
}

}  // namespace

void substitute_found(const char* symbol, void** found, int version, std::uint64_t flags, AskEntry ask, const void* caller) {
  // The first name asked for is the empty string; results may be unwanted.
  if (symbol == nullptr || *symbol == '\0' || found == nullptr || *found == nullptr) { return; }
  if (loader_is_lost()) { return note_unfollowed(); }
  const Hook* newest = nullptr;  // of the forms that the program may mean
  const bool per_thread = (flags & kPerThreadFormsAsked) != 0;
  for (const Hook& hook : hooks()) {
    if (!is_called(hook, symbol)) { continue; }
    // Who stands before the driver may answer with a function by its name, which is the hook by then. It is no other form's.
    if (*found == hook.ours()) {
      hook.state->routes.fetch_or(kRouteProcAddress, std::memory_order_relaxed);
      return;
    }
    const bool asked = hook.stream == DefaultStream::kNone || (hook.stream == DefaultStream::kPerThread) == per_thread;
    if (is_exported_at(hook, *found) || (asked && answers(hook, *found, {version, flags, ask}))) {
      if (!leads_to(hook, *found)) {
        if (!stands_behind(caller, hook, resolve(hook))) { leave_unfollowed(hook, kPastShim); }
        return;
      }
      keep_loaded(*found);
      hook.state->routes.fetch_or(kRouteProcAddress, std::memory_order_relaxed);
      *found = hook.ours();
      return;
    }
    if (asked && newest == nullptr && hook.since > 0 && version >= hook.since) { newest = &hook; }
  }
  if (newest != nullptr) { leave_unfollowed(*newest, is_in_driver(*found) ? kNewerForm : kUnknownForm); }
}

}  // namespace elbowroom::interposer::process
