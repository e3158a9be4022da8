#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/process/hook_table.hpp"
#include "interposer/process/library_copies.hpp"
#include "interposer/process/object_stays.hpp"

namespace elbowroom::interposer::process {

/// The function that a call of a hook was meant for.
struct MeantFunction {
  void* function = nullptr;  ///< null: nobody defines it
  CopyId copy = kUnknownCopy;
  /// False: it is not known which copy the caller meant. The call goes where it always went, and nothing is decided or noted.
  bool certain = false;
  Stay stay = kForever;  ///< of the object that holds it
};

/// What each object that calls a hook meant by its name, as long as both are loaded. Filled without a lock, which a forked child
/// could find held; an object too many is looked up at each call.
class Callers {
 public:
  [[nodiscard]] const MeantFunction* find(const void* caller) const {
    const std::size_t count = taken_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count && i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (!entry.ready.load(std::memory_order_acquire) || caller < entry.begin || caller >= entry.end) { continue; }
      if (!is_over(entry.caller) && !is_over(entry.meant.stay)) { return &entry.meant; }
    }
    return nullptr;
  }
  void add(const void* begin, const void* end, Stay caller, const MeantFunction& meant);

 private:
  struct Entry {
    std::atomic<bool> ready{false};
    Stay caller = kForever;
    const void* begin = nullptr;
    const void* end = nullptr;
    MeantFunction meant;
  };
  std::array<Entry, 16> entries_{};
  std::atomic<std::size_t> taken_{0};
};

template <auto Ours>
inline constinit Callers callers_of;

/// What dlsym gave out for a function of a library: it leads to the hook and says which function is meant. Laid out for
/// redirects.cpp.
struct Redirect {
  void* ours;
  HookState* state;
  MeantFunction meant;
};

/// A function that has the hook act on calls of `function` alone; `function` itself where there are too many.
void* redirect_to(const Hook& hook, void* function);

/// The redirect that the current call came through, null for none; asking clears it.
const Redirect* take_redirect();

/// Looks up what the caller meant by the hook's name, and remembers it.
MeantFunction look_up_meant(HookState& state, Callers& callers, const void* caller);

/// What a call of hook `Ours` is meant for; to be made before anything else in the hook itself.
template <auto Ours>
class Meant {
 public:
  /// `caller`: the hook's return address.
  explicit Meant(const void* caller) {
    const Redirect* redirect = take_redirect();
    if (redirect != nullptr && redirect->state == &hook_state<Ours>) {
      meant_ = redirect->meant;
      return;
    }
    const MeantFunction* known = callers_of<Ours>.find(caller);
    meant_ = known != nullptr ? *known : look_up_meant(hook_state<Ours>, callers_of<Ours>, caller);
  }

  [[nodiscard]] CopyId copy() const { return meant_.copy; }
  [[nodiscard]] bool certain() const { return meant_.certain; }

  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    const auto function = reinterpret_cast<decltype(Ours)>(meant_.function);
    return function == nullptr ? kNoSuchLibrary : function(arguments...);
  }

 private:
  MeantFunction meant_;
};

}  // namespace elbowroom::interposer::process
