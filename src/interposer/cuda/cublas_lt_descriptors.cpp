#include "interposer/cuda/cublas_lt_descriptors.hpp"

#include <cerrno>
#include <ctime>

namespace elbowroom::interposer::cuda {
using namespace process;
namespace {

// Longer than the library takes for a product or an algorithm.
timespec in_a_moment() {
  constexpr long kMoment = 100'000'000;
  constexpr long kSecond = 1'000'000'000;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += kMoment;
  if (time.tv_nsec >= kSecond) { time = {time.tv_sec + 1, time.tv_nsec - kSecond}; }
  return time;
}

}  // namespace

AttributeCalls::AttributeCalls() {
  static constinit LibraryFunctions<2> functions(HookedLibrary::kCublasLt,
                                                 {"cublasLtMatmulDescGetAttribute", "cublasLtMatmulDescSetAttribute"});
  get_ = functions.get<Get>(0);
  set_ = functions.get<Set>(1);
}

bool AttributeCalls::write_target(cublas_lt::Descriptor descriptor, cublas_lt::SmCount sms) const {
  return set_(descriptor, cublas_lt::kSmCountTarget, &sms, sizeof sms) == 0;
}

bool AttributeCalls::takes_target(cublas_lt::Descriptor descriptor) const {
  if (get_ == nullptr || set_ == nullptr) { return false; }
  cublas_lt::SmCount own = 0;
  std::size_t written = 0;
  return get_(descriptor, cublas_lt::kSmCountTarget, &own, sizeof own, &written) == 0 && own == 0;
}

DescriptorTable::Entry* DescriptorTable::find(cublas_lt::Descriptor descriptor) {
  for (Entry& entry : entries_) {
    if (entry.descriptor == descriptor) { return &entry; }
  }
  return nullptr;
}

DescriptorTable::Entry* DescriptorTable::await_plain(cublas_lt::Descriptor descriptor) {
  Entry* entry = find(descriptor);
  if (entry != nullptr && entry->targeted && !entry->stuck) {
    const timespec until = in_a_moment();
    int cancelable = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);  // a thread that ends here would leave the lock taken
    for (; entry != nullptr && entry->targeted && !entry->stuck; entry = find(descriptor)) {
      entry->stuck = pthread_cond_timedwait(&cleared_, mutex_.native_handle(), &until) == ETIMEDOUT;
    }
    pthread_setcancelstate(cancelable, nullptr);
  }
  return entry != nullptr ? entry : find(nullptr);
}

void DescriptorTable::clear_target(Entry& entry, const AttributeCalls& calls) {
  if (!entry.targeted) { return; }
  calls.write_target(entry.descriptor, 0);
  entry.targeted = false;
  pthread_cond_broadcast(&cleared_);
}

DescriptorUse::DescriptorUse(DescriptorTable& table, cublas_lt::Descriptor descriptor, std::uint32_t sms)
    : table_(table), descriptor_(descriptor) {
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
  if (targeted_ && !entry.stuck) { table_.clear_target(entry, calls_); }
  if (--entry.users > 0) { return; }
  table_.clear_target(entry, calls_);
  entry = {};
}

bool DescriptorUse::set(std::uint32_t sms) {
  if (!listed_ || sms == 0) { return false; }
  const std::scoped_lock lock(table_.mutex_);
  DescriptorTable::Entry& entry = *table_.find(descriptor_);
  if (entry.users > 1 || !calls_.takes_target(descriptor_)) { return false; }
  targeted_ = entry.targeted = calls_.write_target(descriptor_, static_cast<cublas_lt::SmCount>(sms));
  return targeted_;
}

void DescriptorUse::put_back() {
  if (!targeted_) { return; }
  const std::scoped_lock lock(table_.mutex_);
  table_.clear_target(*table_.find(descriptor_), calls_);
  targeted_ = false;
}

}  // namespace elbowroom::interposer::cuda
