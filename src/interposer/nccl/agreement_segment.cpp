#include "interposer/nccl/agreement_segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

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

// The job of `elbowroom run`, so that what an earlier one left behind is never met.
std::uint64_t job_hash() {
  std::uint64_t hash = 14695981039346656037U;
  const char* job = std::getenv("ELBOWROOM_RUN_JOB");
  for (const char* c = job == nullptr ? "" : job; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211U;
  }
  return hash;
}

// Of the right owner and size only: what somebody else put there is not followed.
int open_existing(const char* path, std::size_t bytes) {
  const int file = ::open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat facts{};
  const bool ours = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
                    (facts.st_mode & 0777U) == 0600U && facts.st_size == static_cast<off_t>(bytes);
  if (file >= 0 && !ours) {
    close(file);
    errno = EACCES;
  }
  return ours ? file : -1;
}

}  // namespace

AgreementSegment::~AgreementSegment() {
  if (shared_ == nullptr) { return; }
  // Before all have joined nobody else takes the name away.
  if (shared_->board.joined.load() < shared_->ranks) { unlink(path_.data()); }
  munmap(shared_, sizeof(Shared));
}

bool AgreementSegment::open(std::uint64_t communicator, std::uint32_t ranks) {
  if (ranks < 2 || ranks > AgreementBoard::kMostMembers) { return false; }
  const auto id = static_cast<unsigned long long>(communicator);
  const auto job = static_cast<unsigned long long>(job_hash());
  std::snprintf(path_.data(), path_.size(), "/dev/shm/elbowroom-%016llx-%u-%016llx-%u", job, geteuid(), id, ranks);
  void* mapped = MAP_FAILED;
  // Whole before it has its name: nobody meets one that is being made. Who finds the name taken joins, who then finds it gone makes
  // another.
  for (int tries = 0; mapped == MAP_FAILED && tries < kMostTries; ++tries) {
    int file = open_existing(path_.data(), sizeof(Shared));
    if (file < 0 && errno != ENOENT) { return false; }
    const bool made = file < 0;
    std::array<char, 192> unnamed{};
    if (made) {
      std::snprintf(unnamed.data(), unnamed.size(), "%s.%d.%d", path_.data(), getpid(), static_cast<int>(syscall(SYS_gettid)));
      file = ::open(unnamed.data(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (file < 0) { return false; }
      if (fchmod(file, 0600) != 0 || posix_fallocate(file, 0, sizeof(Shared)) != 0) {
        close(file);
        unlink(unnamed.data());
        return false;
      }
    }
    mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED && made) {
      new (mapped) Shared{.communicator = communicator, .ranks = ranks, .board = {}};
      if (link(unnamed.data(), path_.data()) != 0) {
        munmap(mapped, sizeof(Shared));
        mapped = MAP_FAILED;
      }
    }
    if (made) { unlink(unnamed.data()); }
  }
  if (mapped == MAP_FAILED) { return false; }
  shared_ = static_cast<Shared*>(mapped);
  const bool same = shared_->magic == Shared::kMagic && shared_->communicator == communicator && shared_->ranks == ranks;
  if (same) { seat_ = AgreementSeat::join(shared_->board, ranks, static_cast<std::uint64_t>(getpid())); }
  if (seat_.is_last()) { unlink(path_.data()); }
  return seat_.sits();
}

}  // namespace elbowroom::interposer::nccl
