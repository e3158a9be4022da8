#include "profile_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "console.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/tune/profile.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "elbowroom/tune/profile_key.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "profile_option.hpp"

namespace elbowroom {
namespace {

struct ProfileArguments {
  std::optional<std::string> profile;
  std::optional<std::string> device;
  std::string file;
  int number = 0;
};

int say(const Error& error) { return complain("elbowroom profile", error); }

Result<Profile> chosen_profile(const ProfileArguments& arguments) {
  const std::optional<std::string> path = profile_path(arguments.profile);
  if (!path) { return invalid_input("no profile: neither --profile nor ELBOWROOM_PROFILE is given"); }
  return load_profile(*path);
}

/// A profile that is not there is an empty one, which is seldom what was meant.
Status is_there(const ProfileArguments& arguments) {
  const std::string path = profile_path(arguments.profile).value_or("");
  std::error_code unknown;
  return std::filesystem::exists(path, unknown) ? Status() : Status(invalid_input(fmt::format("{}: no such file", path)));
}

int print_or_say(const std::string& text) {
  const Status printed = print(text);
  return printed ? exit_ok : say(printed.error());
}

std::string surroundings_words(const Surroundings& where) {
  std::string words = fmt::format("{} {}", to_string(where.provenance), where.device);
  if (where.driver) { words += fmt::format(", driver {}", *where.driver); }
  if (where.comm_library) { words += fmt::format(", {}", in_words(*where.comm_library)); }
  return words;
}

std::string words_of(const ProfileKey& key) {
  if (const auto* step = std::get_if<StepKey>(&key.what)) { return fmt::format("step {}", in_words(*step)); }
  const auto& pair = std::get<PairKey>(key.what);
  return fmt::format("{}; {} {}; {} {}", to_string(pair.pattern), in_words(pair.compute), in_words(pair.compute_class),
                     in_words(pair.collective), in_words(pair.collective_class));
}

std::string line_of(std::size_t number, const StoredChoice& choice) {
  const ProfileKey& key = choice.key;
  const double saved = choice.baseline_time > Microseconds(0) ? 100 * (1 - choice.time / choice.baseline_time) : 0;
  return fmt::format("{:>3} {}; {} ranks, {}: {} ({}), {:.1f} % less than {}\n", number, surroundings_words(key.surroundings),
                     key.ranks, words_of(key), to_string(choice.scheme), in_words(choice.plan), saved, to_string(choice.baseline));
}

int list(const ProfileArguments& arguments) {
  const Result<Profile> profile = chosen_profile(arguments);
  if (!profile) { return say(profile.error()); }
  if (const Status there = is_there(arguments); !there) { print_notice(there.error().message); }
  std::string lines;
  for (std::size_t at = 0; at < profile->choices().size(); ++at) { lines += line_of(at + 1, profile->choices()[at]); }
  const Status printed = print_table(lines);
  return printed ? exit_ok : say(printed.error());
}

/// The choice of the number that list shows.
Result<StoredChoice> numbered(const ProfileArguments& arguments) {
  const Result<Profile> profile = chosen_profile(arguments);
  if (!profile) { return profile.error(); }
  const std::size_t count = profile->choices().size();
  if (arguments.number < 1 || static_cast<std::size_t>(arguments.number) > count) {
    return invalid_input(fmt::format("number: {}, expected 1 to {}, as list shows them", arguments.number, count));
  }
  return profile->choices()[static_cast<std::size_t>(arguments.number) - 1];
}

int show(const ProfileArguments& arguments) {
  Result<StoredChoice> choice = numbered(arguments);
  if (!choice) { return say(choice.error()); }
  Profile one;
  one.put(*std::move(choice));
  return print_or_say(to_json(one));
}

int remove(const ProfileArguments& arguments) {
  const Result<StoredChoice> choice = numbered(arguments);
  if (!choice) { return say(choice.error()); }
  const Status removed = remove_from_profile(*profile_path(arguments.profile), choice->key, notices());
  return removed ? print_or_say("removed " + line_of(static_cast<std::size_t>(arguments.number), *choice)) : say(removed.error());
}

/// The names by which --device finds something.
std::set<std::string> devices_of(const Profile& profile) {
  std::set<std::string> devices;
  for (const StoredChoice& choice : profile.choices()) { devices.insert(choice.key.surroundings.device); }
  return devices;
}

Status check_exported(const ProfileArguments& arguments) {
  const std::optional<std::string> profile = profile_path(arguments.profile);
  const std::array files{NamedFile("file", arguments.file), NamedFile("--profile", profile)};
  if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  const std::array outputs{OutputFile{files.front(), kProfileSchema}};
  return check_outputs(outputs);
}

int export_choices(const ProfileArguments& arguments) {
  const Result<Profile> profile = chosen_profile(arguments);
  if (!profile) { return say(profile.error()); }
  if (const Status there = is_there(arguments); !there) { return say(there.error()); }
  if (const Status writable = check_exported(arguments); !writable) { return say(writable.error()); }
  const std::set<std::string> devices = devices_of(*profile);
  if (arguments.device && !devices.contains(*arguments.device)) {
    return say(invalid_input(fmt::format("--device: '{}', expected one of {}", *arguments.device, fmt::join(devices, ", "))));
  }
  Profile exported;
  for (const StoredChoice& choice : profile->choices()) {
    if (!arguments.device || choice.key.surroundings.device == arguments.device) { exported.put(choice); }
  }
  const Status written = write_document(arguments.file, kProfileSchema, to_json(exported));
  return written ? exit_ok : say(written.error());
}

/// Choices that are newer here stay.
int import_choices(const ProfileArguments& arguments) {
  const std::optional<std::string> path = profile_path(arguments.profile);
  if (!path) { return say(invalid_input("no profile: neither --profile nor ELBOWROOM_PROFILE is given")); }
  const Result<std::string> text = read_file(arguments.file);
  if (!text) { return say(text.error()); }
  const Result<Profile> imported = parse_profile(*text, arguments.file);
  if (!imported) { return say(imported.error()); }
  const Status stored = add_to_profile(*path, *imported, notices());
  return stored ? exit_ok : say(stored.error());
}

}  // namespace

void add_profile_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("profile", "Shows and carries the choices that tune stored");
  command->require_subcommand(1);
  const auto arguments = std::make_shared<ProfileArguments>();
  const auto add = [&](const char* name, const char* purpose, int (*work)(const ProfileArguments&)) {
    CLI::App* made = command->add_subcommand(name, purpose);
    made->add_option("--profile", arguments->profile, "Profile file; ELBOWROOM_PROFILE by default");
    made->callback([=, &chosen] { chosen = [arguments, work] { return work(*arguments); }; });
    return made;
  };
  add("list", "One line for each choice", list);
  add("show", "One choice as JSON", show)->add_option("number", arguments->number, "As list shows it")->required();
  add("remove", "Takes one choice out", remove)->add_option("number", arguments->number, "As list shows it")->required();
  CLI::App* exported = add("export", "Writes choices to another file", export_choices);
  exported->add_option("file", arguments->file, "The file; - for standard output")->required();
  exported->add_option("--device", arguments->device, "Only choices for this catalog device");
  add("import", "Adds the choices of another file", import_choices)->add_option("file", arguments->file, "The file")->required();
}

}  // namespace elbowroom
