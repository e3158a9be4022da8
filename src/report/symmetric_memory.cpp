#include "report/symmetric_memory.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace elbowroom::detail {
namespace {

std::string text_of(const nlohmann::json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t count_of(const nlohmann::json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

double number_of(const nlohmann::json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

nlohmann::json list_of(const nlohmann::json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_array() ? *found : nlohmann::json::array();
}

}  // namespace

SymmetricMemory symmetric_memory_of(const ProcessReport& process) {
  return process.symmetric_memory ? symmetric_memory_in(*process.symmetric_memory) : SymmetricMemory();
}

SymmetricMemory symmetric_memory_in(std::string_view text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) { return {}; }
  SymmetricMemory memory;
  for (const nlohmann::json& part : list_of(document, "buffers")) {
    if (!part.is_object()) { continue; }
    memory.parts.push_back({text_of(part, "what"), text_of(part, "state"), text_of(part, "reason"), count_of(part, "buffers"),
                            count_of(part, "bytes"), count_of(part, "extra_bytes"), number_of(part, "ordinary_ms"),
                            number_of(part, "symmetric_ms"), text_of(part, "compared")});
  }
  for (const nlohmann::json& reason : list_of(document, "refused")) {
    if (reason.is_string()) { memory.refused.push_back(reason.get<std::string>()); }
  }
  for (const nlohmann::json& left : list_of(document, "left_out")) {
    if (left.is_object()) { memory.left_out.push_back({text_of(left, "part"), text_of(left, "reason")}); }
  }
  return memory;
}

std::string compared_in_words(const SymmetricBuffers& part) {
  if (part.ordinary_ms <= 0 || part.symmetric_ms <= 0) { return {}; }
  return fmt::format("{:.2f} ms a step, {:.2f} before", part.symmetric_ms, part.ordinary_ms);
}

}  // namespace elbowroom::detail
