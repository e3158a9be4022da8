#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "run/keys.hpp"

namespace elbowroom::detail {

/// Where `auto` made a choice, and for what. Texts are of one line.
struct ChoiceKey {
  std::string device;         ///< as its driver names it: 1 to 95 bytes
  std::string driver;         ///< version; empty: not known
  std::uint32_t library = 0;  ///< version of the communication library as it names itself; 0: it was not seen
  std::string options;        ///< what the command and the environment said that changes what the choice was among; empty: nothing
  run::Key sequence = 0;      ///< hash of the collectives of one repetition: kernels, grids, size classes, ranks

  auto operator<=>(const ChoiceKey&) const = default;
};

/// What `auto` settled for.
struct RememberedChoice {
  ChoiceKey key;
  std::string arm;  ///< the controls by name, as run::is_arm has it: "plain", "priority, gate"
  int ranks = 0;    ///< of the greatest communicator that was seen; 0: none was
  double gain = 0;  ///< percent of a step of the program as it is; 0 for "plain"
  double low = 0;   ///< of its 95 % interval
  double high = 0;
  std::int64_t decisions = 0;  ///< comparisons that ended with this arm, since another one was chosen
  std::int64_t stored_at = 0;  ///< when it was last in force: seconds since 1970

  bool operator==(const RememberedChoice&) const = default;
};

/// Choices by key.
class ChoiceMemory {
 public:
  /// Takes the place of an older choice with the same key, to whose decisions its own are added where the arm is the same. What was
  /// in force without being compared (no decisions) only says that a choice with this arm is still in use.
  void put(RememberedChoice choice);
  void forget(const ChoiceKey& key);
  /// Those that were in force last stay, as many as a run can take.
  void drop_old();

  [[nodiscard]] std::span<const RememberedChoice> choices() const { return choices_; }

 private:
  void find_places();

  std::vector<RememberedChoice> choices_;
  std::map<ChoiceKey, std::size_t> places_;  ///< of each in choices_
};

inline constexpr std::string_view kChoicesSchema = "elbowroom.choices/1";

/// Reads such a document. Another schema, unknown fields, wrong types and impossible values are `invalid_input` in one line that
/// begins with `source`. Never throws, whatever the text is.
Result<ChoiceMemory> parse_choices(std::string_view json, const std::string& source);

/// The same document back, a line for each choice.
std::string to_json(const ChoiceMemory& memory);

/// What one run adds.
struct NewChoices {
  std::vector<RememberedChoice> kept;
  std::vector<ChoiceKey> disagreed;  ///< on which processes of the run settled for different arms
};

/// A file that does not exist is an empty memory, and so is, with one warning that says why, one that cannot be read.
ChoiceMemory load_choices_or_none(const std::string& path, const NoticeSink& notice);

/// Adds to the file, whose folder is made where it is missing, as rewrite_stored (tune/stored_document.hpp) does.
Status remember_choices(const std::string& path, const NewChoices& more, const NoticeSink& notice);

}  // namespace elbowroom::detail
