#include "interposer/cuda/hook_table.hpp"
#include "interposer/hip/hook_table.hpp"

namespace interposer = elbowroom::interposer;

// In place of the vendors' own preload.cpp.
const interposer::process::HookTable& interposer::process::hook_table() { return interposer::cuda::hook_table(); }

// The rooms of both vendors in one program: that it links is the test.
int main() { return interposer::cuda::hook_table().hooks.data() == interposer::hip::hook_table().hooks.data() ? 1 : 0; }
