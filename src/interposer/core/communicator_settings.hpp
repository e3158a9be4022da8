#pragma once

#include <cstdint>

#include "interposer/core/rules.hpp"

/// What a communicator is made with, where the program leaves it open.
namespace elbowroom::interposer {

/// The settings of a communicator that can be chosen, as bits.
enum CommunicatorSetting : std::uint8_t { kMinBlocks = 1, kMaxBlocks = 2, kClusterSize = 4, kCtaPolicy = 8 };
using CommunicatorSettingSet = std::uint8_t;

/// Why a communicator is made as the program asked; the report's words.
enum class SettingsRefusal : std::uint8_t {
  none,
  nothing_asked,      ///< no rule asks for a setting
  one_rank,           ///< it communicates with nobody
  own_configuration,  ///< the program set what the rules ask for
  own_environment,    ///< a variable of NCCL's speaks of the number of blocks or of the policy
  old_library,        ///< this NCCL knows no such setting
  old_configuration,  ///< the program was built for an NCCL whose configuration has no such field
  inherited,          ///< a child without a configuration takes its parent's
  no_configuration,   ///< ncclCommInitAll takes none
  unreadable,         ///< what the program passed is no configuration that is known here
  count
};
const char* text(SettingsRefusal refusal);

/// What is known when a communicator is made.
struct CommunicatorFacts {
  int ranks = 0;  ///< 0: not known yet, as of a child
  CommunicatorSettingSet known_to_library = 0;
  CommunicatorSettingSet in_configuration = 0;  ///< fields that NCCL will read from what it is given
  CommunicatorSettingSet set_by_program = 0;
  bool own_blocks = false;  ///< the environment speaks of the number of blocks
  bool own_policy = false;  ///< or of the policy
};

/// What to write into the configuration; `fields` are those that count.
struct CommunicatorSettings {
  CommunicatorSettingSet fields = 0;
  int min_blocks = 0;
  int max_blocks = 0;
  int cta_policy = 0;
  SettingsRefusal refusal = SettingsRefusal::none;  ///< not none: a rule asked for something that is left out
};

/// NCCL's bit for collectives by copy engines (NCCL_CTA_POLICY_ZERO).
inline constexpr int kCtaPolicyZero = 2;

/// Equal on all ranks that have the same rules, environment and program. A minimum goes with a maximum: NCCL compares the two
/// before it fills in its own and refuses a minimum alone.
CommunicatorSettings settings_for(const Rules& rules, const CommunicatorFacts& facts);

}  // namespace elbowroom::interposer
