#include "interposer/process/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace elbowroom::interposer::process {

Pages::Pages(std::size_t bytes)
    : bytes_(bytes),
      memory_(bytes == 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (memory_ == MAP_FAILED) { memory_ = nullptr; }
}

Pages::~Pages() {
  if (memory_ != nullptr) { munmap(memory_, bytes_); }
}

bool may_write(std::size_t bytes) {
  rlimit most{};
  return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur == RLIM_INFINITY || bytes <= most.rlim_cur;
}

int open_regular(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat facts{};
  if (file < 0 || (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode))) { return file; }
  close(file);
  return -1;
}

bool is_of_this_user(const char* path) {
  struct stat facts{};
  return lstat(path, &facts) == 0 && !S_ISLNK(facts.st_mode) && (facts.st_uid == geteuid() || facts.st_uid == 0);
}

ReadFile::ReadFile(const char* path) : file_(open_regular(path)) {}

ReadFile::~ReadFile() {
  if (file_ >= 0) { close(file_); }
}

std::size_t ReadFile::size() const {
  const off_t end = is_open() ? lseek(file_, 0, SEEK_END) : -1;
  return end > 0 && lseek(file_, 0, SEEK_SET) == 0 ? static_cast<std::size_t>(end) : 0;
}

std::string_view ReadFile::read_into(const Pages& pages) const {
  auto* const text = static_cast<char*>(pages.data());
  std::size_t size = 0;
  while (size < pages.size()) {
    const ssize_t got = read(file_, text + size, pages.size() - size);
    if (got < 0 && errno == EINTR) { continue; }
    if (got <= 0) { break; }
    size += static_cast<std::size_t>(got);
  }
  return {text, size};
}

}  // namespace elbowroom::interposer::process
