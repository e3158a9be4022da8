// What the priority probe and the start line launch.

/// When the first block began and the last one ended, in ticks of the device's steady counter.
struct Interval {
  unsigned long long begin;
  unsigned long long end;
};

/// Every block spins for `ticks` of the steady counter.
extern "C" __global__ void spin(unsigned long long ticks, Interval* out) {
  const unsigned long long begin = static_cast<unsigned long long>(wall_clock64());
  unsigned long long now = begin;
  while (now - begin < ticks) { now = static_cast<unsigned long long>(wall_clock64()); }
  if (threadIdx.x != 0) { return; }
  atomicMin(&out->begin, begin);
  atomicMax(&out->end, now);
}

/// Returns once the word, which the host writes, is at least `value`.
extern "C" __global__ void await_word(const unsigned int* word, unsigned int value) {
  while (__hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < value) { __builtin_amdgcn_s_sleep(32); }
}
