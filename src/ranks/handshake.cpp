#include "ranks/handshake.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "ranks/wire.hpp"

namespace elbowroom::ranks {
namespace {

constexpr std::size_t kNumber = 16;
constexpr std::size_t kLongestProof = 64;

std::string proof(const Credentials& own, std::string_view side, const Hello& hello, std::string_view number) {
  if (!own.token) { return {}; }
  WireWriter text;
  text.text(side);
  text.text(bytes_of(hello));
  text.text(number);
  return own.mac(*own.token, text.take());
}

}  // namespace

Result<std::string> new_number() {
  std::string number(kNumber, '\0');
  if (getrandom(number.data(), number.size(), 0) != static_cast<ssize_t>(number.size())) {
    return failed(fmt::format("no random bytes: {}", std::strerror(errno)));
  }
  return number;
}

std::string leaders_proof(const Credentials& own, const Hello& hello, std::string_view number) {
  return proof(own, "rank 0", hello, number);
}

std::string ranks_proof(const Credentials& own, const Hello& hello, std::string_view number) {
  return proof(own, "another rank", hello, number);
}

std::string bytes_of(const Challenge& challenge) {
  WireWriter bytes;
  bytes.text(challenge.number);
  bytes.text(challenge.proof);
  return bytes.take();
}

std::optional<Challenge> challenge_in(std::string_view payload) {
  WireReader bytes(payload);
  Challenge challenge;
  challenge.number = bytes.text();
  challenge.proof = bytes.text();
  const bool fits = challenge.number.size() == kNumber && challenge.proof.size() <= kLongestProof;
  return bytes.complete() && fits ? std::optional(std::move(challenge)) : std::nullopt;
}

bool same_proof(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) { return false; }
  volatile unsigned char differs = 0;
  for (std::size_t at = 0; at < one.size(); ++at) { differs = differs | static_cast<unsigned char>(one[at] ^ other[at]); }
  return differs == 0;
}

}  // namespace elbowroom::ranks
