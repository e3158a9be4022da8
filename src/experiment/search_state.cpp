#include "experiment/search_state.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text_hash.hpp"
#include "report/document_file.hpp"

namespace elbowroom::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kSaveEvery{1};

}  // namespace

SearchState::SearchState(const std::optional<std::string>& profile, std::string subject, NoticeSink notice)
    : path_(profile ? fmt::format("{}.tuning-{:016x}", *profile, hash_of(subject)) : ""),
      subject_(std::move(subject)),
      notice_(std::move(notice)) {}

std::optional<Tuner> SearchState::resume(const TunerOptions& options, const Tuner::Neighbours& neighbours) const {
  std::error_code unknown;
  if (path_.empty() || !std::filesystem::exists(path_, unknown)) { return std::nullopt; }
  const Result<std::string> text = read_file(path_);
  Result<Tuner> tuner = text ? Tuner::resume(options, neighbours, *text, subject_, path_) : Result<Tuner>(text.error());
  if (tuner) {
    say(fmt::format("{}: going on after {} trials", path_, tuner->trials()));
    return std::move(*tuner);
  }
  say(fmt::format("search begins anew: {}", tuner.error().message));
  return std::nullopt;
}

void SearchState::save(const Tuner& tuner) {
  if (path_.empty() || Clock::now() - saved_ < kSaveEvery) { return; }
  saved_ = Clock::now();
  // A search that cannot be kept is still a search.
  static_cast<void>(write_document(path_, kTuningSchema, tuner.state(subject_)));
}

void SearchState::keep(const Tuner& tuner) const {
  if (path_.empty()) { return; }
  const Status kept = write_document(path_, kTuningSchema, tuner.state(subject_));
  say(kept ? fmt::format("{}: keeps {} trials, the same command goes on from there", path_, tuner.trials()) : kept.error().message);
}

void SearchState::remove() const {
  std::error_code unknown;
  if (!path_.empty()) { std::filesystem::remove(path_, unknown); }
}

void SearchState::say(const std::string& line) const {
  if (notice_) { notice_(line); }
}

}  // namespace elbowroom::detail
