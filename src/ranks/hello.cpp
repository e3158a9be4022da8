#include "ranks/hello.hpp"

#include "base/most_ranks.hpp"
#include "ranks/wire.hpp"

namespace elbowroom::ranks {
namespace {

// Changes with what ranks say before they know each other's versions.
constexpr std::string_view kProtocol = "elbowroom ranks 2";

}  // namespace

std::string bytes_of(const Hello& hello) {
  WireWriter bytes;
  bytes.text(kProtocol);
  bytes.text(hello.version);
  bytes.number(hello.rank);
  bytes.number(hello.size);
  bytes.number(static_cast<std::int64_t>(hello.job));
  bytes.text(hello.number);
  return bytes.take();
}

std::optional<Hello> hello_in(std::string_view payload) {
  WireReader bytes(payload);
  if (bytes.text() != kProtocol) { return std::nullopt; }
  Hello hello;
  hello.version = bytes.text();
  const std::int64_t rank = bytes.number();
  const std::int64_t size = bytes.number();
  hello.job = static_cast<std::uint64_t>(bytes.number());
  hello.number = bytes.text();
  if (!bytes.complete() || size < 1 || size > kMostRanks || rank < 0 || rank >= size) { return std::nullopt; }
  hello.rank = static_cast<int>(rank);
  hello.size = static_cast<int>(size);
  return hello;
}

}  // namespace elbowroom::ranks
