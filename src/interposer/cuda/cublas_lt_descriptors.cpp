#include "interposer/cuda/cublas_lt_descriptors.hpp"

#include "interposer/process/loaded_function.hpp"

namespace elbowroom::interposer::cuda {
using namespace process;
namespace {

struct AttributeCalls {
  using Get = int (*)(cublas_lt::Descriptor, int, void*, std::size_t, std::size_t*);
  using Set = int (*)(cublas_lt::Descriptor, int, const void*, std::size_t);
  Get get = loaded_function<Get>(HookedLibrary::kCublasLt, "cublasLtMatmulDescGetAttribute");
  Set set = loaded_function<Set>(HookedLibrary::kCublasLt, "cublasLtMatmulDescSetAttribute");
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

DescriptorTable::Entry* DescriptorTable::await_plain(cublas_lt::Descriptor descriptor) {
  Entry* entry = find(descriptor);
  for (; entry != nullptr && entry->targeted; entry = find(descriptor)) { pthread_cond_wait(&cleared_, mutex_.native_handle()); }
  return entry != nullptr ? entry : find(nullptr);
}

void DescriptorTable::clear_target(Entry& entry) {
  if (!entry.targeted) { return; }
  write_target(entry.descriptor, 0);
  entry.targeted = false;
  pthread_cond_broadcast(&cleared_);
}

DescriptorUse::DescriptorUse(DescriptorTable& table, cublas_lt::Descriptor descriptor, std::uint32_t sms)
    : table_(table), descriptor_(descriptor) {
  // Found before the lock is taken: the search takes the loader's own.
  static_cast<void>(attribute_calls());
  {
    const std::scoped_lock lock(table_.mutex_);
    DescriptorTable::Entry* entry = table_.await_plain(descriptor);
    if (entry == nullptr) { return; }
    listed_ = true;
    entry->descriptor = descriptor;
    ++entry->users;
  }
  set(sms);
}

DescriptorUse::~DescriptorUse() {
  if (!listed_) { return; }
  const std::scoped_lock lock(table_.mutex_);
  DescriptorTable::Entry& entry = *table_.find(descriptor_);
  if (targeted_) { table_.clear_target(entry); }
  if (--entry.users == 0) { entry = {}; }
}

bool DescriptorUse::set(std::uint32_t sms) {
  if (!listed_ || sms == 0) { return false; }
  const std::scoped_lock lock(table_.mutex_);
  DescriptorTable::Entry& entry = *table_.find(descriptor_);
  if (entry.users > 1 || !takes_target(descriptor_)) { return false; }
  targeted_ = entry.targeted = write_target(descriptor_, static_cast<cublas_lt::SmCount>(sms));
  return targeted_;
}

void DescriptorUse::put_back() {
  if (!targeted_) { return; }
  const std::scoped_lock lock(table_.mutex_);
  table_.clear_target(*table_.find(descriptor_));
  targeted_ = false;
}

}  // namespace elbowroom::interposer::cuda
