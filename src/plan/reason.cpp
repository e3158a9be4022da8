#include "elbowroom/plan/reason.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace elbowroom {
namespace {

constexpr std::string_view kSymmetric = ", symmetric memory";
constexpr std::string_view kCopiesGather = ", copy engines gather";

struct Way {
  RoomMaking way;
  std::string_view words;
  bool parts_sms = false;  ///< both shares follow
};

constexpr std::array<Way, 12> kWays{{{RoomMaking::no_overlap, "no overlap"},
                                     {RoomMaking::as_launched, "as launched"},
                                     {RoomMaking::order_only, "order only"},
                                     {RoomMaking::smaller_collective, "smaller collective"},
                                     {RoomMaking::co_resident, "co-resident"},
                                     {RoomMaking::drains_sooner, "drains sooner"},
                                     {RoomMaking::sm_split, "SM split", true},
                                     {RoomMaking::sm_partition, "SM partition", true},
                                     {RoomMaking::copy_engines, "copy engines"},
                                     {RoomMaking::copy_engines_first, "copy engines, first"},
                                     {RoomMaking::copy_engines_capped, "copy engines, capped"},
                                     {RoomMaking::copy_engines_detour, "copy engines, detour"}}};

bool take_end(std::string_view& words, std::string_view end) {
  if (!words.ends_with(end)) { return false; }
  words.remove_suffix(end.size());
  return true;
}

std::optional<std::int32_t> number(std::string_view text) {
  std::int32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && rest == text.data() + text.size() && value >= 0;
  // As it would be written: without leading zeros.
  return whole && fmt::format("{}", value) == text ? std::optional(value) : std::nullopt;
}

/// " 108 + 24"
std::optional<SmShares> shares(std::string_view text) {
  constexpr std::string_view plus = " + ";
  const std::size_t middle = text.find(plus);
  if (!text.starts_with(' ') || middle == std::string_view::npos) { return std::nullopt; }
  const auto compute = number(text.substr(1, middle - 1));
  const auto comm = number(text.substr(middle + plus.size()));
  return compute && comm ? std::optional(SmShares{Sms(*compute), Sms(*comm)}) : std::nullopt;
}

}  // namespace

std::string in_words(const Reason& reason) {
  std::string words;
  for (const Way& known : kWays) {
    if (known.way != reason.way) { continue; }
    words = known.words;
    if (reason.shares) { words += fmt::format(" {} + {}", reason.shares->compute.count(), reason.shares->comm.count()); }
  }
  return fmt::format("{}{}{}", words, reason.symmetric ? kSymmetric : "", reason.copies_gather ? kCopiesGather : "");
}

std::optional<Reason> parse_reason(std::string_view words) {
  Reason reason;
  reason.copies_gather = take_end(words, kCopiesGather);
  reason.symmetric = take_end(words, kSymmetric);
  for (const Way& known : kWays) {
    reason.way = known.way;
    if (!known.parts_sms && words == known.words) { return reason; }
    if (!known.parts_sms || !words.starts_with(known.words)) { continue; }
    reason.shares = shares(words.substr(known.words.size()));
    return reason.shares ? std::optional(reason) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace elbowroom
