#pragma once

#include <cstddef>
#include <string_view>

namespace elbowroom::interposer::process {

/// Memory of the system's, for a scope: for what does not belong on a stack. The program's threads may have 16 KiB of one, its
/// handlers less, and its allocator may be what called.
class Pages {
 public:
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  /// Null: there is none.
  [[nodiscard]] void* data() const { return memory_; }
  [[nodiscard]] std::size_t size() const { return memory_ == nullptr ? 0 : bytes_; }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Whether the process may write a file of so many bytes: one beyond its limit would end it by a signal.
bool may_write(std::size_t bytes);

/// To be read; -1 for anything but a regular file, none of which is waited for.
int open_regular(const char* path);

/// Whether a file or folder that `elbowroom run` made is still the one: a process may outlive them, and another user make them
/// anew.
bool is_of_this_user(const char* path);

/// An open file that is read as a whole, for a scope.
class ReadFile {
 public:
  explicit ReadFile(const char* path);
  ~ReadFile();
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  /// 0 too where that is not known before it is read.
  [[nodiscard]] std::size_t size() const;
  /// As much as there is room for.
  std::string_view read_into(const Pages& pages) const;

 private:
  int file_;
};

}  // namespace elbowroom::interposer::process
