#include "interposer/process/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace elbowroom::interposer::process {

bool may_write(std::size_t bytes) {
  rlimit most{};
  return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || bytes <= most.rlim_cur;
}

bool is_of_this_user(const char* path) {
  struct stat facts{};
  return lstat(path, &facts) == 0 && !S_ISLNK(facts.st_mode) && (facts.st_uid == geteuid() || facts.st_uid == 0);
}

Text mapped_file(const char* path) {
  const int file = is_of_this_user(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  if (file < 0) { return {}; }
  struct stat facts{};
  const bool readable = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0;
  const std::size_t size = readable ? static_cast<std::size_t>(facts.st_size) : 0;
  void* const mapped = readable ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  return mapped == MAP_FAILED ? Text{} : Text{static_cast<const char*>(mapped), size};
}

}  // namespace elbowroom::interposer::process
