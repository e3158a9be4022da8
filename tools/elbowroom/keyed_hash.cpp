#include "keyed_hash.hpp"

#if ELBOWROOM_BUILD_HAS_SODIUM
#include <sodium/crypto_auth_hmacsha256.h>

#include <string>
#include <string_view>
#endif

namespace elbowroom {

#if ELBOWROOM_BUILD_HAS_SODIUM
namespace {

const unsigned char* bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string hmac(std::string_view key, std::string_view text) {
  std::string hash(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, bytes(key), key.size());
  crypto_auth_hmacsha256_update(&state, bytes(text), text.size());
  crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

}  // namespace

ranks::Mac keyed_hash() { return hmac; }
#else
ranks::Mac keyed_hash() { return {}; }
#endif

}  // namespace elbowroom
