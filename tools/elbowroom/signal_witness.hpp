#pragma once

#include <signal.h>
#include <sys/types.h>

namespace elbowroom {

/// Tells whether a signal was sent to this process alone. A batch system signals every process of a job, a shell every process of a
/// group: the command has such a signal already, and a second one could end it while it saves its state. The witness is a process
/// that gets what all get and does nothing. Without one, as where none can be made, every signal counts as sent to this process
/// alone. For callers that hold back the signals in question (SignalQueue).
class SignalWitness {
 public:
  enum class Place {
    in_group,  ///< of this process: it gets what its group gets, and what the whole job gets
    apart,     ///< in a group of its own: it gets what the whole job gets
  };
  explicit SignalWitness(Place place) : place_(place), pid_(start()) {}
  ~SignalWitness();
  SignalWitness(const SignalWitness&) = delete;
  SignalWitness& operator=(const SignalWitness&) = delete;

  /// Whether the witness has a signal that this process got. Waits for it a moment, as a sender goes from process to process.
  [[nodiscard]] bool has(int signal);

 private:
  [[nodiscard]] pid_t start() const;
  /// What a witness has it keeps: for the next signal there is another.
  void renew();

  Place place_;
  pid_t pid_;  ///< -1: none
};

}  // namespace elbowroom
