#include "interposer/core/rules.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace elbowroom::interposer {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::uint32_t kMostFlopClasses = 128;

struct PolicyWord {
  Policy policy;
  const char* word;
};
constexpr std::array<PolicyWord, 5> kPolicies = {{{Policy::observe, "observe"},
                                                  {Policy::priority, "priority"},
                                                  {Policy::gate, "gate"},
                                                  {Policy::shape, "shape"},
                                                  {Policy::automatic, "auto"}}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_of_word(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9'); }

/// Letters of either case are the same.
bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (auto begin = std::ranges::find_if(text, is_of_word); begin != text.end();) {
    const auto end = std::find_if_not(begin, text.end(), is_of_word);
    if (std::equal(begin, end, word.begin(), word.end(), same)) { return true; }
    begin = std::find_if(end, text.end(), is_of_word);
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) { return {}; }
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool parse_number(std::string_view text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_positive(std::string_view text, std::uint32_t& number) { return parse_number(text, number) && number > 0; }

/// The words of a rule, one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::string_view next() {
    rest_ = trimmed(rest_);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(kBlank));
    rest_.remove_prefix(word.size());
    return word;
  }

  [[nodiscard]] bool over() const { return trimmed(rest_).empty(); }

 private:
  std::string_view rest_;
};

/// Two numbers and the sign between them.
bool parse_pair(std::string_view text, char sign, std::uint32_t& first, std::uint32_t& second) {
  const std::size_t at = text.find(sign);
  return at != std::string_view::npos && parse_number(text.substr(0, at), first) && parse_number(text.substr(at + 1), second);
}

/// Repeated names take a place each: whoever writes the rules puts those of a device together.
bool add_device(std::string_view name, Rules& rules) {
  if (rules.device_count == Rules::kMaxDeviceNames || name.size() >= rules.device_names.front().size()) { return false; }
  if (name.empty() || !std::ranges::all_of(name, is_of_word)) { return false; }
  name.copy(rules.device_names[rules.device_count++].data(), name.size());
  return true;
}

DeviceNames newest_name(const Rules& rules) { return kEveryDevice << rules.device_count; }

bool add_footprint(std::string_view argument, Rules& rules) {
  if (rules.footprint_count == Rules::kMaxFootprints) { return false; }
  Words words(argument);
  FootprintRule rule{};
  const bool block = parse_pair(words.next(), 'x', rule.threads, rule.registers) &&
                     parse_pair(words.next(), '+', rule.static_shared, rule.dynamic_shared) &&
                     parse_positive(words.next(), rule.cluster);
  if (!block || words.next() != "cap" || !parse_positive(words.next(), rule.blocks_per_sm) || !words.over()) { return false; }
  rule.on = newest_name(rules);
  rules.footprints[rules.footprint_count++] = rule;
  return true;
}

bool add_product(std::string_view argument, Rules& rules) {
  if (rules.product_count == Rules::kMaxProducts) { return false; }
  Words words(argument);
  const std::string_view type = words.next();
  const std::string_view flop = words.next();
  ProductRule rule{};
  std::uint32_t flop_class = 0;
  if (type == "f32") { rule.product.type = ProductType::f32; }
  if (type == "bf16") { rule.product.type = ProductType::bf16; }
  const bool sized = flop.starts_with("2^") && parse_positive(flop.substr(2), flop_class) && flop_class < kMostFlopClasses;
  if (rule.product.type == ProductType::other || !sized || words.next() != "sm_target") { return false; }
  if (!parse_positive(words.next(), rule.sms) || !words.over()) { return false; }
  rule.product.flop_class = static_cast<std::uint8_t>(flop_class);
  rule.on = newest_name(rules);
  rules.products[rules.product_count++] = rule;
  return true;
}

bool add_cap(std::string_view argument, Rules& rules) {
  // The last word is the number: a demangled kernel name may hold blanks.
  const std::size_t gap = argument.find_last_of(kBlank);
  if (gap == std::string_view::npos || rules.cap_count == Rules::kMaxCaps) { return false; }
  const std::string_view name = trimmed(argument.substr(0, gap));
  CapRule& rule = rules.caps[rules.cap_count];
  if (name.empty() || name.size() >= rule.name.size() || !parse_positive(argument.substr(gap + 1), rule.blocks_per_sm)) {
    return false;
  }
  name.copy(rule.name.data(), name.size());
  rule.name[name.size()] = '\0';
  ++rules.cap_count;
  return true;
}

/// Who asks for one budget alone may leave out `every`.
bool add_budgets(std::string_view argument, Rules& rules) {
  constexpr std::uint32_t most = 64;  // what any NCCL has
  Words words(argument);
  BudgetTurns turns;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == "every") {
      if (!parse_positive(words.next(), turns.every) || !words.over()) { return false; }
      break;
    }
    std::uint32_t blocks = 0;
    if (turns.count == BudgetTurns::kMost || !parse_number(word, blocks) || blocks > most) { return false; }
    turns.blocks[turns.count++] = static_cast<std::uint8_t>(blocks);
  }
  if (turns.count == 0 || (turns.count > 1) != (turns.every > 0)) { return false; }
  rules.budgets = turns;
  return true;
}

bool parse_rule(std::string_view line, Rules& rules) {
  const std::size_t gap = line.find_first_of(kBlank);
  const std::string_view word = line.substr(0, gap);
  const std::string_view argument = gap == std::string_view::npos ? std::string_view() : trimmed(line.substr(gap));
  if (word == "cap") { return add_cap(argument, rules); }
  if (word == "device") { return add_device(argument, rules); }
  if (word == "footprint") { return add_footprint(argument, rules); }
  if (word == "product") { return add_product(argument, rules); }
  if (word == "sm_target") { return parse_positive(argument, rules.sm_target); }
  if (word == "symmetric_blocks") { return parse_positive(argument, rules.symmetric_blocks); }
  if (word == "budget") { return add_budgets(argument, rules); }
  if (word == "symmetric_copies" && argument == "on") { return rules.symmetric_copies = true; }
  if (argument != "off") { return false; }
  if (word == "gate") { rules.gate = false; }
  if (word == "priority") { rules.priority = false; }
  if (word == "timing") { rules.timing = false; }
  if (word == "ab") { rules.trial = false; }
  return word == "gate" || word == "priority" || word == "timing" || word == "ab";
}

}  // namespace

Product product_of(ProductType type, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batches) {
  if (std::min({m, n, k, batches}) <= 0) { return {type, 0}; }
  const double flop = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batches);
  // The exponent as it is stored: the library of logarithms is none of ours here.
  constexpr unsigned mantissa = 52;
  constexpr std::uint64_t bias = 1023;
  return {type, static_cast<std::uint8_t>((std::bit_cast<std::uint64_t>(flop) >> mantissa) - bias)};
}

DeviceNames Rules::names_of(const char* device) const {
  DeviceNames names = kEveryDevice;
  for (std::size_t i = 0; i < device_count; ++i) {
    if (has_word(device, device_names[i].data())) { names |= kEveryDevice << (i + 1); }
  }
  return names;
}

std::uint32_t Rules::target_of(const Product& product, DeviceNames names) const {
  if (sm_target > 0) { return sm_target; }
  for (std::size_t i = 0; i < product_count; ++i) {
    const ProductRule& rule = products[i];
    const bool same = rule.product.type == product.type && rule.product.flop_class == product.flop_class;
    if (same && (rule.on & names) != 0) { return rule.sms; }
  }
  return 0;
}

bool parse_policy(const char* word, Policy& policy) {
  for (const PolicyWord& known : kPolicies) {
    if (std::string_view(known.word) == word) {
      policy = known.policy;
      return true;
    }
  }
  return false;
}

const char* text(Policy policy) { return kPolicies[static_cast<std::size_t>(policy)].word; }

std::size_t parse_rules(const char* text, std::size_t size, Rules& rules) {
  std::string_view rest(text, size);
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.empty() || line.front() == '#') { continue; }
    if (!parse_rule(line, rules)) { return number; }
  }
  return 0;
}

}  // namespace elbowroom::interposer
