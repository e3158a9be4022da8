// One thread reads and writes 16 bytes; no LDS. `vectors` counts 16 bytes each.

/// 16 bytes of elements. Vectors, because the compiler may put an array that it cannot keep in registers into LDS.
template <class T>
struct Elements;
template <>
struct Elements<float> {
  typedef Float4 Vector;
  static constexpr int kCount = 4;
  __device__ static float get(Vector vector, int at) { return vector[at]; }
  __device__ static void set(Vector& vector, int at, float value) { vector[at] = value; }
};
template <>
struct Elements<Bf16> {
  typedef unsigned short Vector __attribute__((vector_size(16)));
  static constexpr int kCount = 8;
  __device__ static float get(Vector vector, int at) { return to_float(Bf16{vector[at]}); }
  __device__ static void set(Vector& vector, int at, float value) { vector[at] = from_float<Bf16>(value).bits; }
};

template <class T, int Op>
__device__ inline void elementwise(const void* in, void* out, long long vectors) {
  typedef typename Elements<T>::Vector Vector;
  const long long at = static_cast<long long>(blockIdx.x) * 256 + static_cast<long long>(threadIdx.x);
  if (at >= vectors) return;
  Vector vector = static_cast<const Vector*>(in)[at];
#pragma unroll
  for (int i = 0; i < Elements<T>::kCount; ++i) { Elements<T>::set(vector, i, apply<float>(Op, Elements<T>::get(vector, i))); }
  static_cast<Vector*>(out)[at] = vector;
}

#define ELBOWROOM_ELEMENTWISE(name, T, op)                                                                             \
  extern "C" __global__ void __launch_bounds__(256) elementwise_##name(const void* in, void* out, long long vectors) { \
    elementwise<T, op>(in, out, vectors);                                                                              \
  }

ELBOWROOM_ELEMENTWISE(gelu_f32, float, 0)
ELBOWROOM_ELEMENTWISE(relu_f32, float, 1)
ELBOWROOM_ELEMENTWISE(copy_f32, float, 2)
ELBOWROOM_ELEMENTWISE(gelu_bf16, Bf16, 0)
ELBOWROOM_ELEMENTWISE(relu_bf16, Bf16, 1)
ELBOWROOM_ELEMENTWISE(copy_bf16, Bf16, 2)
