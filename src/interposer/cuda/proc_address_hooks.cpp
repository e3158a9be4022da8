#include "interposer/cuda/driver_abi.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/process/routes.hpp"

using namespace elbowroom::interposer::process;

namespace {

void* ask_with_status(const char* base, int version, std::uint64_t flags) {
  const auto driver = real<&::cuGetProcAddress_v2>();
  void* found = nullptr;
  return driver != nullptr && driver(base, &found, version, flags, nullptr) == cu::kSuccess ? found : nullptr;
}

void* ask(const char* base, int version, std::uint64_t flags) {
  const auto driver = real<&::cuGetProcAddress>();
  void* found = nullptr;
  return driver != nullptr && driver(base, &found, version, flags) == cu::kSuccess ? found : nullptr;
}

}  // namespace

int cuGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags) {
  const int result = call_real<&::cuGetProcAddress>(symbol, found, version, flags);
  if (result == cu::kSuccess) { substitute_found(symbol, found, version, flags, &ask); }
  return result;
}

int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t flags, int* status) {
  const int result = call_real<&::cuGetProcAddress_v2>(symbol, found, version, flags, status);
  if (result == cu::kSuccess) { substitute_found(symbol, found, version, flags, &ask_with_status); }
  return result;
}
