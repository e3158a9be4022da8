#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "elbowroom/base/notice.hpp"
#include "elbowroom/tune/tuner.hpp"

namespace elbowroom::detail {

/// A search in a file, so that it survives the process.
class SearchState {
 public:
  /// The file lies beside `profile` and is named after `subject`: all that times and candidates depend on. Without a profile
  /// nothing is kept.
  SearchState(const std::optional<std::string>& profile, std::string subject, NoticeSink notice);

  /// The search of an earlier call. Absent where there is none, and with a notice where it cannot go on.
  [[nodiscard]] std::optional<Tuner> resume(const TunerOptions& options, const Tuner::Neighbours& neighbours) const;

  /// Once a second at most.
  void save(const Tuner& tuner);

  /// For the next call; whoever ends this one is told.
  void keep(const Tuner& tuner) const;

  void remove() const;

 private:
  void say(const std::string& line) const;

  std::string path_;
  std::string subject_;
  NoticeSink notice_;
  std::chrono::steady_clock::time_point saved_{};  ///< long ago: the first trial is kept at once
};

}  // namespace elbowroom::detail
