#pragma once

#include <array>
#include <cstdint>

#include "interposer/core/agreement.hpp"

namespace elbowroom::interposer::nccl {

/// One communicator's board in memory that the processes of this host share. Named by user, communicator and number of ranks, and
/// readable by its user alone. Its name is gone as soon as all ranks have joined, or when a rank leaves before that. Names that
/// ranks left behind are removed by whoever makes a board a day later.
class AgreementSegment {
 public:
  AgreementSegment() = default;
  ~AgreementSegment();
  AgreementSegment(const AgreementSegment&) = delete;
  AgreementSegment& operator=(const AgreementSegment&) = delete;

  /// Takes a seat. False: no shared memory, a file of another user or layout, or more ranks than there are; nothing is ever agreed
  /// then.
  bool open(std::uint64_t communicator, std::uint32_t ranks);
  AgreementSeat& seat() { return seat_; }

 private:
  struct Shared;
  enum class Attempt : std::uint8_t { done, again, failed };

  Attempt join_existing(std::uint64_t communicator, std::uint32_t ranks);
  Attempt make(std::uint64_t communicator, std::uint32_t ranks);

  Shared* shared_ = nullptr;
  AgreementSeat seat_;
  std::array<char, 128> path_{};
};

}  // namespace elbowroom::interposer::nccl
