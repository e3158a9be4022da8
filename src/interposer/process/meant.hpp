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
/// could find held; an object too many at once is looked up at each call.
class Callers {
 public:
  [[nodiscard]] bool find(const void* caller, MeantFunction& meant) const {
    const std::size_t count = taken_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count && i < entries_.size(); ++i) {
      if (entries_[i].read(caller, meant)) { return true; }
    }
    return false;
  }
  void add(const void* begin, const void* end, Stay caller, const MeantFunction& meant);

 private:
  /// Its place may be given to another caller once one of the two is unloaded. Who reads it meanwhile sees that by the count.
  struct Entry {
    std::atomic<std::uint32_t> writes{0};  ///< odd: one is under way
    std::atomic<const void*> begin{nullptr}, end{nullptr};
    std::atomic<Stay> caller{kForever}, callee{kForever};
    std::atomic<void*> function{nullptr};
    std::atomic<CopyId> copy{kUnknownCopy};
    std::atomic<bool> certain{false};

    [[nodiscard]] bool is_over() const {
      return process::is_over(caller.load(kRelaxed)) || process::is_over(callee.load(kRelaxed));
    }
    /// Whoever unloads something may wait for a thread that calls: looked up anew, the call could wait for the unload.
    [[nodiscard]] bool is_here() const {
      return process::is_here(caller.load(kRelaxed)) && process::is_here(callee.load(kRelaxed));
    }
    [[nodiscard]] bool read(const void* address, MeantFunction& meant) const {
      const std::uint32_t before = writes.load(std::memory_order_acquire);
      if (address < begin.load(kRelaxed) || address >= end.load(kRelaxed) || (before & 1U) != 0 || !is_here()) { return false; }
      meant = {function.load(kRelaxed), copy.load(kRelaxed), certain.load(kRelaxed), callee.load(kRelaxed)};
      std::atomic_thread_fence(std::memory_order_acquire);
      return writes.load(kRelaxed) == before;
    }
    /// False: somebody else writes it.
    bool write(const void* from, const void* to, Stay of_caller, const MeantFunction& meant);
  };
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  std::array<Entry, 64> entries_{};
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
    if (!callers_of<Ours>.find(caller, meant_)) { meant_ = look_up_meant(hook_state<Ours>, callers_of<Ours>, caller); }
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
