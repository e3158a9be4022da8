#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/stop.hpp"
#include "ranks/frame.hpp"
#include "ranks/hello.hpp"

using namespace elbowroom;

namespace {

constexpr std::size_t kLongest = 512;

std::string frames_in(std::string_view bytes, std::size_t piece) {
  ranks::FrameReader reader(kLongest);
  std::string again;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    reader.add(bytes.substr(0, piece));
    while (true) {
      const Result<std::optional<ranks::Frame>> frame = reader.next();
      if (!frame) {
        check_line(frame.error());
        return again + "!";
      }
      if (!*frame) { break; }
      if ((*frame)->payload.size() > kLongest) { stop("a frame that is too long", again); }
      again += bytes_of((*frame)->kind, (*frame)->payload);
    }
  }
  return again;
}

}  // namespace

// Frames are the same in whatever pieces they come and are the bytes that they were made of; a hello that is read is written so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = frames_in(bytes, size + 1);
  if (frames_in(bytes, 1) != whole) { stop("pieces make other frames", whole); }
  const bool refused = whole.ends_with('!');
  if (!bytes.starts_with(std::string_view(whole).substr(0, whole.size() - (refused ? 1 : 0)))) {
    stop("frames of other bytes", whole);
  }
  if (const auto hello = ranks::hello_in(bytes); hello && bytes_of(*hello) != bytes) { stop("another hello", std::string(bytes)); }
  return 0;
}
