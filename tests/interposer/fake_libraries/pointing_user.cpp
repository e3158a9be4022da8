#include "interposer/nccl/functions.hpp"

// What calls NCCL through a table alone: the loader fills that when it loads this, however calls are bound.

namespace {

int (*const volatile group[])() = {&ncclGroupStart, &ncclGroupEnd};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void called_when_first_made();

int user_group() {
  volatile int begun = group[0]();
  volatile int ended = group[1]();
  return 100 * begun + ended;
}
// For the loader to leave something to be bound.
void user_of_another() { called_when_first_made(); }
}
#pragma GCC visibility pop
