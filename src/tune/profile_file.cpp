#include "elbowroom/tune/profile_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/known_file.hpp"
#include "elbowroom/tune/profile.hpp"
#include "elbowroom/tune/profile_key.hpp"
#include "tune/stored_document.hpp"

namespace elbowroom {
namespace {

detail::StoredDocument profile_at(const std::string& path) { return {detail::target_of(path), kProfileSchema, "profile"}; }

}  // namespace

Result<Profile> load_profile(const std::string& path) {
  // In messages the file has the name by which it was asked for.
  const Result<std::optional<std::string>> text = detail::read_stored({path, kProfileSchema, "profile"});
  if (!text) { return text.error(); }
  return *text ? parse_profile(**text, path) : Result<Profile>(Profile());
}

Profile load_profile_or_none(const std::string& path, const NoticeSink& notice) {
  Result<Profile> profile = load_profile(path);
  if (profile) { return std::move(*profile); }
  if (notice) { notice(fmt::format("profile ignored: {}", profile.error().message)); }
  return {};
}

Status can_store_in(const std::string& path) { return detail::can_store(profile_at(path)); }

Status add_to_profile(const std::string& path, const Profile& more, const NoticeSink& notice) {
  const detail::StoredDocument document = profile_at(path);
  const auto merged = [&](const std::string& text) -> Result<std::string> {
    Result<Profile> profile = text.empty() ? Profile() : parse_profile(text, document.path);
    if (!profile) { return profile.error(); }
    for (const StoredChoice& choice : more.choices()) { profile->put(choice); }
    return to_json(*profile);
  };
  return detail::rewrite_stored(document, merged, notice);
}

Status remove_from_profile(const std::string& path, const ProfileKey& key, const NoticeSink& notice) {
  const detail::StoredDocument document = profile_at(path);
  const auto without = [&](const std::string& text) -> Result<std::string> {
    const Result<Profile> profile = text.empty() ? Profile() : parse_profile(text, document.path);
    if (!profile) { return profile.error(); }
    Profile kept;
    for (const StoredChoice& choice : profile->choices()) {
      if (choice.key != key) { kept.put(choice); }
    }
    return to_json(kept);
  };
  return detail::rewrite_stored(document, without, notice);
}

Status store_choice(const std::string& path, StoredChoice choice, const NoticeSink& notice) {
  choice.stored_at = seconds_since_1970();
  Profile more;
  more.put(std::move(choice));
  return add_to_profile(path, more, notice);
}

std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace elbowroom
