#pragma once

#include <cstdint>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

class Profile;
struct ProfileKey;
struct StoredChoice;

/// Reads a profile. A file that does not exist is an empty profile. One that is damaged, foreign, no regular file or over 64 MiB is
/// `invalid_input`, one line that says why.
ELBOWROOM_API Result<Profile> load_profile(const std::string& path);

/// The same for a program that must go on: a profile that cannot be read is ignored, with one warning that says why.
ELBOWROOM_API Profile load_profile_or_none(const std::string& path, const NoticeSink& notice);

/// Whether a profile can be kept there: asked before what would be lost otherwise. `invalid_input` where the folder cannot be
/// written, where something other than a regular file is, and for another document by its own word.
ELBOWROOM_API Status can_store_in(const std::string& path);

/// Adds what `more` holds to the file, as Profile::put does. Several writers at once, in one process or
/// many, lose nothing. Each holds a lock on `path`.lock while it reads, merges and replaces the file. The file is complete and on
/// disk before it gets its name. What was unreadable before is kept as `path`.damaged (.damaged.2, ...), with one warning. The lock
/// file stays. `invalid_input` as can_store_in says.
ELBOWROOM_API Status add_to_profile(const std::string& path, const Profile& more, const NoticeSink& notice);

/// Adds one choice that is made now, as add_to_profile does.
ELBOWROOM_API Status store_choice(const std::string& path, StoredChoice choice, const NoticeSink& notice);

/// Takes the choice with this key out of the file, with the lock and the care of add_to_profile. A choice that is not there is no
/// error.
ELBOWROOM_API Status remove_from_profile(const std::string& path, const ProfileKey& key, const NoticeSink& notice);

/// When something is stored.
ELBOWROOM_API std::int64_t seconds_since_1970();

}  // namespace elbowroom
