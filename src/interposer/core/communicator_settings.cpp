#include "interposer/core/communicator_settings.hpp"

#include <algorithm>

namespace elbowroom::interposer {
namespace {

/// Why the fields of one rule stay as they are.
SettingsRefusal refusal_of(CommunicatorSettingSet fields, bool own_environment, const CommunicatorFacts& facts) {
  if (own_environment) { return SettingsRefusal::own_environment; }
  if ((facts.known_to_library & fields) != fields) { return SettingsRefusal::old_library; }
  if ((facts.in_configuration & fields) != fields) { return SettingsRefusal::old_configuration; }
  if ((facts.set_by_program & fields) != 0) { return SettingsRefusal::own_configuration; }
  return SettingsRefusal::none;
}

}  // namespace

CommunicatorSettings settings_for(const Rules& rules, const CommunicatorFacts& facts) {
  CommunicatorSettings settings;
  if (!rules.sets_communicators()) {
    settings.refusal = SettingsRefusal::nothing_asked;
    return settings;
  }
  if (facts.ranks == 1) {
    settings.refusal = SettingsRefusal::one_rank;
    return settings;
  }
  constexpr CommunicatorSettingSet blocks = kMinBlocks | kMaxBlocks;
  if (rules.symmetric_blocks > 0) {
    settings.refusal = refusal_of(blocks, facts.own_blocks, facts);
    if (settings.refusal == SettingsRefusal::none) {
      settings.fields |= blocks;
      settings.min_blocks = static_cast<int>(rules.symmetric_blocks);
      settings.max_blocks = static_cast<int>(run::kGreatestCommBlocks);
    }
  }
  if (rules.symmetric_copies) {
    const SettingsRefusal refusal = refusal_of(kCtaPolicy, facts.own_policy, facts);
    if (refusal == SettingsRefusal::none) {
      settings.fields |= kCtaPolicy;
      settings.cta_policy = kCtaPolicyZero;
    }
    settings.refusal = settings.refusal == SettingsRefusal::none ? refusal : settings.refusal;
  }
  return settings;
}

const char* text(SettingsRefusal refusal) {
  switch (refusal) {
    case SettingsRefusal::none:
      return "";
    case SettingsRefusal::nothing_asked:
      return "no rule asks for a setting";
    case SettingsRefusal::one_rank:
      return "one rank";
    case SettingsRefusal::own_configuration:
      return "the program's configuration sets it";
    case SettingsRefusal::own_environment:
      return "the environment sets it";
    case SettingsRefusal::old_library:
      return "this NCCL has no such setting";
    case SettingsRefusal::old_configuration:
      return "the configuration has no such field";
    case SettingsRefusal::inherited:
      return "it takes its parent's configuration";
    case SettingsRefusal::no_configuration:
      return "ncclCommInitAll takes no configuration";
    case SettingsRefusal::unreadable:
      return "the configuration is not one that is known";
    case SettingsRefusal::count:
      break;
  }
  return "";
}

}  // namespace elbowroom::interposer
