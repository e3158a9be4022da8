#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "ranks/hello.hpp"

namespace elbowroom::ranks {

/// A keyed hash, HMAC-SHA-256: who does not have the key can make none, and learns nothing of the key from those of others.
using Mac = std::function<std::string(std::string_view key, std::string_view text)>;

/// By what ranks know each other.
struct Credentials {
  std::string version;                    ///< of Elbowroom
  std::optional<std::string> token = {};  ///< absent: none, on one host alone
  Mac mac = {};                           ///< asked where there is a token
};

/// Rank 0 answers a hello by a number of its own and a proof that it has the token; the rank answers by its proof. Neither sends
/// the token, and no proof serves twice: both numbers are new each time, and the two sides prove different texts.
struct Challenge {
  std::string number;
  std::string proof;
};

/// A random number of 16 bytes.
Result<std::string> new_number();

std::string leaders_proof(const Credentials& own, const Hello& hello, std::string_view number);
std::string ranks_proof(const Credentials& own, const Hello& hello, std::string_view number);

std::string bytes_of(const Challenge& challenge);
/// Absent where it is none.
std::optional<Challenge> challenge_in(std::string_view payload);

/// Takes as long whatever the two have in common.
bool same_proof(std::string_view one, std::string_view other);

}  // namespace elbowroom::ranks
