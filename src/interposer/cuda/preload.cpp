#include "interposer/cuda/hook_table.hpp"

// What makes a library of these rooms the one to preload: the process looks into this table. A program that holds both vendors'
// rooms has a definition of its own instead.
const elbowroom::interposer::process::HookTable& elbowroom::interposer::process::hook_table() { return cuda::hook_table(); }
