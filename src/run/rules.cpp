#include "run/rules.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace elbowroom::run {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::uint32_t kMostFlopClasses = 128;

struct TypeWord {
  ProductType type;
  const char* word;
};
constexpr std::array<TypeWord, 2> kTypes = {{{ProductType::f32, "f32"}, {ProductType::bf16, "bf16"}}};

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

bool parse_footprint(std::string_view argument, Rules& rules) {
  Words words(argument);
  FootprintRule rule{};
  const bool block = parse_pair(words.next(), 'x', rule.threads, rule.registers) &&
                     parse_pair(words.next(), '+', rule.static_shared, rule.dynamic_shared) &&
                     parse_number(words.next(), rule.cluster);
  return block && words.next() == "cap" && parse_number(words.next(), rule.blocks_per_sm) && words.over() &&
         rules.add_footprint(rule);
}

bool parse_product(std::string_view argument, Rules& rules) {
  Words words(argument);
  const std::string_view type = words.next();
  const std::string_view flop = words.next();
  ProductRule rule{};
  std::uint32_t flop_class = 0;
  for (const TypeWord& known : kTypes) {
    if (type == known.word) { rule.product.type = known.type; }
  }
  if (!flop.starts_with("2^") || !parse_number(flop.substr(2), flop_class) || flop_class >= kMostFlopClasses) { return false; }
  rule.product.flop_class = static_cast<std::uint8_t>(flop_class);
  return words.next() == "sm_target" && parse_number(words.next(), rule.sms) && words.over() && rules.add_product(rule);
}

bool parse_cap(std::string_view argument, Rules& rules) {
  // The last word is the number: a demangled kernel name may hold blanks.
  const std::size_t gap = argument.find_last_of(kBlank);
  std::uint32_t blocks_per_sm = 0;
  return gap != std::string_view::npos && parse_number(argument.substr(gap + 1), blocks_per_sm) &&
         rules.add_cap(trimmed(argument.substr(0, gap)), blocks_per_sm);
}

bool parse_number_rule(std::string_view argument, Rules& rules, bool (Rules::*set)(std::uint32_t)) {
  std::uint32_t number = 0;
  return parse_number(argument, number) && (rules.*set)(number);
}

bool parse_rule(std::string_view line, Rules& rules) {
  const std::size_t gap = line.find_first_of(kBlank);
  const std::string_view word = line.substr(0, gap);
  const std::string_view argument = gap == std::string_view::npos ? std::string_view() : trimmed(line.substr(gap));
  if (word == "cap") { return parse_cap(argument, rules); }
  if (word == "communication") { return rules.add_communication(argument); }
  if (word == "device") { return rules.add_device(argument); }
  if (word == "footprint") { return parse_footprint(argument, rules); }
  if (word == "product") { return parse_product(argument, rules); }
  if (word == "sm_target") { return parse_number_rule(argument, rules, &Rules::set_sm_target); }
  return argument == "off" && rules.leave_out(word);
}

/// Names end at a zero byte where they are kept, and at a line's end where they are said.
bool is_one_line(std::string_view name) {
  return !name.empty() && name.size() <= kLongestKernelName &&
         name.find_first_of(std::string_view("\n\0", 2)) == std::string_view::npos && trimmed(name) == name;
}

DeviceNames newest_name(const Rules& rules) { return kEveryDevice << rules.device_count; }

/// One rule, its words as they come.
class Line {
 public:
  explicit Line(std::string& text) : text_(text) {}
  ~Line() { text_ += '\n'; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Line& operator<<(std::string_view word) {
    text_ += word;
    return *this;
  }
  Line& operator<<(std::uint32_t number) {
    text_ += std::to_string(number);
    return *this;
  }

 private:
  std::string& text_;
};

void write(const FootprintRule& rule, std::string& text) {
  Line(text) << "footprint " << rule.threads << "x" << rule.registers << " " << rule.static_shared << "+" << rule.dynamic_shared
             << " " << rule.cluster << " cap " << rule.blocks_per_sm;
}

void write(const ProductRule& rule, std::string& text) {
  const auto* known = std::ranges::find(kTypes, rule.product.type, &TypeWord::type);
  Line(text) << "product " << known->word << " 2^" << std::uint32_t{rule.product.flop_class} << " sm_target " << rule.sms;
}

void write_rules_on(DeviceNames device, const Rules& rules, std::string& text) {
  for (std::size_t i = 0; i < rules.footprint_count; ++i) {
    if (rules.footprints[i].on == device) { write(rules.footprints[i], text); }
  }
  for (std::size_t i = 0; i < rules.product_count; ++i) {
    if (rules.products[i].on == device) { write(rules.products[i], text); }
  }
}

}  // namespace

bool Rules::add_cap(std::string_view name, std::uint32_t blocks_per_sm) {
  if (cap_count == kMostCaps || !is_one_line(name)) { return false; }
  if (blocks_per_sm < 1 || blocks_per_sm > kGreatestResidency) { return false; }
  CapRule& rule = caps[cap_count++];
  name.copy(rule.name.data(), name.size());
  rule.blocks_per_sm = blocks_per_sm;
  return true;
}

bool Rules::add_communication(std::string_view name) {
  if (communication_count == kMostCommunication || !is_one_line(name)) { return false; }
  name.copy(communication[communication_count++].data(), name.size());
  return true;
}

bool Rules::is_communication(const char* kernel_name) const {
  const std::string_view kernel = kernel_name;
  const auto end = communication.begin() + static_cast<std::ptrdiff_t>(communication_count);
  return std::any_of(communication.begin(), end,
                     [&](const CommunicationName& name) { return kernel.find(name.data()) != std::string_view::npos; });
}

bool Rules::add_device(std::string_view word) {
  if (device_count == kMostDevices || word.empty() || word.size() > kLongestDeviceWord) { return false; }
  if (!std::ranges::all_of(word, is_of_word)) { return false; }
  word.copy(device_names[device_count++].data(), word.size());
  return true;
}

bool Rules::add_footprint(FootprintRule rule) {
  if (footprint_count == kMostFootprints || rule.cluster < 1) { return false; }
  if (rule.blocks_per_sm < 1 || rule.blocks_per_sm > kGreatestResidency) { return false; }
  rule.on = newest_name(*this);
  footprints[footprint_count++] = rule;
  return true;
}

bool Rules::add_product(ProductRule rule) {
  const bool known = std::ranges::find(kTypes, rule.product.type, &TypeWord::type) != kTypes.end() && rule.product.flop_class > 0 &&
                     rule.product.flop_class < kMostFlopClasses;
  if (product_count == kMostProducts || !known || rule.sms < 1 || rule.sms > kGreatestSms) { return false; }
  rule.on = newest_name(*this);
  products[product_count++] = rule;
  return true;
}

bool Rules::set_sm_target(std::uint32_t sms) {
  if (sms < 1 || sms > kGreatestSms) { return false; }
  sm_target = sms;
  return true;
}

bool Rules::leave_out(std::string_view part) {
  for (const Part& known : kParts) {
    if (part != known.word) { continue; }
    this->*known.included = false;
    return true;
  }
  return false;
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
    if (products[i].product == product && (products[i].on & names) != 0) { return products[i].sms; }
  }
  return 0;
}

std::size_t parse_rules(std::string_view text, Rules& rules) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') { continue; }
    if (!parse_rule(line, rules)) { return number; }
  }
  return 0;
}

std::string rules_text(const Rules& rules) {
  std::string text;
  for (std::size_t i = 0; i < rules.communication_count; ++i) { Line(text) << "communication " << rules.communication[i].data(); }
  for (std::size_t i = 0; i < rules.cap_count; ++i) {
    Line(text) << "cap " << rules.caps[i].name.data() << " " << rules.caps[i].blocks_per_sm;
  }
  if (rules.sm_target > 0) { Line(text) << "sm_target " << rules.sm_target; }
  for (const Part& part : kParts) {
    if (!(rules.*part.included)) { Line(text) << part.word << " off"; }
  }
  write_rules_on(kEveryDevice, rules, text);
  for (std::size_t i = 0; i < rules.device_count; ++i) {
    Line(text) << "device " << rules.device_names[i].data();
    write_rules_on(kEveryDevice << (i + 1), rules, text);
  }
  return text;
}

}  // namespace elbowroom::run
