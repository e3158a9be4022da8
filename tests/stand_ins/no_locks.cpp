#include <sys/file.h>

#include <cerrno>
#include <cstdlib>

// A file system without locks, as Lustre mounted without -o flock (38, ENOSYS) or NFS without its daemon (37, ENOLCK): flock fails
// with the number in NO_LOCKS_ERRNO.

extern "C" int flock(int /*descriptor*/, int /*operation*/) noexcept {
  const char* const number = std::getenv("NO_LOCKS_ERRNO");
  errno = number == nullptr ? ENOSYS : std::atoi(number);
  return -1;
}
