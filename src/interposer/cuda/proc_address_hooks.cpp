#include "interposer/cuda/driver_abi.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/process/hook_table.hpp"
#include "interposer/process/symbol_routes.hpp"

using namespace elbowroom::interposer::process;

int cuGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags) {
  const int result = call_real<&::cuGetProcAddress>(symbol, found, version, flags);
  if (result == cu::kSuccess) { substitute_found(symbol, found, version, flags); }
  return result;
}

int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t flags, int* status) {
  const int result = call_real<&::cuGetProcAddress_v2>(symbol, found, version, flags, status);
  if (result == cu::kSuccess) { substitute_found(symbol, found, version, flags); }
  return result;
}
