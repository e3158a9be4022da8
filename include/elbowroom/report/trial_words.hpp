#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "elbowroom/base/export.hpp"

// Words by which a process reports what it compared. A newer interposer may have others: they are kept as they are and steer
// nothing.
namespace elbowroom {

/// How far a comparison came.
class TrialState {
 public:
  enum Known : std::uint8_t { off, waiting, trying, settled };

  TrialState(Known known) : word_(known) {}
  ELBOWROOM_API explicit TrialState(std::string_view word);
  [[nodiscard]] ELBOWROOM_API std::string text() const;

  friend bool operator==(const TrialState&, const TrialState&) = default;

 private:
  std::variant<Known, std::string> word_;
};

/// Whose comparison it is that a process goes by. A word that is not known tells nobody.
enum class Decider : std::uint8_t { not_known, each_process, this_process, another_process };
ELBOWROOM_API Decider parse_decider(std::string_view word);

/// What acts together in a step.
class ArmControls {
 public:
  enum Control : std::uint8_t { priority, gate, shape, sm_target };

  ArmControls() = default;
  /// "plain", "priority, gate"
  ELBOWROOM_API explicit ArmControls(std::string text);
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The program as it is.
  [[nodiscard]] bool plain() const { return plain_; }
  [[nodiscard]] bool has(Control control) const { return (controls_ >> control & 1U) != 0; }

  friend bool operator==(const ArmControls& one, const ArmControls& other) { return one.text_ == other.text_; }

 private:
  std::string text_;
  bool plain_ = false;
  unsigned controls_ = 0;  ///< a bit for each
};

}  // namespace elbowroom
