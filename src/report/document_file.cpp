#include "report/document_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "base/files.hpp"
#include "base/known_file.hpp"
#include "model/document_schema.hpp"

namespace elbowroom::detail {
namespace {

// A scenario is a few hundred bytes; whoever gives a gigabyte meant another file.
constexpr std::size_t kGreatestInput = std::size_t{16} << 20;
// A document says what it is at its begin.
constexpr std::size_t kHead = std::size_t{1} << 20;

/// The begin of a file.
Result<std::string> read_begin(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) { return invalid_input(cannot("read", path)); }
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file && !file.eof())) { return invalid_input(cannot("read", path)); }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

enum class AtPath {
  free,     ///< nothing has the name
  regular,  ///< a file to be replaced
  other,    ///< a device, a pipe
  none,     ///< a folder, a ring of links, a name that is too long: errno says what
};

AtPath what_is_at(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) { return errno == ENOENT ? AtPath::free : AtPath::none; }
  if (S_ISDIR(facts.st_mode)) { errno = EISDIR; }
  return S_ISREG(facts.st_mode) ? AtPath::regular : S_ISDIR(facts.st_mode) ? AtPath::none : AtPath::other;
}

Status is_replaceable(const std::string& path, std::string_view schema) {
  if (what_is_at(path) != AtPath::regular) { return {}; }
  const Result<std::string> begin = read_begin(path, kHead);
  return begin ? refuse_other_document(*begin, schema, path) : begin.error();
}

Error led_elsewhere(const std::string& path) {
  return invalid_input(fmt::format("{}: a link of another user, expected a file of one's own", path));
}

Status is_writable(const std::string& path) {
  if (!leads_where_it_should(path)) { return led_elsewhere(path); }
  const AtPath found = what_is_at(path);
  const bool allowed = found == AtPath::free || (found != AtPath::none && access(path.c_str(), W_OK) == 0);
  if (!allowed) { return invalid_input(cannot("written", path)); }
  if (found == AtPath::other) { return {}; }
  // What is replaced needs a folder to write in, which only a try shows: it may have no room, or be no ordinary one.
  const Result<PartialFile> tried = PartialFile::beside(target_of(path));
  if (tried) { tried->remove_abandoned(); }
  return tried ? Status() : Status(invalid_input(tried.error().message));
}

Status write_to(const std::string& path, int flags, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (descriptor < 0) { return failed(cannot("written", path)); }
  Status written = write_all(descriptor, text, path);
  const bool closed = close(descriptor) == 0;
  return written && !closed ? Status(failed(cannot("written", path))) : written;
}

}  // namespace

Status can_write(const std::string& path, std::string_view schema) {
  const Status writable = is_writable(path);
  return writable ? is_replaceable(path, schema) : writable;
}

Status write_document(const std::string& path, std::string_view schema, std::string_view text) {
  if (!leads_where_it_should(path)) { return led_elsewhere(path); }
  const std::string target = target_of(path);
  // A link of /proc may name a file that has no name any more.
  if (what_is_at(path) == AtPath::other || identity_of(target) != identity_of(path)) { return write_to(path, O_TRUNC, text); }
  if (Status replaceable = is_replaceable(target, schema); !replaceable) { return failed(replaceable.error().message); }
  Result<PartialFile> file = PartialFile::beside(target);
  if (!file) { return file.error(); }
  if (Status written = file->write(text); !written) { return written; }
  if (Status synced = file->sync(); !synced) { return synced; }
  return file->take_place();
}

Status write_new_file(const std::string& path, std::string_view text) { return write_to(path, O_CREAT | O_EXCL, text); }

Result<std::string> read_file(const std::string& path) {
  Result<std::string> text = read_begin(path, kGreatestInput + 1);
  if (text && text->size() > kGreatestInput) {
    return invalid_input(fmt::format("{}: over 16 MiB, expected an elbowroom.scenario/1 document", path));
  }
  return text;
}

}  // namespace elbowroom::detail
