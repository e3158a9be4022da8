#pragma once

#include "ranks/handshake.hpp"

namespace elbowroom {

/// libsodium's HMAC-SHA-256; empty where this program was built without that library.
ranks::Mac keyed_hash();

}  // namespace elbowroom
