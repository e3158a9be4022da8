#include "preload/cublas_lt_descriptors.hpp"

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

}  // namespace

DescriptorTable::Entry* DescriptorTable::find(cublas_lt::Descriptor descriptor) {
  for (Entry& entry : entries_) {
    if (entry.descriptor == descriptor) { return &entry; }
  }
  return nullptr;
}

bool DescriptorTable::set_target(Entry& entry, std::uint32_t sms) {
  if (sms == 0 || entry.targeted || !takes_target(entry.descriptor)) { return false; }
  entry.targeted = write_target(entry.descriptor, static_cast<cublas_lt::SmCount>(sms));
  return entry.targeted;
}

void DescriptorTable::clear_target(Entry& entry) {
  if (entry.targeted) { write_target(entry.descriptor, 0); }
  entry.targeted = false;
}

DescriptorUse::DescriptorUse(DescriptorTable& table, cublas_lt::Descriptor descriptor, std::uint32_t sms)
    : table_(table), descriptor_(descriptor) {
  const std::scoped_lock lock(table_.mutex_);
  DescriptorTable::Entry* entry = table_.find(descriptor);
  if (entry == nullptr) { entry = table_.find(nullptr); }
  if (entry == nullptr) { return; }
  listed_ = true;
  entry->descriptor = descriptor;
  ++entry->users;
  if (entry->users == 1) { targeted_ = DescriptorTable::set_target(*entry, sms); }
}

DescriptorUse::~DescriptorUse() {
  if (!listed_) { return; }
  const std::scoped_lock lock(table_.mutex_);
  DescriptorTable::Entry& entry = *table_.find(descriptor_);
  if (--entry.users > 0) { return; }
  DescriptorTable::clear_target(entry);
  entry = {};
}

bool DescriptorUse::set(std::uint32_t sms) {
  if (!listed_) { return false; }
  const std::scoped_lock lock(table_.mutex_);
  targeted_ = DescriptorTable::set_target(*table_.find(descriptor_), sms);
  return targeted_;
}

void DescriptorUse::put_back() {
  if (!targeted_) { return; }
  const std::scoped_lock lock(table_.mutex_);
  DescriptorTable::clear_target(*table_.find(descriptor_));
  targeted_ = false;
}

}  // namespace headroom::preload
