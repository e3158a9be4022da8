#include "interposer/nccl/agreement_segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <new>
#include <optional>
#include <string_view>

#include "interposer/process/files.hpp"
#include "interposer/process/process.hpp"

namespace elbowroom::interposer::nccl {

struct AgreementSegment::Shared {
  static constexpr std::uint64_t kMagic = 0x33'42'4d'52'57'42'4c'45;  // "ELBWRMB3": another layout needs another one
  std::uint64_t magic = kMagic;
  std::uint64_t communicator;
  std::uint32_t ranks;
  AgreementBoard board;
};

namespace {

constexpr int kMostTries = 4;
constexpr const char* kFolder = "/dev/shm";
constexpr const char* kPrefix = "elbowroom-ranks-";
// Ranks that make a communicator come within minutes of each other.
constexpr std::time_t kForgottenAfter = std::time_t{24} * 3600;

class File {
 public:
  explicit File(int file) : file_(file) {}
  ~File() {
    if (opened()) { close(file_); }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool opened() const { return file_ >= 0; }
  [[nodiscard]] int get() const { return file_; }
  [[nodiscard]] std::optional<struct stat> facts() const {
    struct stat found{};
    return opened() && fstat(file_, &found) == 0 ? std::optional(found) : std::nullopt;
  }
  /// Null: not possible.
  [[nodiscard]] void* map(std::size_t bytes) const {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    return mapped == MAP_FAILED ? nullptr : mapped;
  }

 private:
  int file_;
};

// Of this process alone, on this host: in containers that share memory, processes may have equal ids. NCCL tells them apart by
// their namespaces as well.
std::uint64_t process_number() {
  const File space(::open("/proc/self/ns/pid", O_PATH | O_CLOEXEC));
  const std::optional<struct stat> facts = space.facts();
  return (facts ? static_cast<std::uint64_t>(facts->st_ino) << 32U : 0U) | static_cast<std::uint32_t>(getpid());
}

bool is_ours(const struct stat& facts) {
  return S_ISREG(facts.st_mode) && facts.st_uid == geteuid() && (facts.st_mode & 0777U) == 0600U;
}

// Only the last rank of a communicator takes its name away, and it may never come: a rank was killed, or is of another job.
void remove_forgotten() {
  DIR* folder = opendir(kFolder);
  if (folder == nullptr) { return; }
  const std::time_t now = std::time(nullptr);
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kPrefix)) { continue; }
    const File file(openat(dirfd(folder), entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const std::optional<struct stat> facts = file.facts();
    if (facts && is_ours(*facts) && now - facts->st_mtime > kForgottenAfter) { unlinkat(dirfd(folder), entry->d_name, 0); }
  }
  closedir(folder);
}

}  // namespace

AgreementSegment::~AgreementSegment() {
  if (shared_ == nullptr) { return; }
  // Before all have joined nobody else takes the name away.
  if (shared_->board.joined.load() < shared_->ranks) { unlink(path_.data()); }
  munmap(shared_, sizeof(Shared));
}

// Of the right owner, size and layout only: what somebody else put there is not followed.
AgreementSegment::Attempt AgreementSegment::join_existing(std::uint64_t communicator, std::uint32_t ranks) {
  const File file(::open(path_.data(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.opened()) { return errno == ENOENT ? Attempt::again : Attempt::failed; }
  const std::optional<struct stat> facts = file.facts();
  const bool ours = facts && is_ours(*facts) && facts->st_size == static_cast<off_t>(sizeof(Shared));
  void* mapped = ours ? file.map(sizeof(Shared)) : nullptr;
  if (mapped == nullptr) { return Attempt::failed; }
  auto* found = static_cast<Shared*>(mapped);
  if (found->magic != Shared::kMagic || found->communicator != communicator || found->ranks != ranks) {
    munmap(mapped, sizeof(Shared));
    return Attempt::failed;
  }
  shared_ = found;
  return Attempt::done;
}

// Whole before it has its name: nobody meets one that is being made. Without a name it is gone with whoever dies while making it.
AgreementSegment::Attempt AgreementSegment::make(std::uint64_t communicator, std::uint32_t ranks) {
  if (!process::may_write(sizeof(Shared))) { return Attempt::failed; }
  const File file(::open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.opened() || fchmod(file.get(), 0600) != 0 || posix_fallocate(file.get(), 0, sizeof(Shared)) != 0) {
    return Attempt::failed;
  }
  void* mapped = file.map(sizeof(Shared));
  if (mapped == nullptr) { return Attempt::failed; }
  auto* made = new (mapped) Shared{.communicator = communicator, .ranks = ranks, .board = {}};
  std::array<char, 32> unnamed{};
  std::snprintf(unnamed.data(), unnamed.size(), "/proc/self/fd/%d", file.get());
  if (linkat(AT_FDCWD, unnamed.data(), AT_FDCWD, path_.data(), AT_SYMLINK_FOLLOW) != 0) {
    const bool taken = errno == EEXIST;
    munmap(mapped, sizeof(Shared));
    return taken ? Attempt::again : Attempt::failed;
  }
  shared_ = made;
  remove_forgotten();
  return Attempt::done;
}

bool AgreementSegment::open(std::uint64_t communicator, std::uint32_t ranks) {
  if (ranks < 2 || ranks > AgreementBoard::kMostMembers) { return false; }
  const process::Uncancelled opening;
  const auto id = static_cast<unsigned long long>(communicator);
  std::snprintf(path_.data(), path_.size(), "%s/%s%u-%016llx-%u", kFolder, kPrefix, geteuid(), id, ranks);
  // Who finds the name taken joins, who then finds it gone makes another.
  Attempt last = Attempt::again;
  for (int tries = 0; last == Attempt::again && tries < kMostTries; ++tries) {
    last = join_existing(communicator, ranks);
    if (last == Attempt::again) { last = make(communicator, ranks); }
  }
  if (last != Attempt::done) { return false; }
  seat_ = AgreementSeat::join(shared_->board, ranks, process_number());
  if (seat_.is_last()) { unlink(path_.data()); }
  return seat_.sits();
}

}  // namespace elbowroom::interposer::nccl
