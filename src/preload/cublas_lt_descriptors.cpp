#include "preload/cublas_lt_descriptors.hpp"

#include <array>
#include <mutex>

#include "preload/elf_symbols.hpp"
#include "preload/hook_table.hpp"

namespace headroom::preload {
namespace {

template <class Function>
Function find_in_library(const char* name) {
  void* found = find_loaded_symbol(object_prefix(HookedLibrary::kCublasLt), name);
  return reinterpret_cast<Function>(found != nullptr ? found : find_loaded_symbol("", name));
}

struct AttributeCalls {
  using Get = int (*)(cublas_lt::Descriptor, int, void*, std::size_t, std::size_t*);
  using Set = int (*)(cublas_lt::Descriptor, int, const void*, std::size_t);
  Get get = find_in_library<Get>("cublasLtMatmulDescGetAttribute");
  Set set = find_in_library<Set>("cublasLtMatmulDescSetAttribute");
};

const AttributeCalls& attribute_calls() {
  static const AttributeCalls calls;
  return calls;
}

bool write_target(cublas_lt::Descriptor descriptor, cublas_lt::SmCount sms) {
  return attribute_calls().set(descriptor, cublas_lt::kSmCountTarget, &sms, sizeof sms) == 0;
}

bool takes_target(cublas_lt::Descriptor descriptor) {
  const AttributeCalls& calls = attribute_calls();
  if (calls.get == nullptr || calls.set == nullptr) { return false; }
  cublas_lt::SmCount own = 0;
  std::size_t written = 0;
  return calls.get(descriptor, cublas_lt::kSmCountTarget, &own, sizeof own, &written) == 0 && own == 0;
}

// Descriptors that calls are reading at this moment: one for each thread at most. Further ones go without a target.
struct Entry {
  cublas_lt::Descriptor descriptor = nullptr;  // null: free
  int users = 0;
  bool targeted = false;
};

constinit std::mutex mutex;
constinit std::array<Entry, 64> entries{};

Entry* find(cublas_lt::Descriptor descriptor) {
  for (Entry& entry : entries) {
    if (entry.descriptor == descriptor) { return &entry; }
  }
  return nullptr;
}

bool set_target(Entry& entry, std::uint32_t sms) {
  if (sms == 0 || entry.targeted || !takes_target(entry.descriptor)) { return false; }
  entry.targeted = write_target(entry.descriptor, static_cast<cublas_lt::SmCount>(sms));
  return entry.targeted;
}

void clear_target(Entry& entry) {
  if (entry.targeted) { write_target(entry.descriptor, 0); }
  entry.targeted = false;
}

}  // namespace

DescriptorUse::DescriptorUse(cublas_lt::Descriptor descriptor, std::uint32_t sms) : descriptor_(descriptor) {
  const std::scoped_lock lock(mutex);
  Entry* entry = find(descriptor);
  if (entry == nullptr) { entry = find(nullptr); }
  if (entry == nullptr) { return; }
  listed_ = true;
  entry->descriptor = descriptor;
  ++entry->users;
  if (entry->users == 1) { targeted_ = set_target(*entry, sms); }
}

DescriptorUse::~DescriptorUse() {
  if (!listed_) { return; }
  const std::scoped_lock lock(mutex);
  Entry& entry = *find(descriptor_);
  if (--entry.users > 0) { return; }
  clear_target(entry);
  entry = {};
}

bool DescriptorUse::set(std::uint32_t sms) {
  if (!listed_) { return false; }
  const std::scoped_lock lock(mutex);
  targeted_ = set_target(*find(descriptor_), sms);
  return targeted_;
}

void DescriptorUse::put_back() {
  if (!targeted_) { return; }
  const std::scoped_lock lock(mutex);
  clear_target(*find(descriptor_));
  targeted_ = false;
}

}  // namespace headroom::preload
