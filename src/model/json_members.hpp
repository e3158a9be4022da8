#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elbowroom::detail {

/// Reads members of one object of a document that may have others: a newer version writes more. Keeps the first failure of the
/// whole document, so that a reader can be written straight through. After a failure, and for an absent member, every read gives
/// the default. `object` must outlive this.
class JsonMembers {
 public:
  JsonMembers(const nlohmann::json& object, std::string path, std::optional<std::string>& failure)
      : object_(object), path_(std::move(path)), failure_(failure) {}

  /// Makes the absence of these a failure. `expected` says what they should have been.
  void need(const char* name, std::string_view expected);

  std::int64_t count(const char* name);
  double amount(const char* name);
  double number(const char* name);
  std::string text(const char* name);
  JsonMembers object(const char* name) {
    return {found(name, nlohmann::json::value_t::object, "an object"), inner(name), failure_};
  }
  /// An object whose members are all counts: {"reason": 3}.
  std::map<std::string, std::int64_t> counts(const char* name);
  std::vector<std::string> texts(const char* name);

  /// The number as the document has it; null where it is absent or null.
  nlohmann::json exact(const char* name);
  /// The same of an array of numbers.
  std::vector<nlohmann::json> exact_numbers(const char* name);
  /// Whether the member is there and says something.
  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] const nlohmann::json& raw() const { return object_; }
  [[nodiscard]] bool failed() const { return failure_.has_value(); }

  /// Calls `read(JsonMembers)` for each object of an array.
  template <class Read>
  void each(const char* name, Read read) {
    std::size_t index = 0;
    for (const nlohmann::json& element : found(name, nlohmann::json::value_t::array, "an array")) {
      const std::string path = element_name(name, index++);
      if (element.is_object()) {
        read(JsonMembers(element, inner(path), failure_));
      } else {
        reject(path, element, "an object");
      }
    }
  }

  /// `name` is one that this document may not have as it is.
  void reject(std::string_view name, const nlohmann::json& value, std::string_view expected);
  /// What another reader found in a member; its message begins with the member's path.
  void fail(std::string message);
  /// `name` with the path of this object before it.
  [[nodiscard]] std::string path_of(std::string_view name) const { return path_ + std::string(name); }

 private:
  static std::string element_name(std::string_view name, std::size_t index);
  [[nodiscard]] std::string inner(std::string_view name) const { return path_of(name) + "."; }
  [[nodiscard]] const nlohmann::json* find(const char* name) const;
  const nlohmann::json& found(const char* name, nlohmann::json::value_t type, std::string_view expected);

  const nlohmann::json& object_;
  std::string path_;
  std::optional<std::string>& failure_;
};

}  // namespace elbowroom::detail
