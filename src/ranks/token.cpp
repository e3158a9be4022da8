#include "ranks/token.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "base/descriptor.hpp"
#include "base/known_file.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::ranks {
namespace {

// A shorter one is guessed.
constexpr std::size_t kLeastToken = 16;
constexpr std::size_t kMostToken = 256;

using Token = std::optional<std::string>;

Result<Token> checked(std::string token, const char* name) {
  if (token.size() >= kLeastToken && token.size() <= kMostToken) { return Token(std::move(token)); }
  return invalid_input(fmt::format("{}: {} characters, expected {} to {}", name, token.size(), kLeastToken, kMostToken));
}

Error of_file(const std::string& path, std::string_view what) {
  return invalid_input(fmt::format("{}: {}: {}", kTokenFile.name, path, what));
}

Result<Token> token_in(const std::string& path) {
  const elbowroom::detail::Descriptor file = elbowroom::detail::open_known(path, O_RDONLY);
  if (!file.is_open() && errno == EINVAL) { return of_file(path, "no regular file"); }
  if (!file.is_open()) { return of_file(path, fmt::format("cannot be read: {}", std::strerror(errno))); }
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) { return of_file(path, fmt::format("cannot be read: {}", std::strerror(errno))); }
  if (facts.st_uid != geteuid()) { return of_file(path, fmt::format("of user {}, expected of {}", facts.st_uid, geteuid())); }
  constexpr mode_t others = 077;
  if ((facts.st_mode & others) != 0) {
    return of_file(path, fmt::format("mode {:04o}, expected that only its user can read it (0600)", facts.st_mode & 07777U));
  }
  std::array<char, kMostToken + 2> text = {};
  const ssize_t length = ::read(file.get(), text.data(), text.size());
  if (length < 0) { return of_file(path, fmt::format("cannot be read: {}", std::strerror(errno))); }
  std::string token(text.data(), static_cast<std::size_t>(length));
  if (token.ends_with('\n')) { token.pop_back(); }
  return checked(std::move(token), kTokenFile.name);
}

}  // namespace

Result<Token> token_of(const Lookup& lookup) {
  std::optional<std::string> own = lookup(kToken.name);
  const std::optional<std::string> file = lookup(kTokenFile.name);
  if (own && file) {
    return invalid_input(fmt::format("{}: '{}', expected it unset beside {}", kTokenFile.name, *file, kToken.name));
  }
  if (own) { return checked(*std::move(own), kToken.name); }
  return file ? token_in(*file) : Result<Token>(std::nullopt);
}

Result<std::string> new_token() {
  std::array<unsigned char, 16> random = {};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return failed(fmt::format("no random bytes for a token: {}", std::strerror(errno)));
  }
  std::string token;
  for (const unsigned char byte : random) { token += fmt::format("{:02x}", byte); }
  return token;
}

}  // namespace elbowroom::ranks
