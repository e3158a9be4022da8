#pragma once

#include <sys/types.h>

#include <string>

#include "base/descriptor.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// Whether a link under this name may be followed: it is this user's or root's, or nobody else may write in its folder. So the
/// kernel decides in sticky folders where fs.protected_symlinks is set. A name that is no link may.
bool leads_where_it_should(const std::string& path);

/// Where a name leads: links are followed, even one to a file that is not there yet, but none that should not be.
std::string target_of(const std::string& path);

/// Opens a regular file under a name that others may know; whatever else has the name is neither waited for nor written to. `flags`
/// as open takes them. Closed with errno where it cannot be had: ELOOP for a link that leads elsewhere, EINVAL for what is no
/// regular file.
Descriptor open_known(const std::string& path, int flags, mode_t mode = 0600);

}  // namespace elbowroom::detail
