#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/report/run_closing.hpp"

namespace elbowroom {
namespace {

using Bits = ClosingFacts::Bits;
using Kept = ClosingFacts::Kept;
using Steps = ClosingFacts::Steps;

/// A change of a step below this many percent is not called one.
constexpr double kLeastChange = 0.5;

/// Text that grows by clauses as long as these fit in the line.
class ClosingText {
 public:
  /// As much of it as fits with `keep_free` bytes behind it. It is cut at the begin of a character, which is shown.
  void add_or_cut(std::string_view clause, std::size_t keep_free) {
    constexpr std::string_view cut = "...";
    std::string more = one_line(clause);
    const std::size_t taken = text_.size() + keep_free;
    const std::size_t room = kLongestClosingLine - std::min(taken, kLongestClosingLine);
    if (more.size() > room) {
      std::size_t end = room - std::min(room, cut.size());
      while (end > 0 && continues(more[end])) { --end; }
      more = end == 0 ? "" : more.substr(0, end) + std::string(cut);
    }
    text_ += more;
  }

  /// All of it, or nothing.
  void add_if_room(std::string_view clause) {
    if (text_.size() + clause.size() <= kLongestClosingLine) { text_ += one_line(clause); }
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

  /// A reason may repeat names that a program chose.
  static std::string one_line(std::string_view text) {
    std::string line(text);
    std::ranges::replace_if(line, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
    return line;
  }

  std::string text_ = "elbowroom: ";
};

struct StepUnit {
  double per_microsecond;
  int decimals;
  const char* name;

  [[nodiscard]] std::string number(Microseconds time) const {
    return fmt::format("{:.{}f}", time.count() * per_microsecond, decimals);
  }
};

/// So many decimals that two digits of the difference are seen, at least one and at most three.
StepUnit unit_of(const Steps& steps) {
  const bool short_steps = steps.before < Microseconds(1'000);
  const double per_microsecond = short_steps ? 1 : 1e-3;
  const double difference = std::abs((steps.before - steps.after).count()) * per_microsecond;
  const int decimals = difference > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(difference))), 1, 3) : 1;
  return {per_microsecond, decimals, short_steps ? "us" : "ms"};
}

/// "about 64.9 ms a step instead of 70.3 (-7.7 %)"
std::string in_words(const Steps& steps) {
  const StepUnit unit = unit_of(steps);
  const char* about = steps.in_turns ? "" : "about ";
  if (std::abs(steps.change()) < kLeastChange) {
    return fmt::format("no difference seen, {}{} {} a step and {} before", about, unit.number(steps.after), unit.name,
                       unit.number(steps.before));
  }
  return fmt::format("{}{} {} a step instead of {} ({:+.1f} %)", about, unit.number(steps.after), unit.name,
                     unit.number(steps.before), steps.change());
}

/// Of a change that does not lead the line.
std::string with_gain(const Kept& kept) {
  if (kept.steps) { return fmt::format("{} ({}{:+.1f} %)", kept.what, kept.steps->in_turns ? "" : "about ", kept.steps->change()); }
  return kept.why_not_compared.empty() ? kept.what : fmt::format("{}, {}", kept.what, kept.why_not_compared);
}

std::string on_bits(const std::vector<Kept>& kept) {
  const auto any = [&](Bits bits) { return std::ranges::find(kept, bits, &Kept::may_change) != kept.end(); };
  if (!any(Bits::sums) && !any(Bits::products)) { return {}; }
  const char* what = !any(Bits::products) ? "sums" : any(Bits::sums) ? "sums and products" : "products";
  return fmt::format("; {} may differ in their last bits", what);
}

/// A mebibyte that has begun counts: extra bytes are a ceiling.
std::string on_memory(const std::vector<Kept>& kept) {
  std::int64_t extra = 0;
  for (const Kept& one : kept) { extra += one.extra_bytes; }
  if (extra <= 0) { return {}; }
  constexpr double mebibyte = 1 << 20, gibibyte = 1 << 30;
  const auto size = static_cast<double>(extra);
  const std::string words =
      size < gibibyte ? fmt::format("{:.0f} MiB", std::ceil(size / mebibyte)) : fmt::format("{:.1f} GiB", size / gibibyte);
  return fmt::format("; +{} on each GPU", words);
}

std::string on_option(const ClosingFacts& facts) { return facts.option ? fmt::format("; {} may help", *facts.option) : ""; }

void add_reasons(std::span<const std::string> reasons, ClosingText& line) {
  for (const std::string& reason : reasons) { line.add_if_room("; " + reason); }
}

std::string about_kept(const ClosingFacts& facts) {
  const Kept& first = facts.kept.front();
  const std::string costs = on_memory(facts.kept) + on_bits(facts.kept);
  ClosingText line;
  line.add_or_cut(first.steps ? fmt::format("{}: {}", in_words(*first.steps), first.what) : with_gain(first), costs.size());
  line.add_if_room(costs);
  for (const Kept& more : std::span(facts.kept).subspan(1)) { line.add_if_room("; " + with_gain(more)); }
  line.add_if_room(on_option(facts));
  add_reasons(facts.left_alone, line);
  return line.text();
}

std::string about_nothing(const ClosingFacts& facts) {
  ClosingText line;
  const std::span<const std::string> reasons = facts.left_alone;
  const std::string begin = facts.unknown ? "not known what changed" : "nothing changed";
  line.add_or_cut(reasons.empty() ? begin : fmt::format("{}: {}", begin, reasons.front()), on_option(facts).size());
  line.add_if_room(on_option(facts));
  if (!reasons.empty()) { add_reasons(reasons.subspan(1), line); }
  return line.text();
}

}  // namespace

std::string closing_line(const ClosingFacts& facts) { return facts.kept.empty() ? about_nothing(facts) : about_kept(facts); }

}  // namespace elbowroom
